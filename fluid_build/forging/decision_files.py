"""The decisions of a folder: read before a forge, and written with what became of them."""

from collections.abc import Iterable
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path

from pydantic_core import to_json

from fluid_build.decisions.editing import decisions_text
from fluid_build.decisions.files import (
    DECISIONS_FILE,
    SCHEMA_FILE,
    RecordedDecisions,
    parse_decisions,
    recorded_decisions,
)
from fluid_build.decisions.language import AnyDecision, decisions_schema
from fluid_build.decisions.verdicts import Verdict, kept
from fluid_build.errors import UsageError
from fluid_build.transform.proof.folder_changes import loses_decisions


def folder_decisions(
    out: Path, file: Path | None = None, *, overwrite: bool = False
) -> RecordedDecisions:
    """Return the decisions that a forge of ``out`` follows: those of ``file``, or the folder's.

    Raises DecisionError where they aren't valid, and UsageError where ``file`` would replace
    entries that somebody wrote in the folder's own file, unless ``overwrite`` is set.
    """
    recorded = recorded_decisions(out, file)
    own = out / DECISIONS_FILE
    if file is None or overwrite or (file.exists() and own.exists() and own.samefile(file)):
        return recorded
    if loses_decisions(out, recorded.text):
        raise UsageError(
            f"{own} was edited, and {file} doesn't have all of its decisions.",
            hint=f"Copy them to {file}, leave --decisions out, or use --force to replace them.",
        )
    return recorded


def with_decisions(recorded: RecordedDecisions, added: Iterable[AnyDecision]) -> RecordedDecisions:
    """Return recorded decisions with those that are added, as far as they aren't there yet.

    Who made a decision, and why, doesn't make it another one.
    """
    decisions = [*recorded.decisions]
    contents = {_content(decision) for decision in decisions}
    decisions += [decision for decision in added if _content(decision) not in contents]
    return replace(recorded, decisions=tuple(decisions))


def _content(decision: AnyDecision) -> str:
    """Return what a decision says, whoever says it and why."""
    return decision.model_dump_json(exclude={"by", "reason", "evidence"})


def decision_documents(previous: str, verdicts: Iterable[Verdict]) -> dict[str, str]:
    """Return ``decisions.yaml`` and its schema by name; nothing where there are no decisions.

    ``previous`` is the text that the decisions were read from, "" where there was none. The
    verdicts on its entries are the first ones, in their order.
    """
    entries = parse_decisions(previous)
    written = [
        _as_written(verdict, entry) for verdict, entry in zip_longest(verdicts, entries) if verdict
    ]
    text = decisions_text(previous, kept(written))
    return {DECISIONS_FILE: text, SCHEMA_FILE: schema_text()} if text else {}


def _as_written(verdict: Verdict, entry: AnyDecision | None) -> Verdict:
    """Return a verdict on the entry as somebody spelled it: verdicts have the source's names."""
    if entry is None or type(entry) is not type(verdict.decision):
        return verdict
    same_author = (entry.by, entry.reason) == (verdict.decision.by, verdict.decision.reason)
    return replace(verdict, decision=entry) if same_author else verdict


def schema_text() -> str:
    """Return the JSON schema of ``decisions.yaml`` as it's written next to it."""
    return to_json(decisions_schema(), indent=2).decode() + "\n"
