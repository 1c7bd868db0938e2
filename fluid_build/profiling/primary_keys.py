"""Which candidate key is the primary key, judged by names, types and what refers to what.

What each sign is worth, and why, is in ``weights.py``.
"""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from fluid_build.profiling.accidental_keys import (
    has_date_or_sequence,
    is_quantity,
    only_just_holds,
)
from fluid_build.profiling.key_likelihood import LABEL_WORDS, UNLIKELY_WORDS
from fluid_build.profiling.key_plausibility import plausibility
from fluid_build.profiling.key_repeats import KeyRepeats
from fluid_build.profiling.measured_tables import NAMED_AS_KEY, MeasuredColumn, MeasuredTable
from fluid_build.profiling.weights import PrimaryKeyWeights

_REPEATS_COUNTED = 8
"""Keys of a table for which other tables are searched: further ones are too unlikely anyway."""
_ORDINAL_WORDS = frozenset(
    "line seq sequence ordinal position pos item detail index idx rank step number no nr num "
    "version revision".split()
)
"""Words that may number the rows below a parent, or be an attribute."""
_LINE_WORDS = frozenset("line seq sequence ordinal position lineno linenumber".split())
"""Words that number the rows below a parent and mean nothing else."""


@dataclass(frozen=True, slots=True)
class KeyChoice:
    """The chosen key and, as a sentence without its full stop, why."""

    columns: tuple[str, ...]
    score: float
    reason: str


def choose_single(
    table: MeasuredTable, referred: Mapping[str, int], weights: PrimaryKeyWeights
) -> KeyChoice | None:
    """Return the best key of one column; None if there is no candidate.

    ``referred`` counts the columns that refer to each column.
    """
    best: KeyChoice | None = None
    for key in table.candidates.keys:
        if len(key) != 1:
            continue
        column = table.by_name[key[0]]
        if column.is_measure:
            continue
        score = score_single(column, weights)
        score += weights.referred * math.log1p(referred.get(column.name, 0))
        if best is None or score > best.score:
            best = KeyChoice(key, score, _describe_single(column))
    return best


def score_single(column: MeasuredColumn, weights: PrimaryKeyWeights) -> float:
    """Return how much a unique column looks like its table's primary key."""
    score = plausibility(column.stats)
    score += weights.own_key * column.own_key_score
    score += weights.key_word if column.parsed_name.has_key_word else 0.0
    if column.position == 0:
        score += weights.first_column
    elif column.position == 1:
        score += weights.second_column
    if set(column.parsed_name.bare) & UNLIKELY_WORDS:
        score += weights.unlikely_word
    elif set(column.parsed_name.bare) & LABEL_WORDS:
        score += weights.label
    if column.stats.kind == "temporal":
        score += weights.temporal
    return score


def _describe_single(column: MeasuredColumn) -> str:
    parts = ["unique and never null"]
    if column.own_key_score >= NAMED_AS_KEY:
        parts.append("named for its table")
    elif column.parsed_name.has_key_word:
        parts.append("named like a key")
    if column.position == 0:
        parts.append("the first column")
    return ", ".join(parts)


def choose_composite(
    table: MeasuredTable,
    referring: Collection[str],
    repeats: KeyRepeats,
    weights: PrimaryKeyWeights,
) -> KeyChoice | None:
    """Return the best key of several columns; ``referring`` names those that refer to a parent.

    Keys that other tables repeat are preferred, for they are what those refer to. Keys with an
    amount in them are out: that two rows differ in one is an accident. If the best key only just
    holds, one of as many columns with a date or a sequence number is preferred.
    """
    composites = (key for key in table.candidates.keys if len(key) > 1)
    choices = [
        choice
        for key in composites
        if (choice := _score_composite(table, key, referring, weights)) is not None
    ]
    choices = _with_repeats(table, choices, repeats, weights)
    best = _best(choices)
    if best is None or not _may_be_accidental(table, best, referring):
        return best
    preferred = _best(
        choice
        for choice in choices
        if len(choice.columns) == len(best.columns)
        and choice.score >= weights.clear_composite
        and has_date_or_sequence(_columns(table, choice.columns), referring)
    )
    if preferred is None:
        return best
    doubt = (
        f"; {', '.join(best.columns)} are unique too, but there are too few rows to rule out chance"
    )
    return replace(preferred, reason=preferred.reason + doubt)


def _with_repeats(
    table: MeasuredTable,
    choices: Sequence[KeyChoice],
    repeats: KeyRepeats,
    weights: PrimaryKeyWeights,
) -> list[KeyChoice]:
    """Return the most likely keys with what it adds that other tables repeat them."""
    likely = sorted(choices, key=lambda choice: -choice.score)[:_REPEATS_COUNTED]
    return [
        replace(
            choice,
            score=choice.score + weights.repeated * repeats.count(_columns(table, choice.columns)),
        )
        for choice in likely
    ]


def _score_composite(
    table: MeasuredTable,
    key: tuple[str, ...],
    referring: Collection[str],
    weights: PrimaryKeyWeights,
) -> KeyChoice | None:
    columns = _columns(table, key)
    if any(column.name not in referring and is_quantity(column) for column in columns):
        return None
    size = len(columns)
    score = sum(score_part(column, column.name in referring, weights) for column in columns) / size
    score += weights.more_columns * (size - 2)
    score += weights.later_column * sum(column.position for column in columns) / size
    return KeyChoice(key, score, _describe_composite(columns, referring))


def score_part(column: MeasuredColumn, is_reference: bool, weights: PrimaryKeyWeights) -> float:
    """Return how much a column looks like part of a composite key."""
    score = weights.column * plausibility(column.stats)
    words = set(column.parsed_name.bare)
    if is_reference:
        score += weights.column_reference
    elif column.parsed_name.has_key_word:
        score += weights.column_key_word
    if words & _LINE_WORDS or (column.own_key_score >= NAMED_AS_KEY and not is_reference):
        score += weights.column_line
    elif words & _ORDINAL_WORDS:
        score += weights.column_ordinal
    if column.stats.kind == "temporal" or "date" in words:
        score += weights.column_date
    if words & (UNLIKELY_WORDS | LABEL_WORDS):
        score += weights.unlikely_word
    return score


def _best(choices: Iterable[KeyChoice]) -> KeyChoice | None:
    return max(choices, key=lambda choice: choice.score, default=None)


def _may_be_accidental(table: MeasuredTable, choice: KeyChoice, referring: Collection[str]) -> bool:
    columns = _columns(table, choice.columns)
    return only_just_holds(columns) and not has_date_or_sequence(columns, referring)


def _columns(table: MeasuredTable, names: Iterable[str]) -> list[MeasuredColumn]:
    return [table.by_name[name] for name in names]


def _describe_composite(columns: Sequence[MeasuredColumn], referring: Collection[str]) -> str:
    reason = "unique together and minimal"
    references = sum(1 for column in columns if column.name in referring)
    if references == 1:
        reason += "; one of the columns is a foreign key"
    elif references:
        reason += f"; {references} of the columns are foreign keys"
    return reason
