"""Whether every row that a warehouse held before a load is there after it, as it was.

Of a relation that dates its rows, those of earlier loads are counted and their hashes added up, in
the engine's own SQL and over the columns that were there before. Of one that is rebuilt and keeps
members that the source has deleted, the keys are kept in a table meanwhile, and each of them has
to be found again: what else such a row says may change.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from pydantic import BaseModel, ConfigDict

from fluid_build.errors import VersionsLostError
from fluid_build.evolution.warehouse import Relation, Warehouse, is_plain_type
from fluid_build.modeling.dimensional.facts.snapshots import SNAPSHOT_DATE
from fluid_build.sources.sql import quote
from fluid_build.text import counted
from fluid_build.transform.plan.elements import BEFORE_ANY_LOAD, Build, TransformPlan

KEPT_KEYS = "fluid_kept_keys"
_MOST_NAMED = 5
"""Relations in one message: as many as a reader takes in."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class Fingerprint(_Part):
    """The rows that a relation had before a load: how many, and the sum of their hashes.

    ``dated_by`` is the column that says when a row was loaded, or what day it's of.
    """

    relation: str
    dated_by: str
    columns: dict[str, str]
    rows: int
    hashes: str


class Keyed(_Part):
    """The keys that a relation had before a load, which are in the table of kept keys."""

    relation: str
    key: tuple[str, ...]
    rows: int


class Kept(_Part):
    """What is known of the rows that were there before ``load_date``, by that version of an engine.

    Where another version continues, hashes can't be compared, and rows are only counted.
    """

    load_date: datetime
    engine: str
    dated: tuple[Fingerprint, ...] = ()
    keyed: tuple[Keyed, ...] = ()

    @property
    def rows(self) -> int:
        """How many rows have to be there in the end."""
        return sum(each.rows for each in self.dated) + sum(each.rows for each in self.keyed)


@dataclass(frozen=True, slots=True)
class Loss:
    """A relation whose earlier rows aren't all there as they were.

    ``rows`` is how many there were, ``found`` how many there are; the same number means that some
    have changed.
    """

    relation: str
    rows: int
    found: int

    def __str__(self) -> str:
        if self.found == self.rows:
            return f"{self.relation}: of {counted(self.rows, 'row')}, some were changed"
        return f"{self.relation}: {counted(self.rows, 'row')} before, {self.found:,} now"


def is_stateful(build: Build) -> bool:
    """Return whether a relation remembers what its source may no longer say."""
    return build.materialization == "incremental" or (
        build.next_load is not None and not build.follows_source
    )


def take(warehouse: Warehouse, plans: Sequence[TransformPlan], load_date: datetime) -> Kept:
    """Return what the warehouse holds of the stateful relations, and keep the keys of some.

    ``plans`` describe what is there: the relation counts as the first of them has it.
    """
    there = warehouse.relations()
    builds: dict[str, tuple[Build, str]] = {}
    for plan in plans:
        for build in plan.lasting:
            relation = there.get(build.name)
            if is_stateful(build) and relation is not None and not relation.is_view:
                builds.setdefault(build.name, (build, plan.column_names.load_date))
    dated, keyed = [], []
    warehouse.query(f"DROP TABLE IF EXISTS {warehouse.named(KEPT_KEYS)}")
    warehouse.query(f"CREATE TABLE {warehouse.named(KEPT_KEYS)} (relation TEXT, key TEXT)")
    for name, (build, load_column) in sorted(builds.items()):
        dated_by = _dated_by(build, there[name], load_column)
        if dated_by is not None:
            dated.append(_fingerprint(warehouse, there[name], dated_by, load_date))
        elif build.key and set(build.key) <= there[name].columns.keys():
            keyed.append(_keep_keys(warehouse, name, build.key))
    return Kept(
        load_date=load_date, engine=warehouse.version, dated=tuple(dated), keyed=tuple(keyed)
    )


def forget(warehouse: Warehouse) -> None:
    """Drop the kept keys, when they have been found again."""
    warehouse.query(f"DROP TABLE IF EXISTS {warehouse.named(KEPT_KEYS)}")


def check_kept(warehouse: Warehouse, kept: Kept) -> None:
    """Raise VersionsLostError, with the figures, where a row is gone or changed."""
    losses = tuple(_losses(warehouse, kept))
    if not losses:
        return
    named = "; ".join(map(str, losses[:_MOST_NAMED]))
    more = f"; and {len(losses) - _MOST_NAMED:,} more" if len(losses) > _MOST_NAMED else ""
    raise VersionsLostError(
        f"Rows that the warehouse held before aren't there as they were. {named}{more}.",
        hint="Restore them from a backup and apply again. If they were taken out on purpose, apply"
        " with --accept-lost.",
        details=map(str, losses),
    )


def _losses(warehouse: Warehouse, kept: Kept) -> Iterator[Loss]:
    there = warehouse.relations()
    same_engine = warehouse.version == kept.engine
    for each in kept.dated:
        relation = there.get(each.relation)
        if relation is None or not each.columns.keys() <= relation.columns.keys():
            yield Loss(each.relation, each.rows, 0)
            continue
        rows, hashes = _measured(warehouse, relation, each.dated_by, each.columns, kept.load_date)
        comparable = same_engine and _has_comparable_types(each.columns, relation.columns)
        if rows != each.rows or (comparable and hashes != each.hashes):
            yield Loss(each.relation, each.rows, rows)
    for keyed in kept.keyed:
        relation = there.get(keyed.relation)
        has_key = relation is not None and set(keyed.key) <= relation.columns.keys()
        found = _found_keys(warehouse, keyed) if has_key and KEPT_KEYS in there else 0
        if found != keyed.rows:
            yield Loss(keyed.relation, keyed.rows, found)


def _dated_by(build: Build, relation: Relation, load_column: str) -> str | None:
    if load_column in relation.columns:
        return load_column
    return SNAPSHOT_DATE if build.replaced and SNAPSHOT_DATE in relation.columns else None


def _fingerprint(
    warehouse: Warehouse, relation: Relation, dated_by: str, before: datetime
) -> Fingerprint:
    columns = dict(relation.columns)
    rows, hashes = _measured(warehouse, relation, dated_by, columns, before)
    return Fingerprint(
        relation=relation.name, dated_by=dated_by, columns=columns, rows=rows, hashes=hashes
    )


def _measured(
    warehouse: Warehouse,
    relation: Relation,
    dated_by: str,
    columns: Mapping[str, str],
    before: datetime,
) -> tuple[int, str]:
    """Return the number and the summed hashes of the rows that are older than a load."""
    date = quote(dated_by)
    moment = f"TIMESTAMP '{before:%Y-%m-%d %H:%M:%S.%f}'"
    # A row of the ghost record may join at any time, with a date before all loads.
    older = f"{date} < {moment} AND {date} > {BEFORE_ANY_LOAD}"
    if dated_by == SNAPSHOT_DATE:
        older = f"{date} < CAST({moment} AS DATE)"
    hashed = _hash(warehouse, columns, relation.columns)
    (row,) = warehouse.query(
        f"SELECT count(*), CAST(coalesce(sum({hashed}), 0) AS VARCHAR)"
        f" FROM {warehouse.named(relation.name)} WHERE {older}"
    )
    return int(str(row[0])), str(row[1])


def _has_comparable_types(before: Mapping[str, str], now: Mapping[str, str]) -> bool:
    return all(now[name] == type_ or is_plain_type(type_) for name, type_ in before.items())


def _hash(warehouse: Warehouse, before: Mapping[str, str], now: Mapping[str, str]) -> str:
    """Return the hash of a row over the columns that were there before, in their types of then."""
    values = ", ".join(
        f"CAST({quote(name)} AS {type_})"
        if now[name] != type_ and is_plain_type(type_)
        else quote(name)
        for name, type_ in before.items()
    )
    if warehouse.engine == "duckdb":
        return f"CAST(hash({values}) AS HUGEINT)"
    return f"CAST(hashtextextended(CAST(ROW({values}) AS TEXT), 0) AS NUMERIC)"


def _keep_keys(warehouse: Warehouse, relation: str, key: tuple[str, ...]) -> Keyed:
    keys = (
        f"SELECT DISTINCT CAST($1 AS TEXT), {_key_text(key)} FROM {warehouse.named(relation)} AS t"
    )
    warehouse.query(f"INSERT INTO {warehouse.named(KEPT_KEYS)} {keys}", [relation])
    ((rows,),) = warehouse.query(
        f"SELECT count(*) FROM {warehouse.named(KEPT_KEYS)} WHERE relation = $1", [relation]
    )
    return Keyed(relation=relation, key=key, rows=int(str(rows)))


def _found_keys(warehouse: Warehouse, keyed: Keyed) -> int:
    ((found,),) = warehouse.query(
        f"SELECT count(*) FROM {warehouse.named(KEPT_KEYS)} AS k WHERE k.relation = $1 AND k.key IN"
        f" (SELECT {_key_text(keyed.key)} FROM {warehouse.named(keyed.relation)} AS t)",
        [keyed.relation],
    )
    return int(str(found))


def _key_text(key: tuple[str, ...]) -> str:
    # A null has no text of its own, and a length tells where each part ends.
    parts = (f"coalesce(CAST(t.{quote(name)} AS VARCHAR), 'null')" for name in key)
    return " || ' ' || ".join(f"length({part}) || ':' || {part}" for part in parts)
