"""The faults. Each returns when its cause is gone again; the caller then waits until everything is complete."""

import os
import signal
import time

from machines import Failed, wait_until
from services import PATRONI, TTL
from http_client import ask_once

# Seconds for which a fault lasts that is only removed by us: longer than Patroni takes to notice it.
LASTING = TTL + 15


def another_primary(services, former):
    """Waits for the promotion, and measures when Patroni reports it."""
    began = time.monotonic()
    # The former one is not asked: it might take seconds not to answer.
    wait_until(f"another primary than {former.name}", lambda: services.primary(others_than=former), 90)
    services.new_primary_after = round(time.monotonic() - began, 1)


def without_fault(services):
    """Nothing happens, for comparison."""
    time.sleep(20)


def postgres_killed(services):
    """kill -9 of PostgreSQL on the primary; Patroni is still there."""
    primary = services.primary()
    pid = int((services.work / primary.name / "postgres/data/postmaster.pid").read_text().splitlines()[0])
    os.kill(pid, signal.SIGKILL)
    time.sleep(20)


def primary_killed(services):
    """The primary's machine ends: PostgreSQL, Patroni and etcd. It is back later."""
    primary = services.primary()
    primary.kill_all()
    another_primary(services, primary)
    time.sleep(5)
    services.start_database(primary)


def primary_frozen(services):
    """All processes of the primary's machine stand still, then continue as if nothing had been."""
    primary = services.primary()
    primary.freeze()
    another_primary(services, primary)
    time.sleep(10)
    primary.thaw()


def primary_partitioned(services):
    """The primary's machine is cut off from all others."""
    primary = services.primary()
    primary.cut_off()
    another_primary(services, primary)
    time.sleep(10)
    primary.reconnect()


def primary_half_partitioned(services):
    """The primary is cut off from the other databases and etcd, but HAProxy and Garson still reach it."""
    primary = services.primary()
    primary.cut_off([one for one in services.databases if one is not primary])
    another_primary(services, primary)
    time.sleep(10)
    primary.reconnect()


def standby_partitioned(services):
    """A synchronous standby is cut off from all others."""
    standby = services.synchronous_standby()
    standby.cut_off()
    time.sleep(LASTING)
    standby.reconnect()


def switchover(services):
    """Planned: `patronictl switchover`, here over Patroni's API."""
    primary, standby = services.primary(), services.synchronous_standby()
    wanted = {"leader": primary.name, "candidate": standby.name}
    began = time.monotonic()
    status, answer = ask_once(primary.address, PATRONI, "/switchover", "POST", wanted, 60)
    if status != 200:
        raise Failed(f"the switch-over was refused: {status} {answer}")
    another_primary(services, primary)
    services.new_primary_after = round(time.monotonic() - began, 1)
    time.sleep(10)


def standby_disk_full(services):
    """The disk of a synchronous standby has no room, until somebody makes some."""
    standby = services.synchronous_standby()
    disk = services.work / standby.name
    filler = disk / "filler"
    with open(filler, "wb") as file:
        try:
            while True:
                file.write(b"\0" * (1 << 20))
                file.flush()
        except OSError:
            pass
    deadline = time.monotonic() + LASTING
    lowest = None
    # PostgreSQL may free some, such as an old segment of its log.
    while time.monotonic() < deadline:
        stat = os.statvfs(disk)
        lowest = min(stat.f_bavail * stat.f_frsize, lowest or 1 << 40)
        time.sleep(0.5)
    print(f"  free on {standby.name} at the least: {lowest >> 10} KiB", flush=True)
    filler.unlink()
    log = standby.log("patroni").read_text(errors="replace")
    if "No space left on device" not in log:
        raise Failed(f"PostgreSQL on {standby.name} has not noticed that its disk is full")


def etcd_member_lost(services):
    """The leader of etcd is killed, and back after a while."""
    machine = wait_until("etcd has a leader", services.etcd_leader)
    machine.kill("etcd")
    time.sleep(LASTING)
    services.start_etcd(machine)


def etcd_lost(services):
    """All members of etcd are killed, and back after a while."""
    for machine in services.databases:
        machine.kill("etcd")
    time.sleep(LASTING)
    for machine in services.databases:
        services.start_etcd(machine)


def haproxy_restarted(services):
    """HAProxy is stopped and started again, which breaks all connections."""
    services.proxy.stop("haproxy")
    services.start_haproxy()
    time.sleep(10)


def garson_rolling_restart(services):
    """The three nodes are stopped with SIGTERM and started again, one after the other."""
    for machine in services.nodes.machines:
        machine.stop("garson")
        services.nodes.start(machine)
        services.nodes.await_ready(machine)
        # Until HAProxy has noticed.
        time.sleep(3)


def garson_killed(services):
    """kill -9 of a node, which is back after the others have removed it."""
    machine = services.nodes.machines[0]
    machine.kill("garson")
    time.sleep(20)
    services.nodes.start(machine)


FAULTS = {
    "none": without_fault,
    "postgres-killed": postgres_killed,
    "primary-killed": primary_killed,
    "primary-frozen": primary_frozen,
    "primary-partitioned": primary_partitioned,
    "primary-half-partitioned": primary_half_partitioned,
    "switchover": switchover,
    "standby-partitioned": standby_partitioned,
    "standby-disk-full": standby_disk_full,
    "etcd-member-lost": etcd_member_lost,
    "etcd-lost": etcd_lost,
    "haproxy-restarted": haproxy_restarted,
    "garson-rolling-restart": garson_rolling_restart,
    "garson-killed": garson_killed,
}
