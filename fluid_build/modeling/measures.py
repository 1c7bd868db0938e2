"""Which columns are measures, which are categories, and how a measure may be added up.

Names rank and the data vetoes: a numeric column is a measure unless it identifies, refers, encodes
or dates something. The word lists are general English of databases.
"""

from collections.abc import Sequence, Set
from typing import Literal

from fluid_build.modeling.element import ModelPart
from fluid_build.modeling.types import column_type, family
from fluid_build.profiling.names import words
from fluid_build.profiling.profile import ColumnProfile

Additivity = Literal["additive", "semi-additive", "non-additive"]
Aggregation = Literal["sum", "avg", "count", "count_distinct", "min", "max", "median"]


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_QUANTITY = _set(
    """
    amount amt balance budget charge cost count distance duration expense fee freight height income
    length margin mass minutes payment pay price profit qty quantity revenue salary sales score
    seconds size sold spend stock sum total units value volume wage weight width
    """
)
_PER_UNIT = _set(
    """
    age altitude average avg bound degree density discount elevation expectancy fraction humidity
    index interest latitude lim limit longitude lvl max maximum mean median min minimum offset pct
    apr apy coefficient efficiency factor multiplier per perc percentile proportion quotient
    percent percentage price probability range rank rate rating ratio score share speed temperature
    unit
    """
)
_SHARE_OF_MONEY = _set(
    """
    commission deduction discount duty interest levy margin markup rebate royalty surcharge tax tip
    vat
    """
)
"""Amounts or percentages, which the values tell apart."""
_PERCENT = 100
_OF_ONE_UNIT = _set("discount price unit")
_OF_ALL_UNITS = _set("amount amt ext extended total")
"""The price of a line is added up, other than the price of one piece."""
_STATE = _set("avail available balance hand inventory onhand outstanding stock")
_ENCODES = _set(
    """
    barcode category cd class code date day decade dom dow doy dt ean epoch epochms flag group hour
    id identifier idx is isbn key kind level line lineno minute month moy no nr num number order
    ordinal phase pk position postal priority qoy quarter rank row rownum semester seq sequence sk
    sort status timezone type uid uuid version via week weekday year zip zone
    """
)
_LEADS_A_CODE = _set("code day fk has id is month pk sk week year")
_CODE_WORDS = _set(
    """
    active category class code enabled flag gender group has is kind level mode phase priority
    state status tier type
    """
)
_GLUED = tuple(
    """
    amount amt balance charge cost date discount expense freight hours level minutes month number
    pct percent percentage price priority profit qty quantity quota range rate rating ratio revenue
    salary score seconds sequence status total type version weight year
    """.split()
)
"""Words that are written together with the one before: ``unitprice``, ``orderqty``."""
_SHORTEST_HEAD = 2
_ROWS_TO_TELL = 20
_NEAR_UNIQUE = 0.95
_DENSE = 10
_OPEN_WORDS = _set("comment desc description label name note text title")
_CALENDAR = _set("day month quarter weekday")
_OF_A_MEASURE = {None, "money", "percentage"}


class MeasureRole(ModelPart):
    """How a measure may be aggregated, and the sentence that says why."""

    aggregation: Aggregation
    additivity: Additivity
    reason: str


def measure_role(column: ColumnProfile, key_columns: Set[str]) -> MeasureRole | None:
    """What kind of measure a column is; None where it is none.

    ``key_columns`` are the columns of its table that are part of a key or refer to another table.
    """
    kind = family(column_type(column))
    if kind not in {"integer", "decimal", "float"} or column.name in key_columns:
        return None
    if column.pii or column.semantic_type not in _OF_A_MEASURE:
        return None
    if column.rows > 0 and column.nulls == column.rows:
        return None
    parts = _parts(column.name)
    if kind != "float" and _encodes(parts):
        return None
    if kind == "integer" and not _QUANTITY & set(parts) and _is_code_by_its_values(column):
        return None
    if column.semantic_type == "percentage" or _is_share(column, kind, parts):
        return _role("avg", "non-additive", "shares do not add up")
    return _aggregation(frozenset(parts))


def _role(aggregation: Aggregation, additivity: Additivity, reason: str) -> MeasureRole:
    return MeasureRole(aggregation=aggregation, additivity=additivity, reason=reason)


def is_code(name: str) -> bool:
    """Whether a column's name says that its values are codes out of a short list."""
    parts = words(name)
    return bool(parts) and (parts[-1] in _CODE_WORDS or parts[0] in {"is", "has"})


def is_quantity(name: str) -> bool:
    """Whether a column's name says that it counts or weighs something."""
    return bool(_QUANTITY & set(_parts(name)))


def names_things(name: str) -> bool:
    """Whether a column's name says that its values are names or text, of which more may come."""
    parts = words(name)
    return bool(parts) and parts[-1] in _OPEN_WORDS and not _CALENDAR & set(parts)


def _aggregation(parts: frozenset[str]) -> MeasureRole:
    per_unit = sorted(parts & _PER_UNIT)
    if per_unit and not (set(per_unit) <= _OF_ONE_UNIT and parts & _OF_ALL_UNITS):
        return _role(
            "avg", "non-additive", f"'{per_unit[0]}' is a value for one unit: sums mean nothing"
        )
    state = sorted(parts & _STATE)
    if state:
        return _role(
            "avg", "semi-additive", f"'{state[0]}' is a state: it does not add up over time"
        )
    return _role("sum", "additive", "a number that is neither key, code nor date")


def _parts(name: str) -> tuple[str, ...]:
    """The words of a name; what is glued to its last word is a word of its own."""
    parts = words(name)
    if not parts or parts[-1] in _QUANTITY | _PER_UNIT | _STATE | _ENCODES:
        return parts
    *first, last = parts
    # The longest ending counts: a percentage is no age.
    whole = last.removesuffix("per")
    if whole != last and whole in _SHARE_OF_MONEY:
        return (*first, whole, "per")
    for ending in sorted(_GLUED, key=lambda word: (-len(word), word)):
        head = last.removesuffix(ending)
        if head != last and len(head) >= _SHORTEST_HEAD:
            return (*first, head, ending)
    return parts


def _encodes(parts: Sequence[str]) -> bool:
    """Whether the name is of something that is written in digits and not counted with them."""
    if not parts or parts[-1] in _ENCODES:
        return bool(parts)
    return parts[0] in _LEADS_A_CODE and not _QUANTITY & set(parts)


def _is_code_by_its_values(column: ColumnProfile) -> bool:
    """Whether whole numbers look like something else: digits in text, flags, a row's own number."""
    low, high = value_bounds(column)
    if column.measured_type is not None or (low, high) == (0, 1):
        return True
    filled = column.rows - column.nulls
    near_unique = filled >= _ROWS_TO_TELL and column.distinct >= _NEAR_UNIQUE * filled
    # Numbers that were given out lie close together, numbers that were measured do not.
    return near_unique and high - low < _DENSE * filled


def _is_share(column: ColumnProfile, kind: str, parts: Sequence[str]) -> bool:
    """Whether the values are shares of one, or whole per cents of what the name speaks of."""
    low, high = value_bounds(column)
    if kind != "integer":
        return 0 <= low < high <= 1 and not _QUANTITY & set(parts)
    named = set(parts) & _SHARE_OF_MONEY and not set(parts) & _OF_ALL_UNITS
    return bool(named) and 0 <= low <= high <= _PERCENT


def value_bounds(column: ColumnProfile) -> tuple[float, float]:
    """The least and the greatest value; not a number where they are not known."""
    try:
        return float(column.min or "nan"), float(column.max or "nan")
    except ValueError:
        return float("nan"), float("nan")
