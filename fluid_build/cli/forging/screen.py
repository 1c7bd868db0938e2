"""The screen of `fluid forge`: what the source has, what was built, the files, the next steps."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from rich.table import Column

from fluid_build.cli.folder_edits import edits_section, kept_section
from fluid_build.cli.next_steps import Step, next_steps
from fluid_build.contract.write.evidence import EVIDENCE_FILE
from fluid_build.decisions.files import DECISIONS_FILE
from fluid_build.decisions.files import SCHEMA_FILE as DECISIONS_SCHEMA_FILE
from fluid_build.forging import (
    CONTRACT_FILE,
    DOCUMENT_FILE,
    MODEL_FILE,
    PLAN_FILE,
    PROFILE_FILE,
    Forged,
)
from fluid_build.forging.design_file import DESIGN_FILE
from fluid_build.forging.documents import ATTRIBUTES_FILE, REPORT_FILE
from fluid_build.report.terminal import source_screen
from fluid_build.report.terminal.findings_section import findings_section
from fluid_build.report.terminal.model_screen import model_section
from fluid_build.report.terminal.screen_parts import Part, heading, indented, text, unbroken, whole
from fluid_build.report.terminal.summary_screen import MOST_TABLES_IN_FULL, first_findings
from fluid_build.report.terminal.unbroken_grid import Grid
from fluid_build.report.view import SourceView, source_view
from fluid_build.text import counted
from fluid_build.transform.ddl.schema_sql import SCHEMA_FILE
from fluid_build.transform.proof.manifest import MANIFEST_FILE
from fluid_build.transform.proof.written_proof import PROOF_FILE

_PURPOSES = {
    REPORT_FILE: "start here: the data, the model, the evidence and the run, as a page",
    DOCUMENT_FILE: "tables, keys, relationships, diagrams",
    CONTRACT_FILE: "the data contract, FLUID 0.7.2",
    EVIDENCE_FILE: "what the contract's promises rest on: figures and queries",
    MODEL_FILE: "the logical model",
    PLAN_FILE: "every relation with its SQL, in build order",
    SCHEMA_FILE: "the tables with their keys, as CREATE TABLE statements",
    DESIGN_FILE: "what the model was designed from; the next forge continues it",
    PROFILE_FILE: "statistics on columns, keys and relationships",
    PROOF_FILE: "the comparison of the build with the source",
    DECISIONS_FILE: "what was decided, with its evidence; `fluid review` adds to it",
    DECISIONS_SCHEMA_FILE: "the JSON schema of decisions.yaml, for editors",
    ATTRIBUTES_FILE: "tells Git which files are generated",
    MANIFEST_FILE: "the source and options used; `fluid verify` reads it",
}
_FOLDER_PURPOSES = {
    "dbt": "the dbt project; its README.md says how to run it",
    "sqlmesh": "the sqlmesh project; its README.md says how to run it",
    "proof": "the queries of the proof, one file per table",
}


def forged_screen(
    forged: Forged,
    contradicting: Sequence[str],
    steps: Sequence[Step],
    receipt: Iterable[Part] = (),
) -> Iterator[Part]:
    """Yield a summary of what was generated from a source.

    ``contradicting`` says where kept files don't match the newly generated ones.
    """
    view = forged_view(forged)
    yield source_screen.title(view)
    yield from source_screen.figures_section(view)
    yield from _open_questions(view)
    yield from source_screen.reading_notes(view)
    is_large = len(view.tables) > MOST_TABLES_IN_FULL
    yield from first_findings(view) if is_large else findings_section(view)
    yield from model_section(view, forged.notes, forged.outdated)
    yield from receipt
    yield from files_section(forged.files)
    yield from edits_section(forged.edits)
    yield from kept_section(forged.kept, contradicting)
    yield from next_steps(steps)


def _open_questions(view: SourceView) -> Iterator[Part]:
    """Yield how many relationships somebody should decide on, if any."""
    count = len(view.questions)
    if count:
        verb = "wasn't" if count == 1 else "weren't"
        uncertain = counted(count, "possible relationship")
        yield indented(f"{uncertain} {verb} certain enough to use: see {DOCUMENT_FILE}.")


def forged_view(forged: Forged) -> SourceView:
    """Return the view of what was generated."""
    return source_view(forged.profile, forged.model, forged.plan, forged.proof)


def files_section(paths: Sequence[Path]) -> Iterator[Part]:
    """Yield the files that were written, and what each is for; a folder of many is one line."""
    folder = next(path.parent for path in paths if path.name == MANIFEST_FILE)
    yield heading("Files", f"in {whole(folder)}")
    places = [path.relative_to(folder).parts for path in paths]
    grid = Grid(Column(style="green"), Column(style="dim"), show_header=False)
    for place in places:
        if len(place) == 1:
            grid.add_row(unbroken(place[0]), text(_PURPOSES.get(place[0], "")))
    counts = Counter(place[0] for place in places if len(place) > 1)
    for name, count in sorted(counts.items()):
        purpose = f"{_FOLDER_PURPOSES.get(name, '')} ({counted(count, 'file')})".lstrip()
        grid.add_row(unbroken(f"{name}/"), text(purpose))
    yield indented(grid)
