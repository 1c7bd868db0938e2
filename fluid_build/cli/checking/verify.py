"""``fluid verify``: whether a generated model still holds everything that its source does."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from fluid_build.cli import failures, messages
from fluid_build.cli.checking.verify_screen import (
    outdated_screen,
    verified_screen,
    warehouse_screen,
)
from fluid_build.cli.machine_options import Memory, Scratch, Threads
from fluid_build.cli.options import Debug, Json
from fluid_build.cli.reading.consent import check_code_trusted
from fluid_build.cli.reading.folder_sources import (
    Uris,
    folder_session,
    moved_places,
    source_places,
    without_password,
)
from fluid_build.errors import FluidError, UsageError
from fluid_build.report.page.page_file import is_page
from fluid_build.report.terminal.printing import show
from fluid_build.secrets import redact
from fluid_build.transform.proof.written_proof import PROOF_FILE
from fluid_build.verification import (
    ForgedFolder,
    ModelOutdatedError,
    Verified,
    read_folder,
    refresh_proof,
    verify_dbt,
    verify_warehouse,
)
from fluid_build.verification import verify as verify_folder
from fluid_build.verification.documents import (
    outdated_document,
    verified_document,
    warehouse_document,
)


def verify(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder that fluid forge wrote.")],
    uri: Uris = None,
    dbt: Annotated[
        bool, typer.Option("--dbt", help="Run dbt as well, and check what it builds.")
    ] = False,
    trust: Annotated[
        bool, typer.Option("--trust", help="Run the code of DIR's dbt project without asking.")
    ] = False,
    warehouse: Annotated[
        str | None,
        typer.Option(
            "--warehouse",
            metavar="URI",
            help="Check this warehouse as it is, without building anything: a DuckDB file or a"
            " PostgreSQL database.",
        ),
    ] = None,
    warehouse_schema: Annotated[
        str | None,
        typer.Option(
            "--warehouse-schema",
            metavar="NAME",
            help="The schema of the model in the warehouse, if it isn't the dbt project's.",
        ),
    ] = None,
    exact: Annotated[
        bool,
        typer.Option(
            "--exact", help="Compare large tables row by row, and not by the sums of their hashes."
        ),
    ] = False,
    _memory: Memory = None,
    _threads: Threads = None,
    _scratch: Scratch = None,
    json: Json = False,
    _debug: Debug = False,
) -> int:
    """Prove that nothing was lost: rebuild the model and compare it with its source.

    The source is read where forge.json says it is, if that is a file in or next to DIR; pass a
    server with --uri. Every row of every table is rebuilt from the model and compared; for a
    dimensional model, its numbers are. DIR's proof.json and page are updated.

    With --dbt, dbt builds in a new database and leaves the existing one alone; --warehouse checks
    the existing one, and only reads it.

    \b
    Example:  fluid verify shop-model
              fluid verify shop-model --warehouse shop-model/dbt/shop.duckdb
    """
    _check_options(dbt=dbt, warehouse=warehouse, schema=warehouse_schema)
    forged = read_folder(folder)
    uris = tuple(uri or ())
    flags = {"--dbt": dbt, "--trust": trust, "--exact": exact, "--json": json}
    command = _command(folder, uris, flags, warehouse=warehouse, schema=warehouse_schema)
    if dbt and not trust:
        check_code_trusted(folder, command)
    moved = moved_places(forged, uris)
    places = source_places(forged, moved, command)
    try:
        if warehouse is not None:
            return _prove_warehouse(
                context,
                forged,
                places,
                warehouse=warehouse,
                schema=warehouse_schema,
                exact=exact,
                json=json,
            )
        verified = _verify(context, forged, places, moved, dbt=dbt, exact=exact)
    except ModelOutdatedError as error:
        if not json:
            show(outdated_screen(forged, error.changes))
            raise
        failure, changes = failures.explain(error), outdated_document(error.changes)
        return failures.tell(error, failure, failures.NOT_DONE, as_json=True, more=changes)
    change = refresh_proof(folder, verified.proof)
    if json:
        messages.show_json(verified_document(verified))
    else:
        show(verified_screen(verified))
    if change == "refused":
        messages.tell(f"Note: {folder / PROOF_FILE} isn't writable, so it wasn't updated.")
    elif change == "replaced":
        refresh_page(folder)
    return failures.DONE if verified.holds else failures.CHECK_FAILED


def refresh_page(folder: Path) -> None:
    """Show the new proof in the page of a folder; the verification holds if that fails."""
    # What makes pages takes a while to import, and most verifications change no proof.
    from fluid_build.forging.documents import REPORT_FILE
    from fluid_build.pipeline.folder_page import make_page

    path = folder / REPORT_FILE
    if not is_page(path):
        return
    try:
        make_page(folder, path)
    except FluidError as error:
        messages.tell(f"Note: {path} still shows the proof before this one. {error.message}")


def _verify(
    context: typer.Context,
    forged: ForgedFolder,
    places: Mapping[str, str],
    moved: Mapping[str, str],
    *,
    dbt: bool,
    exact: bool,
) -> Verified:
    with (
        messages.progress() as on_progress,
        folder_session(context.obj, forged, places, on_progress) as source,
    ):
        verified = verify_folder(forged, source, exact=exact, on_progress=on_progress)
        if not dbt:
            return verified
        built = verify_dbt(forged, source, moved, exact=exact, on_progress=on_progress)
        return replace(verified, dbt=built)


def _prove_warehouse(
    context: typer.Context,
    forged: ForgedFolder,
    places: Mapping[str, str],
    *,
    warehouse: str,
    schema: str | None,
    exact: bool,
    json: bool,
) -> int:
    messages.tell(f"Warehouse: {redact(warehouse)}")
    with (
        messages.progress() as on_progress,
        folder_session(context.obj, forged, places, on_progress) as source,
    ):
        verified = verify_warehouse(
            forged, source, warehouse, schema=schema, exact=exact, on_progress=on_progress
        )
    if json:
        messages.show_json(warehouse_document(verified))
    else:
        show(warehouse_screen(verified))
    return failures.DONE if verified.holds else failures.CHECK_FAILED


def _check_options(*, dbt: bool, warehouse: str | None, schema: str | None) -> None:
    if warehouse is not None and dbt:
        raise UsageError(
            "--dbt builds the model, and --warehouse checks one that is already built.",
            hint="Run `fluid verify` twice, once with each.",
        )
    if warehouse is None and schema is not None:
        raise UsageError(
            "--warehouse-schema needs --warehouse.", hint="Pass the warehouse with --warehouse."
        )


def _command(
    folder: Path,
    uris: Sequence[str],
    flags: Mapping[str, bool],
    *,
    warehouse: str | None,
    schema: str | None,
) -> Sequence[str]:
    """Return the command line as it was called, without passwords."""
    places = [
        *(("--uri", uri) for uri in uris),
        ("--warehouse", warehouse),
        ("--warehouse-schema", schema),
    ]
    return (
        *("fluid", "verify", str(folder)),
        *(part for name, place in places if place for part in (name, without_password(place))),
        *(name for name, is_set in flags.items() if is_set),
    )
