"""Runs the faults and prints the table. Started by scripts/cluster in the client's namespace."""

import argparse
import pathlib
import sys
import time

PARTS = pathlib.Path(__file__).parent
sys.path[:0] = [str(PARTS), str(PARTS.parent / "order_ledger")]
import report
from checks import LedgerReader, await_deliveries, listed_orders, measure
from faults import FAULTS
from machines import Failed, read_machines, wait_until
from services import LOOP_WAIT, RETRY_TIMEOUT, TTL, Services

# Seconds with orders before the fault, and after everything is complete again.
BEFORE, AFTER = 8, 8
COLUMNS = {
    "fault": "fault",
    "acknowledged": "acknowledged",
    "lost": "lost",
    "undelivered": "not delivered",
    "repeated": "repeated",
    "outOfOrder": "out of order",
    "newPrimaryAfter": "new primary after, s",
    "outage": "longest time without acknowledgement, s",
    "slowest": "slowest response, s",
    "errors": "client errors",
}


def arguments():
    parser = argparse.ArgumentParser(prog="scripts/cluster")
    parser.add_argument("faults", nargs="*", metavar="FAULT")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--url", choices=["proxy", "hosts"], default="proxy")
    parser.add_argument("--synchronous", choices=["chosen", "quorum"], default="quorum")
    parser.add_argument("--rate", type=float, default=100)
    for name in ("work", "garson", "results"):
        parser.add_argument(f"--{name}", type=pathlib.Path)
    parser.add_argument("--prefix")
    given = parser.parse_args()
    unknown = [one for one in given.faults if one not in FAULTS]
    if unknown:
        parser.error(f"unknown fault {unknown[0]}; there are: {' '.join(FAULTS)}")
    if not 1 <= given.rate <= 1000:
        parser.error("--rate is 1 to 1000 orders a second")
    given.faults = given.faults or list(FAULTS)
    return given


class Run:
    def __init__(self, given):
        self.given, self.work = given, given.work
        machines = read_machines(given.work, given.prefix)
        self.services = Services(machines, given.work, given.garson, given.url == "proxy", given.synchronous)
        self.ledger = LedgerReader(given.work / "ledger.jsonl")
        self.rows, self.failures = [], []

    def all(self):
        began = time.monotonic()
        self.services.nodes.start_ledger(self.work / "ledger.jsonl")
        self.services.start()
        self.services.nodes.create_account()
        print(f"everything runs after {time.monotonic() - began:.0f} s", flush=True)
        for number, name in enumerate(self.given.faults):
            self.one(f"{name}-{number}", name)
        # Once more over all faults, so that a later one has not lost what an earlier one left.
        lost = self.ledger.acknowledged.keys() - listed_orders(self.services.nodes).keys()
        if lost:
            self.failures.append(f"at the end, {len(lost)} acknowledged orders are missing: {sorted(lost)[:5]}")
        self.services.check_running()

    def one(self, label, name):
        services = self.services
        print(f"{name}: {FAULTS[name].__doc__}", flush=True)
        counts = len(self.ledger.acknowledged), self.ledger.repeated, self.ledger.out_of_order
        began = time.time()
        requests = self.work / f"requests-{label}.jsonl"
        senders = services.nodes.start_senders(label, self.given.rate, requests)
        wait_until("orders are acknowledged", lambda: self.ledger.has_any(label), 60)
        measured = time.time()
        time.sleep(BEFORE)
        services.new_primary_after = None
        etcd_leader, primary = services.etcd_leader(), services.primary()
        caused = time.time()
        FAULTS[name](services)
        wait_until(f"everything is complete after {name}", services.is_complete, 180)
        time.sleep(AFTER)
        if senders.poll() is not None:
            raise Failed("the senders ended by themselves")
        ended = time.time()
        services.nodes.client.stop("senders", 90)
        services.check_running()

        self.ledger.read()
        mine = {number for number in self.ledger.acknowledged if number.startswith(f"{label}-")}
        orders = listed_orders(services.nodes, began)
        lost = mine - orders.keys()
        missing = await_deliveries(self.ledger, orders)
        row = {
            "fault": name,
            "acknowledged": len(self.ledger.acknowledged) - counts[0],
            "lost": len(lost),
            "undelivered": len(missing),
            "repeated": self.ledger.repeated - counts[1],
            "outOfOrder": self.ledger.out_of_order - counts[2],
            "newPrimaryAfter": services.new_primary_after,
            **measure(requests, measured, ended, self.ledger.times),
            "etcdLeaderWasOnPrimary": etcd_leader is primary,
            "seconds": round(ended - measured),
            "secondsUntilComplete": round(ended - AFTER - caused),
        }
        self.rows.append(row)
        for what in ("lost", "undelivered", "outOfOrder"):
            if row[what]:
                examples = {"lost": sorted(lost), "undelivered": sorted(missing), "outOfOrder": []}[what][:5]
                self.failures.append(f"{name}: {COLUMNS[what]}: {row[what]} {examples}")
        report.show_row(row, COLUMNS)
        print(f"  errors: {row['errorKinds']}, leader of etcd on the primary's machine: {row['etcdLeaderWasOnPrimary']}", flush=True)

    def report(self):
        settings = {
            "url": self.given.url,
            "rate": self.given.rate,
            "patroni": {"ttl": TTL, "loop_wait": LOOP_WAIT, "retry_timeout": RETRY_TIMEOUT, "synchronous_mode": self.services.synchronous},
        }
        report.write(self.given, COLUMNS, self.rows, [], self.failures, settings)


given = arguments()
sys.exit(report.main(given, FAULTS, lambda: Run(given)))
