"""Senders of orders, in a process of their own.

usage: senders.py ADDRESS:PORT[,ADDRESS:PORT…] LEDGER PORT KEY-FILE NAME RATE REQUESTS-FILE

Like a platform behind a load balancer, a sender repeats an order with the same number until it is acknowledged, each time at the next
address, and then reports it to the ledger. Every fourth order is also verified, so that it has a second event. SIGTERM ends the process
once every order that was begun is acknowledged. Every request is written to REQUESTS-FILE.
"""

import http.client
import json
import os
import pathlib
import signal
import sys
import threading
import time
import traceback

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from http_client import Client

SENDERS = 16
# Seconds until a request without an answer is repeated, and between an error and the repetition.
PATIENCE = 10
PAUSE = 0.2

is_over = threading.Event()


class Sender:
    def __init__(self, number, arguments):
        entrances, ledger, ledger_port, key_file, self.name, rate, _ = arguments
        self.number = number
        places = [one.rsplit(":", 1) for one in entrances.split(",")]
        # Each sender begins with another one.
        places = places[number % len(places) :] + places[: number % len(places)]
        self.garsons = [Client(address, int(port), PATIENCE) for address, port in places]
        self.ledger = Client(ledger, int(ledger_port), PATIENCE)
        self.headers = {"Authorization": "Bearer " + json.loads(pathlib.Path(key_file).read_text())["apiKey"]}
        # When the request that was answered last was sent.
        self.began = None
        self.interval = SENDERS / float(rate)

    def run(self):
        try:
            self.send_orders()
        except BaseException:
            # One sender less would not be noticed.
            traceback.print_exc()
            os._exit(1)

    def send_orders(self):
        due = time.monotonic() + self.interval * self.number / SENDERS
        count = 0
        while not is_over.wait(max(due - time.monotonic(), 0)):
            self.send(f"{self.name}-{self.number}-{count}", count % 4 == 0)
            count += 1
            # After an outage, what was missed is not sent at once.
            due = max(due + self.interval, time.monotonic())

    def send(self, number, is_verified):
        order = {
            "storeId": "shop-1",
            "providerOrderId": number,
            "items": [{"name": "Simit", "unitPrice": 1500}],
            "amount": {"total": 1500},
            "payment": {"type": "cash"},
        }
        answer = self.until_acknowledged("/hooks/direct/orders", order, {"x-api-key": "shop-secret"})
        record = json.loads(answer)["data"]["orderId"]
        self.report({"number": number, "order": record, "sequence": 1})
        if is_verified:
            path = f"/web-api/v1/orders/verify/{record}"
            if self.until_acknowledged(path, None, self.headers) is not None:
                self.report({"number": number, "order": record, "sequence": 2})

    def until_acknowledged(self, path, body, headers):
        """Returns the answer, or nothing if Garson does not know the order: then it is lost, and the comparison will tell."""
        while True:
            self.began = began = time.time()
            try:
                status, answer = self.garsons[0].ask("POST", path, body, headers)
            except (OSError, http.client.HTTPException) as error:
                status, answer = 0, repr(error).encode()
            self.note(began, status, answer)
            if status == 200:
                return answer
            if status == 404:
                return None
            self.garsons.append(self.garsons.pop(0))
            time.sleep(PAUSE)

    def note(self, began, status, answer):
        line = {"began": began, "ended": time.time(), "status": status}
        if status != 200:
            line["answer"] = answer[:300].decode(errors="replace")
        with writing:
            requests.write(json.dumps(line) + "\n")

    def report(self, line):
        status, _ = self.ledger.ask("POST", "/acknowledgements", {**line, "began": self.began})
        assert status == 200, status


signal.signal(signal.SIGTERM, lambda *_: is_over.set())
writing = threading.Lock()
with open(sys.argv[-1], "w") as requests:
    senders = [threading.Thread(target=Sender(number, sys.argv[1:]).run) for number in range(SENDERS)]
    for one in senders:
        one.start()
    for one in senders:
        one.join()
