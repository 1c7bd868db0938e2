"""How far a number of a known meaning adds up, in the row that it's in, with the reason."""

from fluid_build.lexicon import terms
from fluid_build.modeling.element import Alternative
from fluid_build.modeling.measures.code_values import may_be_percentages
from fluid_build.modeling.measures.measure_role import (
    MeasureRole,
    additive,
    non_additive,
    semi_additive,
)
from fluid_build.modeling.measures.number_names import NumberName
from fluid_build.modeling.measures.row_context import RowContext
from fluid_build.modeling.types import column_type, family
from fluid_build.profiling.profile import ColumnProfile

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
            return additive(f"it counts '{name.word}', and counts add up")
        return additive(f"'{name.word}' adds up along every dimension")
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
        return additive("each row is a single piece, so its price is an amount", price)
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
            return non_additive(f"'{word}' is a ratio, and a sum of ratios is meaningless")
        case "intensity":
            return non_additive(f"'{word}' is on a scale, where only an average says something")
        case "extreme":
            return _extreme(word)
        case "reading":
            return non_additive(f"a '{word}' may be in any unit", _no_amount())
    return _unexplained(column)


def _pay(word: str) -> MeasureRole:
    payment = Alternative(choice="a payment", reason="the key names no period that it's for")
    reason = (
        f"'{word}' is what somebody gets at a time, which adds up across everything except time"
    )
    return semi_additive(reason, payment)


def _extreme(word: str) -> MeasureRole:
    role = non_additive(f"a sum of '{word}' values is meaningless")
    if word in terms("greatest"):
        return role.model_copy(update={"aggregation": "max"})
    return role.model_copy(update={"aggregation": "min"}) if word in terms("least") else role


def _unexplained(column: ColumnProfile) -> MeasureRole:
    """Return the role of numbers whose name says nothing."""
    if family(column_type(column)) != "integer":
        return non_additive("its name says nothing", _no_amount())
    if may_be_percentages(column):
        return non_additive("its name says nothing, and its values end at 100 as percentages do")
    code = Alternative(choice="a code", reason="they're no numbering, no short list and no dates")
    values = f"{column.distinct:,} different whole numbers from {column.min} to {column.max}"
    return additive(f"{values} look measured", code)


def _no_amount() -> Alternative:
    return Alternative(choice="an amount", reason="no name, formula or total shows that it adds up")
