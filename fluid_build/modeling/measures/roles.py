"""Which columns of a table are measures, and how to add them up.

A measure is a quantity: something was counted, weighed, timed, paid or read from a scale. What
identifies, refers, classifies, orders, dates or places something isn't one, though it's written in
digits. The name suggests (``number_names``), the values have a veto (``code_values``), and what the
row is decides between meanings of one name (``row_context``): a quantity of stock is a level, a
price in a sale of single pieces an amount.

- *Additive*: counts, quantities, amounts, durations, distances, weights. A sum is right along every
  dimension.
- *Semi-additive*: balances, stock, headcount, population, pay, totals to date. A sum is right along
  every dimension except time.
- *Non-additive*: prices of one unit, ratios, averages and bounds, scales (temperature, score, age),
  sizes of a piece, and readings of unknown unit. A sum is never right.
"""

from collections.abc import Mapping, Set

from fluid_build.lexicon import terms
from fluid_build.modeling.element import Alternative
from fluid_build.modeling.measures.code_values import (
    is_assigned,
    is_digit_code,
    is_flag,
    is_listed,
    is_numbering,
    is_whole,
    value_bounds,
)
from fluid_build.modeling.measures.meaning_roles import additive_role, other_role
from fluid_build.modeling.measures.measure_role import MeasureRole, additive, non_additive
from fluid_build.modeling.measures.name_words import name_words
from fluid_build.modeling.measures.number_names import NumberName, read_number_name
from fluid_build.modeling.measures.row_context import RowContext, row_context
from fluid_build.modeling.types import column_type, family
from fluid_build.profiling.names.words import Words
from fluid_build.profiling.profile import ColumnProfile, TableProfile

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
        if name.word in terms("identifying", "placing"):
            return None
        name = NumberName("unknown")
    elif name.meaning == "count" and name.word not in terms("count", "addable"):
        name = NumberName("unknown")
    if column.semantic_type == "percentage" or _is_share(column, name):
        return non_additive("its values are shares, and a sum of shares is meaningless")
    if name.meaning == "share_of_money" or (name.meaning, column.semantic_type) == _NAMED_MONEY:
        name = NumberName("addable", name.word or "money")
    if context.is_pay and name.meaning == "addable" and name.word in terms("amount"):
        name = NumberName("pay", name.word)
    return additive_role(name, context) or other_role(column, name, context)


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
        return _says_allowed(column) and column.distinct <= _MOST_ANSWERS
    is_scale = name.meaning in {"ratio", "intensity", "extreme"}
    return name.word not in terms("quantity") and is_flag(
        column, or_two_values=is_scale and is_integer
    )


def _says_allowed(column: ColumnProfile) -> bool:
    """Return whether a name may ask whether something is allowed: bikes, or so many goals."""
    return name_words(column.name)[-1:] == ("allowed",)


def _is_share(column: ColumnProfile, name: NumberName) -> bool:
    """Return whether the values are shares of one, or whole percentages of a sum of money."""
    low, high = value_bounds(column)
    if name.meaning == "share_of_money" and is_whole(column):
        return 0 <= low <= high <= _LARGEST_PERCENTAGE and high > 0
    if name.meaning in {"unknown", "reading", "share_of_money"}:
        return not is_whole(column) and 0 <= low < high <= 1
    return False
