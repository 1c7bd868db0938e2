"""``fluid forge data-model``: a source's model, contract, dbt project and proof, as files."""

import re
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer

from fluid_build.cli import failures, messages
from fluid_build.cli.folder_edits import contradictions, preview_document, preview_screen
from fluid_build.cli.forged_screen import forged_screen
from fluid_build.cli.interrupts import Interrupts
from fluid_build.cli.next_steps import Step, after_forge
from fluid_build.cli.options import (
    BusinessVault,
    DateOrder,
    Debug,
    Decimal,
    Decisions,
    Dialect,
    Diff,
    EventDates,
    FiscalYearStart,
    Force,
    Json,
    Locale,
    Name,
    Out,
    Schemas,
    Target,
    Technique,
    Variant,
)
from fluid_build.cli.profile import tell_notes
from fluid_build.cli.source_options import CHOICES, check_outside, conventions, source_requests
from fluid_build.cli.source_session import combined_session, source_session
from fluid_build.errors import UsageError
from fluid_build.forge import Forged, ForgeOptions, Preview, forge, preview
from fluid_build.forge.decision_files import folder_decisions
from fluid_build.modeling.dimensional.calendar_settings import calendar_settings
from fluid_build.progress import OnProgress
from fluid_build.report.terminal.printing import show
from fluid_build.secrets import redact
from fluid_build.sources.base import Source
from fluid_build.sources.combined import CombinedSource, SourceRequest
from fluid_build.sources.kinds import DDL
from fluid_build.sources.options import OpenOptions
from fluid_build.sources.source_names import check_name
from fluid_build.sources.uri import Address, locate


def from_source(
    context: typer.Context,
    uri: Annotated[
        list[str],
        typer.Option(
            "--uri",
            metavar="URI",
            help="A URI, file, folder or glob; several for one Data Vault, each with a name if you"
            " like: NAME=URI.",
        ),
    ],
    source: Annotated[
        str | None,
        typer.Option("--source", metavar="KIND", help=f"The kind of source: {', '.join(CHOICES)}."),
    ] = None,
    schema: Schemas = None,
    decimal: Decimal = None,
    date_order: DateOrder = None,
    name: Name = None,
    technique: Technique = "flat",
    variant: Variant = None,
    event_date: EventDates = None,
    fiscal_year_start: FiscalYearStart = None,
    locale: Locale = None,
    business_vault: BusinessVault = False,
    target: Target = "duckdb",
    decisions: Decisions = None,
    out: Out = None,
    force: Force = False,
    diff: Diff = False,
    json: Json = False,
    _debug: Debug = False,
) -> int:
    """Generate a model, a contract and a dbt project from a database or from files.

    Everything is written to a folder, by default NAME-model after the product's name. The model is
    built and compared with the source; exit code 1 means that something was lost. Files in the
    folder that you edited since the last run are kept and listed.

    \b
    Example:  fluid forge data-model from-source --uri shop.db --technique dv2 -o shop-model
    """
    options = ForgeOptions(
        technique,
        variant,
        calendar_settings(fiscal_year_start, locale),
        _event_dates(event_date or []),
        business_vault,
        target,
    )
    if len(uri) > 1:
        options.check_several()
    answers = conventions(decimal, date_order)
    opening = OpenOptions(schemas=tuple(schema or ()), conventions=answers)
    requests = source_requests(source, uri, opening)
    for request in requests:
        if out is not None:
            check_outside(out, request.address)
    requested = _Requested(_checked(name), options, out, force, decisions)
    return _run(requests, None, context.obj, requested, diff=diff, json=json)


def from_ddl(
    context: typer.Context,
    file: Annotated[str, typer.Argument(metavar="FILE", help="A SQL file.")],
    dialect: Dialect = None,
    name: Name = None,
    technique: Technique = "flat",
    variant: Variant = None,
    fiscal_year_start: FiscalYearStart = None,
    locale: Locale = None,
    business_vault: BusinessVault = False,
    target: Target = "duckdb",
    decisions: Decisions = None,
    out: Out = None,
    force: Force = False,
    diff: Diff = False,
    json: Json = False,
    _debug: Debug = False,
) -> int:
    """Generate a model, a contract and a dbt project from CREATE TABLE statements.

    Statements that can't be read are counted and shown. There is no data to check keys on, so the
    model holds what is declared.

    \b
    Example:  fluid forge data-model from-ddl schema.sql --dialect postgres -o shop-model
    """
    options = ForgeOptions(
        technique,
        variant,
        calendar_settings(fiscal_year_start, locale),
        business_vault=business_vault,
        target=target,
    )
    address = locate(file)
    if address.kind is not DDL:
        raise UsageError(
            f"{redact(file)} isn't a SQL file.",
            hint="Pass a .sql file, or use `from-source` for data.",
        )
    requested = _Requested(_checked(name), options, out, force, decisions)
    return _run([SourceRequest(address)], dialect, context.obj, requested, diff=diff, json=json)


@dataclass(frozen=True, slots=True)
class _Requested:
    """What to make of a source, and where to write it."""

    name: str | None
    options: ForgeOptions
    out: Path | None
    overwrite: bool
    decisions: Path | None = None


def _run(
    requests: Sequence[SourceRequest],
    dialect: str | None,
    interrupts: Interrupts,
    requested: _Requested,
    *,
    diff: bool,
    json: bool,
) -> int:
    with (
        messages.progress() as on_progress,
        _session(requests, dialect, requested.name, interrupts, on_progress) as source,
    ):
        out = requested.out or Path(f"{_file_name(source.name)}-model")
        overwrite = requested.overwrite
        recorded = folder_decisions(out, requested.decisions, overwrite=overwrite)
        options = replace(
            requested.options, decisions=recorded.decisions, decisions_text=recorded.text
        )
        result = (
            preview(source, options, out=out, overwrite=overwrite, on_progress=on_progress)
            if diff
            else forge(
                source,
                out=out,
                overwrite=overwrite,
                on_progress=on_progress,
                **options.as_settings(),
            )
        )
    if isinstance(result, Preview):
        return _report_preview(out, result, json=json)
    steps = after_forge(out, result, _addresses(requests, source), requested.options.target)
    return _report(out, result, steps, json=json)


def _session(
    requests: Sequence[SourceRequest],
    dialect: str | None,
    name: str | None,
    interrupts: Interrupts,
    on_progress: OnProgress,
) -> AbstractContextManager[Source]:
    if len(requests) > 1:
        return combined_session(requests, interrupts, name=name, on_progress=on_progress)
    (request,) = requests
    return source_session(
        request.address,
        interrupts,
        schemas=request.schemas,
        dialect=dialect,
        conventions=request.conventions,
        name=name,
        on_progress=on_progress,
    )


def _addresses(requests: Sequence[SourceRequest], source: Source) -> dict[str, Address]:
    """Return the addresses of the sources by name, "" for the only one."""
    names = [part.name for part in source.parts] if isinstance(source, CombinedSource) else [""]
    return {name: request.address for name, request in zip(names, requests, strict=True)}


def _checked(name: str | None) -> str | None:
    return None if name is None else check_name(name)


def _event_dates(answers: Sequence[str]) -> dict[str, str]:
    """Return what --event-date says, dates by table; raise UsageError for what isn't a pair."""
    dates: dict[str, str] = {}
    for answer in answers:
        table, sign, date = (part.strip() for part in answer.partition("="))
        if not (table and sign and date):
            raise UsageError(
                f"--event-date {answer!r} isn't a table and a date.",
                hint="Write it as TABLE=DATE, such as --event-date orders=shipped_date.",
            )
        if dates.setdefault(table, date) != date:
            raise UsageError(f"--event-date names two dates of {table}.", hint="Keep one of them.")
    return dates


def _file_name(name: str) -> str:
    return re.sub(r"[^\w.-]+", "-", name).strip(".-") or "source"


def _report_preview(out: Path, preview: Preview, *, json: bool) -> int:
    if json:
        messages.show_json({"folder": str(out), **preview_document(preview)})
    else:
        show(preview_screen(out, preview))
    return failures.DONE if _holds(preview.forged) else failures.CHECK_FAILED


def _report(out: Path, forged: Forged, steps: Sequence[Step], *, json: bool) -> int:
    contradicting = contradictions(out, forged.kept)
    if json:
        messages.show_json(_forged_document(out, forged, contradicting))
        tell_notes(forged.profile)
    else:
        show(forged_screen(forged, contradicting, steps))
    return failures.DONE if _holds(forged) and not contradicting else failures.CHECK_FAILED


def _forged_document(out: Path, forged: Forged, contradicting: Sequence[str]) -> dict[str, object]:
    profile, dimensional = forged.profile, forged.model.dimensional
    return {
        "technique": forged.model.technique,
        "variant": dimensional.variant if dimensional else None,
        "tables": len(profile.tables),
        "primary_keys": sum(table.primary_key is not None for table in profile.tables),
        "foreign_keys": len(profile.foreign_keys),
        "skipped": [skipped.model_dump() for skipped in profile.skipped],
        "built": [build.name for build in forged.plan.published],
        "renamed": [renaming.model_dump() for renaming in forged.plan.renamed],
        "proof": forged.proof.verdict,
        "notes": list(forged.notes),
        "files": [str(path) for path in forged.files],
        "kept": [{"file": str(out / change.name), "owner": change.owner} for change in forged.kept],
        "misfits": list(contradicting),
    }


def _holds(forged: Forged) -> bool:
    return not forged.profile.skipped and forged.proof.verdict != "lost"
