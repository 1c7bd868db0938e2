"""Made-up nights of one table."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from fluid_build.monitoring.alarms import Alarm, NightFigures, unusual_figures
from fluid_build.monitoring.figures import ColumnFigures, SourceFigures, TableFigures

MONDAY = datetime(2026, 6, 1, 2)


def night(
    number: int,
    rows: int,
    *,
    nulls: int = 0,
    distinct: int = 10,
    high: float | None = None,
    orphans: int = 0,
    late_hours: float = 4,
) -> NightFigures:
    """Return the figures of a night, counted from a Monday."""
    moment = MONDAY + timedelta(days=number)
    table = TableFigures(
        rows=rows,
        newest=moment - timedelta(hours=late_hours),
        columns={"status": ColumnFigures(nulls=nulls, distinct=distinct, high=high)},
        orphans={"customer_id to customers": orphans},
    )
    return NightFigures(moment, SourceFigures(tables={"orders": table}))


def watched(nights: Sequence[NightFigures]) -> list[tuple[Alarm, ...]]:
    """Return the alarms of each night, each night held against those before it."""
    history: list[NightFigures] = []
    found = []
    for each in nights:
        alarms = unusual_figures(history, each)
        found.append(alarms)
        history.append(
            NightFigures(each.moment, each.source, frozenset(alarm.watched for alarm in alarms))
        )
    return found
