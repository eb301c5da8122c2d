"""What happens to the disk of the database."""

import pathlib
import subprocess

from fault import BOTH, fault
from machines import Failed

PARTS = pathlib.Path(__file__).parent


@fault(BOTH, quick=True)
def power_loss(world):
    """The power of the machine fails, 30 times (5 in the short run): unsynced writes are gone, except for random pages of them."""
    count = world.times(30, 5)
    for _ in range(count):
        world.wait(world.random.uniform(0.3, 2.5))
        world.disk.cut_power()
        world.end_all()
        world.disk.power_up()
        world.start_again()
        world.heal()
    world.notes.append(f"{count} power failures")


@fault(BOTH, control=True)
def power_loss_control(world):
    """The same with a disk that ignores syncs. Orders must be lost, or this test notices nothing."""
    restart(world, changed_syncs(world, "SYNC_NOTHING", "1"))
    world.wait(8)
    world.disk.cut_power()
    world.end_all()
    world.disk.power_up()
    world.start_again()
    world.heal()


@fault(BOTH, quick=True)
def disk_full(world):
    """The disk has no room for 20 s."""
    filler = world.disk.fill()
    world.await_not_ready()
    world.wait(20, 8)
    filler.unlink()
    world.heal()
    if world.database and not world.database.is_ready():
        # PostgreSQL ends if it cannot write its log.
        world.notes.append("PostgreSQL ended, and was started again")
        world.database.kill()
        world.database.start()
    world.wait(5)


@fault(BOTH)
def disk_read_only(world):
    """The file system finds an error and makes itself read-only. After 15 s it is repaired, and everything started again."""
    world.disk.break_down()
    world.await_not_ready()
    world.wait(15)
    world.end_all()
    world.disk.repair()
    world.start_again()
    world.heal()


@fault(BOTH)
def disk_slow(world):
    """Every sync takes 100 ms longer, for 20 s."""
    restart(world, changed_syncs(world, "SYNC_DELAY_MS", "100"))
    world.wait(20)
    restart(world, {})
    world.heal()


def restart(world, variables):
    world.node.stop("garson")
    if world.database:
        world.database.stop()
        world.database.start(variables=variables)
    world.start_node(variables=variables)


def changed_syncs(world, name, value):
    """Variables with which a program syncs as syncs.c says."""
    library = world.nodes.work / "syncs.so"
    ran = subprocess.run(
        ["gcc", "-shared", "-fPIC", "-O1", "-o", str(library), str(PARTS / "syncs.c"), "-ldl"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if ran.returncode != 0:
        raise Failed(f"syncs.c: {ran.stderr}")
    library.chmod(0o755)
    return {"LD_PRELOAD": str(library), name: value}
