"""The machines of the test: network namespaces in which programs are started, killed, frozen and cut off."""

import os
import pathlib
import signal
import subprocess
import time


class Failed(Exception):
    """The test cannot go on, or has found something wrong."""


def wait_until(what, condition, seconds=60, pause=0.2):
    """Waits until a condition holds; returns what it has returned."""
    deadline = time.monotonic() + seconds
    while True:
        found = condition()
        if found:
            return found
        if time.monotonic() > deadline:
            raise Failed(f"after {seconds} seconds still not: {what}")
        time.sleep(pause)


class Machine:
    def __init__(self, name, address, work, prefix):
        self.name, self.address, self.work = name, address, work
        self.namespace = f"{prefix}-{name}"
        self.started = {}

    def command(self, arguments, user=None):
        """A command line that runs in the namespace, as another user if one is given."""
        enter = ["nsenter", f"--net=/run/netns/{self.namespace}"]
        if user:
            enter += ["setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups"]
        return [*enter, *map(str, arguments)]

    def start(self, role, arguments, user=None, variables=None):
        """Starts a program in the background. Its output is appended to a log."""
        environment = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "HOME": "/nonexistent", **(variables or {})}
        with open(self.log(role), "ab") as log:
            self.started[role] = subprocess.Popen(
                self.command(arguments, user), stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment, cwd="/"
            )
        return self.started[role]

    def log(self, role):
        return self.work / "logs" / f"{self.name}-{role}.log"

    def stop(self, role, seconds=30):
        process = self.started.pop(role)
        process.send_signal(signal.SIGTERM)
        try:
            return process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise Failed(f"{role} on {self.name} did not end within {seconds} seconds of SIGTERM") from None

    def kill(self, role):
        process = self.started.pop(role)
        process.kill()
        process.wait()

    def processes(self):
        found = subprocess.run(["ip", "netns", "pids", self.namespace], capture_output=True, text=True, check=True)
        return [int(pid) for pid in found.stdout.split()]

    def signal_all(self, number):
        for pid in self.processes():
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                pass

    def kill_all(self):
        """As if the power had failed, except that what was written stays written."""

        def none_left():
            self.signal_all(signal.SIGKILL)
            for process in self.started.values():
                process.poll()
            return not self.processes()

        wait_until(f"no process is left on {self.name}", none_left, pause=0.05)
        self.started.clear()

    def freeze(self):
        self.signal_all(signal.SIGSTOP)

    def thaw(self):
        self.signal_all(signal.SIGCONT)

    def cut_off(self, others=()):
        """Drops all packets, or only those from and to other machines. No side is told."""
        if others:
            addresses = ", ".join(other.address for other in others)
            rules = [f"ip saddr {{ {addresses} }} drop", f"ip daddr {{ {addresses} }} drop"]
        else:
            rules = ["iifname != lo drop", "oifname != lo drop"]
        incoming, outgoing = rules
        self.nft(
            "table inet fault {\n"
            f"chain incoming {{ type filter hook input priority 0; {incoming}; }}\n"
            f"chain outgoing {{ type filter hook output priority 0; {outgoing}; }}\n"
            "}\n"
        )

    def reconnect(self):
        """Also if it is not cut off."""
        self.nft("add table inet fault; delete table inet fault")

    def nft(self, text):
        subprocess.run(self.command(["nft", "--file", "-"]), input=text, text=True, check=True)


def read_machines(work, prefix):
    lines = (pathlib.Path(work) / "machines").read_text().splitlines()
    return {name: Machine(name, address, work, prefix) for name, address in map(str.split, lines)}
