"""What to make of a source."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, TypedDict, cast

from fluid_build.decisions.language import AnyDecision
from fluid_build.errors import UsageError
from fluid_build.modeling.dimensional.calendars.settings import calendar_settings, locale_of
from fluid_build.modeling.dimensional.elements import DEFAULT_CALENDAR, CalendarSettings
from fluid_build.modeling.logical import Technique
from fluid_build.modeling.techniques import check_combinable, check_event_dates, check_technique
from fluid_build.stated_options import Flag, Parts, field_values
from fluid_build.transform.dbt.targets import TARGET_LABELS, Target, check_target
from fluid_build.transform.plan.project_tools import ProjectTool, check_project_tool
from fluid_build.transform.sqlmesh.sources import check_buildable


@dataclass(frozen=True, slots=True)
class CalendarChoice:
    """What a user may say of the calendar, as in ``calendar_settings``."""

    fiscal_year_start: Annotated[
        str | int | None,
        Flag(
            "--fiscal-year-start",
            "Month in which the fiscal year starts, 1 to 12: adds it to the calendar.",
            "MONTH",
        ),
    ] = None
    locale: Annotated[
        str | None,
        Flag(
            "--locale",
            "Language of the calendar's month and day names, such as de or pt_BR.",
            "NAME",
        ),
    ] = None


def _calendar(choice: CalendarChoice) -> CalendarSettings:
    start = choice.fiscal_year_start
    return calendar_settings(None if start is None else str(start), choice.locale)


def _calendar_choice(calendar: CalendarSettings) -> CalendarChoice:
    return CalendarChoice(calendar.fiscal_year_start, locale_of(calendar))


def _event_dates(answers: Sequence[str]) -> dict[str, str]:
    """Return what --event-date says, dates by table; raise UsageError for what isn't a pair."""
    dates: dict[str, str] = {}
    for answer in answers:
        table, sign, date = (part.strip() for part in answer.partition("="))
        if not (table and sign and date):
            raise UsageError(
                f"--event-date {answer!r} isn't a table and a date.",
                hint="Write it as TABLE=DATE, such as --event-date orders=shipped_date.",
            )
        if dates.setdefault(table, date) != date:
            raise UsageError(f"--event-date names two dates of {table}.", hint="Keep one of them.")
    return dates


@dataclass(frozen=True, slots=True)
class ForgeOptions:
    """How to model a source, and where its relations are to be built.

    ``event_dates`` are the dates that the user chose for events, by table; ``redesign`` names what
    doesn't follow on the folder's earlier model; ``exact`` compares large tables row by row.
    ``decisions`` apply in their order.
    ``decisions_text`` is the file that they were read from, "" where there was none: it's written
    again with their evidence. Raises UsageError for an unknown technique, variant, target, tool or
    date, or a business vault of another technique than a Data Vault.
    """

    technique: Annotated[
        str,
        Flag(
            "--technique",
            "Modeling technique: flat, data_vault_2 (dv2) or dimensional (kimball, star).",
            "NAME",
        ),
    ] = "flat"
    variant: Annotated[
        str | None,
        Flag(
            "--variant",
            "Shape of a dimensional model: star, snowflake, galaxy or wide; chosen by default.",
            "NAME",
        ),
    ] = None
    event_dates: Annotated[
        Mapping[str, str],
        Flag(
            "--event-date",
            "The date of a fact's event, which decides the versions of its members (repeatable);"
            " chosen by default.",
            "TABLE=DATE",
            read=_event_dates,
        ),
    ] = field(default_factory=dict)
    calendar: Annotated[
        CalendarSettings, Parts(CalendarChoice, make=_calendar, take=_calendar_choice)
    ] = DEFAULT_CALENDAR
    business_vault: Annotated[
        bool,
        Flag(
            "--business-vault",
            "With dv2: add point-in-time and bridge tables, which make queries faster.",
        ),
    ] = False
    target: Annotated[
        str,
        Flag(
            "--target",
            "Where dbt builds: duckdb, postgres, snowflake, bigquery or databricks.",
            "NAME",
        ),
    ] = "duckdb"
    project: Annotated[
        str,
        Flag(
            "--for",
            "What the project that builds the model is written for: dbt or sqlmesh.",
            "NAME",
        ),
    ] = "dbt"
    exact: Annotated[
        bool,
        Flag(
            "--exact",
            "Compare large tables row by row in the proof, and not by the sums of their hashes.",
        ),
    ] = False
    redesign: Annotated[
        Sequence[str],
        Flag(
            "--redesign",
            "Design this table or element anew, or 'all' of the model, where the folder has an"
            " earlier one (repeatable).",
            "NAME",
        ),
    ] = ()
    decisions: Sequence[AnyDecision] = ()
    decisions_text: str = ""

    def __post_init__(self) -> None:
        check_technique(
            self.technique, self.variant, self.calendar, business_vault=self.business_vault
        )
        check_event_dates(self.technique, self.event_dates)
        check_target(self.target)
        if self.tool == "sqlmesh":
            check_buildable(self.warehouse)

    @property
    def known_technique(self) -> Technique:
        """Return the technique by its own name."""
        return check_technique(self.technique)[0]

    @property
    def warehouse(self) -> Target:
        """Return the target by its own name."""
        return check_target(self.target)

    @property
    def tool(self) -> ProjectTool:
        """Return what the project is written for by its own name."""
        return check_project_tool(self.project)

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
        return cast("ForgeSettings", field_values(self, ForgeOptions))


class ForgeSettings(TypedDict, total=False):
    """The fields of ``ForgeOptions``, as keywords: type checkers take them from nothing else."""

    technique: str
    variant: str | None
    event_dates: Mapping[str, str]
    calendar: CalendarSettings
    business_vault: bool
    target: str
    project: str
    exact: bool
    redesign: Sequence[str]
    decisions: Sequence[AnyDecision]
    decisions_text: str


# What the folder of a forge is called.


def file_name(name: str) -> str:
    """Return a product's name as part of a folder's name."""
    return re.sub(r"[^\w.-]+", "-", name).strip(".-") or "source"
