"""Restores a backup beside the running service and asks a node for its orders."""

import shutil

from checks import listed_orders
from nodes import GARSON, Nodes


def orders_of_backup(world, path):
    """The numbers of the orders in a backup."""
    machine, url = world.spare, None
    if world.database:
        url = world.database.url.replace("/garson?", "/restored?")
        world.database.sql("CREATE DATABASE restored OWNER garson ENCODING 'UTF8' TEMPLATE template0", "postgres")
    restored = Nodes(world.nodes.program, [machine], world.client, world.nodes.work, [(machine.address, GARSON)], url)
    restored.master_key, restored.key = world.nodes.master_key, world.nodes.key
    # Its deliveries would be repetitions.
    restored.more = {"GARSON_ALLOW_TARGETS": ""}
    restored.run(machine, "restore", path)
    restored.start_all()
    found = listed_orders(restored).keys()
    machine.stop("garson")
    if world.database:
        world.database.sql("DROP DATABASE restored", "postgres")
    shutil.rmtree(restored.data(machine))
    return found
