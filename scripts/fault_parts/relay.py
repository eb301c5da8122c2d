"""A TCP relay to a PostgreSQL server, in a process of its own.

usage: relay.py ADDRESS PORT TO-ADDRESS TO-PORT [--lose-commits SHARE] [--delay MIN-MS MAX-MS]
"""

import argparse
import asyncio
import random

# The answer to a COMMIT, as PostgreSQL tells it: message C with the command.
COMMITTED = b"C\x00\x00\x00\x0bCOMMIT\x00"


async def forward(reader, writer, given, answers):
    while data := await reader.read(1 << 16):
        if given.delay:
            await asyncio.sleep(random.uniform(*given.delay) / 1000)
        if answers and COMMITTED in data and random.random() < given.lose_commits:
            return
        writer.write(data)
        await writer.drain()


async def serve(reader, writer, given):
    to_writer = None
    try:
        to_reader, to_writer = await asyncio.open_connection(given.to_address, given.to_port)
        ways = [forward(reader, to_writer, given, False), forward(to_reader, writer, given, True)]
        # If one way ends, so does the other.
        _, rest = await asyncio.wait(map(asyncio.create_task, ways), return_when=asyncio.FIRST_COMPLETED)
        for task in rest:
            task.cancel()
    except OSError:
        pass
    finally:
        writer.transport.abort()
        if to_writer is not None:
            to_writer.transport.abort()


async def main():
    parser = argparse.ArgumentParser()
    for name in ("address", "to_address"):
        parser.add_argument(name)
        parser.add_argument(name.replace("address", "port"), type=int)
    parser.add_argument("--lose-commits", type=float, default=0)
    parser.add_argument("--delay", type=float, nargs=2)
    given = parser.parse_args()
    server = await asyncio.start_server(lambda reader, writer: serve(reader, writer, given), given.address, given.port)
    await server.serve_forever()


asyncio.run(main())
