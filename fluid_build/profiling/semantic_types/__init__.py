"""What a column means to people, and whether it holds their data.

A column is judged by its name and its values (``classifier``). ``nested_values`` judges each field
inside nested values by its path, like a column, and the items of lists as the column itself.
"""

from fluid_build.profiling.semantic_types.classifier import classify
from fluid_build.profiling.semantic_types.column_facts import ColumnFacts, SemanticType
from fluid_build.profiling.semantic_types.nested_values import subject_of

__all__ = ["ColumnFacts", "SemanticType", "classify", "subject_of"]
