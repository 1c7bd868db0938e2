"""``fluid verify``: whether a forge's model still holds everything that its source does."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from fluid_build.cli import failures, screen
from fluid_build.cli.consent import allowed_place, check_code_trusted
from fluid_build.cli.options import Debug, Json
from fluid_build.cli.proof_table import TICK, proof_lines
from fluid_build.cli.reading import reading
from fluid_build.cli.warehouse import warehouse_document, warehouse_report
from fluid_build.errors import SourceChangedError, SourceNotFoundError, UsageError
from fluid_build.forge import MODEL_FILE
from fluid_build.progress import OnProgress
from fluid_build.secrets import redact
from fluid_build.sources.base import Source
from fluid_build.sources.uri import locate
from fluid_build.text import counted
from fluid_build.transform.dbt.running import DbtNode
from fluid_build.transform.proof.manifest import MANIFEST_FILE
from fluid_build.transform.proof.written_proof import PROOF_FILE
from fluid_build.verification import (
    DbtVerified,
    ForgedFolder,
    Verified,
    WarehouseVerified,
    read_folder,
    refresh_proof,
    verify_dbt,
    verify_warehouse,
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
    warehouse: Annotated[
        str | None,
        typer.Option(
            "--warehouse",
            metavar="URI",
            help="Prove this warehouse as it stands, and build nothing: a DuckDB file or a"
            " PostgreSQL database.",
        ),
    ] = None,
    warehouse_schema: Annotated[
        str | None,
        typer.Option(
            "--warehouse-schema",
            metavar="NAME",
            help="The schema of the model in it, if it isn't the dbt project's.",
        ),
    ] = None,
    json: Json = False,
    _debug: Debug = False,
) -> int:
    """Prove that nothing was lost: build the model anew and compare it with its source.

    The source is read where forge.json says it is, if that is a file in or beside DIR; a server is
    named with --uri. Every row of every table is rebuilt from the model (or its figures are, for a
    dimensional one) and compared. DIR's proof.json is brought up to date.

    --dbt lets dbt build in a new database, and leaves the one that is there as it is; --warehouse
    proves that one, and only reads it.

    \b
    Example:  fluid verify shop-model
              fluid verify shop-model --warehouse shop-model/dbt/shop.duckdb
    """
    _check_options(dbt=dbt, warehouse=warehouse, schema=warehouse_schema)
    forged = read_folder(folder)
    command = _command(folder, uri, warehouse, dbt=dbt, trust=trust, json=json)
    if dbt and not trust:
        check_code_trusted(folder, command)
    place = uri if uri is not None else _place(forged, command)
    screen.tell(f"Source: {redact(place)}")
    if warehouse is not None:
        standing = _standing(context, forged, place, warehouse, warehouse_schema)
        if json:
            screen.show_json(warehouse_document(standing))
        else:
            screen.show(warehouse_report(standing))
        return failures.DONE if standing.holds else failures.CHECK_FAILED
    found = _verified(context, forged, place, told=uri is not None, dbt=dbt)
    refreshed = refresh_proof(folder, found.proof)
    if json:
        screen.show_json(_document(found))
    else:
        screen.show(_report(found))
    if not refreshed:
        screen.tell(f"Note: {folder / PROOF_FILE} could not be written, and is as it was.")
    return failures.DONE if found.holds else failures.CHECK_FAILED


def _check_options(*, dbt: bool, warehouse: str | None, schema: str | None) -> None:
    if warehouse is not None and dbt:
        raise UsageError(
            "--dbt builds, and --warehouse proves what is built already.",
            hint="Run `fluid verify` twice, once with each.",
        )
    if warehouse is None and schema is not None:
        raise UsageError(
            "--warehouse-schema says where the model is in a warehouse, and there is none.",
            hint="Name the warehouse with --warehouse.",
        )


def _command(
    folder: Path, uri: str | None, warehouse: str | None, *, dbt: bool, trust: bool, json: bool
) -> Sequence[str]:
    """The command line as it was given, but for a password."""
    named = {"--uri": uri, "--warehouse": warehouse}
    place = [part for name, at in named.items() if at is not None for part in (name, redact(at))]
    flags = {"--dbt": dbt, "--trust": trust, "--json": json}
    given = (name for name, is_given in flags.items() if is_given)
    return ("fluid", "verify", str(folder), *place, *given)


def _place(forged: ForgedFolder, command: Sequence[str]) -> str:
    """Where the manifest says the source is, if it may say so and that is what lies there."""
    place = allowed_place(forged.manifest, forged.folder, command)
    kind = forged.manifest.source.kind
    try:
        found = locate(place).kind.name
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
    with (
        screen.progress() as on_progress,
        _source(context, forged, place, on_progress) as opened,
    ):
        found = verify_folder(forged, opened, on_progress=on_progress)
        if not dbt:
            return found
        built = verify_dbt(forged, opened, place if told else None, on_progress=on_progress)
        return replace(found, dbt=built)


def _standing(
    context: typer.Context, forged: ForgedFolder, place: str, warehouse: str, schema: str | None
) -> WarehouseVerified:
    screen.tell(f"Warehouse: {redact(warehouse)}")
    with (
        screen.progress() as on_progress,
        _source(context, forged, place, on_progress) as opened,
    ):
        return verify_warehouse(forged, opened, warehouse, schema=schema, on_progress=on_progress)


def _source(
    context: typer.Context, forged: ForgedFolder, place: str, on_progress: OnProgress
) -> AbstractContextManager[Source]:
    source = forged.manifest.source
    return reading(
        place,
        context.obj,
        schemas=source.schemas,
        dialect=source.dialect,
        conventions=source.conventions,
        on_progress=on_progress,
    )


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
        "standing": None if found.standing is None else found.standing.name,
        "proof": None if found.proof is None else found.proof.model_dump(mode="json"),
    }


def _report(found: Verified) -> Iterator[screen.Part]:
    forged = found.forged
    tables = counted(len(forged.plan.sources), "table")
    yield Text.assemble(
        screen.text(screen.folder_name(forged.folder), "bold"),
        "  ",
        screen.text(f"{forged.model.technique} · {tables} · {_relations(forged)}", "dim"),
    )
    tick = TICK if _nothing_lost(found) else ""
    yield from proof_lines(found.proof, tick=tick)
    if found.dbt is not None:
        yield from _dbt_lines(found.dbt, tick)
    if found.unread:
        yield screen.heading("Not read, so not compared", counted(len(found.unread), "table"))
        yield from screen.listed(list(found.unread), "red")
    if found.broken_keys:
        yield screen.heading("Keys that no longer hold", "correct the rows, or forge again")
        yield from screen.listed(list(found.broken_keys), "red")
    if forged.disagreements:
        count = counted(len(forged.disagreements), "difference")
        yield screen.heading("The contract does not match its model", count)
        yield from screen.listed([str(one) for one in forged.disagreements], "red")
    if forged.outdated:
        yield screen.heading(
            f"The dbt project does not match {MODEL_FILE}", "one of them was edited or kept"
        )
        yield from screen.listed(list(forged.outdated), "red")
    if found.row_changes:
        yield screen.heading("Rows since the forge", "no fault")
        yield from screen.listed(list(found.row_changes), "")
    if forged.edited:
        remark = "the model was proven, not these" if found.dbt is None else ""
        yield screen.heading("Not as the forge wrote them", remark)
        yield from screen.listed(list(forged.edited), "yellow")


def _nothing_lost(found: Verified) -> bool:
    proven = found.proof.verdict == "proven" and not found.unread and not found.broken_keys
    return proven and (found.dbt is None or found.dbt.holds)


def _dbt_lines(found: DbtVerified, tick: str) -> Iterator[screen.Part]:
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
    yield from screen.listed([_said(node) for node in result.failed], "red")
    yield from screen.listed([_said(node) for node in result.warned], "yellow")
    yield from screen.listed([_one_line(warning) for warning in result.warnings], "yellow")
    if found.proof is None:
        yield Text.assemble("\n", screen.text("Not proven. ", "bold red"), _UNBUILT)
    else:
        yield from proof_lines(found.proof, "What dbt built", tick=tick)
    if found.copied and not found.holds:
        yield screen.text(_COPIED, "yellow")
    if found.standing is not None:
        yield Text()
        yield screen.text(f"dbt built in a new database; {found.standing} was not looked at.")
        yield screen.text(f"To prove it as it stands, add --warehouse {found.standing}", "dim")


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
