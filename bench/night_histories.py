"""How many faults `fluid plan` and `fluid apply` find at night, and how often they cry wolf.

    python bench/night_histories.py                       # 30 sources, 200 nights, 40 faults each
    python bench/night_histories.py --seed 7 --sources 5 --missed
    python bench/night_histories.py --tables 500          # what keeping and showing a night takes

Sources are made up: tables that grow each night with a week's rhythm, with peaks at the end of a
month, in bursts, tables that are delivered anew each night, and tables that hardly change. In each
history faults of eight kinds are put on nights after the first four weeks; half of them are
repaired by the next night, the others stay. A fault counts as found if its table has an alarm on
its night or on the night after. An alarm is false where its table has no fault that night, had none
in the three nights before (until which a level that stays isn't the usual one), and repairs none.
The rules were set on seed 1; the figures in docs/benchmarks.md are of seeds 2 and 3. A source takes
five seconds of processor time.
"""

import argparse
import math
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from fluid_build.copilot.store.backends.sqlite import SqliteBackend  # noqa: E402
from fluid_build.monitoring.alarms import Alarm, NightFigures, unusual_figures  # noqa: E402
from fluid_build.monitoring.figures import (  # noqa: E402
    ColumnFigures,
    SourceFigures,
    TableFigures,
)
from fluid_build.monitoring.history import (  # noqa: E402
    COMPARED_DAYS,
    count_nights,
    keep_night,
    read_nights,
)
from fluid_build.monitoring.history import Night as Record  # noqa: E402
from fluid_build.monitoring.status import status_of  # noqa: E402

FIRST = datetime(2026, 1, 5, 2, 0)
QUIET = 28
"""Nights without faults: a person looks at a new source, and the rules learn it."""
KINDS = (
    "missing",
    "doubled",
    "late",
    "nulls",
    "collapse",
    "unknown values",
    "orphans",
    "unit",
)


@dataclass
class Column:
    """A column of a made-up table: what share is null, and what its values are."""

    name: str
    null_share: float
    values: int
    """How many values differ; 0 where each row has its own."""
    high: float | None = None
    spread: float = 0.0


@dataclass
class Night:
    """What one night brings to a table."""

    rows: int
    nulls: dict[str, int]
    orphans: int
    values: dict[str, int] = field(default_factory=dict)
    high: dict[str, float] = field(default_factory=dict)
    newest: datetime | None = None
    repaired: "Night | None" = None
    """The night as it should have been, where it's put right by the next one."""


@dataclass
class Table:
    """A made-up table and how it behaves; ``appends`` where each night adds rows."""

    name: str
    appends: bool
    step: float
    noise: float
    weekend: float
    month_end: float
    burst: float
    orphan_share: float
    dated: bool
    columns: tuple[Column, ...]
    nights: list[Night] = field(default_factory=list)


@dataclass(frozen=True)
class Fault:
    """A fault that was put into a history."""

    night: int
    table: str
    kind: str
    stays: bool


def make_table(name: str, draw: random.Random) -> Table:
    """Return a table that behaves in one of five ways."""
    way = draw.choice(("grows", "grows", "month", "bursts", "anew", "still"))
    columns = tuple(
        Column(
            f"c{number}",
            draw.choice((0.0, 0.0, 0.0, 0.02, 0.15, 0.6)),
            draw.choice((0, 2, 5, 12, 60, 400)),
            high=draw.choice((None, draw.choice((100.0, 5_000.0)))),
            spread=draw.choice((0.2, 1.0)),
        )
        for number in range(draw.randint(3, 9))
    )
    return Table(
        name,
        appends=way not in ("anew", "still"),
        step=math.exp(draw.uniform(math.log(40), math.log(20_000))),
        noise=draw.choice((0.05, 0.1, 0.25)),
        weekend=draw.choice((1.0, 0.4, 0.0)),
        month_end=draw.choice((2.0, 4.0)) if way == "month" else 1.0,
        burst=0.08 if way == "bursts" else 0.0,
        orphan_share=draw.choice((0.0, 0.0, 0.01)),
        dated=way != "still" and draw.random() < 0.8,
        columns=columns,
        nights=[],
    )


def usual_night(table: Table, moment: datetime, draw: random.Random) -> Night:
    """Return what a usual night brings to a table."""
    if not table.appends and not table.dated:
        rows = round(table.step) if not table.nights else table.nights[-1].rows
        rows += draw.choice((0, 0, 0, 0, 0, 0, 1, 1, 2, -1)) if table.nights else 0
    else:
        rhythm = table.weekend if moment.weekday() >= 5 else 1.0
        if (moment + timedelta(days=1)).day == 1:
            rhythm *= table.month_end
        if draw.random() < table.burst:
            rhythm *= draw.uniform(1.5, 3)
        noise = table.noise if table.appends else table.noise / 10
        rhythm = 1.0 if not table.appends else rhythm
        rows = max(0, round(table.step * rhythm * math.exp(draw.gauss(0, noise))))
    newest = moment - timedelta(hours=draw.uniform(1, 5)) if rows else None
    return Night(
        rows,
        {each.name: binomial(rows, each.null_share, draw) for each in table.columns},
        binomial(rows, table.orphan_share, draw),
        {},
        {
            each.name: (each.high or 0) * (1 - each.spread * draw.random() / max(rows, 1))
            for each in table.columns
            if each.high is not None
        },
        newest if table.dated else None,
    )


def binomial(rows: int, share: float, draw: random.Random) -> int:
    """Return how many of the rows have something that each has with a chance of ``share``."""
    mean = rows * share
    return min(rows, max(0, round(draw.gauss(mean, math.sqrt(mean * (1 - share))))))


def put_fault(night: Night, table: Table, kind: str, draw: random.Random) -> None:
    """Change what a night brings."""
    column = draw.choice(table.columns).name
    if kind == "missing":
        kept = draw.uniform(0.05, 0.3) if table.appends else draw.uniform(0.3, 0.7)
        scale(night, kept)
    elif kind == "doubled":
        scale(night, 2.0)
    elif kind == "late":
        scale(night, 0.0)
        night.newest = None
    elif kind == "nulls":
        column = min(table.columns, key=lambda each: each.null_share).name
        night.nulls[column] = max(night.nulls[column], round(night.rows * draw.uniform(0.4, 1)))
    elif kind == "collapse":
        column = max(table.columns, key=lambda each: each.values).name
        night.values[column] = 1
    elif kind == "unknown values":
        several = [each for each in table.columns if each.values]
        column = min(several, key=lambda each: each.values).name
        night.values[column] = max(20, round(night.rows * draw.uniform(0.2, 1)))
    elif kind == "orphans":
        night.orphans = max(night.orphans, round(night.rows * draw.uniform(0.25, 0.9)))
    elif kind == "unit":
        measured = [each for each in table.columns if each.high is not None]
        night.high[draw.choice(measured).name] = draw.choice((100, 1_000)) * 5_000.0


def scale(night: Night, by: float) -> None:
    """Change how many rows a night brings."""
    night.rows = round(night.rows * by)
    night.nulls = {name: round(nulls * by) for name, nulls in night.nulls.items()}
    night.orphans = round(night.orphans * by)


def possible(table: Table, kind: str, night: Night) -> bool:
    """Return whether a fault of a kind would leave a trace in a table's figures at all."""
    if night.rows < 20:
        return False
    if kind == "late":
        return table.appends or table.dated
    if kind == "collapse":
        # Of rows that are added to many others, nobody sees that they're all alike.
        return not table.appends and max(each.values for each in table.columns) > 3
    if kind == "unknown values":
        return any(each.values for each in table.columns)
    if kind == "unit":
        return any(each.high is not None for each in table.columns)
    return True


def figures(table: Table, nights: Sequence[Night]) -> TableFigures:
    """Return the figures of a table after the nights until now."""
    held = nights if table.appends else nights[-1:]
    rows = sum(night.rows for night in held)
    newest = [night.newest for night in nights if night.newest is not None]
    columns = {}
    for column in table.columns:
        filled = rows - sum(night.nulls[column.name] for night in held)
        usual = min(column.values or filled, filled)
        own = [night.values[column.name] for night in held if column.name in night.values]
        more = sum(count for count in own if count > 1)
        distinct = min(filled, 1 if own and not table.appends and own[-1] == 1 else usual + more)
        highs = [night.high[column.name] for night in held if column.name in night.high]
        columns[column.name] = ColumnFigures(
            nulls=rows - filled,
            distinct=distinct,
            low=None if column.high is None else 0.0,
            high=max(highs) if highs else None,
        )
    orphans = sum(night.orphans for night in held)
    return TableFigures(
        rows=rows,
        newest=max(newest, default=None),
        columns=columns,
        orphans={"parent_id to parents": orphans},
    )


@dataclass
class Outcome:
    """What was found and cried in one history."""

    found: Counter[str] = field(default_factory=Counter)
    put: Counter[str] = field(default_factory=Counter)
    false: list[Alarm] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)
    table_nights: int = 0


def run(seed: int, nights: int, faults: int) -> Outcome:
    """Make one source with its history, and look at each night as `fluid apply` does."""
    draw = random.Random(seed)
    tables = [make_table(f"t{number}", draw) for number in range(draw.randint(4, 8))]
    planned = plan_faults(tables, nights, faults, draw)
    outcome = Outcome()
    history: list[NightFigures] = []
    alarms: dict[tuple[int, str], list[Alarm]] = {}
    for night in range(nights):
        moment = FIRST + timedelta(days=night)
        for table in tables:
            repair(table, night, planned)
            brought = usual_night(table, moment, draw)
            fault = planned.get((night, table.name))
            if fault is not None and possible(table, fault.kind, brought):
                usual = replace(
                    brought, nulls=dict(brought.nulls), values={}, high=dict(brought.high)
                )
                put_fault(brought, table, fault.kind, draw)
                brought.repaired = None if fault.stays else usual
                outcome.put[fault.kind] += 1
            elif fault is not None:
                del planned[night, table.name]
            table.nights.append(brought)
        source = SourceFigures(tables={each.name: figures(each, each.nights) for each in tables})
        tonight = NightFigures(moment, source)
        found = unusual_figures(history[-COMPARED_DAYS:], tonight)
        for alarm in found:
            alarms.setdefault((night, alarm.table), []).append(alarm)
        history.append(NightFigures(moment, source, frozenset(alarm.watched for alarm in found)))
    count(outcome, planned, alarms)
    outcome.table_nights = (nights - 7) * len(tables)
    return outcome


def repair(table: Table, night: int, planned: dict[tuple[int, str], Fault]) -> None:
    """Correct what was wrong the night before, where somebody did."""
    if (night - 1, table.name) in planned and table.nights:
        repaired = table.nights[-1].repaired
        if repaired is not None:
            table.nights[-1] = repaired


def plan_faults(
    tables: Sequence[Table], nights: int, faults: int, draw: random.Random
) -> dict[tuple[int, str], Fault]:
    """Return a fault for each of some nights, of each kind equally many, four nights apart."""
    planned: dict[tuple[int, str], Fault] = {}
    slots = [(night, each) for each in tables for night in range(QUIET, nights - 1)]
    draw.shuffle(slots)
    kinds = [KINDS[number % len(KINDS)] for number in range(faults)]
    for night, table in slots:
        near = any((other, table.name) in planned for other in range(night - 5, night + 6))
        if near or not kinds:
            continue
        fitting = [kind for kind in kinds if might(table, kind)]
        if fitting:
            kind = fitting[0]
            kinds.remove(kind)
            planned[night, table.name] = Fault(night, table.name, kind, draw.random() < 0.5)
    return planned


def might(table: Table, kind: str) -> bool:
    """Return whether a kind is possible on a night of a table that brings enough rows."""
    return possible(table, kind, Night(1_000, {}, 0))


def count(
    outcome: Outcome,
    planned: dict[tuple[int, str], Fault],
    alarms: dict[tuple[int, str], list[Alarm]],
) -> None:
    """Count the faults that were found, and the nights of tables with a false alarm."""
    excused: set[tuple[int, str]] = set()
    for (night, table), fault in planned.items():
        if any((each, table) in alarms for each in (night, night + 1)):
            outcome.found[fault.kind] += 1
        else:
            outcome.missed.append(f"{fault.kind} in {table}, night {night}")
        excused.update((each, table) for each in range(night, night + 5))
    for key in sorted(alarms):
        if key not in excused:
            outcome.false.append(alarms[key][0])


def time_nights(tables: int) -> None:
    """Print what it takes to keep a night of many tables, after ten weeks, and to show it."""
    columns = {f"c{number}": ColumnFigures(nulls=5, distinct=90) for number in range(8)}
    table = TableFigures(rows=1_000, newest=FIRST, columns=columns)
    source = SourceFigures(tables={f"t{number}": table for number in range(tables)})
    with tempfile.TemporaryDirectory() as place:
        store = SqliteBackend(Path(place) / "store.db")
        for day in range(COMPARED_DAYS):
            moment = FIRST + timedelta(days=day)
            value = Record(moment=moment, figures=source).model_dump(mode="json")
            store.put("nights/bench", moment.date().isoformat(), value)
        moment = FIRST + timedelta(days=COMPARED_DAYS)
        began = time.process_time()
        keep_night(store, "bench", Record(moment=moment, figures=source))
        kept = time.process_time()
        nights = read_nights(store, "bench", most_days=1)
        status_of((), nights[-1], count_nights(store, "bench"))
        shown = time.process_time()
    print(f"{tables} tables: a night is kept in {kept - began:.2f} s, ", end="")
    print(f"and read for fluid status in {shown - kept:.2f} s of processor time")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seed", type=int, default=2)
    parser.add_argument("--sources", type=int, default=30)
    parser.add_argument("--nights", type=int, default=200)
    parser.add_argument("--faults", type=int, default=40)
    parser.add_argument("--missed", action="store_true", help="list misses and false alarms")
    parser.add_argument("--tables", type=int, help="time a night of so many tables instead")
    options = parser.parse_args()
    if options.tables:
        time_nights(options.tables)
        return 0
    total = Outcome()
    for number in range(options.sources):
        outcome = run(options.seed * 1_000 + number, options.nights, options.faults)
        total.found += outcome.found
        total.put += outcome.put
        total.false += outcome.false
        total.missed += outcome.missed
        total.table_nights += outcome.table_nights
    for line in report(total):
        print(line)
    if options.missed:
        print(*total.missed, *total.false, sep="\n")
    return 0


def report(total: Outcome) -> Iterator[str]:
    """Yield the figures as lines."""
    for kind in KINDS:
        share = total.found[kind] / max(total.put[kind], 1)
        yield f"{kind:<16} {total.put[kind]:>5} put  {100 * share:5.1f} % found within a night"
    share = sum(total.found.values()) / max(sum(total.put.values()), 1)
    yield f"{'all':<16} {sum(total.put.values()):>5} put  {100 * share:5.1f} % found within a night"
    monthly = 30 * len(total.false) / max(total.table_nights, 1)
    yield f"false alarms: {monthly:.2f} a table in 30 nights ({len(total.false)} in all)"


if __name__ == "__main__":
    sys.exit(main())
