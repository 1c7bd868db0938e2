"""The screen of a model: how many relations of each kind are built, and the verdict."""

from collections.abc import Iterator, Sequence

from fluid_build.report.model_elements import plain
from fluid_build.report.terminal.proof_screen import proof_section, verdict_line
from fluid_build.report.terminal.screen_parts import Part, heading, indented
from fluid_build.report.view import SourceView
from fluid_build.text import counted
from fluid_build.transform.plan.elements import Renaming

_MOST_RENAMED = 8


def model_section(view: SourceView, notes: Sequence[str]) -> Iterator[Part]:
    """Yield the relations in figures, notes on the project, and the verdict or the loss."""
    model, proof = view.model, view.proof
    assert model is not None and proof is not None
    yield heading("Model", " · ".join(filter(None, (model.technique, model.variant))))
    yield indented(", ".join(counted(count, kind) for kind, count in model.relation_counts) + ".")
    if model.variant and model.remark:
        yield indented(plain(model.remark), "dim")
    if model.note:
        yield indented(model.note, "yellow")
    yield from _renamed(model.renamed)
    yield from (indented(note, "yellow") for note in notes)
    if proof.verdict == "lost":
        yield from proof_section(proof)
    else:
        yield indented(verdict_line(proof))


def _renamed(renamed: Sequence[Renaming]) -> Iterator[Part]:
    for renaming in renamed[:_MOST_RENAMED]:
        column = "" if renaming.kind == "table" else f".{renaming.source_name}"
        label = f"{renaming.table}{column} is renamed to {renaming.name}"
        yield indented(f"{label}: {renaming.reason}.", "dim")
    left = len(renamed) - _MOST_RENAMED
    if left > 0:
        yield indented(f"and {counted(left, 'more name')} changed; see plan.json", "dim")
