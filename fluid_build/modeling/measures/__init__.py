"""Measures: which numeric columns are quantities, and how each of them adds up.

``name_words`` splits names, ``number_names`` says what a name means,
``code_values`` has the veto, ``row_context`` and ``meaning_roles`` decide
by the row, ``formula_evidence`` and ``other_rows_evidence`` settle it by what was observed.
``decided`` overrules measures.
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
