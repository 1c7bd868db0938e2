"""Progress: how long work reports how far it is."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Progress:
    """One report: the stage of the work, and how many of its ``total`` units are ``done``.

    ``part`` is how much of the next unit is done as well, from 0 to 1.
    """

    stage: str
    done: int
    total: int
    detail: str = ""
    part: float = 0.0


_STAGES = {
    "reading": "Reading tables",
    "columns": "Measuring columns",
    "keys": "Finding keys",
    "relations": "Finding relationships",
    "observations": "Looking at how rows behave",
    "asking": "Waiting for the language model",
    "model": "Modeling",
    "contract": "Writing the contract",
    "build": "Building the model",
    "prove": "Comparing it with the source",
    "held": "Counting what the warehouse holds",
    "migrate": "Migrating the warehouse",
    "dbt": "Running dbt",
    "kept": "Looking for every earlier row",
    "record": "Recording the deployment",
    "project": "Writing the dbt project",
    "write": "Writing files",
}

OnProgress: TypeAlias = Callable[[Progress], None]


class StoppedError(Exception):
    """Raised by an ``OnProgress`` to stop the work that reports to it."""


def stage_label(report: Progress) -> str:
    """Return what the work is doing, in words."""
    return _STAGES.get(report.stage, report.stage.capitalize())


def ignore(_: Progress) -> None:
    """Report to nobody."""
