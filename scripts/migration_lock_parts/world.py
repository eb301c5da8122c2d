"""What is measured: nodes with a filled database, and senders of orders."""

import pathlib
import shutil
import subprocess
import sys
import time

from databases import PostgresDatabase, Sqlite
from local_nodes import NEXT_VERSION, LocalMachine, LocalNodes
from machines import Failed, wait_until
from requests_log import Answers, RequestsLog

PARTS = pathlib.Path(__file__).parent
# Seconds of orders without a migration.
BASELINE = 20
# Seconds between two questions for the progress.
REPORTED = 2
# Of the rows, when the migrating process is killed.
KILLED_AT = 0.3
# Seconds for which a lock is held with --control.
CONTROL = 0.4


class World:
    def __init__(self, given, engine):
        self.engine, self.orders, self.is_control = engine, given.orders, given.control
        self.work = given.work / engine
        self.work.mkdir()
        (self.work / "logs").symlink_to(given.work / "logs")
        names = ["node"] if engine == "sqlite" else ["node-old", "node-new"]
        self.machines = [LocalMachine(f"{engine}-{name}", self.work) for name in names]
        self.tools = LocalMachine(f"{engine}-tools", self.work)
        self.notes, self.shown, self.progress_lines = [], None, 0
        # The step of the migration as it was when its process was killed.
        self.killed_at = None
        self.senders = self.log = self.database = None
        url = None
        if engine == "postgres":
            self.database = PostgresDatabase(given.work / "server", self.tools.log("psql"))
            url = self.database.url
        self.nodes = LocalNodes(given.garson, self.machines, self.work, url)
        self.database = self.database or Sqlite(self.nodes)
        # The migration has this long for each of its parts.
        self.patience = 120 + given.orders / 500

    def end(self):
        for machine in [self.tools, *self.machines]:
            machine.end()
        if self.database:
            self.database.close()
        shutil.rmtree(self.work, ignore_errors=True)

    def say(self, text):
        print(f"  {text}", flush=True)

    def fill(self):
        first = self.machines[0]
        self.nodes.start_timed(first)
        self.nodes.create_account()
        began = time.monotonic()
        filled = self.work / "filled"
        # Its output is the progress.
        command = list(map(str, [sys.executable, PARTS / "fill.py", first.port, self.orders, filled]))
        filling = self.tools.started["fill"] = subprocess.Popen(command)
        if filling.wait(600 + self.orders / 100) != 0:
            raise Failed("the database could not be filled")
        self.tools.started.pop("fill")
        first.stop("garson", 60)
        self.database.settle()
        self.say(f"{self.orders} orders after {time.monotonic() - began:.0f} s")
        self.nodes.start_timed(first)

    def start_senders(self):
        requests = self.work / "requests.jsonl"
        command = [sys.executable, PARTS / "senders.py", self.nodes.account, self.work / "filled", requests]
        requests.touch()
        self.log = RequestsLog(requests)
        with open(self.tools.log("senders"), "ab") as log:
            self.senders = self.tools.started["senders"] = subprocess.Popen(
                list(map(str, command)), stdin=subprocess.PIPE, stdout=log, stderr=log, text=True
            )
        self.send_to(self.machines[0])

    def command(self, line):
        self.senders.stdin.write(line + "\n")
        self.senders.stdin.flush()

    def send_to(self, *machines):
        """From now on, these get the requests."""
        self.command("to " + ",".join(str(machine.port) for machine in machines))

    def await_answers(self):
        """Waits until requests that were begun after this moment are answered."""
        now = time.time()
        wait_until("requests are answered", lambda: self.log.has_answer_since(now), 60, 0.02)

    def stop_senders(self):
        self.command("stop")
        if self.senders.wait(60) != 0:
            raise Failed(f"the senders failed: {self.tools.log('senders').read_text()[-2000:]}")
        self.tools.started.pop("senders")

    def baseline(self):
        """How long answers take without a migration; returns the time of the measurement too."""
        self.await_answers()
        began = time.time()
        time.sleep(BASELINE)
        window = began, time.time()
        answers = Answers(self.log, window)
        self.say(f"without a migration: {answers.count} answers, the longest {answers.longest:.1f} ms")
        return answers, window

    def start_next(self, machine):
        return self.nodes.start_timed(machine, NEXT_VERSION)

    def show_progress(self):
        """What `migrate --check` says, if it has changed, and what the database says."""
        lines = self.nodes.check()
        self.progress_lines += sum(line.startswith("in progress") for line in lines)
        found = [line for line in lines if line.startswith(("pending", "in progress", "Nothing"))]
        for step in self.database.steps():
            found.append("done" if step.is_done else f"{step.visited} rows of pass {step.passes + 1}")
        text = " | ".join(found)
        if text != self.shown:
            self.shown = text
            self.say(text)

    def await_progress(self, what, condition):
        """Waits for a state of the migration, and shows how far it is."""
        shown = 0.0

        def holds():
            nonlocal shown
            if self.senders.poll() is not None:
                raise Failed(f"the senders ended: {self.tools.log('senders').read_text()[-2000:]}")
            if time.monotonic() - shown > REPORTED:
                self.show_progress()
                shown = time.monotonic()
            return condition()

        wait_until(what, holds, self.patience, 0.05)
        self.show_progress()

    def control(self):
        """If it is wanted, makes all clients wait, which must be noticed."""
        if self.is_control:
            self.say(f"a lock is held for {CONTROL * 1000:.0f} ms")
            self.database.hold_lock(CONTROL)
            self.await_answers()

    def fill_step(self):
        return self.database.steps()[1]

    def kill_while_filling(self, machine):
        """Kills the process in the middle of the filling; returns when that was."""

        def is_in_the_middle():
            found = self.database.steps()
            if len(found) < 2:
                return False
            filling = found[1]
            return filling.is_done or filling.passes or filling.visited > self.orders * KILLED_AT

        wait_until("rows are filled", is_in_the_middle, self.patience, 0.005)
        step = self.fill_step()
        if step.is_done:
            raise Failed("all rows were filled before the process could be killed: use more --orders")
        machine.kill("garson")
        killed = time.time()
        self.notes.append(f"killed at {step.visited} rows of pass {step.passes + 1}")
        self.say(self.notes[-1])
        self.killed_at = step
        return killed

    def check_resumed(self):
        """The first pass after the kill must not begin at its start again."""
        step, before = self.fill_step(), self.killed_at
        if not step.is_done and (step.passes, step.visited) < (before.passes, before.visited):
            raise Failed(f"the filling began again: {step} after {before}")

    def compare(self):
        """What is wrong at the end."""
        failures = []
        if "Nothing is left to do." not in self.nodes.check():
            failures.append(f"`migrate --check` says: {self.nodes.check()}")
        if not self.progress_lines:
            self.notes.append("`migrate --check` has shown no progress of the steps")
        if not self.database.has_index():
            failures.append("the index is missing")
        if wrong := self.database.wrong_columns():
            failures.append(f"{wrong} rows are not filled")
        with open(self.work / "filled") as file:
            acknowledged = {line.split()[0] for line in file} | self.log.acknowledged().keys()
        if lost := acknowledged - self.database.numbers():
            failures.append(f"{len(lost)} acknowledged orders are missing: {sorted(lost)[:5]}")
        self.say(f"{len(acknowledged)} acknowledged orders, {len(lost)} missing")
        if refused := self.log.refused():
            failures.append(f"{len(refused)} requests were refused: {refused[:3]}")
        return failures
