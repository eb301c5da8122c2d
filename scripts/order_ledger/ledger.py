"""The ledger: a process of its own that stores what was acknowledged and what was delivered, and does nothing else.

usage: ledger.py ADDRESS PORT FILE

It is the webhook receiver (POST /events), and senders report acknowledgements (POST /acknowledgements). Every line is on disk
(fsync) before the answer. Garson has no part in this file.
"""

import asyncio
import json
import os
import sys
import time


class Ledger:
    def __init__(self, path):
        self.file = open(path, "ab", buffering=0)
        self.waiting = []
        self.wanted = asyncio.Event()

    async def store(self, line):
        done = asyncio.get_running_loop().create_future()
        self.waiting.append((json.dumps(line, separators=(",", ":")).encode() + b"\n", done))
        self.wanted.set()
        await done

    async def write_batches(self):
        """Everything that came during one fsync shares the next."""
        loop = asyncio.get_running_loop()
        while True:
            await self.wanted.wait()
            self.wanted.clear()
            batch, self.waiting = self.waiting, []
            await loop.run_in_executor(None, self.write, b"".join(line for line, _ in batch))
            for _, done in batch:
                if not done.done():
                    done.set_result(None)

    def write(self, lines):
        self.file.write(lines)
        os.fsync(self.file.fileno())

    async def serve(self, reader, writer):
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
                path = head[0].split(" ")[1]
                length = next((int(one.split(":")[1]) for one in head if one.lower().startswith("content-length:")), 0)
                body = json.loads(await reader.readexactly(length))
                if path == "/events":
                    data = body["veri"]
                    line = {"kind": "event", "event": data["id"], "order": data.get("orderId"), "sequence": data.get("sequence")}
                    line["type"] = body["olay"]
                else:
                    line = {"kind": "acknowledgement", **body}
                await self.store({**line, "at": time.time()})
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


async def main():
    address, port, path = sys.argv[1:]
    ledger = Ledger(path)
    writing = asyncio.create_task(ledger.write_batches())
    server = await asyncio.start_server(ledger.serve, address, int(port))
    serving = asyncio.create_task(server.serve_forever())
    # A failure of either must end the process; the test notices that.
    done, _ = await asyncio.wait([writing, serving], return_when=asyncio.FIRST_COMPLETED)
    done.pop().result()


asyncio.run(main())
