"""Which candidate key is the primary key, judged by names, types and what refers to what."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from fluid_build.profiling.accidental_keys import (
    holds_a_quantity,
    only_just_holds,
    places_in_time_or_order,
)
from fluid_build.profiling.candidate_keys import plausibility
from fluid_build.profiling.measured_tables import NAMED_AS_KEY, MeasuredColumn, MeasuredTable

CLEAR_COMPOSITE = 0.8
"""From this score on a key of several columns is taken, whatever else is unique."""
_ORDINAL_WORDS = frozenset(
    "line seq sequence ordinal position pos item detail index idx rank step number no nr num "
    "version revision".split()
)
_LINE_WORDS = frozenset("line seq sequence ordinal position lineno linenumber".split())
_UNLIKELY_WORDS = frozenset(
    "rowguid rowversion hash checksum name description desc title email mail phone amount price "
    "total qty quantity cost value url path created updated modified timestamp comment note".split()
)


@dataclass(frozen=True, slots=True)
class KeyChoice:
    """The chosen key and, in a sentence, why."""

    columns: tuple[str, ...]
    score: float
    reason: str


def choose_single(entity: MeasuredTable) -> KeyChoice | None:
    """The best key of one column by its own merits; None if no candidate has any."""
    best: KeyChoice | None = None
    for key in entity.candidates.keys:
        if len(key) != 1:
            continue
        node = entity.by_name[key[0]]
        if node.is_measure:
            continue
        score = score_single(node)
        if best is None or score > best.score:
            best = KeyChoice(key, score, _single_reason(node))
    return best


def score_single(node: MeasuredColumn) -> float:
    """How much a unique column looks like its table's primary key."""
    score = plausibility(node.stats)
    score += 1.6 * node.self_explaining
    score += 0.6 if node.name.keyed else 0.0
    score += 0.5 if node.position == 0 else 0.2 if node.position == 1 else 0.0
    if set(node.name.bare) & _UNLIKELY_WORDS:
        score -= 0.8
    if node.stats.kind == "temporal":
        score -= 0.6
    return score


def _single_reason(node: MeasuredColumn) -> str:
    parts = ["unique and never null"]
    if node.self_explaining >= NAMED_AS_KEY:
        parts.append("named for its table")
    elif node.name.keyed:
        parts.append("named like a key")
    if node.position == 0:
        parts.append("the first column")
    return ", ".join(parts)


def choose_composite(entity: MeasuredTable, referring: Collection[str]) -> KeyChoice | None:
    """The best key of several columns; ``referring`` names the columns that refer to a parent.

    None has an amount in it: that two rows differ in one is an accident. Where the best only just
    holds, one of as many columns with a date or a sequence number is preferred to it.
    """
    choices = [_composite(entity, key, referring) for key in entity.candidates.keys if len(key) > 1]
    best = _best(choice for choice in choices if choice is not None)
    if best is None or not _is_accident(entity, best, referring):
        return best
    placed = _best(
        choice
        for choice in choices
        if choice is not None
        and len(choice.columns) == len(best.columns)
        and choice.score >= CLEAR_COMPOSITE
        and places_in_time_or_order(_nodes(entity, choice.columns), referring)
    )
    if placed is None:
        return best
    doubted = f"; so are {', '.join(best.columns)}, but too few rows repeat a part of it to tell"
    return replace(placed, reason=placed.reason + doubted)


def _composite(
    entity: MeasuredTable, key: tuple[str, ...], referring: Collection[str]
) -> KeyChoice | None:
    nodes = _nodes(entity, key)
    if any(node.stats.name not in referring and holds_a_quantity(node) for node in nodes):
        return None
    score = sum(score_member(node, node.stats.name in referring) for node in nodes) / len(nodes)
    score -= 0.25 * (len(nodes) - 2)
    score -= 0.03 * sum(node.position for node in nodes) / len(nodes)
    return KeyChoice(key, score, _composite_reason(nodes, referring))


def _best(choices: Iterable[KeyChoice]) -> KeyChoice | None:
    return max(choices, key=lambda choice: choice.score, default=None)


def _is_accident(entity: MeasuredTable, choice: KeyChoice, referring: Collection[str]) -> bool:
    nodes = _nodes(entity, choice.columns)
    return only_just_holds(nodes) and not places_in_time_or_order(nodes, referring)


def _nodes(entity: MeasuredTable, columns: Iterable[str]) -> list[MeasuredColumn]:
    return [entity.by_name[name] for name in columns]


def score_member(node: MeasuredColumn, refers: bool) -> float:
    """How much a column looks like part of a composite key."""
    score = 0.6 * plausibility(node.stats)
    words = set(node.name.bare)
    if refers:
        score += 1.2
    elif node.name.keyed:
        score += 0.7
    if words & _LINE_WORDS:
        score += 1.3
    elif words & _ORDINAL_WORDS:
        score += 0.6
    if node.stats.kind == "temporal" or "date" in words:
        score += 0.3
    if words & _UNLIKELY_WORDS:
        score -= 0.8
    return score


def _composite_reason(nodes: list[MeasuredColumn], referring: Collection[str]) -> str:
    count = sum(1 for node in nodes if node.stats.name in referring)
    reason = f"no smaller set of columns is unique; these {len(nodes)} together are"
    if count:
        reason += f", {count} of them refer{'s' if count == 1 else ''} to another table"
    return reason
