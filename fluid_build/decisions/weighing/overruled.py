"""Decisions that others overrule: contradictions, repetitions, and tables that are ignored."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence

from fluid_build.decisions.language import AnyDecision, Ignore, Rename, Renamed
from fluid_build.decisions.subjects import subject
from fluid_build.decisions.verdicts import Verdict, refused
from fluid_build.decisions.weighing.names import label

_COMMENTS = frozenset({"by", "reason", "evidence"})
"""Fields that say who decided and why, not what."""

Numbered = Mapping[int, AnyDecision]
"""Decisions by their place in the list, counted from 0."""


def overruled(decisions: Numbered, tables: Sequence[str]) -> dict[int, Verdict]:
    """Return verdicts on the decisions that don't count because of another one.

    Of two that contradict each other, the later one counts, but a person's always before a model's.
    """
    verdicts: dict[int, Verdict] = {}
    for find in (
        lambda left: _contradicted(left, subject),
        lambda left: _contradicted(left, _new_name),
        lambda left: _ignoring_too_much(left, tables),
        _about_ignored_tables,
    ):
        left = {place: each for place, each in decisions.items() if place not in verdicts}
        verdicts.update(find(left))
    return verdicts


def _contradicted(
    decisions: Numbered, subject_of: Callable[[AnyDecision], Hashable | None]
) -> dict[int, Verdict]:
    by_subject: dict[Hashable, list[int]] = defaultdict(list)
    for place, decision in decisions.items():
        about = subject_of(decision)
        if about is not None:
            by_subject[about].append(place)
    verdicts: dict[int, Verdict] = {}
    for places in by_subject.values():
        winner = max(places, key=lambda place: (decisions[place].by == "person", place))
        content = _content(decisions[winner])
        same = [place for place in places if _content(decisions[place]) == content]
        # Of several that say the same, the first stays where it is.
        keeper = min(place for place in same if decisions[place].by == decisions[winner].by)
        for place in set(places) - {keeper}:
            verdicts[place] = (
                Verdict(decisions[place], "unused", f"Decision {keeper + 1} says the same.")
                if place in same
                else _refused_by(decisions, place, winner)
            )
    return verdicts


def _new_name(decision: AnyDecision) -> Hashable | None:
    """Return what only one table, or one column of a table, can be called, or was called."""
    if isinstance(decision, Renamed):
        if not decision.is_renamed:
            return None
        return decision.decision, decision.table if decision.column else None, decision.was
    if not isinstance(decision, Rename) or decision.table is None:
        return None
    table = decision.table if decision.column is not None else None
    return table, decision.new_name.casefold()


def _refused_by(decisions: Numbered, place: int, winner: int) -> Verdict:
    by_rank = winner < place
    who = (
        "a person's decision overrules a model's" if by_rank else "the later decision overrules it"
    )
    content = _summary(decisions[winner])
    return refused(
        decisions[place], f"Decision {winner + 1} ({content}) contradicts it, and {who}."
    )


def _content(decision: AnyDecision) -> str:
    return decision.model_dump_json(exclude=set(_COMMENTS))


def _summary(decision: AnyDecision) -> str:
    """Return what a decision says in a few words: ``set_key orders order_no``."""
    names = decision.model_dump(exclude={*_COMMENTS, "decision", "despite_violations"})
    words = []
    for value in names.values():
        if isinstance(value, tuple | list):
            words.append(", ".join(value))
        elif value is not None:
            words.append(str(value))
    return f"{decision.decision} {label(' '.join(word for word in words if word))}"


def _ignoring_too_much(decisions: Numbered, tables: Sequence[str]) -> dict[int, Verdict]:
    """Return verdicts on what would ignore every table, or one that a person decided about."""
    ignoring = {place: each for place, each in decisions.items() if isinstance(each, Ignore)}
    decided = {
        table
        for each in decisions.values()
        if each.by == "person" and not isinstance(each, Ignore)
        for table in _tables(each)
    }
    verdicts = {
        place: refused(each, f"A person decided something else about {label(each.table)}.")
        for place, each in ignoring.items()
        if each.by == "model" and each.table in decided
    }
    left = {place: each for place, each in ignoring.items() if place not in verdicts}
    if {each.table for each in left.values()} >= set(tables):
        by_models = {place: each for place, each in left.items() if each.by == "model"}
        for place, each in (by_models or left).items():
            verdicts[place] = refused(each, "Ignoring every table leaves nothing to model.")
    return verdicts


def _about_ignored_tables(decisions: Numbered) -> dict[int, Verdict]:
    ignored = {each.table for each in decisions.values() if isinstance(each, Ignore)}
    return {
        place: refused(each, f"The table {label(min(tables))} is ignored.")
        for place, each in decisions.items()
        if not isinstance(each, Ignore) and (tables := _tables(each) & ignored)
    }


def _tables(decision: AnyDecision) -> set[str]:
    fields = ("table", "from_table", "to_table", "into_table")
    names = (getattr(decision, field, None) for field in fields)
    return {name for name in names if name is not None}
