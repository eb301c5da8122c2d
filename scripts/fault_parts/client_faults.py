"""What clients do to a node."""

import contextlib
import json
import pathlib
import subprocess

from fault import BOTH, SQLITE, fault
from machines import Failed
from nodes import GARSON

PARTS = pathlib.Path(__file__).parent


def strangers(world, kind, count, seconds):
    """Starts strangers.py, waits for its end, and notes what it has seen."""
    command = ["python3", PARTS / "strangers.py", kind, count, seconds, world.node.address, GARSON]
    # Its own deadline, in case that it hangs.
    ran = subprocess.run(
        world.client.command(command),
        capture_output=True, text=True, check=False, timeout=seconds + 60,
    )  # fmt: skip
    if ran.returncode != 0:
        raise Failed(f"strangers: {ran.stderr}")
    seen = ", ".join(f"{what} {number}" for what, number in sorted(json.loads(ran.stdout).items()))
    world.notes.append(f"{kind}: {count} connections for {seconds} s: {seen}")
    if world.node.started["garson"].poll() is not None:
        raise Failed(f"Garson ended because of {kind} clients")


@fault(BOTH, quick=True)
def silent_clients(world):
    """10,000 connections (3,000 in the short run) on which nothing is sent, opened again when they are cut."""
    strangers(world, "silent", world.times(10_000, 3_000), world.times(30, 8))
    world.heal()


@fault((SQLITE,))
def half_requests(world):
    """10,000 connections with the beginning of a request, or of HTTP/2."""
    for kind in ("half-head", "half-http2"):
        strangers(world, kind, 10_000, 20)
    world.heal()


@fault((SQLITE,))
def slow_clients(world):
    """10,000 connections on which a byte is sent each second, of the head or of the body, and 1,000 that read no answers."""
    for kind, count in (("slow-head", 10_000), ("slow-body", 10_000), ("slow-reader", 1_000)):
        strangers(world, kind, count, 20)
    world.heal()


@fault(BOTH, quick=True)
def odd_orders(world):
    """Orders with some bytes replaced, as fast as 20 connections can send them."""
    strangers(world, "odd", 20, world.times(60, 8))
    world.heal()


@fault(BOTH)
def large_bodies(world):
    """200 connections send bodies of 8 MB."""
    strangers(world, "large", 200, 20)
    world.heal()


@fault(BOTH)
def overload(world):
    """Five times as many orders as the node can take, for 30 s. The node has a tenth of a core, so that the senders have enough."""
    with a_tenth_of_a_core(world.node.started["garson"].pid):
        capacity = load(world, 0, 10)
        rate = capacity["answers"]["200"] / 10
        beside = load(world, 5 * rate, 30)
    world.notes.append(
        f"capacity {rate:.0f} orders a second, accepted in {described(capacity)}; at five times as many: {described(beside)}"
    )
    world.heal()


@contextlib.contextmanager
def a_tenth_of_a_core(pid):
    """Limits a process by a control group, of the first or the second version."""
    old, new = pathlib.Path("/sys/fs/cgroup/cpu"), pathlib.Path("/sys/fs/cgroup")
    root = old if old.is_dir() else new
    group = root / f"garson-faults-{pid}"
    if root is new:
        (root / "cgroup.subtree_control").write_text("+cpu")
    group.mkdir()
    try:
        if root is old:
            (group / "cpu.cfs_period_us").write_text("20000")
            (group / "cpu.cfs_quota_us").write_text("2000")
        else:
            (group / "cpu.max").write_text("2000 20000")
        (group / "cgroup.procs").write_text(str(pid))
        yield
    finally:
        (root / "cgroup.procs").write_text(str(pid))
        group.rmdir()


def load(world, rate, seconds):
    command = ["python3", PARTS / "overload.py", world.node.address, GARSON, rate, seconds]
    ran = subprocess.run(world.client.command(command), capture_output=True, text=True, check=False, timeout=seconds + 60)
    if ran.returncode != 0:
        raise Failed(f"overload: {ran.stderr}")
    return json.loads(ran.stdout)


def described(report):
    answers = ", ".join(f"{what} {number}" for what, number in sorted(report["answers"].items()))
    return f"median {report['median'] * 1000:.0f} ms, p99 {report['p99'] * 1000:.0f} ms ({answers})"
