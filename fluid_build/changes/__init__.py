"""What has changed in a source, by comparing its earlier profile with today's.

``change`` has the typed value, ``source_changes`` (in ``comparing``) makes them of two profiles and
of nothing else: ``tables``, ``columns``, ``keys`` and ``references`` each look at one subject,
``types`` says which type holds the values of another, and ``likeness`` how likely something is the
same under another name. ``counting`` counts on the source what no profile knows, such as the
repeats of a key of several columns.

Another name is always a question. A profile keeps figures and no rows: it can't prove that a
column is the same, so a person says so (the decision ``renamed``).
"""

from fluid_build.changes.change import (
    ChangeEvidence,
    ChangeKind,
    Effect,
    OtherName,
    SourceChange,
)
from fluid_build.changes.comparing import source_changes
from fluid_build.changes.counting import counted_changes
from fluid_build.changes.keys import with_decided_keys
from fluid_build.changes.renames import NO_RENAMES, Renames
from fluid_build.changes.tables import not_delivered

__all__ = [
    "NO_RENAMES",
    "ChangeEvidence",
    "ChangeKind",
    "Effect",
    "OtherName",
    "Renames",
    "SourceChange",
    "counted_changes",
    "not_delivered",
    "source_changes",
    "with_decided_keys",
]
