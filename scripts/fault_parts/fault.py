"""How a fault is declared."""

import dataclasses
import typing

SQLITE, POSTGRES, THREE = ("sqlite", 1), ("postgres", 1), ("postgres", 3)
BOTH = (SQLITE, POSTGRES)

FAULTS = {}


@dataclasses.dataclass
class Fault:
    # Returns when the cause is gone.
    cause: typing.Callable
    setups: tuple
    # Is it part of the short run?
    is_quick: bool
    # Does it show that the test notices a loss?
    is_control: bool
    __doc__: str


def fault(setups=BOTH, quick=False, control=False):
    def declare(function):
        name = function.__name__.replace("_", "-")
        FAULTS[name] = Fault(function, setups, quick, control, function.__doc__)
        return function

    return declare
