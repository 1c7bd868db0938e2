"""Tables of which the source has only a part each time: all that was delivered of them is kept.

Each has a relation in front of its staging, which only gets rows: of a delta those that changed, of
appended rows those that came. What the table has is what was delivered last of each key. A row that
lacks a part of its key replaces no other one, and is replaced by none.
"""

from collections.abc import Callable, Iterator

from fluid_build.modeling.conceptual import ConceptualModel, Entity
from fluid_build.modeling.data_vault.elements import HashKeyStrategy
from fluid_build.modeling.element import source_columns
from fluid_build.modeling.sql_names import SqlNames, fit, free_identifier
from fluid_build.modeling.types import type_name
from fluid_build.sources.sql import literal, quote
from fluid_build.transform.plan.built_columns import LOAD_DATE_COLUMN
from fluid_build.transform.plan.elements import LOAD_DATE, Build, PlanColumn
from fluid_build.transform.plan.hashing import comparable, hashed_row, written_or_token
from fluid_build.transform.plan.present_source import PresentSource
from fluid_build.transform.plan.retirement import retired_build
from fluid_build.transform.plan.sql_layout import (
    Column,
    as_text,
    join,
    nested,
    query,
    union_all,
    with_ctes,
)

_HASHING = HashKeyStrategy()
NO_TABLE = "(SELECT 1 AS nothing) AS no_table"
"""What a query without rows reads: some databases take no condition without a relation."""


def kept_name(table: str, names: SqlNames) -> str:
    """Return what the relation of a table's deliveries is called."""
    taken = {*names.tables.values(), *names.sources.values(), *names.stagings.values()}
    return free_identifier(fit("kept", names.source(table)), taken)


def kept_rows(entity: Entity, names: SqlNames, present: PresentSource) -> str:
    """Return the query for the rows that a table has after all of its deliveries.

    They have our names, and the source's types. A key is gone whose last rows are marked. Where
    only some of them are, nobody knows which comes last: all stay, and the test of the key fails.
    """
    recency = _own("recency", entity, names)
    columns = names.columns_of(entity.name, (each.name for each in entity.attributes))
    ranked: list[Column] = [*columns, (_recency(entity, names), recency)]
    is_last = " OR ".join((f"{recency} = 1", *_lacking(entity, names)))
    conditions = [is_last]
    if is_left := unmarked(entity, present, lambda name: names.column(entity.name, name)):
        left = _own("is_left", entity, names)
        key = ", ".join((*_comparable_key(entity, names), "load_date"))
        flag = f"MAX(CASE WHEN {is_left} THEN 1 ELSE 0 END) OVER (PARTITION BY {key})"
        ranked.append((flag, left))
        conditions = [f"({is_last})", f"{left} = 1"]
    kept = query(ranked, f"model.{kept_name(entity.name, names)}")
    return query(columns, f"{nested(kept)} AS kept", where=conditions)


def unmarked(entity: Entity, present: PresentSource, named: Callable[[str], str]) -> str:
    """Return the condition that a row doesn't say that it's deleted; "" where none does.

    ``named`` says what the column is called that marks such rows.
    """
    delivery = present.delivery(entity.name)
    if delivery is None or not delivery.mark or not present.has(entity.name, delivery.mark):
        return ""
    column = named(delivery.mark)
    if not delivery.marks:
        return f"{column} IS NULL"
    text = as_text(column, entity.attribute(delivery.mark).source_type)
    return f"({column} IS NULL OR {text} NOT IN ({', '.join(map(literal, delivery.marks))}))"


def as_at_source(entity: Entity, names: SqlNames, present: PresentSource) -> str:
    """Return the SQL, which may follow FROM, of a table's rows by the source's own columns."""
    if present.delivery(entity.name) is None:
        return f"source.{names.source(entity.name)}"
    return f"{nested(spelled_as_delivered(entity, names, present))} AS at_source"


def spelled_as_delivered(entity: Entity, names: SqlNames, present: PresentSource) -> str:
    """Return the query for all that was delivered of a table, by the source's own columns."""
    columns = names.columns[entity.name]
    spelled = [(columns[each.name], quote(alias)) for alias, each in present.columns(entity)]
    return query(spelled, f"{nested(kept_rows(entity, names, present))} AS delivered")


def kept_builds(
    conceptual: ConceptualModel, names: SqlNames, present: PresentSource
) -> Iterator[Build]:
    """Return the relation of each table that isn't whole in each delivery."""
    for entity in conceptual.entities:
        if present.delivery(entity.name) is not None:
            yield _kept_build(entity, names, present)


def _kept_build(entity: Entity, names: SqlNames, present: PresentSource) -> Build:
    key = _key(entity)
    attributes = tuple(each.name for each in entity.attributes)
    is_delta = _is_delta(entity, present)
    build = Build(
        name=kept_name(entity.name, names),
        layer="deliveries",
        materialization="incremental",
        title=f"{entity.name}, as delivered",
        description=(
            f"All rows that were ever delivered of {entity.name}: what a delivery lacks stays, and"
            f" {'a row that changed follows the earlier one' if is_delta else 'no row changes'}."
        ),
        sql=query(
            [*names.columns_of(entity.name, attributes), (LOAD_DATE, "load_date")],
            f"{nested(_delivered(entity, names, present))} AS delivered",
        ),
        next_load=_next_load(entity, names, present),
        ref_sources=(names.source(entity.name),) if present.has_table(entity.name) else (),
        columns=(*_columns(entity, names), LOAD_DATE_COLUMN),
        mapped_source_tables=(entity.name,),
        source_columns=source_columns(entity.name, attributes),
        reason=(
            f"A decision says that {entity.name} delivers only"
            f" {'what changed' if is_delta else 'what came'}."
        ),
    )
    return build if present.has(entity.name, *key) else retired_build(build)


def _columns(entity: Entity, names: SqlNames) -> Iterator[PlanColumn]:
    for attribute in entity.attributes:
        yield PlanColumn(
            name=names.column(entity.name, attribute.name),
            type=attribute.source_type,
            contract_type=type_name(attribute.source_type),
            description=attribute.description,
            semantic_type=attribute.semantic_type,
            pii=attribute.pii,
            mapped_source_tables=(entity.name,),
            source_columns=source_columns(entity.name, (attribute.name,)),
        )


def _key(entity: Entity) -> tuple[str, ...]:
    assert entity.primary_key is not None, "a table without a key is delivered whole"
    return entity.primary_key.attributes


def _is_delta(entity: Entity, present: PresentSource) -> bool:
    delivery = present.delivery(entity.name)
    return delivery is not None and delivery.kind == "delta"


def _recency(entity: Entity, names: SqlNames) -> str:
    key = ", ".join(_comparable_key(entity, names))
    return f"RANK() OVER (PARTITION BY {key} ORDER BY load_date DESC)"


def _comparable_key(entity: Entity, names: SqlNames) -> list[str]:
    return [
        comparable(names.column(entity.name, part), entity.attribute(part).source_type)
        for part in _key(entity)
    ]


def _own(name: str, entity: Entity, names: SqlNames) -> str:
    """Return a name that no column of a table has, for one that a load adds for itself."""
    return free_identifier(name, names.columns[entity.name].values())


def _lacking(entity: Entity, names: SqlNames) -> list[str]:
    """Return conditions, of which one holds for a row that lacks a part of its key."""
    return [f"{column} IS NULL" for column in names.columns_of(entity.name, _key(entity))]


def _delivered(entity: Entity, names: SqlNames, present: PresentSource) -> str:
    """Return the query for the rows that the source has today, with our names."""
    aliases = {each.name: quote(alias) for alias, each in present.columns(entity)}
    columns = [
        (
            f"CAST({aliases.get(each.name, 'NULL')} AS {each.source_type})",
            names.column(entity.name, each.name),
        )
        for each in entity.attributes
    ]
    if not present.has_table(entity.name):
        return query(columns, NO_TABLE, where=["FALSE"])
    return query(columns, f"source.{names.source(entity.name)}")


def _next_load(entity: Entity, names: SqlNames, present: PresentSource) -> str:
    """Return the query for the rows to add: all delivered ones of a key that isn't as it was.

    Of appended rows, those of keys that are new, or that came more than once, which set them apart.
    Where a delivery has several rows of a key, they are compared and added together.
    """
    state = _own("row_state", entity, names)
    columns = names.columns_of(entity.name, (each.name for each in entity.attributes))
    key = names.columns_of(entity.name, _key(entity))
    delivered: list[Column] = [*columns, (_state(entity, names, present), state)]
    lacking = _lacking(entity, names)
    lacks_key = lacking[0] if len(lacking) == 1 else "(" + " OR ".join(lacking) + ")"
    known = query([state], "before", where=[lacks_key])
    same = [f"changed.{column} = delivered.{column}" for column in key]
    return with_ctes(
        [
            (
                "delivered",
                query(delivered, f"{nested(_delivered(entity, names, present))} AS arriving"),
            ),
            ("before", _before(entity, names, present)),
            ("changed", _changed(entity, names, present)),
        ],
        union_all(
            query(
                [*(f"delivered.{column}" for column in columns), (LOAD_DATE, "load_date")],
                "delivered",
                "INNER JOIN changed\n    ON " + "\n    AND ".join(same),
            ),
            query(
                [*columns, (LOAD_DATE, "load_date")],
                "delivered",
                where=[lacks_key, f"{state} NOT IN {nested(known)}"],
            ),
        ),
    )


def _before(entity: Entity, names: SqlNames, present: PresentSource) -> str:
    """Return the query for what is kept of the keys that are delivered, and of rows without one."""
    recency = _own("recency", entity, names)
    state = _own("row_state", entity, names)
    key = names.columns_of(entity.name, _key(entity))
    arriving = nested(query(key, "delivered", distinct=True))
    same = [f"arriving.{column} = kept.{column}" for column in key]
    is_asked_for = " OR ".join(
        (f"arriving.{key[0]} IS NOT NULL", *(f"kept.{part}" for part in _lacking(entity, names)))
    )
    of_keys = query(
        ["kept.*"],
        f"model.{kept_name(entity.name, names)} AS kept",
        join("LEFT JOIN", arriving, "arriving", same),
        where=[is_asked_for],
    )
    selected: list[Column] = [*key, (_state(entity, names, present), state)]
    return query([*selected, (_recency(entity, names), recency)], f"{nested(of_keys)} AS kept")


def _changed(entity: Entity, names: SqlNames, present: PresentSource) -> str:
    """Return the query for the keys of which the delivered rows are to be added.

    A key whose appended row came alone is settled: no other row of it is taken.
    """
    recency = _own("recency", entity, names)
    state = _own("row_state", entity, names)
    surplus = _own("surplus", entity, names)
    key = names.columns_of(entity.name, _key(entity))
    told_apart_by = [*key, state]
    both = union_all(
        query([*told_apart_by, ("1", surplus)], "delivered"),
        query([*told_apart_by, ("-1", surplus)], "before", where=[f"{recency} = 1"]),
    )
    grouped = query(key, f"{nested(both)} AS states", group_by=told_apart_by)
    differing = nested(f"{grouped}\nHAVING SUM({surplus}) <> 0") + " AS differing"
    if _is_delta(entity, present):
        return query(key, differing, distinct=True)
    last = query(key, "before", where=[f"{recency} = 1"], group_by=key)
    same = [f"settled.{column} = differing.{column}" for column in key]
    return query(
        [f"differing.{column}" for column in key],
        differing,
        join("LEFT JOIN", nested(f"{last}\nHAVING COUNT(*) = 1"), "settled", same),
        where=[f"settled.{key[0]} IS NULL"],
        distinct=True,
    )


def _state(entity: Entity, names: SqlNames, present: PresentSource) -> str:
    """Return the hash of all that the source still says in a row."""
    parts = [
        written_or_token(names.column(entity.name, each.name), each.source_type, _HASHING)
        for _, each in present.columns(entity)
    ]
    return hashed_row(parts, _HASHING)
