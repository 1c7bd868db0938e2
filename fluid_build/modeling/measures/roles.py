"""Which columns of a table are measures, and how to add them up.

A measure is a quantity: something was counted, weighed, timed, paid or read from a scale. What
identifies, refers, classifies, orders, dates or places something isn't one, though it's written in
digits. The name suggests (``number_names``), the values have a veto (``code_values``), and what the
row is decides between meanings of one name: a quantity of stock is a level, a price in a sale of
single pieces an amount.

- *Additive*: counts, quantities, amounts, durations, distances, weights. A sum is right along every
  dimension.
- *Semi-additive*: balances, stock, headcount, population, pay, totals to date. A sum is right along
  every dimension except time.
- *Non-additive*: prices of one unit, ratios, averages and bounds, scales (temperature, score, age),
  sizes of a piece, and readings of unknown unit. A sum is never right.
"""

from collections.abc import Mapping, Set
from dataclasses import dataclass

from fluid_build.lexicon import loose_terms, terms
from fluid_build.modeling.element import Alternative
from fluid_build.modeling.measures.code_values import (
    is_assigned,
    is_digit_code,
    is_flag,
    is_listed,
    is_numbering,
    is_whole,
    may_be_percentages,
    value_bounds,
)
from fluid_build.modeling.measures.measure_role import (
    NO_AMOUNT,
    MeasureRole,
    additive,
    non_additive,
    semi_additive,
)
from fluid_build.modeling.measures.name_words import name_words, split_words
from fluid_build.modeling.measures.number_names import (
    NumberName,
    currency_owner,
    read_number_name,
)
from fluid_build.modeling.types import column_type, family
from fluid_build.profiling.names.words import Words, singular, words
from fluid_build.profiling.profile import ColumnProfile, TableProfile


@dataclass(frozen=True, slots=True)
class RowContext:
    """What a row is, as far as it matters for adding up.

    ``is_state``: the table holds a state (stock, balances). ``is_pay``: it holds
    what somebody gets (salaries). ``counts_units``: a column counts the
    units of the row. ``is_sale``: a row is a single sale or line.
    ``has_date``: it's dated. ``has_size``: a column says how
    large the piece or body is. ``is_period``: the key names a period (a year, a month).
    ``in_currency`` are the names of numbers that a column has the currency of: ``declared`` where
    ``declared_ccy`` is.
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
    in_currency: frozenset[Words] = frozenset()


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
        in_currency=frozenset(map(currency_owner, (c.name for c in table.columns))) - {()},
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


# How far a number of a known meaning adds up, in the row that it's in, with the reason.

_SO_FAR = "a standing holds all that came before, so it adds up across everything except time"


def additive_role(name: NumberName, context: RowContext) -> MeasureRole | None:
    """Return the role of what adds up in such a row; None where it doesn't, or not over time."""
    if name.meaning in {"count", "addable"}:
        if context.is_standing:
            return None
        if context.is_state and name.word in terms("quantity", "count"):
            return _moved(name.movement) if name.movement else None
        if context.has_size and name.word in terms("extent"):
            return None
        if name.meaning == "count":
            return additive(f"'{name.word}' is read as a count of what happened")
        return additive(f"'{name.word}' adds up")
    if name.meaning == "pay" and context.is_period:
        level = Alternative(
            choice="a level", reason="the key names the period that it was paid for"
        )
        return additive(f"'{name.word}' of one period adds up over several", level)
    is_paid = name.meaning == "sale_price" and context.has_date
    is_single = is_paid or (name.meaning in {"price", "sale_price"} and context.is_sale)
    if is_single and not context.counts_units:
        price = Alternative(
            choice="the price of one unit of several", reason="no column counts units"
        )
        return additive("each row is read as a single piece, so its price is an amount", price)
    return None


def _moved(movement: str) -> MeasureRole:
    level = Alternative(choice="a level", reason="the table's name says a state")
    return additive(f"'{movement}' says what moved in the period, which adds up over time", level)


def other_role(column: ColumnProfile, name: NumberName, context: RowContext) -> MeasureRole:
    """Return the role of a measure that doesn't add up along every dimension."""
    word = name.word
    match name.meaning:
        case "level":
            return semi_additive(
                f"'{word}' is a level, which adds up across everything except time"
            )
        case "pay":
            return _pay(word)
        case "cumulative":
            return semi_additive(
                f"'{word}' is a running total, of which the last one holds those before"
            )
        case "count" | "addable" if word in terms("extent") and context.has_size:
            return non_additive(f"'{word}' is of one piece or body, as its size is in the row")
        case "count" | "addable" if context.is_standing:
            single = Alternative(choice="an amount", reason=f"'{word}' adds up in other tables")
            return semi_additive(_SO_FAR, single)
        case "count" | "addable":
            movement = Alternative(choice="a movement", reason="the table's name says a state")
            reason = "the table holds a state, so it adds up across everything except time"
            return semi_additive(reason, movement)
        case "price" | "sale_price":
            return non_additive(f"'{word}' is for one unit, and adds up only times a quantity")
        case "ratio":
            return non_additive(
                f"'{word}' is read as a ratio, or as what one unit of something costs"
            )
        case "intensity":
            return non_additive(f"'{word}' is on a scale, where only an average says something")
        case "extreme":
            role = non_additive(f"a sum of '{word}' values is meaningless")
            is_bound = word in terms("greatest") or word in terms("least")
            bound = "max" if word in terms("greatest") else "min"
            return role.model_copy(update={"aggregation": bound}) if is_bound else role
        case "reading":
            return non_additive(f"a '{word}' may be in any unit", NO_AMOUNT)
    if family(column_type(column)) != "integer":
        return non_additive("its name says nothing", NO_AMOUNT)
    if may_be_percentages(column):
        return non_additive("its name says nothing, and its values end at 100 as percentages do")
    code = Alternative(choice="a code", reason="they're no numbering, no short list and no dates")
    values = f"{column.distinct:,} different whole numbers from {column.min} to {column.max}"
    return additive(f"{values} look measured", code)


def _pay(word: str) -> MeasureRole:
    payment = Alternative(choice="a payment", reason="the key names no period that it's for")
    reason = (
        f"'{word}' is what somebody gets at a time, which adds up across everything except time"
    )
    return semi_additive(reason, payment)


_LARGEST_PERCENTAGE = 100
_MOST_ANSWERS = 3
"""Codes of an answer to whether something is allowed: yes, no, and unknown."""
_MEASURE_TYPES = {None, "money", "percentage"}
_NAMED_MONEY = ("unknown", "money")
"""A name that says money alone, such as a currency's."""


def table_measures(
    table: TableProfile, key_columns: Set[str], measured_names: Set[Words] = frozenset()
) -> dict[str, MeasureRole]:
    """Return how to aggregate each measure of a table, by column.

    ``key_columns`` are its columns that are part of a key or refer to another table.
    ``measured_names`` are names that say nothing, of columns elsewhere whose values are measured.
    """
    context = row_context(table, key_columns)
    roles = {
        column.name: _role(column, context, measured_names)
        for column in table.columns
        if column.name not in key_columns and _may_be_measure(column)
    }
    return _like_siblings({name: role for name, role in roles.items() if role is not None})


def _like_siblings(roles: Mapping[str, MeasureRole]) -> dict[str, MeasureRole]:
    """Return the roles with those of columns that differ in a number alone made the same.

    The values of one may look like shares where only small amounts occur: tax1, next to tax2.
    """
    amounts: dict[str, str] = {}
    for name, role in roles.items():
        if role.additivity == "additive":
            amounts.setdefault(_without_digits(name), name)
    judged = dict(roles)
    for name, role in roles.items():
        sibling = amounts.get(_without_digits(name), name)
        if role.additivity == "non-additive" and sibling != name:
            scale = Alternative(choice="a non-additive measure", reason=role.reason)
            reason = f"its name differs from {sibling} in a number alone, and that adds up"
            judged[name] = additive(reason, scale)
    return judged


def _without_digits(name: str) -> str:
    return "".join(character for character in name.lower() if not character.isdigit())


def _may_be_measure(column: ColumnProfile) -> bool:
    """Return whether a column holds numbers that aren't personal and don't mean something else."""
    if family(column_type(column)) not in {"integer", "decimal", "float"}:
        return False
    if column.pii or column.semantic_type not in _MEASURE_TYPES or is_digit_code(column):
        return False
    return not column.rows or column.nulls < column.rows


def _role(
    column: ColumnProfile, context: RowContext, measured_names: Set[Words]
) -> MeasureRole | None:
    name = read_number_name(column.name)
    if is_whole(column):
        if _is_code(column, name, is_measured=name_words(column.name) in measured_names):
            return None
    elif name.meaning == "code":
        # No number that identifies has a fraction, but a value as a number does.
        reads = set(name_words(column.name)[:-1]) & terms("reading")
        if name.word in terms("identifying", "placing") and not reads:
            return None
        name = NumberName("reading", min(reads)) if reads else NumberName("unknown")
    elif name.meaning == "count" and name.word not in terms("count", "addable"):
        name = NumberName("unknown")
    if column.semantic_type == "percentage" or _is_share(column, name):
        return non_additive("its values are shares, and a sum of shares is meaningless")
    if name.meaning == "share_of_money" or (name.meaning, column.semantic_type) == _NAMED_MONEY:
        name = NumberName("addable", name.word or "money")
    if name.meaning == "reading" and words(column.name)[:-1] in context.in_currency:
        name = NumberName("addable", name.word)
    if name.meaning == "unknown":
        name = _read_in_row(column, context)
    if context.is_pay and name.meaning == "addable" and name.word in terms("amount"):
        name = NumberName("pay", name.word)
    return additive_role(name, context) or other_role(column, name, context)


def _read_in_row(column: ColumnProfile, context: RowContext) -> NumberName:
    """Return what a name that says nothing by itself says of such values in such a row."""
    last = "".join(name_words(column.name)[-1:])
    is_used_up = context.is_period and last in terms("used_up")
    is_billed = not is_whole(column) and last in terms("bill")
    return NumberName("addable", last) if is_used_up or is_billed else NumberName("unknown")


def _is_code(column: ColumnProfile, name: NumberName, *, is_measured: bool) -> bool:
    """Return whether whole numbers identify, classify or place something.

    Where a column of the same name is measured elsewhere, few values aren't yet a code.
    """
    is_text = column.measured_type is not None
    is_integer = is_text or family(column_type(column)) == "integer"
    if name.meaning == "code" or (is_text and column.distinct == 1):
        return True
    if name.meaning == "unknown" or name.word in terms("level_word") | {"index"}:
        if is_text or is_assigned(column):
            return True
        return is_integer and not is_measured and is_listed(column)
    if name.meaning == "reading":
        return is_text or is_flag(column) or is_numbering(column)
    if name.meaning == "count":
        if name.word not in terms("count") and (is_text or is_numbering(column)):
            return True
        # ``bikes_allowed`` is a yes or no, ``goals_allowed`` a count.
        return name_words(column.name)[-1:] == ("allowed",) and column.distinct <= _MOST_ANSWERS
    is_scale = name.meaning in {"ratio", "intensity", "extreme"}
    return name.word not in terms("quantity") and is_flag(
        column, or_two_values=is_scale and is_integer
    )


def _is_share(column: ColumnProfile, name: NumberName) -> bool:
    """Return whether the values are shares of one, or whole percentages of a sum of money."""
    low, high = value_bounds(column)
    if name.meaning == "share_of_money" and is_whole(column):
        return 0 <= low <= high <= _LARGEST_PERCENTAGE and high > 0
    if name.meaning in {"unknown", "reading", "share_of_money"}:
        return not is_whole(column) and 0 <= low < high <= 1
    return False
