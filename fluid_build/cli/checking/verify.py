"""``fluid verify``: whether a generated model still holds everything that its source does."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from fluid_build.cli import failures, messages
from fluid_build.cli.checking.verify_screen import verified_screen, warehouse_screen
from fluid_build.cli.options import Debug, Json
from fluid_build.cli.reading.consent import allowed_place, check_code_trusted
from fluid_build.cli.reading.source_options import named_uri, split_name
from fluid_build.cli.reading.source_session import combined_session, source_session
from fluid_build.errors import FluidError, SourceChangedError, SourceNotFoundError, UsageError
from fluid_build.progress import OnProgress
from fluid_build.report.page.page_file import is_page
from fluid_build.report.terminal.printing import show
from fluid_build.secrets import redact, surely_without_passwords
from fluid_build.sources.base import Source
from fluid_build.sources.combined import SourceRequest
from fluid_build.sources.uri import locate
from fluid_build.text import listed
from fluid_build.transform.proof.manifest import MANIFEST_FILE, ManifestSource
from fluid_build.transform.proof.written_proof import PROOF_FILE
from fluid_build.verification import (
    ForgedFolder,
    Verified,
    read_folder,
    refresh_proof,
    verify_dbt,
    verify_warehouse,
)
from fluid_build.verification import verify as verify_folder
from fluid_build.verification.documents import verified_document, warehouse_document


def verify(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder that fluid forge wrote.")],
    uri: Annotated[
        list[str] | None,
        typer.Option(
            "--uri",
            metavar="URI",
            help="Where the source is: needed for a server, or if the source has moved."
            " NAME=URI for one of several sources.",
        ),
    ] = None,
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
    flags = {"--dbt": dbt, "--trust": trust, "--json": json}
    command = _command(folder, uris, flags, warehouse=warehouse, schema=warehouse_schema)
    if dbt and not trust:
        check_code_trusted(folder, command)
    moved = _moved(forged, uris)
    places = {name: moved.get(name) or _place(forged, name, command) for name in _sources(forged)}
    for name, place in places.items():
        messages.tell(f"Source: {named_uri(name, redact(place))}")
    if warehouse is not None:
        return _prove_warehouse(
            context, forged, places, warehouse=warehouse, schema=warehouse_schema, json=json
        )
    verified = _verify(context, forged, places, moved, dbt=dbt)
    change = refresh_proof(folder, verified.proof)
    if json:
        messages.show_json(verified_document(verified))
    else:
        show(verified_screen(verified))
    if change == "refused":
        messages.tell(f"Note: {folder / PROOF_FILE} isn't writable, so it wasn't updated.")
    elif change == "replaced":
        _refresh_page(folder)
    return failures.DONE if verified.holds else failures.CHECK_FAILED


def _refresh_page(folder: Path) -> None:
    """Show the new proof in the page of a folder; the verification holds if that fails."""
    # What makes pages takes a while to import, and most verifications change no proof.
    from fluid_build.forging.report_file import REPORT_FILE
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
) -> Verified:
    with (
        messages.progress() as on_progress,
        _session(context, forged, places, on_progress) as source,
    ):
        verified = verify_folder(forged, source, on_progress=on_progress)
        if not dbt:
            return verified
        built = verify_dbt(forged, source, moved, on_progress=on_progress)
        return replace(verified, dbt=built)


def _prove_warehouse(
    context: typer.Context,
    forged: ForgedFolder,
    places: Mapping[str, str],
    *,
    warehouse: str,
    schema: str | None,
    json: bool,
) -> int:
    messages.tell(f"Warehouse: {redact(warehouse)}")
    with (
        messages.progress() as on_progress,
        _session(context, forged, places, on_progress) as source,
    ):
        verified = verify_warehouse(
            forged, source, warehouse, schema=schema, on_progress=on_progress
        )
    if json:
        messages.show_json(warehouse_document(verified))
    else:
        show(warehouse_screen(verified))
    return failures.DONE if verified.holds else failures.CHECK_FAILED


def _session(
    context: typer.Context, forged: ForgedFolder, places: Mapping[str, str], on_progress: OnProgress
) -> AbstractContextManager[Source]:
    sources = _sources(forged)
    if forged.manifest.source.parts is not None:
        requests = [
            SourceRequest(locate(places[name]), name, source.read)
            for name, source in sources.items()
        ]
        return combined_session(requests, context.obj, on_progress=on_progress)
    source = forged.manifest.source
    return source_session(
        places[""],
        context.obj,
        read=source.read,
        on_progress=on_progress,
    )


def _sources(forged: ForgedFolder) -> Mapping[str, ManifestSource]:
    """Return the sources of a folder by name, "" for the only one."""
    source = forged.manifest.source
    return {"": source} if source.parts is None else source.parts


def _moved(forged: ForgedFolder, uris: Sequence[str]) -> Mapping[str, str]:
    """Return the places that ``--uri`` gives, by source; UsageError for an unknown source."""
    names = _sources(forged)
    if "" in names:
        if len(uris) > 1:
            raise UsageError(
                "The folder was generated from one source.", hint="Pass --uri only once."
            )
        return dict(zip(("",), uris, strict=False))
    moved: dict[str, str] = {}
    for uri in uris:
        name, place = split_name(uri)
        if name not in names or name in moved:
            raise UsageError(
                f"--uri {redact(uri)} doesn't say which of the sources it is.",
                hint=f"Pass --uri NAME=URI, once for each of {listed(names)} that has moved.",
            )
        moved[name] = place
    return moved


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
        *(part for name, place in places if place for part in (name, _without_password(place))),
        *(name for name, is_set in flags.items() if is_set),
    )


def _without_password(place: str) -> str:
    """Return a place to paste: without its password, or masked where that can't be cut out."""
    bare = surely_without_passwords(place) if "://" in place else None
    return bare or redact(place)


def _place(forged: ForgedFolder, name: str, command: Sequence[str]) -> str:
    """Return where the manifest says a source is, if it may choose that and the kind is right."""
    source = _sources(forged)[name]
    place = allowed_place(source, forged.folder, command, name=name)
    kind = source.kind
    try:
        actual_kind = locate(place).kind.name
    except SourceNotFoundError as error:
        raise SourceNotFoundError(
            f"The source isn't where {MANIFEST_FILE} says it is: {redact(place)}.",
            hint="Pass its current location with --uri.",
        ) from error
    if actual_kind != kind:
        raise SourceChangedError(
            f"{redact(place)} was {kind} when the folder was generated, and is {actual_kind} now.",
            hint="Pass the location of the source with --uri, or run `fluid forge` again.",
        )
    return place
