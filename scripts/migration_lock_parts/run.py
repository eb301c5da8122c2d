"""Measures the upgrade on each engine and prints the table. Started by scripts/migration-locks."""

import argparse
import pathlib
import sys

PARTS = pathlib.Path(__file__).parent
sys.path[:0] = [str(PARTS), str(PARTS.parent / "order_ledger")]
import report
from upgrades import LIMIT, UPGRADES
from world import World

COLUMNS = {
    "engine": "engine",
    "orders": "orders",
    "before": "longest answer before, ms",
    "during": "longest answer during the upgrade, ms",
    "lock": "longest wait for a lock, ms",
    "ordinary": "ordinary start, s",
    "upgrade": "start of the next version, s",
    "steps": "duration of the steps, s",
}


def arguments():
    parser = argparse.ArgumentParser(prog="scripts/migration-locks")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--control", action="store_true")
    parser.add_argument("--engine", choices=list(UPGRADES))
    parser.add_argument("--orders", type=int, default=1_000_000)
    for name in ("work", "garson", "results"):
        parser.add_argument(f"--{name}", type=pathlib.Path)
    given = parser.parse_args()
    if given.orders < 1000:
        parser.error("--orders is at least 1000: otherwise the migration ends before it can be killed")
    given.list = False
    return given


class Run:
    def __init__(self, given):
        self.given = given
        self.rows, self.notes, self.failures = [], [], []

    def all(self):
        for engine, upgrade in UPGRADES.items():
            if self.given.engine in (None, engine):
                print(f"{engine}: {upgrade.__doc__}", flush=True)
                self.one(World(self.given, engine), upgrade)

    def one(self, world, upgrade):
        try:
            row, failures = upgrade(world)
            slower = row["during"] - row["before"]
            if slower > LIMIT:
                failures.append(f"the longest answer is {slower:.0f} ms longer than without a migration")
            self.rows.append(row)
            self.failures += [f"{world.engine}: {failure}" for failure in failures]
        finally:
            self.notes += [f"{world.engine}: {note}" for note in world.notes]
            world.end()

    def report(self):
        report.write(self.given, COLUMNS, self.rows, self.notes, self.failures, {})


given = arguments()
sys.exit(report.main(given, {}, lambda: Run(given)))
