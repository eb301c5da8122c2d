"""All faults, in the order of the report."""

# Importing a module declares its faults.
import process_faults  # isort: skip
import disk_faults  # isort: skip
import database_faults  # isort: skip
import client_faults  # isort: skip
import receiver_faults  # isort: skip
import platform_faults  # isort: skip
from fault import FAULTS

ORDER = [process_faults, disk_faults, database_faults, client_faults, receiver_faults, platform_faults]
FAULTS = dict(sorted(FAULTS.items(), key=lambda item: [one.__name__ for one in ORDER].index(item[1].cause.__module__)))
