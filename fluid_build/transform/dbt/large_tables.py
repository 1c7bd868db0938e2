"""How the rows of large tables are laid out on each target: facts by date, histories by key.

A table is large by the rows that the source had when it was measured. Below that, a target reads it
whole as fast as a part of it, and a setting would only be another line to maintain.
"""

from collections.abc import Iterator, Mapping, Sequence

from fluid_build.modeling.dimensional.elements import DimensionalModel, Fact
from fluid_build.modeling.dimensional.facts.snapshots import SNAPSHOT_DATE
from fluid_build.modeling.logical import LogicalModel
from fluid_build.modeling.types import Family, family
from fluid_build.transform.dbt.constraints import is_small, primary_key
from fluid_build.transform.dbt.targets import Target
from fluid_build.transform.plan.elements import Build, TransformPlan

Config = dict[str, object]

LARGE_FROM: Mapping[Target, int] = {
    "postgres": 1_000_000,
    "snowflake": 100_000_000,
    "bigquery": 1_000_000,
    "databricks": 1_000_000,
}
"""From how many rows on a table is laid out, at about 100 bytes a row.

- PostgreSQL reads a million rows in a tenth of a second without an index.
- Snowflake keeps up to 500 MB uncompressed in a micro-partition, so fewer rows are in a few dozen
  of them, and a query that skips some has little to gain; to keep a table clustered costs credits.
- BigQuery and Databricks gain from 64 MB on, which is about what one block or file of theirs holds.

DuckDB has no such setting: it notes the least and greatest value of each 122,880 rows by itself.
"""

_LOADS_OF_A_SNAPSHOT = 365
"""A snapshot fact has its members once for each load: after a year of daily ones, that many."""

_MOST_COLUMNS = 4
"""BigQuery and Databricks cluster by at most four columns."""
_COLUMNS_WITH_STATISTICS = 32
"""Databricks clusters only by columns among the first 32, of which it keeps statistics."""
_CLUSTERED: Mapping[Target, str] = {"bigquery": "cluster_by", "databricks": "liquid_clustered_by"}
_ORDERED: frozenset[Family] = frozenset({"integer", "decimal", "text", "date", "timestamp"})
"""What both of them cluster by."""


def layouts(plan: TransformPlan, model: LogicalModel, target: Target) -> dict[str, Config]:
    """Return dbt's config of the layout of each large table, by its build's name."""
    least = LARGE_FROM.get(target)
    if least is None:
        return {}
    rows = {entity.name: entity.rows for entity in model.conceptual.entities}
    star = model.dimensional
    facts = {fact.name: fact for fact in star.facts} if star is not None else {}
    found: dict[str, Config] = {}
    for build in plan.published:
        fact = facts.get(build.name)
        if fact is not None and star is not None:
            times = _LOADS_OF_A_SNAPSHOT if fact.snapshot_of else 1
            is_large = rows.get(fact.entity_name, 0) * times >= least
            config = _by_date(build, [*_dates(fact, star)], target)
        elif plan.column_names.load_date in build.key[1:]:
            is_large = max(map(rows.__getitem__, build.mapped_source_tables), default=0) >= least
            config = _by_key(build, target)
        else:
            continue
        if is_large and config:
            found[build.name] = config
    return found


def _dates(fact: Fact, star: DimensionalModel) -> Iterator[str]:
    """Yield the columns with the date of the event: the key of its day, and the date itself."""
    event = (fact.dated_by.source, fact.dated_by.attribute) if fact.dated_by is not None else None
    calendars = {each.name for each in star.dimensions if each.dimension_type == "date"}
    for reference in fact.dimensions:
        is_day_of_load = bool(fact.snapshot_of) and not reference.columns
        is_of_event = (reference.source, *reference.columns) == event
        if reference.dimension in calendars and (is_of_event or is_day_of_load):
            yield reference.key
    if fact.snapshot_of:
        yield SNAPSHOT_DATE
    for attribute in fact.attributes:
        if (attribute.source, attribute.attribute) == event:
            yield attribute.name


def _by_date(build: Build, dates: list[str], target: Target) -> Config:
    """Return the layout of a fact by the date of its event.

    Where a date and the key of its day are both there, rows that are in the order of one are in the
    order of the other. Snowflake and Databricks skip what either excludes, and are best given the
    one of fewer values; BigQuery skips only by the column itself, and queries name dates. It gets
    no partitions: they pay from 10 GB each on, and clustering does the same below.
    """
    if not dates:
        return {}
    if target == "postgres":
        key = primary_key(build, target)
        return _indexes([[name] for name in dates if name != next(iter(key), None)])
    if target == "snowflake":
        is_moment = family(build.column(dates[0]).contract_type) == "timestamp"
        return {"cluster_by": [f"TO_DATE({dates[0]})" if is_moment else dates[0]]}
    return _clustered(build, [dates[-1] if target == "bigquery" else dates[0]], target)


def _by_key(build: Build, target: Target) -> Config:
    """Return the layout of a history by the key whose states it has, and then the load.

    On PostgreSQL, the index of a primary key does that. Snowflake keeps rows by load date, as they
    are loaded: to keep them in the order of hashes, it would write nearly all of them anew for each
    load.
    """
    if target == "snowflake" or (target == "postgres" and primary_key(build, target)):
        return {}
    if target == "postgres":
        # A text of the source may be longer than an index can hold.
        names = [name for name in build.key if is_small(build.column(name))]
        return _indexes([names] if len(names) > 1 else [])
    return _clustered(build, build.key, target)


def _indexes(indexes: Sequence[Sequence[str]]) -> Config:
    return {"indexes": [{"columns": list(names)} for names in indexes]} if indexes else {}


def _clustered(build: Build, names: Sequence[str], target: Target) -> Config:
    places = {column.name: place for place, column in enumerate(build.columns)}
    ordered = [
        name
        for name in names
        if family(build.column(name).contract_type) in _ORDERED
        and (target != "databricks" or places[name] < _COLUMNS_WITH_STATISTICS)
    ]
    return {_CLUSTERED[target]: ordered[:_MOST_COLUMNS]} if ordered else {}
