"""The screen of a model: how many relations of each kind are built, and the verdict."""

from collections.abc import Iterator, Sequence

from fluid_build.report.model_elements import plain
from fluid_build.report.terminal.proof_screen import after_a_loss, proof_section, verdict_line
from fluid_build.report.terminal.screen_parts import Part, heading, indented
from fluid_build.report.view import SourceView
from fluid_build.text import counted
from fluid_build.transform.plan.elements import Renaming

_MOST_RENAMED = 8


def model_section(
    view: SourceView, notes: Sequence[str], unproven: Sequence[str] = ()
) -> Iterator[Part]:
    """Yield the relations in figures, notes on the project, and the verdict or the loss.

    ``unproven`` are files that say what is built otherwise than the model.
    """
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
        yield from after_a_loss(proof)
    else:
        yield indented(verdict_line(proof, unproven=unproven))


def _renamed(renamed: Sequence[Renaming]) -> Iterator[Part]:
    groups: dict[tuple[str, str, str], list[Renaming]] = {}
    for renaming in renamed:
        # Tables are renamed each by itself; a column of one name often is in many tables.
        place = renaming.table if renaming.kind == "table" else renaming.source_name
        groups.setdefault((place, renaming.name, renaming.reason), []).append(renaming)
    shown = list(groups.values())[:_MOST_RENAMED]
    for group in shown:
        yield indented(f"{_renaming_label(group)}: {group[0].reason}.", "dim")
    left = len(renamed) - sum(map(len, shown))
    if left > 0:
        yield indented(f"and {counted(left, 'more name')} changed; see plan.json", "dim")


def _renaming_label(group: Sequence[Renaming]) -> str:
    """Return what is renamed: a table, a column, or the columns of one name in many tables."""
    first, *others = group
    if others:
        tables = counted(len(group), "table")
        return f"{first.source_name} is renamed to {first.name} in {tables}"
    column = "" if first.kind == "table" else f".{first.source_name}"
    return f"{first.table}{column} is renamed to {first.name}"
