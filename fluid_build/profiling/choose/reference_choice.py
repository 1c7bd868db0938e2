"""The foreign keys of one column that are meant, chosen among all candidates of a schema.

A column has at most one parent. Columns of one name mean the same, a reference leads to the table
where a key is at home, and two columns don't refer to each other.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Container, Hashable, Iterable, Iterator, Mapping, Sequence

from fluid_build.profiling.measure.schema import MeasuredColumn
from fluid_build.profiling.names.key_names import extends_name, is_acting
from fluid_build.profiling.references.candidates import is_twin
from fluid_build.profiling.references.single_columns import ColumnReference, ReferenceSearch
from fluid_build.profiling.weights import ReferenceWeights


def choose_references(search: ReferenceSearch, weights: ReferenceWeights) -> list[ColumnReference]:
    """Return at most one reference for each column, consistent over the whole schema."""
    candidates = search.candidates()
    by_child = {id(measured[0].child): measured for measured in candidates}
    chosen = _best_references(candidates, weights)
    chosen = _at_home(chosen, search, by_child, weights)
    chosen += _voted_references(chosen, search, weights)
    # A key that is itself a reference holds the same values as where it leads: what refers to an
    # employee's ``person_id`` mostly means the person. It stays if the names speak for the nearer
    # key, or the values for a subtype.
    onward = {id(reference.child): reference.parent for reference in chosen}
    chosen = [
        _nearer(reference, by_child.get(id(reference.child), ()), onward, weights)
        or _farther(reference, search, onward, weights)
        or reference
        for reference in chosen
    ]
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
    accepted = [
        reference
        for reference in measured
        if reference.confidence >= weights.accepted and not _contains_parent(reference)
    ]
    if not accepted:
        return None
    clean = [reference for reference in accepted if reference.inclusion.orphans == 0]
    best = max(clean or accepted, key=lambda reference: reference.log_odds + weights.plainly_named * (reference.features.name >= weights.plain_name))
    for reference in measured:
        if _is_more_specific(reference, best, weights):
            reference.log_odds = max(reference.log_odds, best.log_odds)
            best = reference
    return best


def _contains_parent(reference: ColumnReference) -> bool:
    """Return whether a key has all of another's values and more: then that one refers to it.

    ``product.id`` holds every ``special_product.id``, but no product refers to a special one.
    """
    inclusion = reference.inclusion
    is_key = reference.child.is_primary_key
    return is_key and inclusion.orphans > 0 and inclusion.coverage == 1.0


def _is_more_specific(
    reference: ColumnReference, rival: ColumnReference, weights: ReferenceWeights
) -> bool:
    """Return whether a parent is a part of its namesake that is too small to hit by chance.

    All codes of ``country`` fit a column that only ever has those of ``eu_country``; twenty
    different ones that are all in the smaller list are no accident.
    """
    if reference is rival or reference.inclusion.share < rival.inclusion.share:
        return False
    name, rival_name = reference.parent.parsed_name, rival.parent.parsed_name
    if name.is_generic or name.squashed != rival_name.squashed:
        return False
    small, large = reference.inclusion.parent_distinct, rival.inclusion.parent_distinct
    if not small or large < weights.part_size * small:
        return False
    nats = reference.inclusion.distinct_matched * math.log(large / small)
    return nats > weights.part_evidence


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


def _at_home(
    chosen: Sequence[ColumnReference],
    search: ReferenceSearch,
    by_child: Mapping[int, Sequence[ColumnReference]],
    weights: ReferenceWeights,
) -> list[ColumnReference]:
    """Lead columns of one name that refer to a twin to the one key outside that holds them all."""
    by_meaning: dict[Hashable, list[ColumnReference]] = defaultdict(list)
    for reference in chosen:
        if is_twin(reference.child, reference.parent):
            by_meaning[_meaning(reference.child)].append(reference)
    moved: dict[int, ColumnReference] = {}
    for references in by_meaning.values():
        members = {id(r.child): r.child for r in references}
        members |= {id(r.parent): r.parent for r in references}
        home = _home(list(members.values()), search, by_child)
        for reference in references:
            if home is None:
                continue
            at_home = home[id(reference.child)]
            if not _is_more_specific(reference, at_home, weights) and (
                not reference.parent.is_primary_key
                or _extends(reference.parent.table, at_home.parent.table)
                or any(r.child.table is reference.parent.table and r.child is not reference.parent for r in chosen)
            ):
                moved[id(reference.child)] = at_home
    return [moved.get(id(reference.child), reference) for reference in chosen]


def _extends(child, parent) -> bool:
    return extends_name(child.parsed_name, parent.parsed_name)


def _home(
    members: Sequence[MeasuredColumn],
    search: ReferenceSearch,
    by_child: Mapping[int, Sequence[ColumnReference]],
) -> dict[int, ColumnReference] | None:
    """Return the references of all members to the key outside that fits them best, if one does."""
    outside = {
        id(reference.parent): reference
        for member in members
        for reference in by_child.get(id(member), ())
        if id(reference.parent) not in {id(each) for each in members}
        and reference.parent.table is not member.table
        and not is_twin(member, reference.parent)
        and reference.inclusion.orphans == 0
    }
    best, best_odds = None, -math.inf
    for candidate in outside.values():
        others = [search.measure(member, candidate.parent, candidate.features.name) for member in members if member.table is not candidate.parent.table]
        if any(reference.inclusion.orphans for reference in others):
            continue
        odds = max(reference.log_odds for reference in others)
        if odds > best_odds:
            best, best_odds = others, odds
    if best is None or best_odds < 0.2:
        return None
    return {id(reference.child): reference for reference in best}


def _voted_references(
    chosen: Sequence[ColumnReference], search: ReferenceSearch, weights: ReferenceWeights
) -> Iterable[ColumnReference]:
    """Yield references of columns without one to what most columns of their name refer to.

    Ten tables have a ``region`` whose values say that it's a region's; in the eleventh, three rows
    say nothing by themselves. ``created_by`` of one table and ``approved_by`` of another are alike.
    """
    assigned = {id(reference.child) for reference in chosen}
    votes: dict[Hashable, Counter[int]] = defaultdict(Counter)
    parents: dict[int, MeasuredColumn] = {}
    for reference in chosen:
        if not reference.features.within_table:
            votes[_meaning(reference.child)][id(reference.parent)] += 1
            parents[id(reference.parent)] = reference.parent
    for child in search.columns:
        counts = votes.get(_meaning(child))
        if id(child) in assigned or not counts or child.is_primary_key or not child.stats.present:
            continue
        parent_id, most = counts.most_common(1)[0]
        parent = parents[parent_id]
        if parent is child or 2 * most <= counts.total():
            continue
        name_score = weights.voted_name if most > 1 else weights.voted_name_once
        if most > 1 and is_acting(child.parsed_name):
            name_score = weights.voted_act
        reference = search.measure(child, parent, name_score)
        if reference.confidence >= weights.accepted and reference.inclusion.orphans == 0:
            yield reference


def _meaning(column: MeasuredColumn) -> Hashable:
    """Return what columns of the same meaning have in common: the name, or that people act."""
    name = column.parsed_name
    if is_acting(name):
        return column.key_kind, "acting"
    if name.is_generic:
        return id(column)
    return column.key_kind, name.bare_squashed


def _farther(
    reference: ColumnReference,
    search: ReferenceSearch,
    onward: Mapping[int, MeasuredColumn],
    weights: ReferenceWeights,
) -> ColumnReference | None:
    """Return the reference to where a reference's parent leads, if it's about as good.

    ``person_id`` of a payment may be in the key of the employees, which extends that of the people.
    ``employee_payroll``, whose name extends the nearer table's, means the employees.
    """
    root = onward.get(id(reference.parent))
    if root is None or root is reference.child or _extends_parent(reference):
        return None
    farther = search.measure_candidate(reference.child, root)
    if (
        farther is not None
        and farther.confidence >= weights.accepted
        and farther.features.name >= reference.features.name - weights.root_margin
        and farther.inclusion.share >= reference.inclusion.share
        and not _is_more_specific(reference, farther, weights)
    ):
        return farther
    return None


def _nearer(
    reference: ColumnReference,
    measured: Sequence[ColumnReference],
    onward: Mapping[int, MeasuredColumn],
    weights: ReferenceWeights,
) -> ColumnReference | None:
    """Return the reference by way of a table that the child's name extends, if there is one.

    ``faculty_subjects`` refers to ``faculty``, even if that refers to ``staff`` by the same name.
    """
    for nearer in measured:
        if (
            onward.get(id(nearer.parent)) is reference.parent
            and nearer.parent.is_primary_key
            and nearer.confidence >= weights.accepted
            and nearer.inclusion.orphans == 0
            and _extends_parent(nearer)
            and not _extends_parent(reference)
        ):
            return nearer
    return None


def _extends_parent(reference: ColumnReference) -> bool:
    return extends_name(reference.child.table.parsed_name, reference.parent.table.parsed_name)


def _without_contested(
    chosen: Sequence[ColumnReference],
    by_child: Mapping[int, Sequence[ColumnReference]],
    weights: ReferenceWeights,
) -> list[ColumnReference]:
    """Leave out references by values alone if other keys may be meant just as well.

    A key that refers to the chosen one itself holds the same values, and is no rival.
    """
    onward = {id(reference.child): reference.parent for reference in chosen}
    remaining = []
    for reference in chosen:
        if reference.features.name < weights.value_only:
            rivals = [
                rival
                for rival in by_child.get(id(reference.child), ())
                if rival.parent is not reference.parent
                and rival.features.name < weights.value_only
                and onward.get(id(rival.parent)) is not reference.parent
            ]
            _share_odds([reference, *rivals])
        if reference.confidence >= weights.accepted:
            remaining.append(reference)
    return remaining


def _share_odds(references: Sequence[ColumnReference]) -> None:
    """Lower the odds of each reference by those of the others: only one of them can be meant."""
    total = sum(math.exp(reference.log_odds) for reference in references)
    for reference in references:
        reference.log_odds -= math.log1p(max(total - math.exp(reference.log_odds), 0.0))
