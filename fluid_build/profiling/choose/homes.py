"""The home of what a column holds: the one key that columns of the same meaning refer to.

Tables that only have the same column hold the same values: while each client has one address,
``client_id`` is unique among the addresses. What refers to clients means the clients.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence

from fluid_build.lexicon import terms
from fluid_build.profiling.measure.schema import MeasuredColumn
from fluid_build.profiling.names.key_names import extends_name, is_acting
from fluid_build.profiling.references.candidates import is_twin
from fluid_build.profiling.references.single_columns import ColumnReference, ReferenceSearch
from fluid_build.profiling.weights import ReferenceWeights

_PEOPLE = terms("people")
Candidates = Mapping[int, Sequence[ColumnReference]]
"""The measured references of each column, by its id."""


def lead_home(
    chosen: Sequence[ColumnReference],
    search: ReferenceSearch,
    candidates: Candidates,
    weights: ReferenceWeights,
) -> list[ColumnReference]:
    """Lead columns that refer to a twin to the one key outside that holds the values of all."""
    by_meaning: dict[Hashable, list[ColumnReference]] = defaultdict(list)
    for reference in chosen:
        if is_twin(reference.child, reference.parent):
            by_meaning[_meanings(reference.child)[0]].append(reference)
    referring: dict[int, set[int]] = defaultdict(set)
    for reference in chosen:
        referring[id(reference.child.table)].add(id(reference.child))
    moved: dict[int, ColumnReference] = {}
    for references in by_meaning.values():
        homeward = _homeward(references, search, candidates, weights)
        for reference in references:
            home = homeward.get(id(reference.child))
            if home and _is_better_home(home, reference, referring, weights):
                moved[id(reference.child)] = home
    return [moved.get(id(reference.child), reference) for reference in chosen]


def _homeward(
    to_twins: Sequence[ColumnReference],
    search: ReferenceSearch,
    candidates: Candidates,
    weights: ReferenceWeights,
) -> dict[int, ColumnReference]:
    """Return the references of twins and of what refers to them to the best key outside.

    Nothing if no key holds all of their values.
    """
    members = {id(column): column for r in to_twins for column in (r.child, r.parent)}
    outside = {
        id(reference.parent): reference
        for member in members.values()
        for reference in candidates.get(id(member), ())
        if id(reference.parent) not in members
        and reference.parent.table is not member.table
        and not is_twin(member, reference.parent)
        and reference.inclusion.orphans == 0
    }
    best: list[ColumnReference] = []
    for candidate in outside.values():
        home, name_score = candidate.parent, candidate.features.name
        others = [m for m in members.values() if m.table is not home.table]
        references = [search.measure(member, home, name_score) for member in others]
        if any(reference.inclusion.orphans for reference in references):
            continue
        if not best or max(r.log_odds for r in references) > max(r.log_odds for r in best):
            best = references
    if not any(reference.is_credible(weights) for reference in best):
        return {}
    return {id(reference.child): reference for reference in best}


def _is_better_home(
    home: ColumnReference,
    twin: ColumnReference,
    referring: Mapping[int, set[int]],
    weights: ReferenceWeights,
) -> bool:
    """Return whether a key is meant rather than its twin, which may be a subtype or a part."""
    if is_more_specific(twin, home, weights):
        return False
    table = twin.parent.table
    return (
        not twin.parent.is_primary_key
        or home.features.name > twin.features.name
        or extends_name(table.parsed_name, home.parent.table.parsed_name)
        or bool(referring.get(id(table), set()) - {id(twin.parent)})
    )


def is_more_specific(
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


def follow_namesakes(
    chosen: Sequence[ColumnReference], search: ReferenceSearch, weights: ReferenceWeights
) -> list[ColumnReference]:
    """Lead columns that aren't sure of a parent to what most columns of their name refer to.

    Ten tables have a ``region`` whose values say that it's a region's; in the eleventh, three rows
    say nothing by themselves.
    """
    sure = {id(r.child): r for r in chosen if r.confidence >= weights.sure}
    unsure = {id(r.child): r for r in chosen if id(r.child) not in sure}
    votes = _votes(sure.values())
    decided = list(sure.values())
    for child in search.columns:
        if id(child) in sure or not child.stats.present:
            continue
        own = unsure.get(id(child))
        counts = next((votes[m] for m in _meanings(child) if m in votes), None)
        if counts is None or child.is_primary_key:
            decided += [own] if own else []
            continue
        parent, most = counts.most_common(1)[0]
        if 2 * most <= counts.total() or parent is child:
            continue
        if own and own.parent is parent:
            decided.append(own)
            continue
        name_score = weights.voted_name if most > 1 else weights.voted_name_once
        if most > 1 and is_acting(child.parsed_name):
            name_score = weights.voted_act
        reference = search.measure(child, parent, name_score)
        if reference.is_credible(weights) and reference.inclusion.orphans == 0:
            decided.append(reference)
    return decided


def _votes(references: Iterable[ColumnReference]) -> dict[Hashable, Counter[MeasuredColumn]]:
    """Return how many columns of each meaning refer to each key.

    ``created_by`` of one table and ``approved_by`` of another are alike where people act: an
    ``owner`` may be a library.
    """
    votes: dict[Hashable, Counter[MeasuredColumn]] = defaultdict(Counter)
    for reference in references:
        if not reference.features.within_table:
            of_people = not _PEOPLE.isdisjoint(reference.parent.table.parsed_name.entity[-1:])
            for meaning in _meanings(reference.child)[: 2 if of_people else 1]:
                votes[meaning][reference.parent] += 1
    return votes


def _meanings(column: MeasuredColumn) -> Sequence[Hashable]:
    """Return what columns of the same meaning have in common: the name, or that somebody acts."""
    name = column.parsed_name
    own = id(column) if name.is_generic else (column.key_kind, name.bare_squashed)
    return (own, (column.key_kind, "acting")) if is_acting(name) else (own,)


def choose_roots(
    chosen: Sequence[ColumnReference],
    search: ReferenceSearch,
    candidates: Candidates,
    weights: ReferenceWeights,
) -> list[ColumnReference]:
    """Lead references past keys that are themselves references, where the root is meant.

    Such a key holds the same values as where it leads: what refers to an employee's ``person_id``
    mostly means the person. It stays if the names speak for the nearer key, or the values for a
    subtype.
    """
    onward = {id(reference.child): reference.parent for reference in chosen}
    return [
        _nearer(reference, candidates.get(id(reference.child), ()), onward, weights)
        or _farther(reference, search, onward, weights)
        or reference
        for reference in chosen
    ]


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
    is_own = reference.features.same_bare_name and not is_twin(reference.child, reference.parent)
    # ``teacher_school_id`` of the teachers is their key, though it's the number of a person.
    words = set(reference.parent.table.parsed_name.entity)
    is_own |= bool(words) and words <= set(reference.child.parsed_name.entity)
    if root is None or root is reference.child or is_own or _extends_parent(reference):
        return None
    names_nearer = extends_name(reference.parent.table.parsed_name, root.table.parsed_name)
    if names_nearer and reference.features.name > weights.value_only:
        # ``magic_card_id`` has more of the name of the magic cards than of that of the cards.
        return None
    farther = search.measure_candidate(reference.child, root)
    if (
        farther is not None
        and farther.is_credible(weights)
        and farther.features.name >= reference.features.name - weights.root_margin
        and farther.inclusion.share >= reference.inclusion.share
        and not is_more_specific(reference, farther, weights)
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
            and nearer.is_credible(weights)
            and nearer.inclusion.orphans == 0
            and _extends_parent(nearer)
            and not _extends_parent(reference)
        ):
            return nearer
    return None


def _extends_parent(reference: ColumnReference) -> bool:
    return extends_name(reference.child.table.parsed_name, reference.parent.table.parsed_name)
