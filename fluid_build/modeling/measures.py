"""Which columns are measures, which are categories, and how to add up a measure.

Names suggest and the data has a veto. A numeric column is a measure unless it identifies, refers,
encodes or dates something. The word lists are general English of databases.
"""

from collections.abc import Sequence, Set
from typing import Literal

from fluid_build.modeling.element import ModelPart
from fluid_build.modeling.types import column_type, family
from fluid_build.profiling.names import words
from fluid_build.profiling.profile import ColumnProfile

Additivity = Literal["additive", "semi-additive", "non-additive"]
Aggregation = Literal["sum", "avg", "count", "count_distinct", "min", "max", "median"]


def _word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_QUANTITY_WORDS = _word_set(
    """
    amount amt balance budget charge cost count distance duration expense fee freight height income
    length margin mass minutes payment pay price profit qty quantity revenue salary sales score
    seconds size sold spend stock sum total units value volume wage weight width
    """
)
_PER_UNIT_WORDS = _word_set(
    """
    age altitude average avg bound degree density discount elevation expectancy fraction humidity
    index interest latitude lim limit longitude lvl max maximum mean median min minimum offset pct
    apr apy coefficient efficiency factor multiplier per perc percentile proportion quotient
    percent percentage price probability range rank rate rating ratio score share speed temperature
    unit
    """
)
_SHARE_OF_MONEY_WORDS = _word_set(
    """
    commission deduction discount duty interest levy margin markup rebate royalty surcharge tax tip
    vat
    """
)
"""Words for amounts and percentages alike; the values say which."""
_LARGEST_PERCENTAGE = 100
_ONE_UNIT_WORDS = _word_set("discount price unit")
_ALL_UNITS_WORDS = _word_set("amount amt ext extended total")
"""Words that make a price additive: the price of a line, unlike the price of one piece."""
_LEVEL_WORDS = _word_set("avail available balance hand inventory onhand outstanding stock")
_CODE_ENDINGS = _word_set(
    """
    barcode category cd class code date day decade dom dow doy dt ean epoch epochms flag group hour
    id identifier idx is isbn key kind level line lineno minute month moy no nr num number order
    ordinal phase pk position postal priority qoy quarter rank row rownum semester seq sequence sk
    sort status timezone type uid uuid version via week weekday year zip zone
    """
)
_CODE_BEGINNINGS = _word_set("code day fk has id is month pk sk week year")
_CATEGORY_WORDS = _word_set(
    """
    active category class code enabled flag gender group has is kind level mode phase priority
    state status tier type
    """
)
_GLUED_WORDS = tuple(
    """
    amount amt balance charge cost date discount expense freight hours level minutes month number
    pct percent percentage price priority profit qty quantity quota range rate rating ratio revenue
    salary score seconds sequence status total type version weight year
    """.split()
)
"""Words that are written together with the word before: ``unitprice``, ``orderqty``."""
_SHORTEST_HEAD = 2
"""Letters that must precede a glued word, so that ``rate`` in ``prate`` isn't one."""
_FEWEST_ROWS_FOR_NUMBERING = 20
"""Rows from which on distinct whole numbers are a numbering; in fewer, amounts are distinct too."""
_NEAR_UNIQUE = 0.95
"""Share of distinct values of a numbering, which may have been repeated by mistake now and then."""
_WIDEST_NUMBERING = 10
"""Width of the range of a numbering per row: assigned numbers are close together, even if nine in
ten were deleted. Measured numbers aren't."""
_NAME_WORDS = _word_set("comment desc description label name note text title")
_CALENDAR_WORDS = _word_set("day month quarter weekday")
_MEASURE_TYPES = {None, "money", "percentage"}


class MeasureRole(ModelPart):
    """How to aggregate a measure, and why."""

    aggregation: Aggregation
    additivity: Additivity
    reason: str


def measure_role(column: ColumnProfile, key_columns: Set[str]) -> MeasureRole | None:
    """Return how to aggregate a column; None where it's no measure.

    ``key_columns`` are the columns of its table that are part of a key or refer to another table.
    """
    type_family = family(column_type(column))
    if type_family not in {"integer", "decimal", "float"} or column.name in key_columns:
        return None
    if column.pii or column.semantic_type not in _MEASURE_TYPES:
        return None
    if column.rows > 0 and column.nulls == column.rows:
        return None
    parts = _parts(column.name)
    if type_family != "float" and _is_code_name(parts):
        return None
    if type_family == "integer" and not _QUANTITY_WORDS & set(parts) and _has_code_values(column):
        return None
    if column.semantic_type == "percentage" or _is_share(column, type_family, parts):
        return _role("avg", "non-additive", "a sum of shares is meaningless")
    return _aggregation(frozenset(parts))


def _role(aggregation: Aggregation, additivity: Additivity, reason: str) -> MeasureRole:
    return MeasureRole(aggregation=aggregation, additivity=additivity, reason=reason)


def is_category_name(name: str) -> bool:
    """Return whether a column's name says that its values are codes of a short list."""
    parts = words(name)
    return bool(parts) and (parts[-1] in _CATEGORY_WORDS or parts[0] in {"is", "has"})


def is_quantity_name(name: str) -> bool:
    """Return whether a column's name says that it counts or weighs something."""
    return bool(_QUANTITY_WORDS & set(_parts(name)))


def holds_names(name: str) -> bool:
    """Return whether a column's name says that its values are names or text, an open domain."""
    parts = words(name)
    return bool(parts) and parts[-1] in _NAME_WORDS and not _CALENDAR_WORDS & set(parts)


def _aggregation(parts: frozenset[str]) -> MeasureRole:
    per_unit = sorted(parts & _PER_UNIT_WORDS)
    if per_unit and not (set(per_unit) <= _ONE_UNIT_WORDS and parts & _ALL_UNITS_WORDS):
        return _role("avg", "non-additive", f"a sum of '{per_unit[0]}' values is meaningless")
    level = sorted(parts & _LEVEL_WORDS)
    if level:
        reason = f"'{level[0]}' is a level: it can be summed across everything except time"
        return _role("avg", "semi-additive", reason)
    return _role("sum", "additive", "a number, but not a key, code or date")


def _parts(name: str) -> tuple[str, ...]:
    """Return the words of a name, with a word that is glued to the last one split off."""
    parts = words(name)
    if not parts or parts[-1] in _QUANTITY_WORDS | _PER_UNIT_WORDS | _LEVEL_WORDS | _CODE_ENDINGS:
        return parts
    *first, last = parts
    whole = last.removesuffix("per")
    if whole != last and whole in _SHARE_OF_MONEY_WORDS:
        return (*first, whole, "per")
    # The longest ending counts: a percentage is no age.
    for ending in sorted(_GLUED_WORDS, key=lambda word: (-len(word), word)):
        head = last.removesuffix(ending)
        if head != last and len(head) >= _SHORTEST_HEAD:
            return (*first, head, ending)
    return parts


def _is_code_name(parts: Sequence[str]) -> bool:
    """Return whether a name is of something that is written in digits, but isn't a quantity."""
    if not parts or parts[-1] in _CODE_ENDINGS:
        return bool(parts)
    return parts[0] in _CODE_BEGINNINGS and not _QUANTITY_WORDS & set(parts)


def _has_code_values(column: ColumnProfile) -> bool:
    """Return whether whole numbers look like codes: digits in text, flags, a numbering of rows."""
    low, high = value_bounds(column)
    if column.measured_type is not None or (low, high) == (0, 1):
        return True
    filled = column.rows - column.nulls
    is_near_unique = (
        filled >= _FEWEST_ROWS_FOR_NUMBERING and column.distinct >= _NEAR_UNIQUE * filled
    )
    return is_near_unique and high - low < _WIDEST_NUMBERING * filled


def _is_share(column: ColumnProfile, type_family: str, parts: Sequence[str]) -> bool:
    """Return whether the values are shares of one, or whole percentages of a sum of money."""
    low, high = value_bounds(column)
    if type_family != "integer":
        return 0 <= low < high <= 1 and not _QUANTITY_WORDS & set(parts)
    may_be_share = set(parts) & _SHARE_OF_MONEY_WORDS and not set(parts) & _ALL_UNITS_WORDS
    return bool(may_be_share) and 0 <= low <= high <= _LARGEST_PERCENTAGE


def value_bounds(column: ColumnProfile) -> tuple[float, float]:
    """Return the least and the greatest value; NaN where they aren't known."""
    try:
        return float(column.min or "nan"), float(column.max or "nan")
    except ValueError:
        return float("nan"), float("nan")
