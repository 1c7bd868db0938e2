"""How a folder is doing, from what is recorded of it: nothing is measured for it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from fluid_build.evolution.deployments import Deployment, finished, unfinished
from fluid_build.monitoring.figures import SourceFigures
from fluid_build.monitoring.history import Night


@dataclass(frozen=True, slots=True)
class Status:
    """How a folder is doing.

    ``deployed`` is the last deployment that ended well, and ``unfinished`` a later one that didn't.
    ``night`` is the last one that is recorded, and ``known`` how many are. ``newest`` is the latest
    date of the source then.
    """

    deployed: Deployment | None
    unfinished: Deployment | None
    night: Night | None
    known: int
    newest: datetime | None = None

    @property
    def is_fine(self) -> bool:
        """Whether it's deployed, nothing failed, and nothing is unusual or to be decided."""
        return self.deployed is not None and not list(self.troubles)

    @property
    def troubles(self) -> Iterator[str]:
        """What is off, in sentences."""
        night = self.night
        if self.unfinished is not None:
            why = f": {self.unfinished.reason}" if self.unfinished.reason else "."
            yield f"Deployment {self.unfinished.number} didn't end well{why}"
        if night is None:
            return
        if night.has_failed and night.applied is not None:
            yield from night.applied.told
        elif night.planned is not None and night.planned.outcome == "needs_decision":
            yield from night.planned.told
        yield from map(str, night.alarms)


def status_of(deployments: Sequence[Deployment], night: Night | None, known: int) -> Status:
    """Return how a folder is doing, by its deployments, its last night, and how many are known."""
    return Status(
        deployed=next(reversed(finished(deployments)), None),
        unfinished=unfinished(deployments),
        night=night,
        known=known,
        newest=None if night is None or night.figures is None else _newest(night.figures),
    )


def _newest(figures: SourceFigures) -> datetime | None:
    dates = [table.newest for table in figures.tables.values() if table.newest is not None]
    return max(dates, default=None)
