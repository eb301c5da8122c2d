"""What happens to the processes of Garson."""

import pathlib
import resource
import signal

from client_faults import strangers
from fault import BOTH, POSTGRES, SQLITE, THREE, fault

# A node that sends no heartbeat for longer than this is taken for dead, and a lease of work ends.
LEASE = 15


@fault((SQLITE, POSTGRES, THREE), quick=True)
def none(world):
    """Nothing happens, for comparison."""
    world.wait(20, 5)


@fault((SQLITE, POSTGRES, THREE), quick=True)
def killed(world):
    """kill -9 of a node at random moments, 1,000 times (100 in the short run), also during its start."""
    count = world.times(1000, 100)
    if len(world.nodes.machines) > 1:
        # The others go on meanwhile, so that a part is enough.
        count //= 5
    for _ in range(count):
        machine = world.random.choice(world.nodes.machines)
        world.wait(world.random.uniform(0, 0.4))
        machine.kill("garson")
        world.nodes.start(machine)
        if world.random.random() < 0.1:
            # Perhaps it has only begun to open the database.
            world.wait(world.random.uniform(0, 0.05))
            machine.kill("garson")
            world.nodes.start(machine)
        world.nodes.await_ready(machine)
        world.heal()
    world.notes.append(f"killed {count} times")


@fault((SQLITE, POSTGRES, THREE))
def stopped(world):
    """SIGTERM and a new start, 20 times."""
    for _ in range(20):
        machine = world.random.choice(world.nodes.machines)
        machine.stop("garson")
        world.start_node(machine)
        world.heal()
        world.wait(0.5)


@fault((SQLITE, POSTGRES, THREE), quick=True)
def frozen(world):
    """A node stands still for 30 s (SIGSTOP), which is longer than its leases, and goes on as if nothing had been."""
    process = world.node.started["garson"]
    process.send_signal(signal.SIGSTOP)
    world.wait(30, LEASE + 2)
    process.send_signal(signal.SIGCONT)
    world.heal()
    world.wait(5)


@fault(BOTH)
def descriptors_exhausted(world):
    """A node may open 256 files only, and strangers hold 1,000 connections to it for 15 s."""
    world.node.stop("garson")
    world.start_node(wrapper=["prlimit", "--nofile=256:256"])
    strangers(world, "silent", 1000, 15)
    world.heal()
    world.wait(5)


@fault(BOTH)
def memory_exhausted(world):
    """A node may take 64 MB more address space than it has at rest, and 400 connections hold a body of 1 MB each, for 20 s."""
    pid = world.node.started["garson"].pid
    pages = int(pathlib.Path(f"/proc/{pid}/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + (64 << 20)
    resource.prlimit(pid, resource.RLIMIT_AS, (limit, limit))
    strangers(world, "held-body", 400, 20)
    world.heal()
    world.wait(5)


@fault(BOTH)
def clock_stepped(world):
    """The clock of the node is 3 hours ahead for 10 s, then right, then 3 days behind for 10 s, then right."""
    clock = world.nodes.work / "clock"
    clock.write_text("+0")
    world.node.stop("garson")
    world.start_node(
        variables={
            "LD_PRELOAD": str(faketime()),
            "FAKETIME_TIMESTAMP_FILE": str(clock),
            "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        }
    )
    for shift in ("+3h", "+0", "-3d", "+0"):
        clock.write_text(shift)
        world.heal()
        world.wait(10)


def faketime():
    """The library that changes the clock of one program."""
    return next(pathlib.Path("/usr/lib").glob("*/faketime/libfaketime.so.1"))
