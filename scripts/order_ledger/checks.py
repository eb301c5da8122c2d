"""Compares the ledger with what Garson lists, and measures the requests of the senders."""

import json
import time

# Seconds for events to arrive after the fault is over. A retry of a delivery is at most four minutes away.
DELIVERY = 300


class LedgerReader:
    """Reads the ledger's file as it grows."""

    def __init__(self, path):
        self.path, self.position = path, 0
        # number -> order; (order, sequence) acknowledged; (order, sequence) -> how often it arrived.
        self.acknowledged, self.steps, self.arrived = {}, set(), {}
        # (order, sequence) -> when the request was sent that was acknowledged, and when the event arrived first.
        self.sent_at, self.arrived_at = {}, {}
        self.times, self.out_of_order, self.repeated = [], 0, 0

    def read(self):
        with open(self.path, "rb") as file:
            file.seek(self.position)
            whole = file.read().rpartition(b"\n")[0]
        if not whole:
            return
        self.position += len(whole) + 1
        for line in whole.split(b"\n"):
            self.take(json.loads(line))

    def has_any(self, label):
        """Is any order of these senders acknowledged?"""
        self.read()
        return any(number.startswith(f"{label}-") for number in self.acknowledged)

    def delays(self):
        """For each step that was delivered, when it was sent and how much later its event arrived."""
        for step, at in self.sent_at.items():
            if step in self.arrived_at:
                yield at, self.arrived_at[step] - at

    def take(self, line):
        step = (line["order"], line["sequence"])
        if line["kind"] == "acknowledgement":
            self.steps.add(step)
            self.sent_at[step] = line["began"]
            self.times.append(line["at"])
            if line["sequence"] == 1:
                self.acknowledged[line["number"]] = line["order"]
        elif line["order"]:
            if step in self.arrived:
                self.repeated += 1
            elif line["sequence"] > 1 and (line["order"], line["sequence"] - 1) not in self.arrived:
                self.out_of_order += 1
            self.arrived_at.setdefault(step, line["at"])
            self.arrived[step] = self.arrived.get(step, 0) + 1


def listed_orders(nodes, since=None):
    """All orders that Garson lists, from the newest to those that came at `since`: the number of each and its record."""
    orders, cursor = {}, ""
    start = ""
    if since is not None:
        start = "&from=" + time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(since - 2))
    while cursor is not None:
        page = nodes.ask("GET", f"/web-api/v1/orders?limit=200{start}{cursor}")
        for one in page["data"]:
            orders[one["providerOrderId"]] = one["id"]
        following = page["paging"]["next"]
        cursor = None if following is None else f"&cursor={following}"
    return orders


def await_deliveries(ledger, orders):
    """Waits until there are events of all acknowledged steps, and of all listed orders. Returns those that are missing."""
    deadline = time.monotonic() + DELIVERY
    while True:
        ledger.read()
        wanted = ledger.steps | {(record, 1) for record in orders.values()}
        missing = wanted - ledger.arrived.keys()
        if not missing or time.monotonic() > deadline:
            return missing
        time.sleep(0.5)


def measure(path, began, ended, times):
    """The slowest response, errors, and the longest time without an acknowledgement."""
    slowest, errors, kinds = 0.0, 0, {}
    with open(path) as file:
        for line in map(json.loads, file):
            slowest = max(slowest, line["ended"] - line["began"])
            if line["status"] != 200:
                errors += 1
                kind = str(line["status"]) if line["status"] else line["answer"].split("(")[0]
                kinds[kind] = kinds.get(kind, 0) + 1
    points = [began, *sorted(one for one in times if began <= one <= ended), ended]
    gap = max(later - earlier for earlier, later in zip(points, points[1:]))
    return {"slowest": round(slowest, 2), "errors": errors, "errorKinds": kinds, "outage": round(gap, 2)}
