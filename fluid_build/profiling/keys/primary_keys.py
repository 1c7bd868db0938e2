"""Which candidate key is the primary key, judged by names, types and what refers to what.

What each sign is worth, and why, is in ``weights``.
"""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from fluid_build.lexicon import terms
from fluid_build.profiling.keys.accidents import (
    has_date_or_sequence,
    is_line,
    is_quantity,
    numbers_rows,
    only_just_holds,
)
from fluid_build.profiling.keys.likelihood import CAPTION_WORDS, PRICE_WORDS, UNLIKELY_WORDS
from fluid_build.profiling.measure.key_forms import key_form
from fluid_build.profiling.measure.schema import NAMED_AS_KEY, MeasuredColumn, MeasuredTable
from fluid_build.profiling.references.key_repeats import KeyRepeats
from fluid_build.profiling.weights import PrimaryKeyWeights

_REPEATS_COUNTED = 8
"""Keys of a table for which other tables are searched: further ones are too unlikely anyway."""
_ORDINAL_WORDS = terms(
    "line", "sequence", "position", "detail", "index", "step", "number", "version"
)
"""Words that may number the rows below a parent, or be an attribute."""
_FEW_ROWS = 10
"""Rows in which most columns are unique, whatever they hold."""


@dataclass(frozen=True, slots=True)
class KeyChoice:
    """The chosen key and, as a sentence without its full stop, why."""

    columns: tuple[str, ...]
    score: float
    reason: str


def choose_single(
    table: MeasuredTable,
    referred: Mapping[str, int],
    repeats: KeyRepeats,
    weights: PrimaryKeyWeights,
) -> KeyChoice | None:
    """Return the best key of one column; None if there is no candidate.

    ``referred`` counts the columns that refer to each column. Before they are known, those of its
    name and values count where there is a choice: what other tables repeat is a code, not its name.
    """
    singles = [table.by_name[key[0]] for key in table.candidates.keys if len(key) == 1]
    is_open = len(singles) > 1 and all(c.own_key_score < NAMED_AS_KEY for c in singles)
    best: KeyChoice | None = None
    for column in singles:
        is_counter = column.position == 0 and column.is_dense
        if column.is_measure and not is_counter:
            continue
        score = score_single(column, weights)
        repeated = repeats.count([column]) if len(singles) > 1 and _may_be_repeated(column) else 0
        score += weights.referred * math.log1p(max(repeated, referred.get(column.name, 0)))
        if is_open and column.key_kind:
            score += weights.named_for * math.log1p(repeats.count_named(column))
        if best is None or score > best.score:
            parts = ["unique and never null"]
            if column.own_key_score >= NAMED_AS_KEY:
                parts.append("named for its table")
            elif column.parsed_name.has_key_word:
                parts.append("named like a key")
            if column.position == 0:
                parts.append("the first column")
            best = KeyChoice((column.name,), score, ", ".join(parts))
    return best


def _may_be_repeated(column: MeasuredColumn) -> bool:
    """Return whether another table that has a column's name may mean this table by it."""
    name = column.parsed_name
    if not column.key_kind or name.is_generic or name.is_reference:
        return False
    return not name.names_table or column.own_key_score >= NAMED_AS_KEY


def score_single(column: MeasuredColumn, weights: PrimaryKeyWeights) -> float:
    """Return how much a unique column looks like its table's primary key."""
    score = key_form(column.stats)
    score += weights.own_key * column.own_key_score
    score += weights.key_word if column.parsed_name.has_key_word else 0.0
    score += weights.habit if column.is_habitual else 0.0
    score += weights.named_reference if column.parsed_name.is_reference else 0.0
    if column.position == 0:
        score += weights.first_column
        score += weights.first_of_few_rows if column.stats.rows <= _FEW_ROWS else 0.0
        if column.is_dense and column.parsed_name.has_key_word:
            score += weights.surrogate
    elif column.position == 1:
        score += weights.second_column
    if _is_unlikely(column):
        score += weights.unlikely_word
    elif column.position > 0 and set(column.parsed_name.bare) & terms("uuid"):
        score += weights.technical
    elif set(column.parsed_name.bare) & CAPTION_WORDS:
        score += weights.label
    if column.stats.kind == "temporal":
        score += weights.temporal
    return score


def _is_unlikely(column: MeasuredColumn) -> bool:
    """Return whether a name speaks against a key; ``price`` in text is a category's code."""
    words = UNLIKELY_WORDS & set(column.parsed_name.bare)
    return bool(words - PRICE_WORDS if column.stats.kind == "text" else words)


def may_be_only_key(table: MeasuredTable, choice: KeyChoice) -> bool:
    """Return whether a table's only candidate may be its key: descriptions may not."""
    return not any(
        column.stats.kind == "text"
        and not column.parsed_name.has_key_word
        and terms("description", "remark") & set(column.parsed_name.bare)
        for column in _columns(table, choice.columns)
    )


def is_weak_single(table: MeasuredTable, choice: KeyChoice, referred: Mapping[str, int]) -> bool:
    """Return whether a column may well be unique without being what the rows are known by.

    That goes for all that come after other columns, if nothing refers to them and they are neither
    named for their table nor number its rows.
    """
    column = table.by_name[choice.columns[0]]
    if column.position == 0 or referred.get(column.name):
        return False
    if not column.parsed_name.entity:
        return not column.is_dense
    return column.own_key_score < NAMED_AS_KEY or not column.parsed_name.has_key_word


def comes_before(table: MeasuredTable, choice: KeyChoice, single: KeyChoice) -> bool:
    """Return whether all columns of a key come before a single one."""
    position = table.by_name[single.columns[0]].position
    return all(column.position < position for column in _columns(table, choice.columns))


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
    likely = sorted(choices, key=lambda choice: -choice.score)[:_REPEATS_COUNTED]
    choices = [
        replace(
            choice,
            score=choice.score + weights.repeated * repeats.count(_columns(table, choice.columns)),
        )
        for choice in likely
    ]
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
    lines = [column for column in columns if _counts_rows(column, columns, referring)]
    score = sum(score_part(column, column.name in referring, weights) for column in columns)
    score += weights.column_numbers_rows * sum(not is_line(column) for column in lines)
    score /= size
    # People put keys first, behind a tenant of a single value at most. A line number may come
    # later, since it's there for the key only.
    others = [column for column in columns if column not in lines] or columns
    if _lead(table, others):
        score += weights.leading_columns
    score += weights.more_columns * (size - 2)
    score += weights.later_column * sum(column.position for column in columns) / size
    reason = "unique together and minimal"
    references = sum(1 for column in columns if column.name in referring)
    if references == 1:
        reason += "; one of the columns is a foreign key"
    elif references:
        reason += f"; {references} of the columns are foreign keys"
    return KeyChoice(key, score, reason)


def _lead(table: MeasuredTable, columns: Collection[MeasuredColumn]) -> bool:
    """Return whether columns are the first of their table, but for those of a single value."""
    varied = (column for column in table.columns if column.stats.distinct > 1)
    return set(islice(varied, len(columns))) == set(columns)


def _counts_rows(
    column: MeasuredColumn, key: Sequence[MeasuredColumn], referring: Collection[str]
) -> bool:
    """Return whether a column of a key counts the rows of the others, by its name or its values.

    ``(invoice, item)`` whose items are 1, 2, 3 for each invoice is a key of lines, whatever they're
    called.
    """
    if is_line(column) or column.name in referring or len(key) > 2:
        return is_line(column)
    parent = key[0] if column is key[1] else key[1]
    return numbers_rows(column, parent)


def score_part(column: MeasuredColumn, is_reference: bool, weights: PrimaryKeyWeights) -> float:
    """Return how much a column looks like part of a composite key."""
    score = weights.column * key_form(column.stats)
    words = set(column.parsed_name.bare)
    if is_reference:
        score += weights.column_reference
    elif column.parsed_name.has_key_word:
        score += weights.column_key_word
    if is_line(column) or (_is_own_line(column) and not is_reference):
        score += weights.column_line
    elif words & _ORDINAL_WORDS:
        score += weights.column_ordinal
    if column.stats.kind == "temporal" or words & terms("date"):
        score += weights.column_date
    if words & terms("language"):
        score += weights.column_language
    if _is_unlikely(column) or words & CAPTION_WORDS:
        score += weights.unlikely_word
    return score


def _is_own_line(column: MeasuredColumn) -> bool:
    """Return whether a column is named for its table and repeats as line numbers do.

    ``line_id`` of ``order_lines`` starts again with each order.
    """
    repeats = column.parsed_name.has_key_word or 2 * column.stats.distinct <= column.stats.rows
    return column.own_key_score >= NAMED_AS_KEY and repeats


def _best(choices: Iterable[KeyChoice]) -> KeyChoice | None:
    return max(choices, key=lambda choice: choice.score, default=None)


def _may_be_accidental(table: MeasuredTable, choice: KeyChoice, referring: Collection[str]) -> bool:
    """Return whether a key may hold only while there are few rows.

    Of 30 visits, no two have the same doctor and room; that says nothing of the next one.
    """
    columns = _columns(table, choice.columns)
    # A book_author is a pair of its references, however few rows there are.
    words = set(table.parsed_name.entity)
    if all(
        column.name in referring and words & set(column.parsed_name.entity) for column in columns
    ):
        return False
    if _lead(table, columns) and words.isdisjoint(terms("log")):
        return False
    return only_just_holds(columns) and not has_date_or_sequence(columns, referring)


def _columns(table: MeasuredTable, names: Iterable[str]) -> list[MeasuredColumn]:
    return [table.by_name[name] for name in names]
