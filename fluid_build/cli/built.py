"""What was built of a source, on a screen: relations, the verdict of the proof, and files."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import RenderableType
from rich.padding import Padding

from fluid_build.cli.grid import Grid
from fluid_build.cli.proof_table import proof_lines, verdict
from fluid_build.cli.screen import Part, heading, name, text
from fluid_build.forge import (
    CONTRACT_FILE,
    DOCUMENT_FILE,
    MODEL_FILE,
    PLAN_FILE,
    PROFILE_FILE,
    Forged,
)
from fluid_build.text import counted
from fluid_build.transform.plan.elements import Build, Renaming
from fluid_build.transform.proof.manifest import MANIFEST_FILE
from fluid_build.transform.proof.written_proof import PROOF_FILE

_PURPOSES = {
    DOCUMENT_FILE: "to read: tables, keys, relationships, a diagram",
    CONTRACT_FILE: "the data contract, FLUID 0.7.2",
    MODEL_FILE: "the logical model",
    PLAN_FILE: "every relation with its SQL, in the order of building",
    PROFILE_FILE: "the figures of columns, keys, relationships",
    PROOF_FILE: "what was built, compared with the source",
    MANIFEST_FILE: "what all of it was made of, for `fluid verify`",
}
_FOLDERS = {
    "dbt": "the dbt project; its README.md says how to run it",
    "proof": "the queries of the proof, one file a table",
}
_KINDS = {
    "hub": "hub",
    "lnk": "link",
    "hal": "hierarchical link",
    "tl": "transactional link",
    "sal": "same-as link",
    "sat": "satellite",
    "msat": "multi-active satellite",
    "eff": "effectivity satellite",
    "ref": "reference table",
    "psa": "keyless table",
    "fct": "fact",
    "dim": "dimension",
    "brg": "bridge",
}
_MOST_RENAMED = 8


def built(forged: Forged) -> Iterator[Part]:
    """The relations in figures and the verdict; where something was lost, all that is known."""
    model = forged.model
    shape = model.dimensional.variant if model.dimensional is not None else ""
    yield heading("Model", " · ".join(filter(None, (model.technique, shape))))
    yield _indented(text(_in_figures(forged.plan.published)))
    if model.dimensional is not None and model.dimensional.variant_reason:
        yield _indented(text(model.dimensional.variant_reason, "dim"))
    yield from _renamed(forged.plan.renamed)
    for note in forged.notes:
        yield _indented(text(note, "yellow"))
    if forged.proof.verdict == "lost":
        yield from proof_lines(forged.proof)
    else:
        yield _indented(verdict(forged.proof))


def files(paths: Sequence[Path]) -> Iterator[Part]:
    """Files that were written, and what each is for; a folder of many is one line."""
    folder = _folder(paths)
    yield heading("Files", f"in {folder}")
    names = [path.relative_to(folder).parts for path in paths]
    inside = Counter(parts[0] for parts in names if len(parts) > 1)
    grid = Grid(show_header=False)
    grid.add_column(style="green")
    grid.add_column(style="dim")
    for (file,) in (parts for parts in names if len(parts) == 1):
        grid.add_row(name(file), text(_PURPOSES[file]))
    for inner, count in sorted(inside.items()):
        grid.add_row(name(f"{inner}/"), text(f"{_FOLDERS[inner]} ({counted(count, 'file')})"))
    yield _indented(grid)


def _folder(paths: Sequence[Path]) -> Path:
    return next(path.parent for path in paths if path.name == MANIFEST_FILE)


def _in_figures(published: Sequence[Build]) -> str:
    found = Counter(_kind(build) for build in published)
    return ", ".join(counted(count, kind) for kind, count in found.items()) + "."


def _kind(build: Build) -> str:
    if build.layer == "flat":
        return "table"
    return _KINDS.get(build.name.partition("_")[0], "relation")


def _renamed(renamed: Sequence[Renaming]) -> Iterator[Part]:
    for one in renamed[:_MOST_RENAMED]:
        place = one.table if one.kind == "table" else f"{one.table}.{one.source_name}"
        yield _indented(text(f"{place} is called {one.name}: {one.reason}.", "dim"))
    left = len(renamed) - _MOST_RENAMED
    if left > 0:
        yield _indented(text(f"And {counted(left, 'more name')} changed; see {PLAN_FILE}.", "dim"))


def _indented(part: RenderableType) -> Padding:
    return Padding(part, (0, 0, 0, 2))
