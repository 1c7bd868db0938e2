"""Decisions as they are passed to ``forge``: typed, as dicts, or as a file."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from fluid_build.decisions.files import (
    NOTHING_RECORDED,
    RecordedDecisions,
    decisions_of,
    read_decision_file,
)
from fluid_build.decisions.language import AnyDecision
from fluid_build.forging.decision_files import folder_decisions, with_decisions

Decisions: TypeAlias = Sequence[AnyDecision | Mapping[str, object]] | str | os.PathLike[str]
"""Decisions in their order, each typed or as an entry of ``decisions.yaml``; or such a file."""


def followed_decisions(
    decisions: Decisions, out: Path | None, *, overwrite: bool
) -> RecordedDecisions:
    """Return the decisions of a forge: those of its folder, if any, and those that were passed.

    A file takes the place of the folder's own. Raises DecisionError where they aren't valid.
    """
    if isinstance(decisions, str | os.PathLike):
        file = Path(decisions)
        if out is None:
            return read_decision_file(file)
        return folder_decisions(out, file, overwrite=overwrite)
    recorded = NOTHING_RECORDED if out is None else folder_decisions(out)
    return with_decisions(recorded, _typed_decisions(decisions))


def _typed_decisions(
    decisions: Sequence[AnyDecision | Mapping[str, object]],
) -> tuple[AnyDecision, ...]:
    entries = [
        decision if isinstance(decision, Mapping) else decision.model_dump(mode="json")
        for decision in decisions
    ]
    return decisions_of(entries)
