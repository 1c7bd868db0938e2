"""The foreign keys of one column that are meant, chosen among all candidates of a schema.

A column has at most one parent. Columns of one name mean the same, a reference leads to the table
where a key is at home, and two columns don't refer to each other.
"""

import math
from collections.abc import Container, Iterator, Mapping, Sequence
from itertools import takewhile

from fluid_build.profiling.choose.homes import (
    choose_roots,
    follow_namesakes,
    is_more_specific,
    lead_home,
)
from fluid_build.profiling.references.single_columns import ColumnReference, ReferenceSearch
from fluid_build.profiling.weights import ReferenceWeights


def choose_references(search: ReferenceSearch, weights: ReferenceWeights) -> list[ColumnReference]:
    """Return at most one reference for each column, consistent over the whole schema."""
    candidates = search.candidates()
    by_child = {id(measured[0].child): measured for measured in candidates}
    chosen = _best_references(candidates, weights)
    chosen = lead_home(chosen, search, by_child, weights)
    chosen = follow_namesakes(chosen, search, weights)
    chosen = choose_roots(chosen, search, by_child, weights)
    chosen = _without_contested(chosen, by_child, weights)
    position = {id(column): index for index, column in enumerate(search.columns)}
    return sorted(chosen, key=lambda reference: position[id(reference.child)])


def _best_references(
    candidates: Sequence[Sequence[ColumnReference]], weights: ReferenceWeights
) -> list[ColumnReference]:
    """Return the best reference of each column, none of them against another.

    A column whose reference loses against its reverse falls back on its next best.
    """
    beaten: set[int] = set()
    while True:
        chosen = [
            best for measured in candidates if (best := _best_reference(measured, beaten, weights))
        ]
        losers = {id(reference) for reference in _beaten_by_reverse(chosen)}
        if not losers:
            return chosen
        beaten |= losers


def _best_reference(
    measured: Sequence[ColumnReference], beaten: Container[int], weights: ReferenceWeights
) -> ColumnReference | None:
    measured = [reference for reference in measured if id(reference) not in beaten]
    accepted = [reference for reference in measured if reference.is_credible(weights)]
    if not accepted:
        return None
    clean = [reference for reference in accepted if reference.inclusion.orphans == 0]
    best = max(clean or accepted, key=lambda reference: _preference(reference, weights))
    for reference in measured:
        if is_more_specific(reference, best, weights):
            reference.log_odds = max(reference.log_odds, best.log_odds)
            best = reference
    return best


def _preference(reference: ColumnReference, weights: ReferenceWeights) -> float:
    """Return what a column's possible parents are compared by: the judgement, and the names.

    A plain name speaks for a parent, and so does the beginning that both tables' names share.
    """
    is_plain = reference.features.name >= weights.plain_name
    tables = reference.child.table.parsed_name, reference.parent.table.parsed_name
    pairs = zip(tables[0].entity, tables[1].entity, strict=False)
    shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    names = weights.plainly_named * is_plain + weights.shared_front * shared
    return reference.log_odds + names


def _beaten_by_reverse(references: Sequence[ColumnReference]) -> Iterator[ColumnReference]:
    """Yield the less credible of two references that point at each other's columns."""
    by_pair = {(id(r.child), id(r.parent)): r for r in references}
    for reference in references:
        reverse = by_pair.get((id(reference.parent), id(reference.child)))
        if reverse is not None and _credibility(reference) < _credibility(reverse):
            yield reference


def _credibility(reference: ColumnReference) -> tuple[bool, float, str]:
    """Return what two references are compared by: only one that holds can lead to the other."""
    return reference.inclusion.orphans == 0, reference.log_odds, str(reference.child)


def _without_contested(
    chosen: Sequence[ColumnReference],
    by_child: Mapping[int, Sequence[ColumnReference]],
    weights: ReferenceWeights,
) -> list[ColumnReference]:
    """Leave out references if other keys may be meant just as well, and no plain name says which.

    A key that refers to the chosen one, or that this one refers to, holds the same values and is
    no rival.
    """
    onward = {id(reference.child): reference.parent for reference in chosen}
    remaining = []
    for reference in chosen:
        if reference.features.name < weights.plain_name:
            rivals = [
                rival
                for rival in by_child.get(id(reference.child), ())
                if _is_rival(rival, reference, weights)
                and onward.get(id(rival.parent)) is not reference.parent
                and onward.get(id(reference.parent)) is not rival.parent
            ]
            _share_odds([reference, *rivals])
        if reference.is_credible(weights):
            remaining.append(reference)
    return remaining


def _is_rival(
    rival: ColumnReference, reference: ColumnReference, weights: ReferenceWeights
) -> bool:
    """Return whether another parent's key holds as many rows, and its name says no less."""
    name, rival_name = reference.features.name, rival.features.name
    if name < weights.value_only:
        is_named_as_well = rival_name < weights.value_only
    else:
        is_named_as_well = rival_name >= name
    holds_as_many = rival.inclusion.orphans <= reference.inclusion.orphans
    return rival.parent is not reference.parent and is_named_as_well and holds_as_many


def _share_odds(references: Sequence[ColumnReference]) -> None:
    """Lower the odds of each reference by those of the others: only one of them can be meant."""
    total = sum(math.exp(reference.log_odds) for reference in references)
    for reference in references:
        reference.log_odds -= math.log1p(max(total - math.exp(reference.log_odds), 0.0))
