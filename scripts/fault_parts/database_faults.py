"""What happens to PostgreSQL, and on the way to it."""

import signal

from backups import orders_of_backup
from fault import BOTH, POSTGRES, THREE, fault
from machines import Failed

POSTGRES_ONLY = (POSTGRES, THREE)


@fault(POSTGRES_ONLY, quick=True)
def postgres_restarted(world):
    """PostgreSQL is restarted at once without a shutdown, 5 times."""
    for _ in range(world.times(5, 2)):
        world.database.stop(signal.SIGQUIT)
        world.database.start()
        world.heal()
        world.wait(3)


@fault(POSTGRES_ONLY)
def postgres_away(world):
    """PostgreSQL is away for 30 s."""
    world.database.stop()
    world.await_not_ready()
    world.wait(30)
    world.database.start()
    world.heal()
    world.wait(5)


@fault(POSTGRES_ONLY, quick=True)
def connections_terminated(world):
    """All connections to the database are terminated, 150 times (20 in the short run)."""
    for _ in range(world.times(150, 20)):
        world.database.sql(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = 'garson' AND pid <> pg_backend_pid()"
        )
        world.wait(world.random.uniform(0, 0.4))
    world.heal()


@fault(POSTGRES_ONLY)
def postgres_frozen(world):
    """All processes of PostgreSQL stand still for 30 s."""
    world.database.machine.freeze()
    world.await_not_ready()
    world.wait(30)
    world.database.machine.thaw()
    world.heal()
    world.wait(5)


@fault(POSTGRES_ONLY)
def postgres_read_only(world):
    """The database accepts no writes for 15 s, as a standby does."""
    world.database.sql("ALTER DATABASE garson SET default_transaction_read_only = on", "postgres")
    terminate = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE usename = 'garson'"
    world.database.sql(terminate, "postgres")
    world.wait(15)
    world.database.sql("ALTER DATABASE garson RESET default_transaction_read_only", "postgres")
    world.database.sql(terminate, "postgres")
    world.heal()
    world.wait(5)


@fault(POSTGRES_ONLY, quick=True)
def database_cut_off(world):
    """The network between a node and the database drops all packets for 30 s (12 s in the short run); no side is told."""
    world.node.cut_off([world.database.machine])
    world.await_not_ready()
    world.wait(30, 12)
    world.node.reconnect()
    world.heal()
    world.wait(5)


@fault((POSTGRES,), quick=True)
def answers_lost(world):
    """Connections break right before the answer to a COMMIT arrives, 1 of 10 times, for 60 s (10 s in the short run)."""
    world.through_relay("--lose-commits", "0.1")
    world.wait(60, 10)
    world.node.stop("garson")
    world.start_node()
    world.heal()


@fault((POSTGRES,))
def database_delayed(world):
    """Everything between the node and the database takes 20 to 80 ms longer in each direction, for 30 s."""
    world.through_relay("--delay", "20", "80")
    world.wait(30)
    world.node.stop("garson")
    world.start_node()
    world.heal()


@fault(BOTH)
def backups(world):
    """5 backups under load; each is restored, and has all orders that were acknowledged before it began."""
    for number in range(5):
        acknowledged = world.acknowledged()
        path = world.nodes.work / f"backup-{number}"
        world.nodes.run(world.node, "backup", path)
        lost = acknowledged - orders_of_backup(world, path)
        path.unlink()
        if lost:
            raise Failed(f"{len(lost)} acknowledged orders are not in a backup that was begun later: {sorted(lost)[:5]}")
        world.notes.append(f"backup {number + 1} has all of {len(acknowledged)} orders")
    world.heal()
