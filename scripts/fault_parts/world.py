"""What a fault happens to: nodes of Garson, their database and its disk, senders and the ledger."""

import pathlib
import random
import shutil
import subprocess
import time

from database import PORT, Database
from disk import Disk
from machines import Failed, wait_until
from nodes import GARSON, Nodes

PARTS = pathlib.Path(__file__).parent


class World:
    def __init__(self, machines, given, engine, count, seed):
        work, program = given.work, given.garson
        self.quick, self.engine, self.checker = given.quick, engine, given.checker
        self.random = random.Random(seed)
        self.client, self.spare, self.platforms = machines["client"], machines["spare"], machines["platforms"]
        # The reader of the ledger; set when there is one.
        self.ledger = None
        self.disk = Disk(work / "disk", random.Random(seed))
        self.database = Database(machines["db"], work, work / "disk" / "postgres") if engine == "postgres" else None
        chosen = [machines[f"garson{number + 1}"] for number in range(count)]
        entrances = [(machine.address, GARSON) for machine in chosen]
        url = self.database.url if self.database else None
        self.nodes = Nodes(program, chosen, self.client, work, entrances, url)
        if self.database is None:
            self.nodes.data = lambda machine: work / "disk" / f"data-{machine.name}"
        # When a cause was gone, so that orders are accepted again.
        self.healed = []
        # What is told of the fault beside the table.
        self.notes = []

    @property
    def node(self):
        return self.nodes.machines[0]

    def start(self):
        for machine in self.nodes.machines:
            shutil.rmtree(self.nodes.data(machine), ignore_errors=True)
        self.disk.fresh()
        if self.database:
            self.database.create()
            self.database.start()
        self.nodes.start_all()
        self.nodes.create_account()

    def stop(self):
        """Ends everything in order, and recomputes every derived value. Returns those that are wrong."""
        for machine in self.nodes.machines:
            machine.stop("garson", 60)
            machine.kill_all()
        database = self.database.superuser_url if self.database else self.nodes.data(self.node) / "garson.db"
        checked = subprocess.run(self.client.command([self.checker, database]), capture_output=True, text=True, check=False)
        if checked.returncode not in (0, 1):
            raise Failed(f"the derived values cannot be recomputed: {checked.stderr[:2000]}")
        if self.database:
            self.database.stop()
        self.disk.unmount()
        return checked.stdout.splitlines()

    def start_node(self, machine=None, **more):
        machine = machine or self.node
        self.nodes.start(machine, **more)
        self.nodes.await_ready(machine)

    def times(self, full, quick):
        """How often, in the whole run or in the short one."""
        return quick if self.quick else full

    def acknowledged(self):
        """The numbers of the orders that are acknowledged by now."""
        self.ledger.read()
        return set(self.ledger.acknowledged)

    def delays(self, since=0):
        """Median and 99th percentile of the time from a request to the arrival of its event, in ms."""
        self.ledger.read()
        found = sorted(delay for at, delay in self.ledger.delays() if at >= since)
        if not found:
            raise Failed("nothing was delivered")
        return [round(found[int(len(found) * share)] * 1000, 1) for share in (0.5, 0.99)]

    def through_relay(self, *options):
        """From now on, the node reaches the database through relay.py, which is on the node's machine."""
        address = "127.0.0.1"
        self.node.start("relay", ["python3", PARTS / "relay.py", address, PORT, self.database.machine.address, PORT, *options])
        self.node.stop("garson")
        url = self.database.url.replace(self.database.machine.address, address)
        self.start_node(variables={"GARSON_DATABASE_URL": url})

    def wait(self, seconds, quick_seconds=None):
        time.sleep(quick_seconds if self.quick and quick_seconds is not None else seconds)

    def heal(self):
        self.healed.append(time.time())

    def is_complete(self):
        return (not self.database or self.database.is_ready()) and self.nodes.all_ready()

    def await_complete(self):
        wait_until("everything works again", self.is_complete, 120, 0.1)

    def await_not_ready(self):
        wait_until("the node reports that it is not ready", lambda: not self.nodes.is_ready(self.node), 60, 0.1)

    def end_all(self):
        """All processes of the nodes and of the database are gone at once, and write nothing more."""
        for machine in self.nodes.machines:
            machine.kill_all()
        if self.database:
            self.database.kill()

    def abandon(self):
        """Ends everything at once."""
        self.end_all()
        for machine in self.nodes.machines:
            machine.reconnect()
        self.spare.kill_all()
        self.platforms.kill_all()
        for role in list(self.client.started):
            self.client.kill(role)
        self.disk.unmount()

    def start_again(self):
        if self.database:
            self.database.start()
        self.nodes.start_all()
