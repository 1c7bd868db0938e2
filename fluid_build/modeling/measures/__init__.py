"""Measures: which numeric columns are quantities, and how each of them adds up.

``name_words`` splits names, ``number_names`` says what a name means,
``code_values`` has the veto, ``roles`` decides by the row, and ``formula_evidence`` settles it by
what was observed. ``decided`` overrules measures.
"""

from fluid_build.modeling.measures.code_values import value_bounds
from fluid_build.modeling.measures.decided import with_decided
from fluid_build.modeling.measures.formula_evidence import TableMeasures
from fluid_build.modeling.measures.measure_role import Additivity, Aggregation, MeasureRole
from fluid_build.modeling.measures.number_names import (
    holds_names,
    is_category_name,
    is_quantity_name,
)
from fluid_build.modeling.measures.profile_measures import profile_measures

__all__ = [
    "Additivity",
    "Aggregation",
    "MeasureRole",
    "TableMeasures",
    "holds_names",
    "is_category_name",
    "is_quantity_name",
    "profile_measures",
    "value_bounds",
    "with_decided",
]
