"""The upgrade on each engine. Both return a row of the table, and what is wrong."""

import time

from lock_watch import LockWatch, described
from machines import Failed, wait_until
from requests_log import Answers

# The promise, in ms.
LIMIT = 100


def on_sqlite(world):
    """The service is restarted as its next version, which then fills the column beside the orders."""
    world.fill()
    (node,) = world.machines
    world.start_senders()
    before, _ = world.baseline()
    node.stop("garson", 60)
    ordinary = world.nodes.start_timed(node)
    world.await_answers()

    node.stop("garson", 60)
    upgrade = world.start_next(node)
    began = time.time()
    world.say(f"start: {ordinary:.2f} s, of the next version {upgrade:.2f} s")
    killed = world.kill_while_filling(node)
    again = world.start_next(node)
    began_again = time.time()
    world.check_resumed()
    world.control()
    world.say(f"start after the kill: {again:.2f} s")
    world.notes.append(f"start after the kill: {again:.2f} s")
    world.await_progress("a pass is complete", lambda: world.fill_step().passes or world.fill_step().is_done)
    # This program does not write the new column, whatever version it plays. As long as orders come, a pass finds some.
    world.command("accept-only")
    world.await_progress("the column is filled", lambda: world.fill_step().is_done)
    ended = time.time()
    during = Answers(world.log, (began, killed), (began_again, ended))

    node.stop("garson", 60)
    contract = world.start_next(node)
    world.notes.append(f"start with the contract migration: {contract:.2f} s")
    world.await_answers()
    world.show_progress()
    world.stop_senders()
    return row(world, before, during, None, ordinary, upgrade, ended - began), world.compare()


def on_postgres(world):
    """A node of this version serves while one of the next version starts and migrates. Then the first one leaves."""
    world.fill()
    old, new = world.machines
    watch = LockWatch(world.database.url, world.tools.log("psql"))
    try:
        world.start_senders()
        before, calm = world.baseline()
        ordinary = world.nodes.start_timed(new)
        new.stop("garson", 60)
        world.await_answers()

        began = time.time()
        upgrade = migrate(world, old, new)
        ended = time.time()
        world.stop_senders()
        watch.stop()
    finally:
        watch.is_over.set()
    during = Answers(world.log, (began, ended))
    waits, own, blind = watch.between(began, ended)
    calm_waits, _, _ = watch.between(*calm)
    world.notes.append(f"longest wait for a lock without a migration: {longest(calm_waits):.0f} ms")
    world.notes.append(f"longest wait for a lock of the migration itself: {described(own[0]) if own else 'none'}")
    world.notes.append(f"longest time between two looks at the locks: {blind:.0f} ms")
    world.notes += [f"wait for a lock: {described(wait)}" for wait in waits[:3]]
    failures = world.compare()
    if longest(waits) > LIMIT:
        failures.append(f"a wait for a lock: {described(waits[0])}")
    return row(world, before, during, longest(waits), ordinary, upgrade, ended - began), failures


def migrate(world, old, new):
    """Returns the seconds of the start of the next version."""
    upgrade = world.start_next(new)
    world.say(f"the next version is ready after {upgrade:.2f} s")
    kill_while_indexing(world, new)
    # Like a load balancer, once the node is ready.
    world.send_to(old, new)
    world.kill_while_filling(new)
    world.send_to(old)
    again = world.start_next(new)
    world.check_resumed()
    world.notes.append(f"start after the kill: {again:.2f} s")
    world.send_to(old, new)
    world.control()
    world.await_progress("a pass is complete", lambda: world.fill_step().is_between and world.fill_step().passes)
    if world.fill_step().is_done or world.database.is_contracted():
        raise Failed("the migration was completed beside a node of the earlier version")

    world.send_to(new)
    world.await_answers()
    old.stop("garson", 60)
    world.say("the node of the earlier version has left")
    passes = world.fill_step().passes
    world.await_progress("one more pass is complete", lambda: world.fill_step().passes > passes or world.fill_step().is_done)
    # This program does not write the new column, whatever version it plays. As long as orders come, a pass finds some.
    world.command("accept-only")
    world.await_progress("the migration is complete", lambda: world.fill_step().is_done and world.database.is_contracted())
    return upgrade


def kill_while_indexing(world, node):
    """Leaves an unfinished index behind, if it can be caught."""

    def is_found():
        found = world.database.steps()
        return bool(found and found[0].is_done) or world.database.is_making_index()

    wait_until("the index is made", is_found, world.patience, 0.002)
    if world.database.steps()[0].is_done:
        world.notes.append("the index was complete before the process could be killed")
        return
    node.kill("garson")
    world.notes.append("killed while the index was made")
    world.say(world.notes[-1])
    world.start_next(node)


def longest(waits):
    return max((wait["ms"] for wait in waits), default=0.0)


def row(world, before, during, lock, ordinary, upgrade, steps):
    world.notes.append(
        f"{before.count} answers before, 99 % within {before.percentile99:.1f} ms; "
        f"{during.count} during, 99 % within {during.percentile99:.1f} ms"
    )
    world.notes.append(f"the senders were late by themselves by up to {before.late:.0f} ms before, {during.late:.0f} ms during")
    return {
        "engine": world.engine,
        "orders": world.orders,
        "before": round(before.longest, 1),
        "during": round(during.longest, 1),
        "lock": None if lock is None else round(lock),
        "ordinary": round(ordinary, 2),
        "upgrade": round(upgrade, 2),
        "steps": round(steps, 1),
    }


UPGRADES = {"sqlite": on_sqlite, "postgres": on_postgres}
