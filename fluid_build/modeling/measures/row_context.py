"""What the other columns and the name of a table say about a number in its rows."""

from collections.abc import Set
from dataclasses import dataclass

from fluid_build.lexicon import loose_terms, terms
from fluid_build.modeling.measures.name_words import split_words
from fluid_build.modeling.measures.number_names import read_number_name
from fluid_build.modeling.types import column_type, family
from fluid_build.profiling.names.words import Words, singular
from fluid_build.profiling.profile import TableProfile


@dataclass(frozen=True, slots=True)
class RowContext:
    """What a row is, as far as it matters for adding up.

    ``is_state``: the table holds a state (stock, balances). ``is_pay``: it holds
    what somebody gets (salaries). ``counts_units``: a column counts the
    units of the row. ``is_sale``: a row is a single sale or line.
    ``has_date``: it's dated. ``has_size``: a column says how
    large the piece or body is. ``is_period``: the key names a period (a year, a month).
    ``is_standing``: it's a league table, whose numbers hold all since the season began.
    """

    is_state: bool = False
    is_pay: bool = False
    counts_units: bool = False
    is_sale: bool = False
    has_date: bool = False
    has_size: bool = False
    is_period: bool = False
    is_standing: bool = False


def row_context(table: TableProfile, key_columns: Set[str]) -> RowContext:
    """Return what the rest of a table says about its numbers."""
    name_words = split_words(table.name.rsplit(".", 1)[-1])
    table_words = {*name_words, *map(singular, name_words)}
    names = [c.name for c in table.columns if c.name not in key_columns]
    present = {word for name in names for word in split_words(name)}
    has_date = any(family(column_type(column)) in {"date", "timestamp"} for column in table.columns)
    key_words = {word for name in table.primary_key or () for word in split_words(name)}
    return RowContext(
        is_state=_is_state(name_words),
        is_pay=bool(table_words & terms("pay_level")),
        counts_units=any(_counts_units(name) for name in names),
        is_sale=bool(table_words & terms("sale_table")),
        has_date=has_date,
        has_size=bool(present & terms("body_size")),
        is_standing=bool(table_words & terms("standing_table")),
        is_period=bool(key_words & loose_terms("period_word", "day"))
        and not key_words & terms("begin_mark"),
    )


def _is_state(name_words: Words) -> bool:
    """Return whether a table's name says stock or balances: at its end, or before what is kept."""
    if not name_words or set(name_words) & terms("movement_table"):
        return False
    return name_words[-1] in terms("state_table") or (
        name_words[-1] in terms("state_kind") and bool(set(name_words) & terms("state_table"))
    )


def _counts_units(name: str) -> bool:
    reading = read_number_name(name)
    return reading.meaning in {"addable", "count"} and reading.word in terms("quantity")
