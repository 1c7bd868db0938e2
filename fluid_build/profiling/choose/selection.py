"""The primary keys and foreign keys of a whole schema, chosen together.

A bridge or a detail table gets its key only once its references are known, and references need
keys to refer to.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from fluid_build.profiling.choose.implied import find_implied
from fluid_build.profiling.choose.reference_choice import choose_references
from fluid_build.profiling.choose.unchosen import (
    UnchosenReference,
    unchosen_composites,
    unchosen_references,
)
from fluid_build.profiling.choose.wider_keys import KeyWidening
from fluid_build.profiling.keys.primary_keys import (
    KeyChoice,
    choose_composite,
    choose_single,
    comes_before,
    is_weak_single,
    may_be_only_key,
)
from fluid_build.profiling.measure.schema import MeasuredTable
from fluid_build.profiling.measure.value_cache import ValueCache
from fluid_build.profiling.references.composites import (
    CompositeReference,
    find_composite_references,
)
from fluid_build.profiling.references.key_repeats import KeyRepeats
from fluid_build.profiling.references.single_columns import ColumnReference, ReferenceSearch
from fluid_build.profiling.weights import DEFAULT_WEIGHTS, PrimaryKeyWeights, Weights

_MOST_ROUNDS = 3
"""Times that references are chosen: keys that follow from them rarely lead to others twice."""


@dataclass(slots=True)
class SelectedKeys:
    """The primary key of each table (by its index), and the references.

    ``implied`` are the ids of references that follow from others, ``unchosen`` those that were
    judged and aren't believed.
    """

    primary: dict[int, KeyChoice] = field(default_factory=dict)
    references: list[ColumnReference] = field(default_factory=list)
    composites: list[CompositeReference] = field(default_factory=list)
    unchosen: list[UnchosenReference] = field(default_factory=list)
    implied: set[int] = field(default_factory=set)
    left_keys_out: bool = False

    def is_implied(self, reference: ColumnReference | CompositeReference) -> bool:
        """Return whether a reference follows from others."""
        return id(reference) in self.implied


def select_keys(
    cache: ValueCache, tables: Sequence[MeasuredTable], weights: Weights = DEFAULT_WEIGHTS
) -> SelectedKeys:
    """Choose the primary keys and foreign keys of a schema; sets each table's ``primary_key``.

    Declared keys and keys of one column with a clear name come first, for references need parents.
    The other keys follow from what refers to them and from which of their own columns refer
    elsewhere; as long as that changes keys that columns may refer to, references are chosen again.
    """
    selected = SelectedKeys()
    repeats = KeyRepeats(cache, tables, (), weights)
    for table in tables:
        choice = _declared_key(table) or choose_single(table, {}, repeats, weights.primary_key)
        if choice is not None and choice.score >= weights.primary_key.clear_single:
            _set_primary_key(selected, table, choice)
    search = ReferenceSearch(cache, tables, weights)
    for _ in range(_MOST_ROUNDS):
        selected.references = choose_references(search, weights.reference)
        if not _choose_keys(cache, tables, selected, weights):
            break
    selected.left_keys_out = search.left_keys_out
    repeats = KeyRepeats(cache, tables, selected.references, weights)
    _widen_keys(tables, selected, repeats)
    selected.composites, judged = find_composite_references(
        cache, tables, selected.references, repeats, search.prober, weights
    )
    search.close()
    selected.unchosen = [
        *unchosen_references(search.judged, selected.references, weights.reference),
        *unchosen_composites(judged, selected.composites, weights.composite),
    ]
    _prefer_referring_keys(selected)
    selected.implied = find_implied(selected.references, selected.composites)
    return selected


def _declared_key(table: MeasuredTable) -> KeyChoice | None:
    key = table.stats.table.primary_key
    if not key or not set(key) <= set(table.by_name):
        return None
    return KeyChoice(key, math.inf, _declared_reason(table))


def _declared_reason(table: MeasuredTable) -> str:
    """Return where a key that isn't chosen comes from: the source, or how its data was split."""
    split = table.stats.table.split
    if split is None or (split.is_root and not split.documents.is_numbered):
        return "declared by the source"
    if split.is_root:
        return "it numbers the rows in the order that they were read"
    return "the key of the row that it was nested in, and the position there"


def _set_primary_key(selected: SelectedKeys, table: MeasuredTable, choice: KeyChoice) -> None:
    table.primary_key = choice.columns
    selected.primary[table.index] = choice


def _choose_keys(
    cache: ValueCache, tables: Sequence[MeasuredTable], selected: SelectedKeys, weights: Weights
) -> bool:
    """Choose the keys that aren't declared, given the references.

    Returns whether a key of one column changed, so that references must be chosen again.
    """
    repeats = KeyRepeats(cache, tables, selected.references, weights)
    referred = Counter((r.parent.table.index, r.parent.name) for r in selected.references)
    referring = _referring_columns(selected)
    changed = False
    for table in tables:
        if table.stats.table.primary_key and table.primary_key:
            continue
        by_column = {column.name: referred[table.index, column.name] for column in table.columns}
        own = referring[table.index]
        choice = _choose_key(table, own, by_column, repeats, weights.primary_key)
        if choice is None or choice.columns == table.primary_key:
            continue
        changed = changed or 1 in {len(choice.columns), len(table.primary_key)}
        _set_primary_key(selected, table, choice)
    return changed


def _choose_key(
    table: MeasuredTable,
    referring: set[str],
    referred: Mapping[str, int],
    repeats: KeyRepeats,
    weights: PrimaryKeyWeights,
) -> KeyChoice | None:
    """Return the better of the best keys of one and of several columns, if it is good enough.

    A table's only candidate needn't look like a key, unless it's a description. A name that
    happens to be unique gives way to several columns that identify rows before it: in 40 rows of
    (country, region, name), each name may occur once.
    """
    single = choose_single(table, referred, repeats, weights)
    is_clear_single = single is not None and single.score >= weights.clear_single
    if single and is_clear_single and not is_weak_single(table, single, referred):
        return single
    composite = choose_composite(table, referring, repeats, weights)
    if single and is_clear_single:
        is_clear = composite is not None and composite.score >= weights.clear_composite
        is_before = composite and comes_before(table, composite, single)
        return composite if is_clear and is_before else single
    only = single or composite
    if len(table.candidates.keys) == 1:
        return only if only and may_be_only_key(table, only) else None
    least = weights.clear_composite if single is not None else weights.fair_composite
    is_clear = composite is not None and composite.score >= least
    if composite is not None and is_clear and (single is None or single.score < composite.score):
        return composite
    return single if single is not None and single.score >= weights.fair_single else None


def _widen_keys(
    tables: Sequence[MeasuredTable], selected: SelectedKeys, repeats: KeyRepeats
) -> None:
    """Add the columns to minimal keys that people count as part of them."""
    widening = KeyWidening(tables, selected.references, repeats)
    for table in tables:
        if not table.primary_key or table.stats.table.primary_key:
            continue
        key = tuple(table.by_name[name] for name in table.primary_key)
        wider = widening.widened(key)
        if len(wider) > len(key):
            choice = selected.primary[table.index]
            names = tuple(column.name for column in wider)
            reason = f"{choice.reason}; other tables repeat it with more of this table's columns"
            _set_primary_key(selected, table, replace(choice, columns=names, reason=reason))


def _prefer_referring_keys(selected: SelectedKeys) -> None:
    """Prefer the key whose columns together refer to another table's key.

    A return refers to the line of a sale with the very columns that identify the return. Declared
    keys, keys of one column and keys with a column of their own stay.
    """
    referring = _referring_columns(selected)
    for composite in selected.composites:
        table = composite.child[0].table
        columns = sorted(composite.child, key=lambda column: column.position)
        key = tuple(column.name for column in columns)
        if len(table.primary_key) < 2 or table.stats.table.primary_key:
            continue
        if not set(table.primary_key) <= referring[table.index]:
            continue
        if key != table.primary_key and key in table.candidates.keys:
            score = selected.primary[table.index].score
            parent = composite.parent[0].table.name
            reason = f"unique together, and they refer to the key of {parent}"
            _set_primary_key(selected, table, KeyChoice(key, score, reason))


def _referring_columns(selected: SelectedKeys) -> dict[int, set[str]]:
    """Return the columns of each table that refer to others, by the table's index."""
    referring: dict[int, set[str]] = defaultdict(set)
    for reference in selected.references:
        referring[reference.child.table.index].add(reference.child.name)
    return referring
