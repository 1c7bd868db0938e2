"""How a measure is aggregated, and how far it adds up."""

from typing import Literal

from fluid_build.modeling.element import Alternative, ModelPart

Additivity = Literal["additive", "semi-additive", "non-additive"]
Aggregation = Literal["sum", "avg", "count", "count_distinct", "min", "max", "median"]


class MeasureRole(ModelPart):
    """How to aggregate a measure, and why; ``alternatives`` are the choices that lost.

    An average is ``weighted_by`` a quantity of the same row, an amount adds up only ``within`` one
    value of a column, its currency, and a level only over the members of one ``day``. Each names a
    column, "" where there is none.
    """

    aggregation: Aggregation
    additivity: Additivity
    reason: str
    weighted_by: str = ""
    within: str = ""
    day: str = ""
    alternatives: tuple[Alternative, ...] = ()


NO_AMOUNT = Alternative(
    choice="an amount", reason="no name, formula or total shows that it adds up"
)
"""The alternative of a number of which nothing says what it measures: its role is a guess."""


def additive(reason: str, *alternatives: Alternative) -> MeasureRole:
    """Return the role of a measure that is summed."""
    return MeasureRole(
        aggregation="sum", additivity="additive", reason=reason, alternatives=alternatives
    )


def semi_additive(reason: str, *alternatives: Alternative) -> MeasureRole:
    """Return the role of a measure that is averaged, since a sum over time says nothing."""
    return MeasureRole(
        aggregation="avg", additivity="semi-additive", reason=reason, alternatives=alternatives
    )


def non_additive(reason: str, *alternatives: Alternative) -> MeasureRole:
    """Return the role of a measure that is averaged, since no sum says anything."""
    return MeasureRole(
        aggregation="avg", additivity="non-additive", reason=reason, alternatives=alternatives
    )
