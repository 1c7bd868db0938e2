"""References to keys of another source, where a source has no table of its own for them.

A source that only books what happens to the customers of another one names them by their key. Its
rows then lead to that one's hub.
"""

from fluid_build.modeling.conceptual import Relationship
from fluid_build.modeling.data_vault.source_tables import SourceTables
from fluid_build.modeling.identifiers import identifier
from fluid_build.observations.key_uses import KeyUse
from fluid_build.profiling.profile import ForeignKeyEvidence
from fluid_build.text import counted

_FEWEST_VALUES = 3
"""Different values that must be keys of the other source, unless there are fewer."""
_MATCHED = 0.5
"""Share of rows that must have a key of the other source: the other rows may be of what only this
source knows, but a column that mostly holds something else isn't named for that key."""
_CONFIDENCE = 0.9
"""How sure such a reference is: it's named for the key, and its values aren't there by accident."""


def with_foreign_references(tables: SourceTables) -> SourceTables:
    """Return the tables with the references that lead from one source to another's keys."""
    best: dict[tuple[str, str], KeyUse] = {}
    for use in tables.observations.key_uses:
        known = best.get((use.table, use.column))
        if _is_reference(tables, use) and (known is None or use.matched > known.matched):
            best[use.table, use.column] = use
    return tables.with_references([_relationship(use) for use in best.values()])


def _is_reference(tables: SourceTables, use: KeyUse) -> bool:
    if not {use.table, use.to_table} <= tables.entities.keys():
        return False
    keys = tables.entities[use.to_table].keys
    is_key = any(key.attributes == (use.to_column,) and key.holds for key in keys)
    fewest = min(_FEWEST_VALUES, use.values)
    is_meant = use.matched_values >= fewest and use.matched >= _MATCHED * use.rows
    return is_key and tables.identities[use.to_table] is not None and is_meant


def _relationship(use: KeyUse) -> Relationship:
    return Relationship(
        name=identifier(f"{use.table} {use.column} to {use.to_table}"),
        from_entity=use.table,
        from_attributes=(use.column,),
        to_entity=use.to_table,
        to_attributes=(use.to_column,),
        cardinality="many-to-one",
        from_participation="optional",
        to_participation="optional",
        origin="measured",
        confidence=_CONFIDENCE,
        evidence=ForeignKeyEvidence(
            origin="measured",
            rows=use.rows,
            distinct=use.values,
            violations=use.rows - use.matched,
            matched=use.matched,
            orphans=use.rows - use.matched,
            sql=use.sql,
        ),
        mapped_source_tables=(use.table, use.to_table),
        reason=f"Named for a key of another source, and {counted(use.matched, 'row')} of"
        f" {use.rows:,} have one.",
    )
