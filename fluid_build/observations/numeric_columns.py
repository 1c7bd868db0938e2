"""Numeric columns that may be quantities, as observations compute with them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from fluid_build.observations.observed_tables import ObservedTable, value_type
from fluid_build.profiling.measure.figures import kind_of
from fluid_build.profiling.profile import ColumnProfile, ForeignKey

_SCALE = re.compile(r"DECIMAL\(\d+,\s*(\d+)\)")
_SHORTEST_FRACTION = 0.5e-2
"""Half a cent: how far a float may be from what was meant, since most amounts are money."""


@dataclass(frozen=True, slots=True)
class NumericColumn:
    """A column of numbers; ``sql`` is a double.

    ``rounding`` is half of its last digit. ``is_share`` says that its values are from 0 to 1.
    """

    name: str
    sql: str
    rounding: float
    distinct: int
    is_share: bool


def numeric_columns(
    table: ObservedTable, foreign_keys: Sequence[ForeignKey]
) -> tuple[NumericColumn, ...]:
    """Return the numbers of a table that vary and neither identify nor refer."""
    keys = set(table.profile.primary_key or ())
    keys |= {name for claim in table.profile.declared_keys for name in claim.columns}
    for key in foreign_keys:
        if key.from_table == table.profile.name:
            keys |= set(key.from_columns)
    return tuple(
        NumericColumn(
            name=column.name,
            sql=f"CAST({table.value(column.name)} AS DOUBLE)",
            rounding=_rounding(column),
            distinct=column.distinct,
            is_share=_is_share(column),
        )
        for column in table.profile.columns
        if column.name not in keys and _varies(column)
    )


def _varies(column: ColumnProfile) -> bool:
    is_number = kind_of(value_type(column)) in {"integer", "decimal", "float"}
    return is_number and column.distinct > 1 and not column.pii


def _rounding(column: ColumnProfile) -> float:
    """Return half of the last digit of a column's values; 0 for whole numbers."""
    type_ = value_type(column)
    scale = _SCALE.fullmatch(type_)
    if scale is not None:
        return 0.5 * 10.0 ** -int(scale[1]) if int(scale[1]) else 0.0
    return 0.0 if kind_of(type_) == "integer" else _SHORTEST_FRACTION


def _is_share(column: ColumnProfile) -> bool:
    try:
        return 0 <= float(column.min or "nan") < float(column.max or "nan") <= 1
    except ValueError:
        return False
