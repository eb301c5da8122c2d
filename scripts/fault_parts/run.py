"""Runs the faults and prints the table. Started by scripts/faults in the client's namespace."""

import argparse
import pathlib
import random
import subprocess
import sys
import time

PARTS = pathlib.Path(__file__).parent
sys.path[:0] = [str(PARTS), str(PARTS.parent / "order_ledger")]
import report
from catalogue import FAULTS
from checks import LedgerReader, await_deliveries, listed_orders, measure
from machines import Failed, read_machines, wait_until
from world import World

# Orders a second; of the short run, which has a debug program beside other tests.
RATE, QUICK_RATE = 100, 40
# Seconds with orders before the fault, and after everything works again.
AROUND, QUICK_AROUND = 5, 2
COLUMNS = {
    "fault": "fault",
    "engine": "engine",
    "nodes": "nodes",
    "acknowledged": "acknowledged",
    "lost": "lost",
    "undelivered": "not delivered",
    "repeated": "repeated",
    "outOfOrder": "out of order",
    "wrong": "derived values wrong",
    "resumed": "accepts again after, s",
    "outage": "longest time without acknowledgement, s",
    "slowest": "slowest response, s",
    "errors": "client errors",
}
BROKEN_PROMISES = ("lost", "undelivered", "outOfOrder", "wrong")


def arguments():
    parser = argparse.ArgumentParser(prog="scripts/faults")
    parser.add_argument("faults", nargs="*", metavar="FAULT")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--engine", choices=["sqlite", "postgres"])
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    for name in ("work", "garson", "checker", "results"):
        parser.add_argument(f"--{name}", type=pathlib.Path)
    parser.add_argument("--prefix")
    given = parser.parse_args()
    unknown = [one for one in given.faults if one not in FAULTS]
    if unknown:
        parser.error(f"unknown fault {unknown[0]}; there are: {' '.join(FAULTS)}")
    return given


class Run:
    def __init__(self, given):
        self.given, self.work = given, given.work
        self.machines = read_machines(given.work, given.prefix)
        self.rate, self.around = (QUICK_RATE, QUICK_AROUND) if given.quick else (RATE, AROUND)
        self.rows, self.failures, self.notes = [], [], []

    def chosen(self):
        """The rows of the table: each fault with each engine and number of nodes that it is for."""
        for name, fault in FAULTS.items():
            if self.given.faults and name not in self.given.faults:
                continue
            if self.given.quick and not fault.is_quick and not self.given.faults:
                continue
            for engine, nodes in fault.setups:
                if self.given.engine in (None, engine):
                    yield name, fault, engine, nodes

    def all(self):
        rows = list(self.chosen())
        if any(engine == "postgres" for _, _, engine, _ in rows):
            World(self.machines, self.given, "postgres", 1, 0).database.make_template()
        for number, (name, fault, engine, nodes) in enumerate(rows):
            label = f"{name}-{number}"
            world = World(self.machines, self.given, engine, nodes, self.given.seed + number)
            print(f"{name}, {engine}, {nodes} {'node' if nodes == 1 else 'nodes'}: {fault.__doc__}", flush=True)
            try:
                self.one(world, label, name, fault)
            except (Failed, subprocess.TimeoutExpired) as failure:
                self.failures.append(f"{name}, {engine}: {failure}")
                print(f"  FAILED: {failure}", flush=True)
                world.abandon()

    def one(self, world, label, name, fault):
        ledger_file, requests = self.work / f"ledger-{label}.jsonl", self.work / f"requests-{label}.jsonl"
        world.nodes.start_ledger(ledger_file)
        world.start()
        ledger = world.ledger = LedgerReader(ledger_file)
        senders = world.nodes.start_senders(label, self.rate, requests)
        wait_until("orders are acknowledged", lambda: ledger.has_any(label), 60)
        began = time.time()
        time.sleep(self.around)
        if fault.is_control:
            self.notes.append(f"{name}, {world.engine}: {self.control(world, ledger, name, fault)}")
            return
        fault.cause(world)
        world.await_complete()
        time.sleep(self.around)
        if senders.poll() is not None:
            raise Failed("the senders ended by themselves")
        ended = time.time()
        world.client.stop("senders", 90)

        ledger.read()
        orders = listed_orders(world.nodes)
        lost = ledger.acknowledged.keys() - orders.keys()
        missing = await_deliveries(ledger, orders)
        row = {
            "fault": name,
            "engine": world.engine,
            "nodes": len(world.nodes.machines),
            "acknowledged": len(ledger.acknowledged),
            "lost": len(lost),
            "undelivered": len(missing),
            "repeated": ledger.repeated,
            "outOfOrder": ledger.out_of_order,
            "wrong": None,
            "resumed": resumed(world.healed, ledger.times),
            **measure(requests, began, ended, ledger.times),
            "seconds": round(ended - began),
        }
        self.rows.append(row)
        self.notes += [f"{name}, {world.engine}: {note}" for note in world.notes]
        wrong = world.stop()
        row["wrong"] = len(wrong)
        world.client.stop("ledger")
        report.show_row(row, COLUMNS)
        print(f"  errors: {row['errorKinds']}", *[f"\n  {note}" for note in world.notes], flush=True)
        for what in BROKEN_PROMISES:
            if row[what]:
                examples = {"lost": sorted(lost), "undelivered": sorted(missing), "outOfOrder": [], "wrong": wrong}[what][:5]
                self.failures.append(f"{name}, {world.engine}: {COLUMNS[what]}: {row[what]} {examples}")

    def control(self, world, ledger, name, fault):
        """Returns what was broken, which must be something."""
        try:
            fault.cause(world)
            ledger.read()
            lost = len(ledger.acknowledged.keys() - listed_orders(world.nodes).keys())
            found = f"{lost} of {len(ledger.acknowledged)} acknowledged orders lost"
            if not lost:
                self.failures.append(f"{name}: nothing was lost although nothing was synced: the test does not notice a loss")
        except Failed as failure:
            found = f"the database was damaged: {failure}"
        print(f"  {found}", flush=True)
        world.abandon()
        return found

    def report(self):
        settings = {"orders a second": self.rate, "seed": self.given.seed}
        report.write(self.given, COLUMNS, self.rows, self.notes, self.failures, settings)


def resumed(healed, times):
    """The longest time from the end of a cause to the next acknowledgement, where nothing else happened in between."""
    times = sorted(times)
    waits = []
    for moment, following in zip(healed, [*healed[1:], float("inf")]):
        at = next((at for at in times if at >= moment), float("inf"))
        if at < following:
            waits.append(round(at - moment, 2))
    return max(waits, default=None)


given = arguments()
sys.exit(report.main(given, FAULTS, lambda: Run(given)))
