"""The primary keys and foreign keys of a whole schema, chosen together.

A bridge or a detail table gets its key only once its references are known, and references need
keys to refer to.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from fluid_build.profiling.composite_foreign_keys import (
    CompositeReference,
    find_composite_references,
)
from fluid_build.profiling.foreign_keys import ColumnReference, ReferenceSearch
from fluid_build.profiling.implied_references import find_implied
from fluid_build.profiling.key_plausibility import plausibility
from fluid_build.profiling.measured_tables import MeasuredTable
from fluid_build.profiling.primary_keys import KeyChoice, choose_composite, choose_single
from fluid_build.profiling.reference_choice import choose_references
from fluid_build.profiling.value_cache import ValueCache
from fluid_build.profiling.weights import DEFAULT_WEIGHTS, PrimaryKeyWeights, Weights


@dataclass(slots=True)
class SelectedKeys:
    """The primary key of each table (by its index), and the references.

    ``implied`` are the ids of references that follow from others.
    """

    primary: dict[int, KeyChoice] = field(default_factory=dict)
    references: list[ColumnReference] = field(default_factory=list)
    composites: list[CompositeReference] = field(default_factory=list)
    implied: set[int] = field(default_factory=set)

    def is_implied(self, reference: ColumnReference | CompositeReference) -> bool:
        """Return whether a reference follows from others."""
        return id(reference) in self.implied


def select_keys(
    cache: ValueCache, tables: Sequence[MeasuredTable], weights: Weights = DEFAULT_WEIGHTS
) -> SelectedKeys:
    """Choose the primary keys and foreign keys of a schema; sets each table's ``primary_key``.

    Declared keys and keys of one column with a clear name come first, for references need parents.
    The other tables follow once it is known which of their columns refer elsewhere.
    """
    selected = SelectedKeys()
    for table in tables:
        choice = _declared_key(table) or choose_single(table, weights.primary_key)
        if choice is not None and choice.score >= weights.primary_key.clear_single:
            _set_primary_key(selected, table, choice)
    search = ReferenceSearch(cache, tables, weights)
    selected.references = choose_references(search, weights.reference)
    search.close()
    for table in tables:
        if not table.primary_key:
            late = _late_choice(table, _referring_columns(selected, table), weights.primary_key)
            if late is not None:
                _set_primary_key(selected, table, late)
    selected.composites = find_composite_references(cache, tables, selected.references, weights)
    _prefer_referring_keys(selected)
    selected.implied = find_implied(selected.references, selected.composites)
    return selected


def _declared_key(table: MeasuredTable) -> KeyChoice | None:
    key = table.stats.table.primary_key
    if not key or not set(key) <= set(table.by_name):
        return None
    return KeyChoice(key, math.inf, "declared by the source")


def _set_primary_key(selected: SelectedKeys, table: MeasuredTable, choice: KeyChoice) -> None:
    table.primary_key = choice.columns
    selected.primary[table.index] = choice


def _late_choice(
    table: MeasuredTable, referring: set[str], weights: PrimaryKeyWeights
) -> KeyChoice | None:
    """Return the better of the best keys of one and of several columns, if it is good enough.

    A table's only candidate needn't look like a key, as long as nothing speaks against it.
    """
    single = choose_single(table, weights)
    composite = choose_composite(table, referring, weights)
    if len(table.candidates.keys) == 1:
        only = single or composite
        return only if only is not None and _is_plausible(table, only, weights) else None
    is_clear = composite is not None and composite.score >= weights.clear_composite
    if composite is not None and is_clear and (single is None or single.score < composite.score):
        return composite
    return single if single is not None and single.score >= weights.fair_single else None


def _is_plausible(table: MeasuredTable, choice: KeyChoice, weights: PrimaryKeyWeights) -> bool:
    return all(
        plausibility(table.by_name[name].stats) >= weights.plausible for name in choice.columns
    )


def _prefer_referring_keys(selected: SelectedKeys) -> None:
    """Prefer the key whose columns together refer to another table's key.

    A return refers to the line of a sale with the very columns that identify the return. Declared
    keys, keys of one column and keys with a column of their own stay.
    """
    for composite in selected.composites:
        table = composite.child[0].table
        columns = sorted(composite.child, key=lambda column: column.position)
        key = tuple(column.name for column in columns)
        if len(table.primary_key) < 2 or table.stats.table.primary_key:
            continue
        if not set(table.primary_key) <= _referring_columns(selected, table):
            continue
        if key != table.primary_key and key in table.candidates.keys:
            score = selected.primary[table.index].score
            parent = composite.parent[0].table.name
            reason = f"unique together, and they refer to the key of {parent}"
            _set_primary_key(selected, table, KeyChoice(key, score, reason))


def _referring_columns(selected: SelectedKeys, table: MeasuredTable) -> set[str]:
    return {r.child.name for r in selected.references if r.child.table is table}
