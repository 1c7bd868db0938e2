"""``report.html``: a forged folder as one page, rendered from its files and the run's record.

It's a rendering and not an artifact: it shows times and costs, so it isn't in the manifest.
"""

import os
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from fluid_build.contract.read.files import CONTRACT_FILE
from fluid_build.contract.write.exposes import DBT_FOLDER
from fluid_build.decisions.files import recorded_decisions
from fluid_build.decisions.language import AnyDecision, PersonalData
from fluid_build.errors import DecisionError, OutputError, SourceError
from fluid_build.forging.documents import MODEL_FILE, PLAN_FILE, REPORT_FILE
from fluid_build.forging.results import Forged
from fluid_build.modeling.logical import LogicalModel
from fluid_build.profiling.profile import Profile
from fluid_build.report.judgements.open_judgements import open_judgements
from fluid_build.report.page.content import BuiltContent, PageContent
from fluid_build.report.page.page_file import is_page, write_page
from fluid_build.report.page.run_facts import RunFacts
from fluid_build.report.profile_json import profile_json
from fluid_build.report.view import source_view
from fluid_build.sources.addresses.kinds import IN_MEMORY, KINDS, CatalogKind, RemoteKind
from fluid_build.sources.neighbourhood import stray
from fluid_build.text import as_sentence, not_an_option
from fluid_build.transform.plan.elements import TransformPlan
from fluid_build.transform.proof.folder_changes import FileChange, edited_files
from fluid_build.transform.proof.manifest import Manifest, ManifestSource, read_manifest, read_text
from fluid_build.transform.proof.proof import Proof

_SOURCE, _WHERE = "SOURCE", "SOURCE is where the data is"
"""What stands for a place that a page doesn't say, and what to put there."""

_MOST_BYTES = 256 * 1024 * 1024
"""Of a file that is shown: far more than the contract of a thousand tables takes."""


def report_change(folder: Path, *, overwrite: bool) -> FileChange:
    """Return what to do with the page of a folder: somebody's own file is kept."""
    path = folder / REPORT_FILE
    if not os.path.lexists(path):
        return FileChange(REPORT_FILE, "create")
    if is_page(path):
        return FileChange(REPORT_FILE, "replace")
    return FileChange(REPORT_FILE, "replace" if overwrite else "keep", "foreign")


def with_report(forged: Forged, folder: Path, change: FileChange) -> Forged:
    """Return what was forged, with the page among the written files or those that were kept."""
    if change.action == "keep":
        kept = sorted((*forged.kept, change), key=lambda each: each.name)
        return replace(forged, kept=tuple(kept))
    return replace(forged, files=tuple(sorted((*forged.files, folder / REPORT_FILE))))


def write_report(
    forged: Forged, folder: Path, change: FileChange, run: RunFacts | None = None
) -> None:
    """Write the page of a folder whose other files are written, unless a file there is kept.

    Raises OutputError where the file system refuses; the folder is whole all the same.
    """
    if change.action == "keep":
        return
    html = rendered_page(
        folder_content(folder, forged.profile, forged.model, forged.plan, forged.proof, run)
    )
    try:
        write_page(folder / REPORT_FILE, html, overwrite=change.owner == "foreign")
    except OutputError as error:
        raise OutputError(
            f"{as_sentence(error.message)} All other files of {folder} are written.",
            hint=f"{error.hint or ''} Then make the page with `fluid report`.".strip(),
            command=f"fluid report {shlex.quote(str(folder))}",
        ) from error


def rendered_page(content: PageContent) -> str:
    """Return a page as HTML."""
    # Jinja2 takes a while to import, and most commands make no page.
    from fluid_build.report.page.page import report_page

    return report_page(content)


def folder_content(
    folder: Path,
    profile: Profile,
    model: LogicalModel,
    plan: TransformPlan,
    proof: Proof,
    run: RunFacts | None = None,
) -> PageContent:
    """Return what the page of a written folder shows.

    The contract, the SQL and the decisions are as the folder has them, edits included. Raises
    SourceError where the manifest can't be read.
    """
    name = folder_name(folder)
    decided = _decisions(folder)
    manifest = read_manifest(folder)
    built = BuiltContent(
        model,
        plan,
        _own_text(folder, folder / CONTRACT_FILE, "#"),
        _queries(folder, plan),
        open_judgements(profile_json(profile), model, decided),
        name,
        decided,
        tuple(filter(_is_of_build, edited_files(folder, manifest))),
    )
    view = source_view(_without_personal_values(profile, decided), model, plan, proof)
    steps = tuple(_next_steps(folder, manifest, has_data=profile.has_data))
    return PageContent(view, built, run, steps)


def _without_personal_values(profile: Profile, decided: Sequence[AnyDecision]) -> Profile:
    """Return a profile whose columns are personal where that was decided after the forge."""
    personal = {
        (decision.table, decision.column)
        for decision in decided
        if isinstance(decision, PersonalData) and decision.is_personal
    }
    tables = tuple(
        table.model_copy(
            update={
                "columns": tuple(
                    column.model_copy(update={"pii": True})
                    if (table.name, column.name) in personal
                    else column
                    for column in table.columns
                )
            }
        )
        for table in profile.tables
    )
    return profile.model_copy(update={"tables": tables}) if personal else profile


def folder_name(folder: Path) -> str:
    """Return the name of a folder for commands in its page, which run in the folder around it.

    Nothing else of its path is in a page that may be shown to anybody, so a page is the same
    wherever its folder lies.
    """
    return Path(os.path.realpath(folder)).name or str(folder)


def _is_of_build(name: str) -> bool:
    """Return whether a file says what is built; the contract and the documents describe it."""
    return name in (PLAN_FILE, MODEL_FILE) or (
        name.startswith(f"{DBT_FOLDER}/") and not name.endswith(".md")
    )


def _queries(folder: Path, plan: TransformPlan) -> dict[str, str]:
    """Return the SQL of each relation by its name: as the dbt project has it, else as planned."""
    models = folder / DBT_FOLDER / "models"
    # A link may lead to a tree that takes minutes to walk.
    paths_of_sql = sorted(models.rglob("*.sql")) if _is_within(folder, models) else []
    paths = {path.stem: path for path in paths_of_sql}
    return {
        build.name: _own_text(folder, paths[build.name], "--") if build.name in paths else build.sql
        for build in plan.builds
    }


def _is_within(folder: Path, path: Path) -> bool:
    """Return whether a path stays in its folder: links in a stranger's may lead out of it."""
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))


def _own_text(folder: Path, path: Path, comment: str) -> str:
    """Return the text of a file of a folder, or in a comment that it can't be shown.

    The folder may be a stranger's, so links that lead out of it aren't followed; and a file that
    somebody put in the place of ours, such as a pipe, is kept by a forge and can't be read.
    """
    name = path.relative_to(folder).as_posix()
    if not _is_within(folder, path):
        return f"{comment} {name} isn't shown, since it's a link that leads out of its folder.\n"
    try:
        return read_text(path, _MOST_BYTES)
    except SourceError:
        return f"{comment} {name} isn't shown, since it isn't a text file that can be read.\n"


def _decisions(folder: Path) -> tuple[AnyDecision, ...]:
    """Return the decisions of a folder; none where somebody's edit left them invalid."""
    try:
        return recorded_decisions(folder).decisions
    except (DecisionError, SourceError):
        return ()


def _next_steps(folder: Path, manifest: Manifest, *, has_data: bool) -> Iterator[tuple[str, str]]:
    """Yield commands, and what each is for."""
    name = not_an_option(folder_name(folder))
    quoted = shlex.quote(name)
    if has_data:
        if manifest.source.kind != IN_MEMORY.name:
            yield _verify_step(folder, manifest, quoted)
        yield f"fluid review {quoted}", "settle the judgement calls that are open"
    else:
        contract = shlex.quote(f"{name}/{CONTRACT_FILE}")
        yield f"fluid validate {contract}", "check the contract once you have completed it"
    yield f"fluid report {quoted} --open", "make this page again, and open it"


def _verify_step(folder: Path, manifest: Manifest, quoted: str) -> tuple[str, str]:
    uris = list(_uris(manifest.source, folder))
    options = "".join(f" --uri {shlex.quote(uri)}" for uri, _ in uris)
    remarks = "".join(f" ({remark})" for remark in dict.fromkeys(r for _, r in uris))
    return f"fluid verify {quoted}{options}", f"prove again that nothing was lost{remarks}"


def _uris(source: ManifestSource, folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the addresses that a folder may not choose, each with what to complete in it.

    Those are servers, without their passwords, and files far from the folder: where these are is
    said to nobody who is shown the page.
    """
    for name, part in (source.parts or {"": source}).items():
        label = f"{name}=" if name else ""
        if part.location is None:
            yield f"{label}{_SOURCE}", _WHERE
        elif isinstance(KINDS[part.kind], CatalogKind):
            yield f"{label}{part.location}", "log in to the catalog"
        elif isinstance(KINDS[part.kind], RemoteKind):
            yield f"{label}{part.location}", "add the password"
        elif stray(str(folder / part.location), folder) is not None:
            yield f"{label}{_SOURCE}", _WHERE
