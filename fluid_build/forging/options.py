"""What to make of a source."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypedDict

from fluid_build.decisions.language import AnyDecision
from fluid_build.errors import UsageError
from fluid_build.modeling.dimensional.elements import DEFAULT_CALENDAR, CalendarSettings
from fluid_build.modeling.logical import Technique
from fluid_build.modeling.techniques import check_combinable, check_event_dates, check_technique
from fluid_build.transform.dbt.targets import TARGET_LABELS, Target, check_target


@dataclass(frozen=True, slots=True)
class ForgeOptions:
    """How to model a source, and where its relations are to be built.

    ``event_dates`` are the dates that the user chose for events, by table; ``decisions`` apply in
    their order. ``decisions_text`` is the file that they were read from, "" where there was none:
    it's written again with their evidence. Raises UsageError for an unknown technique, variant,
    target or date, or a business vault of another technique than a Data Vault.
    """

    technique: str = "flat"
    variant: str | None = None
    calendar: CalendarSettings = DEFAULT_CALENDAR
    event_dates: Mapping[str, str] = field(default_factory=dict)
    business_vault: bool = False
    target: str = "duckdb"
    decisions: Sequence[AnyDecision] = ()
    decisions_text: str = ""

    def __post_init__(self) -> None:
        check_technique(
            self.technique, self.variant, self.calendar, business_vault=self.business_vault
        )
        check_event_dates(self.technique, self.event_dates)
        check_target(self.target)

    @property
    def known_technique(self) -> Technique:
        """Return the technique by its own name."""
        return check_technique(self.technique)[0]

    @property
    def warehouse(self) -> Target:
        """Return the target by its own name."""
        return check_target(self.target)

    def check_several(self) -> None:
        """Raise UsageError where the technique or the target takes one source only."""
        check_combinable(self.known_technique)
        if self.warehouse != "duckdb":
            raise UsageError(
                f"Several sources can be built in DuckDB only, not in"
                f" {TARGET_LABELS[self.warehouse]}.",
                hint="Leave --target out, or forge each source by itself.",
            )

    def as_settings(self) -> "ForgeSettings":
        """Return the options as keywords of ``forge``."""
        return ForgeSettings(
            technique=self.technique,
            variant=self.variant,
            calendar=self.calendar,
            event_dates=self.event_dates,
            business_vault=self.business_vault,
            target=self.target,
            decisions=self.decisions,
            decisions_text=self.decisions_text,
        )


class ForgeSettings(TypedDict, total=False):
    """The fields of ``ForgeOptions``, as keywords."""

    technique: str
    variant: str | None
    calendar: CalendarSettings
    event_dates: Mapping[str, str]
    business_vault: bool
    target: str
    decisions: Sequence[AnyDecision]
    decisions_text: str


# What the folder of a forge is called.


def file_name(name: str) -> str:
    """Return a product's name as part of a folder's name."""
    return re.sub(r"[^\w.-]+", "-", name).strip(".-") or "source"
