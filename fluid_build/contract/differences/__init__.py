"""Two versions of a contract or a model, and what parts them: ``differences(old, new)``.

A change is judged as a reader of the data would judge it.
"""

from fluid_build.contract.differences.change import LEVELS, Action, DocumentChange, Level
from fluid_build.contract.differences.differing import Differences, VersionAdvice, differences
from fluid_build.contract.differences.reading import Comparable, read_comparable
from fluid_build.contract.differences.report import differences_document

__all__ = [
    "LEVELS",
    "Action",
    "Comparable",
    "Differences",
    "DocumentChange",
    "Level",
    "VersionAdvice",
    "differences",
    "differences_document",
    "read_comparable",
]
