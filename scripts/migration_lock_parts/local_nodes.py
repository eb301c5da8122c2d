"""Nodes of Garson on the loopback interface, each at a port of its own."""

import json
import random
import socket
import time

from http_client import ask_once
from machines import Failed, Machine, wait_until
from nodes import Nodes

ADDRESS = "127.0.0.1"
# Makes the program the next version of itself.
NEXT_VERSION = {"E2E_NEXT_VERSION": "1"}
# Seconds until a node that was started has to be ready. SQLite makes indexes before.
START_SECONDS = 600


class LocalMachine(Machine):
    """A process group without a network namespace."""

    def __init__(self, name, work):
        super().__init__(name, ADDRESS, work, "")
        self.port = free_port()

    def command(self, arguments, user=None):
        return list(map(str, arguments))

    def end(self):
        for role in list(self.started):
            self.kill(role)


def free_port():
    """Below the ports of outgoing connections: one of those could take it while a node is restarted."""
    while True:
        port = random.randrange(20000, 32000)
        with socket.socket() as probe:
            try:
                probe.bind((ADDRESS, port))
            except OSError:
                continue
            return port


class LocalNodes(Nodes):
    def __init__(self, program, machines, work, url=None):
        entrances = [(ADDRESS, machine.port) for machine in machines]
        super().__init__(program, machines, machines[0], work, entrances[:1], url, {"GARSON_RATE_LIMIT": "off"})

    def variables(self, machine):
        return {**super().variables(machine), "GARSON_LISTEN": f"{ADDRESS}:{machine.port}"}

    def is_ready(self, machine):
        if machine.started["garson"].poll() is not None:
            raise Failed(f"{machine.name} ended by itself")
        return ask_once(ADDRESS, machine.port, "/readyz")[0] == 200

    def start_timed(self, machine, variables=None):
        """Returns the seconds from the start of the program until it is ready to serve."""
        began = time.monotonic()
        self.start(machine, variables=variables)
        wait_until(f"{machine.name} is ready", lambda: self.is_ready(machine), START_SECONDS, 0.005)
        return time.monotonic() - began

    def check(self):
        """What the next version says that is left to be done."""
        return self.run(self.machines[0], "migrate", "--check", variables=NEXT_VERSION).stdout.splitlines()

    def create_account(self):
        self.account.write_text(self.new_account("senders@example.com"))
        self.key = json.loads(self.account.read_text())["apiKey"]
        self.open_shop(self.key, "shop-1")
