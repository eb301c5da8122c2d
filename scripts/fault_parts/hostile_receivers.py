"""Receivers of webhooks that do all that a receiver should not, in a process of their own.

usage: hostile_receivers.py ADDRESS FIRST-PORT

Each kind listens at the next port. `--count` prints how many there are.
"""

import asyncio
import itertools
import socket
import struct
import sys

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"


async def never_answers(reader, writer):
    await asyncio.sleep(3600)


async def never_reads(reader, writer):
    reader._transport.pause_reading()
    await asyncio.sleep(3600)


async def answers_late(reader, writer):
    await request(reader)
    await asyncio.sleep(9)
    writer.write(OK)


async def closes_at_once(reader, writer):
    pass


async def resets(reader, writer):
    await request(reader)
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


async def half_a_status(reader, writer):
    await request(reader)
    writer.write(b"HTTP/1.1 20")


async def byte_by_byte(reader, writer):
    await request(reader)
    for byte in OK:
        writer.write(bytes([byte]))
        await asyncio.sleep(1)


async def endless_headers(reader, writer):
    writer.write(b"HTTP/1.1 200 OK\r\n")
    for number in itertools.count():
        writer.write(b"X-%d: %s\r\n" % (number, b"x" * 1000))
        await writer.drain()


async def endless_body(reader, writer):
    writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
    while True:
        writer.write(b"x" * 65536)
        await writer.drain()


async def endless_chunks(reader, writer):
    writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    while True:
        writer.write(b"1\r\nx\r\n" * 1000)
        await writer.drain()


async def endless_continue(reader, writer):
    while True:
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n" * 100)
        await writer.drain()
        await asyncio.sleep(0.01)


async def garbage(reader, writer):
    writer.write(bytes(range(256)) * 100)


async def speaks_tls(reader, writer):
    writer.write(b"\x15\x03\x03\x00\x02\x02\x28")


async def no_version(reader, writer):
    writer.write(b"200 OK\r\n\r\n")


async def answers_twice(reader, writer):
    while await request(reader):
        writer.write(OK + OK)


async def body_is_short(reader, writer):
    await request(reader)
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nx")


async def length_is_negative(reader, writer):
    await request(reader)
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n")


async def redirects_to_itself(reader, writer):
    await request(reader)
    writer.write(b"HTTP/1.1 307 Temporary Redirect\r\nLocation: /\r\nContent-Length: 0\r\n\r\n")


async def too_many_requests(reader, writer):
    await request(reader)
    writer.write(b"HTTP/1.1 429 Too Many Requests\r\nRetry-After: 99999999999\r\nContent-Length: 0\r\n\r\n")


async def fails(reader, writer):
    while await request(reader):
        writer.write(b"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n")


async def closes_between_requests(reader, writer):
    await request(reader)
    writer.write(OK)
    # The next request on this connection is never answered.


KINDS = [
    never_answers, never_reads, answers_late, closes_at_once, resets, half_a_status, byte_by_byte, endless_headers, endless_body,
    endless_chunks, endless_continue, garbage, speaks_tls, no_version, answers_twice, body_is_short, length_is_negative,
    redirects_to_itself, too_many_requests, fails, closes_between_requests,
]  # fmt: skip


async def request(reader):
    """Reads a request; false at the end of the connection."""
    head = await reader.readuntil(b"\r\n\r\n")
    length = next((int(line.split(b":")[1]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")), 0)
    await reader.readexactly(length)
    return True


async def serve(kind, reader, writer):
    try:
        await kind(reader, writer)
        await writer.drain()
    except (asyncio.IncompleteReadError, OSError):
        pass
    finally:
        writer.close()


async def main():
    address, first = sys.argv[1:]
    servers = []
    for number, kind in enumerate(KINDS):
        served = lambda reader, writer, kind=kind: serve(kind, reader, writer)  # noqa: E731
        servers.append(await asyncio.start_server(served, address, int(first) + number))
    await asyncio.gather(*(server.serve_forever() for server in servers))


if __name__ == "__main__":
    if sys.argv[1:] == ["--count"]:
        print(len(KINDS))
    else:
        asyncio.run(main())
