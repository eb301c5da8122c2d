"""Clients that nobody wants, in a process of their own.

usage: strangers.py KIND COUNT SECONDS ADDRESS PORT

Each of COUNT connections behaves as KIND says and is opened again when it is closed, until SECONDS have passed. Prints what came back.
"""

import asyncio
import collections
import json
import random
import resource
import sys

HEAD = b"POST /hooks/direct/orders HTTP/1.1\r\nHost: garson\r\nX-Api-Key: shop-secret\r\nContent-Type: application/json\r\n"
# More than is accepted, and nearly as much as is.
LARGE, HELD = 8 << 20, 1_000_000


async def silent(reader, writer):
    """Sends nothing."""
    return await reader.read(100)


async def half_head(reader, writer):
    """Sends the beginning of a request."""
    writer.write(HEAD[:40])
    return await reader.read(100)


async def slow_head(reader, writer):
    """Sends a byte of a header each second."""
    return await slowly(reader, writer, HEAD + b"X-Long: " + b"x" * 1000)


async def slow_body(reader, writer):
    """Announces a body of a kilobyte and sends a byte of it each second."""
    writer.write(HEAD + b"Content-Length: 1000\r\n\r\n")
    return await slowly(reader, writer, b" " * 1000)


async def slow_reader(reader, writer):
    """Asks for a page again and again, and reads no answer."""
    for _ in range(1000):
        writer.write(b"GET /docs/ HTTP/1.1\r\nHost: garson\r\n\r\n")
        await writer.drain()
    return await reader.read(100)


async def half_http2(reader, writer):
    """Begins HTTP/2 and goes no further."""
    writer.write(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0]))
    await reader.read(100)
    return await reader.read(100)


async def large(reader, writer):
    """Sends a large body."""
    writer.write(HEAD + b"Content-Length: %d\r\n\r\n" % LARGE)
    for _ in range(LARGE >> 16):
        writer.write(b"[" * (1 << 16))
        await writer.drain()
    return await reader.read(100)


async def held_body(reader, writer):
    """Sends all of a body but its last byte, and waits."""
    writer.write(HEAD + b"Content-Length: %d\r\n\r\n" % HELD + b"[" * (HELD - 1))
    await writer.drain()
    return await reader.read(100)


async def odd(reader, writer):
    """Sends an order with some bytes replaced."""
    order = {
        "storeId": "shop-1",
        "providerOrderId": str(random.random()),
        "items": [{"name": "Simit", "unitPrice": 1500, "quantity": 1}],
    }
    order |= {"amount": {"total": 1500}, "payment": {"type": "cash"}, "customer": {"name": "Ayşe"}}
    body = bytearray(json.dumps(order).encode())
    for _ in range(random.randrange(1, 6)):
        body[random.randrange(len(body))] = random.choice(b'{}[]",:0-9.eE\\u0000 \x00\xff\x80ntf')
    writer.write(HEAD + b"Connection: close\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
    return await reader.read(100)


async def slowly(reader, writer, text):
    answer = asyncio.create_task(reader.read(100))
    for byte in text:
        writer.write(bytes([byte]))
        await writer.drain()
        done, _ = await asyncio.wait([answer], timeout=1)
        if done:
            break
    return await answer


KINDS = {
    one.__name__.replace("_", "-"): one for one in (silent, half_head, slow_head, slow_body, slow_reader, half_http2, large, held_body, odd)
}


async def stranger(kind, address, port, seen):
    while True:
        writer = None
        try:
            reader, writer = await asyncio.open_connection(address, port)
            seen["connected"] += 1
            answer = await kind(reader, writer)
            # A status, or the end of the connection.
            seen[answer.split(b" ")[1].decode("latin-1") if answer.startswith(b"HTTP/1") else "closed"] += 1
        except OSError as error:
            seen[type(error).__name__] += 1
            await asyncio.sleep(0.2)
        finally:
            if writer is not None:
                writer.transport.abort()


async def main():
    kind, count, seconds, address, port = sys.argv[1:]
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    seen = collections.Counter()
    tasks = [asyncio.create_task(stranger(KINDS[kind], address, int(port), seen)) for _ in range(int(count))]
    await asyncio.sleep(float(seconds))
    for task in tasks:
        task.cancel()
    done = await asyncio.gather(*tasks, return_exceptions=True)
    failed = [one for one in done if not isinstance(one, asyncio.CancelledError)]
    if failed:
        raise failed[0]
    print(json.dumps(dict(seen)))


asyncio.run(main())
