"""What `--dry-run` shows: the questions to the model, their cost, and the files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from fluid_build.cli.forging.stage_lines import dollars
from fluid_build.pipeline.dry_run import DryRun
from fluid_build.report.terminal.screen_parts import (
    Part,
    first_line,
    heading,
    indented,
    lines,
    whole,
)
from fluid_build.text import counted


def dry_run_document(out: Path, planned: DryRun) -> dict[str, object]:
    """Return what a run would do, for ``--json``."""
    cost = planned.most_cost_usd
    return {
        "folder": str(out),
        "dry_run": True,
        "questions": [
            {
                "stage": question.stage,
                "provider": question.provider,
                "model": question.model,
                "tables": question.tables,
                "input_tokens": question.input_tokens,
                "most_output_tokens": question.most_output_tokens,
                "most_cost_usd": _text(question.most_cost_usd),
            }
            for question in planned.questions
        ],
        "most_cost_usd": _text(cost),
        "changes": [
            {"file": change.name, "change": change.action, "owner": change.owner}
            for change in planned.preview.changes
            if change.action != "nothing"
        ],
    }


def dry_run_screen(out: Path, planned: DryRun) -> Iterator[Part]:
    """Yield what a run would ask, what that costs at most, and which files it would write."""
    yield first_line(whole(out), "nothing was sent or written")
    yield heading("Language model", counted(len(planned.questions), "question"))
    if not planned.questions:
        yield indented("No model would be asked.")
    yield from lines([
        f"{question.stage}: {question.provider} {question.model},"
        f" {counted(question.tables, 'table')}, {counted(question.input_tokens, 'token')} and up to"
        f" {question.most_output_tokens:,} in the answer"
        for question in planned.questions
    ])  # fmt: skip
    if planned.questions:
        cost = planned.most_cost_usd
        most = "an unknown amount: the model has no listed price" if cost is None else dollars(cost)
        yield indented(f"With all corrections and a repair it costs at most {most}.")
    changes = [change for change in planned.preview.changes if change.action != "nothing"]
    yield heading("Files", f"{counted(len(changes), 'change')} without the model's decisions")
    yield from lines([f"{change.action} {change.name}" for change in changes])


def _text(amount: object) -> str | None:
    return None if amount is None else str(amount)
