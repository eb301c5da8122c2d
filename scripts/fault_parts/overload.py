"""Sends more orders than a node can take, in a process of its own.

usage: overload.py ADDRESS PORT RATE SECONDS

RATE orders are begun each second, whether earlier ones are answered or not. RATE 0 measures the capacity: 100 connections send as fast as
they are answered. Prints how many were answered how, and the times of those that were accepted.
"""

import asyncio
import collections
import json
import os
import sys
import time

HEAD = b"POST /hooks/direct/orders HTTP/1.1\r\nHost: garson\r\nX-Api-Key: shop-secret\r\nContent-Type: application/json\r\n"
# An order without an answer after this time is given up.
PATIENCE = 15
AT_ONCE = 100


class Load:
    def __init__(self, address, port):
        self.place, self.idle, self.count = (address, int(port)), [], 0
        self.answers, self.times = collections.Counter(), []

    async def send(self):
        began = time.monotonic()
        self.count += 1
        number = f"overload-{os.getpid()}-{self.count}"
        order = {"storeId": "shop-1", "providerOrderId": number, "items": [{"name": "Simit", "unitPrice": 1500}]}
        body = json.dumps({**order, "amount": {"total": 1500}, "payment": {"type": "cash"}}).encode()
        try:
            status = await asyncio.wait_for(self.ask(HEAD + b"Content-Length: %d\r\n\r\n" % len(body) + body), PATIENCE)
        except (OSError, asyncio.IncompleteReadError, asyncio.TimeoutError) as error:
            status = type(error).__name__
        self.answers[status] += 1
        if status == 200:
            self.times.append(time.monotonic() - began)

    async def ask(self, request):
        reader, writer = self.idle.pop() if self.idle else await asyncio.open_connection(*self.place)
        try:
            writer.write(request)
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            length = next((int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.startswith(b"content-length:")), 0)
            await reader.readexactly(length)
            if b"connection: close" not in head:
                self.idle.append((reader, writer))
                writer = None
            return int(head.split(b" ")[1])
        finally:
            if writer is not None:
                writer.transport.abort()

    async def as_fast_as_answered(self, seconds):
        end = time.monotonic() + seconds

        async def one():
            while time.monotonic() < end:
                await self.send()

        await asyncio.gather(*(one() for _ in range(AT_ONCE)))

    async def at_a_rate(self, rate, seconds):
        tasks, began, sent = set(), time.monotonic(), 0
        while (passed := time.monotonic() - began) < seconds:
            while sent < passed * rate:
                task = asyncio.create_task(self.send())
                tasks.add(task)
                task.add_done_callback(tasks.discard)
                sent += 1
            await asyncio.sleep(0.005)
        await asyncio.gather(*tasks)


async def main():
    address, port, rate, seconds = sys.argv[1:]
    load = Load(address, port)
    if float(rate):
        await load.at_a_rate(float(rate), float(seconds))
    else:
        await load.as_fast_as_answered(float(seconds))
    times = sorted(load.times)
    shares = {name: times[int(len(times) * share)] if times else None for name, share in (("median", 0.5), ("p99", 0.99))}
    print(json.dumps({"answers": dict(load.answers), **shares}))


asyncio.run(main())
