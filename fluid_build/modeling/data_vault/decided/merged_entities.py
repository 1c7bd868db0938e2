"""Tables that describe the same entity by decision: both are in one hub, a satellite for each."""

from collections.abc import Mapping

from fluid_build.decisions.language import Merge
from fluid_build.decisions.model_decisions import ModelDecisions
from fluid_build.decisions.reasons import decided_reason
from fluid_build.modeling.conceptual import Relationship
from fluid_build.modeling.data_vault.decided.keys import (
    decided_key,
    is_unique_key,
    key_obstacle,
    null_obstacle,
)
from fluid_build.modeling.data_vault.key_types import are_written_alike, vault_type
from fluid_build.modeling.data_vault.source_tables import DecidedKey, SourceTables
from fluid_build.modeling.data_vault.subtypes import OTHER_KIND
from fluid_build.modeling.identifiers import identifier
from fluid_build.profiling.profile import ForeignKeyEvidence
from fluid_build.text import counted, listed


def merge_obstacle(tables: SourceTables, merge: Merge) -> str:
    """Return why two tables can't share a hub by these columns; "" where they can."""
    for table, columns in ((merge.table, merge.columns), (merge.into_table, merge.into_columns)):
        unknown = key_obstacle(tables, table, columns, merge.evidence)
        if unknown:
            return unknown
        if len(set(columns)) < len(columns):
            return f"A column of `{table}` is named twice."
        entity = tables.entities[table]
        nulls = null_obstacle(entity, columns)
        if nulls:
            return f"{nulls}, and a hub needs a key for each."
        if not is_unique_key(entity, columns, merge.evidence):
            rows = counted(merge.evidence.violations, "row") if merge.evidence else "some rows"
            return f"The values that `{table}` would be merged by repeat or are missing in {rows}."
    left, right = (
        [vault_type(tables.entities[table].attribute(column)) for column in columns]
        for table, columns in (
            (merge.table, merge.columns), (merge.into_table, merge.into_columns)
        )
    )  # fmt: skip
    if not are_written_alike(left, right):
        return (
            f"The keys are written differently: {', '.join(left)} in `{merge.table}` and"
            f" {', '.join(right)} in `{merge.into_table}`."
        )
    return ""


def conflict(decisions: ModelDecisions, merge: Merge) -> str:
    """Return which other decision a merge contradicts, as a sentence; "" where none."""
    role = decisions.vault_roles.get(merge.table)
    if role is not None and role.role in {"link", "reference"}:
        return f"`{merge.table}` is decided to be a {role.role}."
    into_role = decisions.vault_roles.get(merge.into_table)
    if into_role is not None and into_role.role in {"link", "reference", "satellite"}:
        return f"`{merge.into_table}` is decided to be a {into_role.role}."
    key = decisions.business_keys.get(merge.into_table)
    if key is not None and set(key.columns) != set(merge.into_columns):
        return f"The business key of `{merge.into_table}` is decided to be {listed(key.columns)}."
    return ""


def merged_keys(tables: SourceTables, merges: Mapping[str, Merge]) -> dict[str, DecidedKey]:
    """Return the key of each table that is merged or merged into."""
    return {
        table: DecidedKey(
            decided_key(tables.entities[table], columns, merge.evidence), decided_reason(merge)
        )
        for merge in merges.values()
        for table, columns in (
            (merge.table, merge.columns), (merge.into_table, merge.into_columns)
        )
    }  # fmt: skip


def reference_to_merged(tables: SourceTables, merge: Merge) -> Relationship:
    """Return the reference by which the rows of a merged table are in the other table's hub."""
    evidence = merge.evidence
    return Relationship(
        name=f"{OTHER_KIND}{identifier(merge.table)}",
        from_entity=merge.table,
        from_attributes=merge.columns,
        to_entity=merge.into_table,
        to_attributes=merge.into_columns,
        cardinality="one-to-one",
        from_participation="optional",
        to_participation="optional",
        origin="declared",
        confidence=1.0,
        evidence=ForeignKeyEvidence(
            origin="declared",
            rows=tables.entities[merge.table].rows,
            sql=evidence.sql if evidence else "",
        ),
        mapped_source_tables=(merge.table, merge.into_table),
        reason=decided_reason(merge),
    )


def mergeable(tables: SourceTables, decisions: ModelDecisions) -> dict[str, Merge]:
    """Return the merges that a vault can follow, by the table that is merged.

    A table is merged once, nothing is merged in a circle, and what is merged into a merged table
    has the same key there. What is decided about the place and the key of a hub comes first.
    """
    chosen: dict[str, Merge] = {}
    for merge in decisions.merges:
        if merge_obstacle(tables, merge) or merge.table in chosen:
            continue
        if conflict(decisions, merge):
            continue
        trial = {**chosen, merge.table: merge}
        if _is_circle(trial, merge.table) or not _has_one_key_for_each_hub(trial):
            continue
        chosen = trial
    return chosen


def _is_circle(merges: Mapping[str, Merge], start: str) -> bool:
    table = merges[start].into_table
    while table in merges and table != start:
        table = merges[table].into_table
    return table == start


def _has_one_key_for_each_hub(merges: Mapping[str, Merge]) -> bool:
    """Return whether each table is in its hub by the same columns in all merges."""
    columns: dict[str, set[str]] = {}
    for merge in merges.values():
        for table, own in ((merge.table, merge.columns), (merge.into_table, merge.into_columns)):
            if columns.setdefault(table, set(own)) != set(own):
                return False
    return True
