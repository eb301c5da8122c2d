"""Runs the faults and prints the table. Started by scripts/cluster in the client's namespace."""

import argparse
import datetime
import json
import os
import pathlib
import platform
import signal
import subprocess
import sys
import time
import traceback

PARTS = pathlib.Path(__file__).parent
sys.path[:0] = [str(PARTS), str(PARTS.parent / "order_ledger")]
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
        print("  " + ", ".join(f"{title} {row[key]}" for key, title in COLUMNS.items() if key != "fault"), flush=True)
        print(f"  errors: {row['errorKinds']}, leader of etcd on the primary's machine: {row['etcdLeaderWasOnPrimary']}", flush=True)

    def report(self):
        """Writes the table with where it comes from."""
        version = subprocess.run([self.given.garson, "--version"], capture_output=True, text=True, check=True).stdout.strip()
        commit = subprocess.run(
            ["git", "-C", PARTS, "describe", "--always", "--dirty"], capture_output=True, text=True, check=False
        ).stdout.strip()
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 30
        facts = {
            "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
            "commit": commit,
            "program": version,
            "machine": f"{os.cpu_count()} cores, {memory} GiB, Linux {'.'.join(platform.release().split('.')[:2])}",
            "url": self.given.url,
            "rate": self.given.rate,
            "patroni": {"ttl": TTL, "loop_wait": LOOP_WAIT, "retry_timeout": RETRY_TIMEOUT, "synchronous_mode": self.services.synchronous},
        }
        lines = [f"{name}: {value}" for name, value in facts.items()] + [""]
        lines.append("| " + " | ".join(COLUMNS.values()) + " |")
        lines.append("|" + "---|" * len(COLUMNS))
        lines += ["| " + " | ".join("–" if row[key] is None else str(row[key]) for key in COLUMNS) + " |" for row in self.rows]
        print("\n" + "\n".join(lines), flush=True)
        self.given.results.mkdir(parents=True, exist_ok=True)
        (self.given.results / "results.md").write_text("\n".join(lines) + "\n")
        result = {**facts, "rows": self.rows, "failures": self.failures}
        (self.given.results / "results.json").write_text(json.dumps(result, indent=2) + "\n")


def main():
    given = arguments()
    if given.list:
        for name, fault in FAULTS.items():
            print(f"{name:26} {fault.__doc__}")
        return 0
    if given.check:
        return 0
    # An exception, so that nothing goes on; scripts/cluster ends all processes.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    run = Run(given)
    try:
        run.all()
    except Failed as failure:
        run.failures.append(str(failure))
    except Exception:
        # What was measured until then is still of use.
        run.failures.append(traceback.format_exc())
    run.report()
    for failure in run.failures:
        print(f"FAILED: {failure}", file=sys.stderr)
    return 1 if run.failures else 0


sys.exit(main())
