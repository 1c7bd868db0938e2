"""What a column means to people, and whether it holds their data."""

from fluid_build.profiling.semantic_types.classifier import classify
from fluid_build.profiling.semantic_types.column_facts import ColumnFacts, SemanticType
from fluid_build.profiling.semantic_types.nested_values import subject_of

__all__ = ["ColumnFacts", "SemanticType", "classify", "subject_of"]
