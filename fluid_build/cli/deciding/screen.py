"""What became of a decision that a person made, as a screen and as JSON."""

from collections.abc import Iterator
from pathlib import Path

from rich.text import Text

from fluid_build.cli.next_steps import next_steps
from fluid_build.cli.recording import Recorded
from fluid_build.decisions.editing import entry_fields
from fluid_build.decisions.files import DECISIONS_FILE
from fluid_build.decisions.subjects import decision_line
from fluid_build.report.terminal.screen_parts import Part, Query, indented, text, whole


def recorded_document(folder: Path, recorded: Recorded) -> dict[str, object]:
    """Return what became of a decision, for ``--json``."""
    evidence = recorded.verdict.evidence if recorded.verdict else None
    return {
        "file": str(folder / DECISIONS_FILE),
        "written": recorded.is_written,
        "status": recorded.outcome,
        "message": recorded.message,
        "decision": entry_fields(recorded.decision),
        "evidence": None if evidence is None else evidence.model_dump(mode="json"),
        "next": recorded.next.command if recorded.next else None,
    }


def recorded_screen(folder: Path, recorded: Recorded) -> Iterator[Part]:
    """Yield whether a decision was written, what the data says, and how to go on."""
    is_written = recorded.is_written
    label, style = ("Written", "green") if is_written else ("Refused", "red")
    yield Text.assemble(
        text(label, f"bold {style}"), "  ", text(decision_line(recorded.decision), "bold")
    )
    yield indented(recorded.message)
    evidence = recorded.verdict.evidence if recorded.verdict else None
    if evidence is not None and evidence.violations and evidence.sql:
        yield Query(evidence.sql)
    if not is_written:
        yield indented("Nothing was written.", "dim")
        if "despite_violations" in type(recorded.decision).model_fields and evidence is not None:
            yield indented("If it's right all the same, add --despite-violations.")
        return
    yield indented(f"It's in {whole(folder / DECISIONS_FILE)}.", "dim")
    if recorded.next is not None:
        yield from next_steps([recorded.next])
