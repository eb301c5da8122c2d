"""Sends and accepts orders at a constant rate, and notes how long each answer takes; a process of its own.

usage: senders.py KEY-FILE FILLED-FILE REQUESTS-FILE < commands

Commands are lines: `to PORT,PORT…` says which nodes get requests from now on, in turn, as from a load balancer. `accept-only` ends the
new orders: from then on, only orders that came earlier are accepted. `stop` ends the process once everything that was begun is
acknowledged. What has no answer is repeated at the next node.
"""

import asyncio
import json
import os
import pathlib
import random
import sys
import time
import traceback

from connection import Connection, Refused
from order_requests import acceptance, order, record_of

ADDRESS = "127.0.0.1"
SENDERS = 8
# Requests a second, of all senders together.
RATE = 50
# One of so many requests accepts an order from before the measurement. The migration changes that order's row as well.
ACCEPTED = 4
# Seconds until a request is repeated when no node was reached.
PAUSE = 0.02
# How exactly this process measures: it looks so often, in seconds, how late it is itself.
LOOK = 0.005


class Senders:
    def __init__(self, key, filled, file):
        self.key, self.filled, self.file = key, filled, file
        self.ports, self.turn = [], 0
        self.has_ports, self.is_over, self.accepts_only = asyncio.Event(), False, False

    def note(self, **line):
        self.file.write(json.dumps(line, separators=(",", ":")) + "\n")
        self.file.flush()

    async def obey(self):
        reader = asyncio.StreamReader()
        await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
        while line := await reader.readline():
            command, _, value = line.decode().strip().partition(" ")
            if command == "to":
                self.ports = [int(port) for port in value.split(",")]
                self.has_ports.set()
            elif command == "accept-only":
                self.accepts_only = True
            elif command == "stop":
                break
            else:
                raise ValueError(f"unknown command {command}")
        self.is_over = True
        self.has_ports.set()

    async def watch_own_delay(self):
        while True:
            began = time.perf_counter()
            await asyncio.sleep(LOOK)
            late = time.perf_counter() - began - LOOK
            if late > LOOK:
                self.note(kind="late", began=time.time(), took=late)

    async def run(self, number):
        await self.has_ports.wait()
        connections = {}
        due = time.monotonic() + number / RATE
        count = 0
        while not self.is_over:
            await asyncio.sleep(max(due - time.monotonic(), 0))
            # What was missed while there was no answer is not sent at once.
            due = max(due + SENDERS / RATE, time.monotonic())
            count += 1
            if self.accepts_only or count % ACCEPTED == 0:
                if self.filled:
                    record = self.filled.pop()
                    await self.until_acknowledged(connections, "accept", record, acceptance(record, self.key))
            else:
                name = f"sent-{number}-{count}"
                await self.until_acknowledged(connections, "order", name, order(name))

    async def until_acknowledged(self, connections, kind, number, request):
        while True:
            self.turn += 1
            port = self.ports[self.turn % len(self.ports)]
            line = {"kind": kind, "number": number, "port": port, "began": time.time()}
            began = time.perf_counter()
            try:
                if port not in connections or not connections[port].is_open:
                    connections[port] = await Connection.open((ADDRESS, port))
                    began = time.perf_counter()
                status, answer = await connections[port].ask(request)
            except Refused as refused:
                status, answer = 0, str(refused).encode()
            line |= {"took": time.perf_counter() - began, "status": status}
            if status == 200:
                if kind == "order":
                    line["record"] = record_of(answer)
                self.note(**line)
                return
            self.note(**line, answer=answer[:300].decode(errors="replace"))
            # The answer to an earlier attempt may be what was lost.
            if kind == "accept" and 400 <= status < 500 and status != 429:
                return
            await asyncio.sleep(PAUSE)


async def main():
    key_file, filled_file, requests_file = sys.argv[1:]
    key = json.loads(pathlib.Path(key_file).read_text())["apiKey"]
    with open(filled_file) as file:
        filled = [line.split()[1] for line in file]
    random.shuffle(filled)
    with open(requests_file, "w") as file:
        senders = Senders(key, filled, file)
        watching = asyncio.create_task(senders.watch_own_delay())
        tasks = [senders.obey(), *(senders.run(number) for number in range(SENDERS))]
        try:
            await asyncio.gather(*tasks)
        except BaseException:
            # One sender less would not be noticed.
            traceback.print_exc()
            os._exit(1)
        watching.cancel()


asyncio.run(main())
