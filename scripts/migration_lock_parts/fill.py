"""Sends orders as fast as the service takes them; a process of its own.

usage: fill.py PORT COUNT FILE

The file gets a line for each acknowledged order: its number and its record.
"""

import asyncio
import operator
import sys
import time

from connection import Connection, Refused
from order_requests import order, record_of

ADDRESS = "127.0.0.1"
CONNECTIONS = 128
PROGRESS_SECONDS = 10


async def send(place, numbers, file):
    connection = await Connection.open(place)
    for number in numbers:
        name = f"filled-{number}"
        while True:
            status, answer = await connection.ask(order(name), 60)
            if status == 200:
                break
            if status not in (429, 503):
                raise Refused(f"order {name}: {status} {answer[:300]}")
            await asyncio.sleep(0.1)
        file.write(f"{name} {record_of(answer)}\n")
    connection.close()


async def show_progress(count, numbers):
    began = time.monotonic()
    while True:
        await asyncio.sleep(PROGRESS_SECONDS)
        sent = count - operator.length_hint(numbers)
        print(f"    {sent} orders, {sent / (time.monotonic() - began):.0f} a second", flush=True)


async def main():
    port, count, path = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    # All connections take their numbers from the same iterator.
    numbers = iter(range(count))
    showing = asyncio.create_task(show_progress(count, numbers))
    with open(path, "w") as file:
        sending = [asyncio.create_task(send((ADDRESS, port), numbers, file)) for _ in range(CONNECTIONS)]
        await asyncio.gather(*sending)
    showing.cancel()


asyncio.run(main())
