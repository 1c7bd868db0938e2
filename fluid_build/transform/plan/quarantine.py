"""The quarantine: rows that break a key of their table are set apart, so that they stop no others.

A technique relies on keys (``relied_keys.py``). A row that lacks a part of one, or shares it with
another row, goes to the quarantine of its table with its whole content, and the staging leaves it
out. That is a query for each key, as a test of it would be, and nothing has to be tested then. Each
table has a relation of its own, so that one which can't be read stops nothing but itself.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from fluid_build.modeling.conceptual import ConceptualModel, Entity
from fluid_build.modeling.data_vault.elements import HashKeyStrategy
from fluid_build.modeling.sql_names import SqlNames, free_identifier
from fluid_build.sources.sql import literal, quote
from fluid_build.transform.plan.built_columns import LOAD_DATE_COLUMN, technical
from fluid_build.transform.plan.deliveries import kept_name, spelled_as_delivered
from fluid_build.transform.plan.elements import (
    CALLED_ROWS,
    LOAD_DATE,
    Build,
    MacroCall,
    PlanColumn,
    Query,
    Relation,
    SourceTable,
    Sql,
    SqlType,
)
from fluid_build.transform.plan.macro_calls import called_sql, macro_call
from fluid_build.transform.plan.present_source import PresentSource
from fluid_build.transform.plan.relied_keys import ReliedKey, is_broken
from fluid_build.transform.plan.retirement import retired_build
from fluid_build.transform.plan.sql_layout import nested, query, union_all
from fluid_build.transform.plan.staging import Keeps, column_aliases, read_relations, reading

BROKEN_RULE = technical(
    "broken_rule",
    "VARCHAR",
    "The rule that keeps a row in quarantine: it's here for its key alone.",
    required=False,
)
"""The column by which a vault's staging marks rows that are in quarantine."""
SAME_ROW = "the same row again"
"""The rule of rows that are the same in every column: the others of them, since one is loaded."""
_ROW = "whole_row"
"""What a row of the source is called in the macros (``macros/quarantine.sql``)."""
SOUND_ROWS = f"{CALLED_ROWS} AS staged"
"""What stands in an outline for the rows that the staging's call renders to."""
_HASHING = HashKeyStrategy()
"""Macros are rendered under a strategy, and those of the quarantine hash nothing."""


@dataclass(frozen=True, slots=True)
class TableKeys:
    """The keys of a table that its sound rows keep, in columns of the source.

    No two rows share one of the ``unique`` ones, and the ``never_null`` are always filled. All of
    their columns, and those of other keys that a technique goes by, are in ``columns``.
    """

    unique: tuple[tuple[str, ...], ...]
    never_null: tuple[str, ...]
    columns: tuple[str, ...]

    @property
    def known_by(self) -> tuple[tuple[str, ...], ...]:
        """The keys by which rows in quarantine are known: one that is always filled is enough.

        A row that shares it with one in quarantine is in quarantine itself.
        """
        filled = (key for key in self.unique if set(key) <= set(self.never_null))
        complete = next(filled, None)
        return (complete,) if complete is not None else self.unique


@dataclass(frozen=True, slots=True)
class KeptApart:
    """How rows of a table in quarantine are found in the source: by keys, in columns of that.

    Where deliveries are ``kept``, that is their relation, of whose columns ``spelled`` says what
    the source calls them: "" where it has them no more.
    """

    known_by: tuple[tuple[str, ...], ...]
    kept: str = ""
    spelled: Mapping[str, str] = field(default_factory=dict)


def in_the_source(
    entity: Entity, names: SqlNames, keys: TableKeys, present: PresentSource
) -> KeptApart:
    """Return how rows of a table that are in quarantine are found in the source."""
    known_by = tuple(tuple(column_aliases(entity, key, present)) for key in keys.known_by)
    if present.delivery(entity.name) is None:
        return KeptApart(known_by)
    aliases = {each.name: alias for alias, each in present.columns(entity)}
    spelled = {
        names.column(entity.name, each.name): aliases.get(each.name, "")
        for each in entity.attributes
    }
    return KeptApart(known_by, kept_name(entity.name, names), spelled)


def keys_by_table(keys: Iterable[ReliedKey], conceptual: ConceptualModel) -> dict[str, TableKeys]:
    """Return what the rows of each table keep, of the keys that a technique relies on.

    A key that is known to be broken is none of them: nothing would be left of such a table.
    """
    by_table: dict[str, list[ReliedKey]] = {}
    for key in keys:
        if not is_broken(conceptual.entity(key.table), key.columns):
            by_table.setdefault(key.table, []).append(key)
    return {
        entity.name: _of_table(entity, by_table[entity.name])
        for entity in conceptual.entities
        if entity.name in by_table
    }


def _of_table(entity: Entity, keys: Sequence[ReliedKey]) -> TableKeys:
    primary = entity.primary_key
    unique: dict[frozenset[str], tuple[str, ...]] = {}
    never_null: dict[str, None] = {}
    for key in keys:
        columns = key.columns
        if primary is not None and primary.holds and set(primary.attributes) <= set(columns):
            columns = primary.attributes
        unique.setdefault(frozenset(columns), columns)
        if key.complete:
            required = (name for name in columns if entity.attribute(name).required)
            never_null |= dict.fromkeys(required)
    least = [
        columns
        for names, columns in unique.items()
        if not any(other < names and other <= never_null.keys() for other in unique)
    ]
    named = dict.fromkeys(name for key in keys for name in key.columns)
    return TableKeys(
        unique=tuple(least),
        never_null=tuple(never_null),
        columns=tuple(dict.fromkeys((*(name for key in least for name in key), *named))),
    )


def quarantine_builds(
    conceptual: ConceptualModel,
    names: SqlNames,
    keeps: Keeps,
    keys: Mapping[str, TableKeys],
    gone: Iterable[str],
    present: PresentSource,
) -> tuple[Build, ...]:
    """Return for each table the relation of its rows that break a key, and a view of all of them.

    There are none where a technique relies on no key. Those of tables whose keys are ``gone`` from
    the source stay as they are.
    """
    parts = (
        *(
            _of_rows(conceptual.entity(table), names, keeps, of_table, present)
            for table, of_table in keys.items()
        ),
        *(_of_rows_before(table, names) for table in gone if table not in keys),
    )
    return (*parts, _of_all(parts, names)) if parts else ()


def _of_rows(
    entity: Entity, names: SqlNames, keeps: Keeps, keys: TableKeys, present: PresentSource
) -> Build:
    name = names.quarantine(entity.name)
    call = macro_call("quarantined_rows", **_arguments(entity, names, keeps, keys, present))
    made = called_sql(call, name, _HASHING)
    read = read_relations((entity.name,), names, present)
    return Build(
        name=name,
        layer="quarantine",
        materialization="incremental",
        title=entity.name,
        description=f"Rows of {entity.name} that break a key, which no load takes in.",
        sql=made.sql,
        next_load=made.sql,
        replaced=f"load_date = {LOAD_DATE}",
        call=call,
        ref_models=read["ref_models"],
        ref_sources=read["ref_sources"],
        columns=_COLUMNS,
        mapped_source_tables=(entity.name,),
        reason="One row for each load and row, with all that the source says in it.",
    )


def _of_rows_before(table: str, names: SqlNames) -> Build:
    name = names.quarantine(table)
    nothing = [(f"CAST(NULL AS {column.type})", column.name) for column in _COLUMNS]
    return retired_build(
        Build(
            name=name,
            layer="quarantine",
            materialization="incremental",
            title=table,
            description=f"Rows of {table} that broke a key, which no load took in.",
            sql=query(nothing, "(SELECT 1 AS nothing) AS no_rows", where=["FALSE"]),
            columns=_COLUMNS,
            mapped_source_tables=(table,),
            reason="One row for each load and row, with all that the source said in it.",
        )
    )


def _of_all(parts: Sequence[Build], names: SqlNames) -> Build:
    """Return the view of all rows in quarantine, and which load set them apart for which rule."""
    taken = {*names.tables.values(), *names.sources.values(), *names.stagings.values()}
    name = free_identifier("quarantine", {*taken, *names.quarantines.values()})
    columns = [column.name for column in _COLUMNS]
    return Build(
        name=name,
        layer="quarantine",
        materialization="view",
        title=name,
        description="Rows of the source that break a key of their table, which no load takes in.",
        sql=union_all(*(query(columns, f"model.{part.name}") for part in parts)),
        ref_models=tuple(part.name for part in parts),
        columns=_COLUMNS,
        mapped_source_tables=tuple(part.title for part in parts),
        reason="What the quarantines of all tables have.",
    )


_COLUMNS: tuple[PlanColumn, ...] = (
    LOAD_DATE_COLUMN,
    technical("source_table", "VARCHAR", "The table that the row is of."),
    technical("broken_rule", "VARCHAR", "The rule that the row breaks."),
    technical("key_values", "VARCHAR", "The key of the row, as JSON."),
    technical("source_row", "VARCHAR", "The whole row, as JSON by the names of the source."),
)


def _arguments(
    entity: Entity, names: SqlNames, keeps: Keeps, keys: TableKeys, present: PresentSource
) -> dict[str, object]:
    columns = {
        names.column(entity.name, name): reading(
            f"{_ROW}.{quote(alias)}", entity.attribute(name), keeps
        )
        for name, alias in zip(
            keys.columns, column_aliases(entity, keys.columns, present), strict=True
        )
    }
    # A name may have a line break, which an indentation would change: this is where it's written.
    pairs = ",\n            ".join(f"{literal(name)}, {sql}" for name, sql in columns.items())
    rows: SourceTable | Query = SourceTable(names.source(entity.name))
    if present.delivery(entity.name) is not None:
        rows = Query(spelled_as_delivered(entity, names, present))
    return {
        "rows": rows,
        "table": names.source(entity.name),
        "columns": {name: Sql(sql) for name, sql in columns.items()},
        "never_null": list(names.columns_of(entity.name, keys.never_null)),
        "unique": [list(names.columns_of(entity.name, key)) for key in keys.unique],
        "as_json": Sql(f"CAST(JSON_OBJECT(\n            {pairs}\n        ) AS VARCHAR)"),
    }


def sound(staging: Build, names: SqlNames, keys: TableKeys, *, marked: bool) -> Build:
    """Return a staging without rows in quarantine, or with these ``marked`` after the others."""
    select = f"SELECT staged.*\nFROM {SOUND_ROWS}"
    return staging.model_copy(
        update={
            **with_sound_rows(staging, names, keys, select, marked=marked),
            "ref_models": (names.quarantine(staging.title), *staging.ref_models),
            "columns": (*staging.columns, *([BROKEN_RULE] if marked else [])),
        }
    )


def with_sound_rows(
    staging: Build, names: SqlNames, keys: TableKeys, select: str, *, marked: bool
) -> dict[str, object]:
    """Return what a build has that selects from the sound rows of a staging.

    ``select`` reads them as ``SOUND_ROWS``.
    """
    call = _call(staging, names, keys, marked=marked)
    return {
        "sql": in_place(select, called_sql(call, staging.name, _HASHING).sql),
        "call": call,
        "outline": select,
    }


def in_place(outline: str, rows: str) -> str:
    """Return an outline with a query in the place of its sound rows."""
    before, _, after = outline.rpartition(f"\nFROM {SOUND_ROWS}")
    return f"{before}\nFROM {nested(rows)} AS staged{after}"


def _call(staging: Build, names: SqlNames, keys: TableKeys, *, marked: bool) -> MacroCall:
    table = staging.mapped_source_tables[0]
    types = {column.name: column.type for column in staging.columns}
    return macro_call(
        "sound_rows",
        rows=Query(staging.sql),
        quarantine=Relation(names.quarantine(table)),
        keys=[
            {name: SqlType(types[name]) for name in names.columns_of(table, key)}
            for key in keys.known_by
        ],
        never_null=list(names.columns_of(table, keys.never_null)),
        marked=marked,
    )


def held_argument(
    table: str, key: Mapping[str, str], names: SqlNames, keys: Mapping[str, TableKeys]
) -> dict[str, object]:
    """Return where a history finds the keys of a table whose rows are in quarantine.

    ``key`` has the columns of the staging that the history goes by, each with its type. Nothing is
    held of a table without a key.
    """
    of_table = keys.get(table)
    if of_table is None or not key.keys() <= set(names.columns_of(table, of_table.columns)):
        return {}
    return {
        "quarantine": Relation(names.quarantine(table)),
        "key": {name: SqlType(type_) for name, type_ in key.items()},
    }


def held_in(held: Mapping[str, object]) -> tuple[str, ...]:
    """Return the relation that an argument of held keys reads."""
    quarantine = held.get("quarantine")
    return (str(quarantine),) if quarantine is not None else ()
