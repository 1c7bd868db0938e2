"""The business keys that somebody decided, as far as a hub can be loaded by them without loss.

A key that repeats has several rows for each of its values. The hub lists the values once, and the
table's own key tells the rows of its satellite apart. Rows without a key would share a hub row
with each other, so a key with nulls builds no hub.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from fluid_build.decisions.language import BusinessKey, DecisionEvidence
from fluid_build.decisions.reasons import decided_reason
from fluid_build.modeling.conceptual import Entity, EntityKey
from fluid_build.modeling.data_vault.source_tables import DecidedKey, SourceTables
from fluid_build.modeling.element import source_columns
from fluid_build.profiling.profile import Evidence
from fluid_build.text import counted, listed


def with_decided_keys(tables: SourceTables, decisions: Mapping[str, BusinessKey]) -> SourceTables:
    """Return the tables with the decided keys that hubs can be built on.

    Where no other key identifies the rows of a table, a decided one that is unique does.
    """
    keys = {
        table: decided_key(tables.entities[table], decision.columns, decision.evidence)
        for table, decision in decisions.items()
        if not key_obstacle(tables, table, decision.columns, decision.evidence)
    }
    decided = {
        table: DecidedKey(key, decided_reason(decisions[table])) for table, key in keys.items()
    }
    return with_keys(tables, decided)


def with_keys(tables: SourceTables, decided: Mapping[str, DecidedKey]) -> SourceTables:
    """Return the tables with decided keys next to those that they have already."""
    if not decided:
        return tables
    identities = {
        table: identity or (decided[table].key if table in decided else None)
        for table, identity in tables.identities.items()
    }
    return replace(tables, identities=identities, decided_keys={**tables.decided_keys, **decided})


def key_obstacle(
    tables: SourceTables, table: str, columns: Sequence[str], evidence: DecisionEvidence | None
) -> str:
    """Return why no hub can be built on columns of a table; "" where one can."""
    entity = tables.entities.get(table)
    if entity is None or not set(columns) <= {a.name for a in entity.attributes}:
        return f"The model has no table `{table}` with {_quoted(columns)}."
    nullable = null_obstacle(entity, columns)
    if nullable:
        return f"{nullable}, and a hub needs a key for each."
    if not tables.identities[table] and not _is_unique(entity, columns, evidence):
        violations = evidence.violations if evidence else 0
        repeated = f"repeats in {counted(violations, 'row')}" if violations else "isn't measured"
        return f"{_quoted(columns)} of `{table}` {repeated}, and no other key tells its rows apart."
    return ""


def null_obstacle(entity: Entity, columns: Sequence[str]) -> str:
    """Return the clause that a column is null in some rows; "" where none is."""
    for column in columns:
        attribute = entity.attribute(column)
        if not attribute.required:
            nulls, rows = attribute.evidence.nulls, counted(entity.rows, "row")
            return f"`{entity.name}.{column}` is null in {nulls:,} of {rows}"
    return ""


def is_unique_key(
    entity: Entity, columns: Sequence[str], evidence: DecisionEvidence | None
) -> bool:
    """Return whether columns identify each row of a table, by its keys or as measured."""
    return not null_obstacle(entity, columns) and _is_unique(entity, columns, evidence)


def _is_unique(entity: Entity, columns: Sequence[str], evidence: DecisionEvidence | None) -> bool:
    if evidence is not None:
        return not evidence.violations
    return any(
        set(key.attributes) <= set(columns)
        and key.holds
        and (key.evidence.exact or key.evidence.sample is not None)
        for key in entity.keys
    )


def decided_key(
    entity: Entity, columns: tuple[str, ...], evidence: DecisionEvidence | None
) -> EntityKey:
    """Return columns as a key of a table: one that the table has, or the measured one."""
    columns = tuple(dict.fromkeys(columns))
    holds = _is_unique(entity, columns, evidence)
    own_key = next((key for key in entity.keys if key.attributes == columns), None)
    if own_key is not None and own_key.holds == holds:
        return own_key
    figures = evidence or DecisionEvidence(rows=entity.rows)
    return EntityKey(
        kind="candidate",
        attributes=columns,
        origin="measured" if holds else "declared",
        holds=holds,
        evidence=Evidence(
            origin="measured" if holds else "declared",
            rows=figures.rows,
            nulls=figures.nulls,
            distinct=figures.distinct,
            violations=figures.violations,
            sql=figures.sql,
        ),
        mapped_source_tables=(entity.name,),
        source_columns=source_columns(entity.name, columns),
        reason="Somebody decided that it's the business key.",
    )


def _quoted(columns: Sequence[str]) -> str:
    return listed(f"`{column}`" for column in columns)
