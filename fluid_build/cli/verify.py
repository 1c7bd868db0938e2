"""``fluid verify``: whether a forge's model still holds everything that its source does."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from fluid_build.cli import failures, screen
from fluid_build.cli.consent import allowed_place, check_code_trusted
from fluid_build.cli.options import Debug, Json
from fluid_build.cli.proof_table import TICK, proof_lines
from fluid_build.cli.reading import reading
from fluid_build.cli.text import counted
from fluid_build.errors import SourceChangedError, SourceNotFoundError
from fluid_build.forge import MODEL_FILE
from fluid_build.sources.uri import locate, redact
from fluid_build.transform.dbt.running import DbtNode
from fluid_build.transform.manifest import MANIFEST_FILE
from fluid_build.transform.proof_files import PROOF_FILE
from fluid_build.verification import (
    DbtVerified,
    ForgedFolder,
    Verified,
    read_folder,
    refresh_proof,
    verify_dbt,
)
from fluid_build.verification import verify as verify_folder


def verify(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder that forge wrote.")],
    uri: Annotated[
        str | None,
        typer.Option(
            "--uri",
            metavar="URI",
            help="Where the source is: needed for a server, or where it has moved.",
        ),
    ] = None,
    dbt: Annotated[
        bool, typer.Option("--dbt", help="Run dbt as well, and prove what it built.")
    ] = False,
    trust: Annotated[
        bool, typer.Option("--trust", help="Run the code of DIR's dbt project without asking.")
    ] = False,
    json: Json = False,
    _debug: Debug = False,
) -> int:
    """Prove that nothing was lost: build the model anew and compare it with its source.

    The source is read where forge.json says it is, if that is a file in or beside DIR; a server is
    named with --uri. Every row of every table is rebuilt from the model (or its figures are, for a
    dimensional one) and compared. DIR's proof.json is brought up to date.

    \b
    Example:  fluid verify shop-model
    """
    forged = read_folder(folder)
    command = _command(folder, uri, dbt=dbt, trust=trust, json=json)
    if dbt and not trust:
        check_code_trusted(folder, command)
    place = uri if uri is not None else _place(forged, command)
    screen.tell(f"Source: {redact(place)}")
    found = _verified(context, forged, place, told=uri is not None, dbt=dbt)
    refreshed = refresh_proof(folder, found.proof)
    if json:
        screen.show_json(_document(found))
    else:
        screen.show(_report(found))
    if not refreshed:
        screen.tell(f"Note: {folder / PROOF_FILE} could not be written, and is as it was.")
    return failures.DONE if found.holds else failures.CHECK_FAILED


def _command(folder: Path, uri: str | None, *, dbt: bool, trust: bool, json: bool) -> Sequence[str]:
    """The command line as it was given, but for a password."""
    place = () if uri is None else ("--uri", redact(uri))
    flags = {"--dbt": dbt, "--trust": trust, "--json": json}
    given = (name for name, is_given in flags.items() if is_given)
    return ("fluid", "verify", str(folder), *place, *given)


def _place(forged: ForgedFolder, command: Sequence[str]) -> str:
    """Where the manifest says the source is, if it may say so and that is what lies there."""
    place = allowed_place(forged.manifest, forged.folder, command)
    kind = forged.manifest.source.kind
    try:
        found = locate(place).kind
    except SourceNotFoundError as error:
        raise SourceNotFoundError(
            f"The source is not where {MANIFEST_FILE} says it is: {redact(place)}.",
            hint="Say with --uri where it is now.",
        ) from error
    if found != kind:
        raise SourceChangedError(
            f"{redact(place)} was forged as {kind}, and is {found} now.",
            hint="Say with --uri where the source is, or forge it again.",
        )
    return place


def _verified(
    context: typer.Context, forged: ForgedFolder, place: str, *, told: bool, dbt: bool
) -> Verified:
    source = forged.manifest.source
    with (
        screen.progress() as on_progress,
        reading(
            place,
            context.obj,
            schemas=source.schemas,
            dialect=source.dialect,
            conventions=source.conventions,
            on_progress=on_progress,
        ) as opened,
    ):
        found = verify_folder(forged, opened, on_progress=on_progress)
        if not dbt:
            return found
        built = verify_dbt(forged, opened, place if told else None, on_progress=on_progress)
        return replace(found, dbt=built)


def _document(found: Verified) -> dict[str, object]:
    forged = found.forged
    return {
        "holds": found.holds,
        "proof": found.proof.model_dump(mode="json"),
        "contract": [
            {"expose": one.expose, "column": one.column, "what": one.what}
            for one in forged.disagreements
        ],
        "outdated": list(forged.outdated),
        "edited": list(forged.edited),
        "rows_changed": list(found.row_changes),
        "unread": list(found.unread),
        "broken_keys": list(found.broken_keys),
        "dbt": None if found.dbt is None else _dbt_document(found.dbt),
    }


def _node_as_json(node: DbtNode) -> dict[str, object]:
    return {
        "name": node.name,
        "message": node.message,
        "broken": [
            {"promise": broken.promise, "rows": broken.rows, "known": broken.known}
            for broken in node.broken
        ],
    }


def _dbt_document(found: DbtVerified) -> dict[str, object]:
    result = found.result
    return {
        "holds": found.holds,
        "built": len(result.built),
        "passed": len(result.passed),
        "warned": [_node_as_json(node) for node in result.warned],
        "failed": [_node_as_json(node) for node in result.failed],
        "skipped": [node.name for node in result.skipped],
        "warnings": list(result.warnings),
        "proof": None if found.proof is None else found.proof.model_dump(mode="json"),
    }


def _report(found: Verified) -> Iterator[RenderableType]:
    forged = found.forged
    tables = counted(len(forged.plan.sources), "table")
    yield Text.assemble(
        screen.text(_named(forged.folder), "bold"),
        "  ",
        screen.text(f"{forged.model.technique} · {tables} · {_relations(forged)}", "dim"),
    )
    tick = TICK if _nothing_lost(found) else ""
    yield from proof_lines(found.proof, tick=tick)
    if found.dbt is not None:
        yield from _dbt_lines(found.dbt, tick)
    if found.unread:
        yield screen.heading("Not read, so not compared", counted(len(found.unread), "table"))
        yield from _listed(list(found.unread), "red")
    if found.broken_keys:
        yield screen.heading("Likely why", "the source has changed since it was forged")
        yield from _listed(list(found.broken_keys), "")
    if forged.disagreements:
        count = counted(len(forged.disagreements), "difference")
        yield screen.heading("The contract does not match its model", count)
        yield from _listed([str(one) for one in forged.disagreements], "red")
    if forged.outdated:
        yield screen.heading(
            f"The dbt project does not match {MODEL_FILE}", "one of them was edited or kept"
        )
        yield from _listed(list(forged.outdated), "red")
    if found.row_changes:
        yield screen.heading("Rows since the forge", "no fault")
        yield from _listed(list(found.row_changes), "")
    if forged.edited:
        remark = "the model was proven, not these" if found.dbt is None else ""
        yield screen.heading("Not as the forge wrote them", remark)
        yield from _listed(list(forged.edited), "yellow")


def _named(folder: Path) -> str:
    """The folder as it was named, or by its own name where that is only a way up, as ``..``."""
    return str(folder) if folder.name not in ("", "..") else folder.resolve().name


def _nothing_lost(found: Verified) -> bool:
    proven = found.proof.verdict == "proven" and not found.unread
    return proven and (found.dbt is None or found.dbt.holds)


def _dbt_lines(found: DbtVerified, tick: str) -> Iterator[RenderableType]:
    result = found.result
    figures = [f"{counted(len(result.built), 'model')} built"]
    for name, nodes in (
        ("passed", result.passed),
        ("warned", result.warned),
        ("failed", result.failed),
        ("skipped", result.skipped),
    ):
        if nodes:
            figures.append(f"{len(nodes):,} {name}")
    yield screen.heading("dbt", ", ".join(figures))
    yield from _listed([_said(node) for node in result.failed], "red")
    yield from _listed([_said(node) for node in result.warned], "yellow")
    yield from _listed([_one_line(warning) for warning in result.warnings], "yellow")
    if found.proof is None:
        yield Text.assemble("\n", screen.text("Not proven. ", "bold red"), _UNBUILT)
    else:
        yield from proof_lines(found.proof, "What dbt built", tick=tick)
    if found.copied and not found.holds:
        yield screen.text(_COPIED, "yellow")


def _said(node: DbtNode) -> str:
    if not node.broken:
        return f"{node.name}: {_one_line(node.message)}"
    promises = ", ".join(
        f"{broken.promise} ({counted(broken.rows, 'row')}, {broken.known:,} known)"
        for broken in node.broken
    )
    return f"{node.name}: broken by more rows than are known: {promises}"


def _one_line(message: str) -> str:
    return " ".join(message.split())


_COPIED = (
    "Some tables dbt reads from copies that the forge put into dbt/land. Where the source has"
    " changed since, forge it again."
)
_UNBUILT = "dbt did not build all of it, so what it built was not compared."


def _relations(forged: ForgedFolder) -> str:
    return f"{counted(len(forged.plan.published), 'relation')} built"


_MOST_LISTED = 12


def _listed(lines: list[str], style: str) -> Iterator[RenderableType]:
    for line in lines[:_MOST_LISTED]:
        yield Padding(screen.text(line, style), (0, 0, 0, 2))
    if len(lines) > _MOST_LISTED:
        yield Padding(screen.text(f"and {len(lines) - _MOST_LISTED:,} more", "dim"), (0, 0, 0, 2))
