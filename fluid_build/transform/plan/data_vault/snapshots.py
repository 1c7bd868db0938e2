"""The snapshots of a business vault: their calendar, and what was valid at each of them.

Everything is derived from load dates in the raw vault, and only added to: the next load adds the
snapshots after the last one, so that those which somebody deleted stay away.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence

from fluid_build.modeling.data_vault.business_elements import BridgeTable, PointInTimeTable
from fluid_build.transform.plan.built_columns import technical
from fluid_build.transform.plan.construction_tests import not_null, reference, unique
from fluid_build.transform.plan.data_vault.columns import in_key
from fluid_build.transform.plan.data_vault.sources import VaultSources
from fluid_build.transform.plan.elements import BEFORE_ANY_LOAD, Build, BuildTest, PlanColumn
from fluid_build.transform.plan.sql_layout import indent, nested, query, union_all

SNAPSHOT_DATE = technical(
    "snapshot_date", "TIMESTAMP", "The moment that the row is about: when a load ran."
)
_FOR_GOOD = "TIMESTAMP '9999-12-31 00:00:00'"
"""Until when the latest version of a row is valid."""


def calendar_builds(sources: VaultSources) -> Iterator[Build]:
    """Return the snapshot calendar of a business vault, if there is one."""
    business = sources.vault.business_vault
    if business is None or not (business.point_in_time_tables or business.bridges):
        return
    calendar = business.calendar
    relations = tuple(_relations(sources))
    loads = (query(["load_date"], f"model.{relation}") for relation in relations)
    after = last_snapshot(calendar.name)
    days = query(
        [("load_date", "snapshot_date")],
        f"{nested(union_all(*loads))} AS loads",
        where=[f"load_date > {BEFORE_ANY_LOAD}"],
        distinct=True,
    )
    yield Build(
        name=calendar.name,
        layer="business_vault",
        materialization="incremental",
        title=calendar.name,
        description=calendar.description,
        sql=days,
        next_load=f"{days}\n{indent(f'AND load_date > {after}')}",
        ref_models=relations,
        columns=(in_key(SNAPSHOT_DATE),),
        key=("snapshot_date",),
        tests=(
            unique(calendar.name, ("snapshot_date",), "Each load is one snapshot."),
            not_null(calendar.name, "snapshot_date", "Every load has a date."),
        ),
        mapped_source_tables=calendar.mapped_source_tables,
        source_columns=calendar.source_columns,
        reason=calendar.reason,
    )


def _relations(sources: VaultSources) -> Iterator[str]:
    """Return the relations of the raw vault that the business vault is made of, each once."""
    business = sources.vault.business_vault
    assert business is not None, "only a business vault has snapshots"
    names: dict[str, None] = {}
    for table in business.point_in_time_tables:
        names |= dict.fromkeys((table.hub, *(each.satellite for each in table.satellites)))
    for bridge in business.bridges:
        names |= dict.fromkeys((bridge.start, bridge.satellite))
        names |= dict.fromkeys(name for hop in bridge.hops for name in (hop.link, hop.satellite))
    yield from names


def last_snapshot(relation: str) -> str:
    """Return SQL for the last snapshot in a relation, or a date before any."""
    latest = query([f"COALESCE(MAX(snapshot_date), {BEFORE_ANY_LOAD})"], f"model.{relation}")
    return nested(latest)


def snapshot_build(
    sources: VaultSources,
    table: BridgeTable | PointInTimeTable,
    sql_of: Callable[[str], str],
    *,
    relations: Iterable[str],
    columns: Iterable[PlanColumn],
    key: tuple[str, ...],
    tests: Iterable[BuildTest],
) -> Build:
    """Return the build of a table with a row for each key and snapshot.

    ``sql_of`` makes its SQL of the query for the snapshots. A load adds the snapshots that the
    table doesn't have.
    """
    calendar = calendar_name(sources)
    snapshots = query(["snapshot_date"], f"model.{calendar}")
    later = f"{snapshots}\nWHERE snapshot_date > {last_snapshot(table.name)}"
    return Build(
        name=table.name,
        layer="business_vault",
        materialization="incremental",
        title=table.name,
        description=table.description,
        sql=sql_of(snapshots),
        next_load=sql_of(later),
        ref_models=tuple(dict.fromkeys((calendar, *relations))),
        columns=tuple(columns),
        key=key,
        tests=tuple(tests),
        mapped_source_tables=table.mapped_source_tables,
        source_columns=table.source_columns,
        reason=table.reason,
    )


def calendar_name(sources: VaultSources) -> str:
    """Return the name of the snapshot calendar."""
    business = sources.vault.business_vault
    assert business is not None, "only a business vault has snapshots"
    return business.calendar.name


def versions(satellite: str, *keys: str) -> str:
    """Return the rows of a satellite by their keys, each with from when to when it was valid."""
    following = f"LEAD(load_date) OVER (PARTITION BY {', '.join(keys)} ORDER BY load_date)"
    return query(
        [
            *keys,
            ("load_date", "valid_from"),
            (f"COALESCE({following}, {_FOR_GOOD})", "valid_to"),
            "is_deleted",
        ],
        f"model.{satellite}",
    )


def valid_at_snapshot(alias: str) -> tuple[str, ...]:
    """Return the conditions that a version was valid at a snapshot."""
    return (
        f"{alias}.valid_from <= snapshots.snapshot_date",
        f"{alias}.valid_to > snapshots.snapshot_date",
        f"NOT {alias}.is_deleted",
    )


def snapshot_tests(sources: VaultSources, relation: str, key: Sequence[str]) -> Iterator[BuildTest]:
    """Return the tests that a table has one row for a key and snapshot, and that both exist.

    ``key`` begins with a hash key and contains the snapshot.
    """
    calendar = calendar_name(sources)
    yield unique(relation, key, "Each key has one row for a snapshot.")
    yield not_null(relation, key[0], "A hash key is never null.")
    yield reference(
        relation,
        "snapshot_date",
        calendar,
        "snapshot_date",
        f"Every snapshot is in {calendar}, which it's made of.",
    )


def row_reference(
    relation: str, satellite: str, pairs: Sequence[tuple[str, str]], reason: str
) -> BuildTest:
    """Return the test that columns lead to a row of a satellite, each paired with its column."""
    columns, to_columns = zip(*pairs, strict=True)
    test = reference(relation, columns[0], satellite, to_columns[0], reason)
    return test.model_copy(update={"columns": columns, "to_columns": to_columns})


def load_date_column(name: str, satellite: str) -> PlanColumn:
    """Return the column with the load date of a satellite's valid row."""
    return technical(
        name,
        "TIMESTAMP",
        f"The load date of the row of {satellite} that was valid.",
        tags=("technical", "foreign-key"),
    )
