"""The nights of a folder, in the store of runs: a record for each day, with its figures.

A store that a team shares (``FLUID_STORE``) has one history of a warehouse, whoever looks at it and
on whichever machine.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, ValidationError, computed_field

from fluid_build.copilot.store.base import Store
from fluid_build.monitoring.alarms import Alarm, NightFigures, unusual_figures
from fluid_build.monitoring.figures import SourceFigures

KEPT_SECONDS = 400 * 86_400.0
"""A year and a month: the same month of last year can be looked at."""
COMPARED_DAYS = 70
"""Days before a night that it's compared with: what ``usual`` remembers, and a week."""
_NAMESPACE = "nights"

Outcome: TypeAlias = Literal["nothing", "changes", "needs_decision", "done", "failed"]


class Seen(BaseModel):
    """What a command said of a folder: when, how it ended, and in which words."""

    model_config = ConfigDict(frozen=True)

    moment: datetime
    outcome: Outcome
    told: tuple[str, ...] = ()


class Night(BaseModel):
    """What is known of a folder's source on a day; of several looks, the last.

    ``planned`` and ``applied`` are the last plan and apply of that day.
    """

    model_config = ConfigDict(frozen=True)

    moment: datetime
    figures: SourceFigures | None = None
    alarms: tuple[Alarm, ...] = ()
    planned: Seen | None = None
    applied: Seen | None = None

    @computed_field  # type: ignore[prop-decorator]  # Pydantic documents it so.
    @property
    def day(self) -> date:
        """The day that it's the record of."""
        return self.moment.date()

    @property
    def has_failed(self) -> bool:
        """Whether the last apply of the day didn't end well."""
        return self.applied is not None and self.applied.outcome == "failed"


def history_of(name: str, place: str, schema: str) -> str:
    """Return the name of a folder's history: that of its model, in the warehouse it's for."""
    return hashlib.sha256("\n".join((name, place, schema)).encode()).hexdigest()[:32]


def read_nights(store: Store, history: str, most_days: int = COMPARED_DAYS) -> tuple[Night, ...]:
    """Return the last nights of a history, oldest first. Records of another version are passed."""
    namespace = _namespace(history)
    days = store.keys(namespace)[-most_days:]
    records = store.get_many(namespace, days)
    nights = []
    for day in days:
        try:
            nights.append(Night.model_validate(records[day].value))
        except (KeyError, ValidationError):
            continue
    return tuple(nights)


def count_nights(store: Store, history: str) -> int:
    """Return how many nights of a history are kept."""
    return len(store.keys(_namespace(history)))


@dataclass(frozen=True, slots=True)
class KeptNight:
    """A night as it was stored, with its alarms, and the last look before, if there was one."""

    night: Night
    before: Night | None


def keep_night(store: Store, history: str, night: Night) -> KeptNight:
    """Store what was seen in a night.

    What an earlier look of the same day knows, and this one doesn't, is kept. Raises StoreError.
    """
    nights = read_nights(store, history)
    before = [each for each in nights if each.day < night.day]
    same = next((each for each in nights if each.day == night.day), None)
    if night.figures is not None:
        alarms = unusual_figures(_figures(before), NightFigures(night.moment, night.figures))
        night = night.model_copy(update={"alarms": alarms})
    if same is not None:
        night = _joined(same, night)
    value = night.model_dump(mode="json")
    store.put(_namespace(history), night.day.isoformat(), value, ttl_seconds=KEPT_SECONDS)
    return KeptNight(night, nights[-1] if nights else None)


def _joined(earlier: Night, later: Night) -> Night:
    known = earlier if later.figures is None else later
    return later.model_copy(
        update={
            "figures": known.figures,
            "alarms": known.alarms,
            "planned": later.planned or earlier.planned,
            "applied": later.applied or earlier.applied,
        }
    )


def _figures(nights: Sequence[Night]) -> list[NightFigures]:
    return [
        NightFigures(
            night.moment, night.figures, frozenset(alarm.watched for alarm in night.alarms)
        )
        for night in nights
        if night.figures is not None
    ]


def _namespace(history: str) -> str:
    return f"{_NAMESPACE}/{history}"
