"""``fluid forge data-model``: a source's model, contract, dbt project and proof, as files."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated

import typer

from fluid_build.cli.forging.arguments import ForgeArguments
from fluid_build.cli.forging.runs import forge_sources
from fluid_build.cli.option_groups import with_option_groups
from fluid_build.cli.options import (
    BusinessVault,
    CredentialId,
    Debug,
    Dialect,
    EventDates,
    Exclude,
    FiscalYearStart,
    Include,
    Locale,
    Name,
    Schemas,
    Target,
    Technique,
    Variant,
)
from fluid_build.cli.reading.read_arguments import ReadArguments
from fluid_build.cli.reading.source_options import CHOICES, source_requests, uris_to_open
from fluid_build.errors import UsageError
from fluid_build.forging import ForgeOptions
from fluid_build.modeling.dimensional.calendars.settings import calendar_settings
from fluid_build.secrets import redact
from fluid_build.sources.addresses.kinds import DDL, DUMP
from fluid_build.sources.combined import SourceRequest
from fluid_build.sources.declarations.source_names import check_name
from fluid_build.sources.options import ReadOptions
from fluid_build.sources.outside import check_outside
from fluid_build.sources.uri import Address, locate

_NO_ARGUMENTS = ForgeArguments()
_NO_READ_ARGUMENTS = ReadArguments()


@with_option_groups
def from_source(
    context: typer.Context,
    uri: Annotated[
        list[str] | None,
        typer.Option(
            "--uri",
            metavar="URI",
            help="A URI, file, folder or glob; several for one Data Vault, each with a name if you"
            " like: NAME=URI. A catalog needs none.",
        ),
    ] = None,
    source: Annotated[
        str | None,
        typer.Option("--source", metavar="KIND", help=f"The kind of source: {', '.join(CHOICES)}."),
    ] = None,
    credential_id: CredentialId = None,
    reading: ReadArguments = _NO_READ_ARGUMENTS,
    dialect: Dialect = None,
    name: Name = None,
    technique: Technique = "flat",
    variant: Variant = None,
    event_date: EventDates = None,
    fiscal_year_start: FiscalYearStart = None,
    locale: Locale = None,
    business_vault: BusinessVault = False,
    target: Target = "duckdb",
    arguments: ForgeArguments = _NO_ARGUMENTS,
    _debug: Debug = False,
) -> int:
    """Generate a model, a contract and a dbt project from a database, files or a data catalog.

    Everything is written to a folder, by default NAME-model after the product's name. The model is
    built and compared with the source; exit code 1 means that something was lost. Files in the
    folder that you edited since the last run are kept and listed.

    A data catalog needs no URI: --source glue --credential-id NAME reads what it declares.

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
    uris = uris_to_open(source, uri or (), credential_id)
    if len(uris) > 1:
        options.check_several()
    requests = source_requests(source, uris, replace(reading.read, dialect=dialect))
    for request in requests:
        if arguments.out is not None:
            check_outside(arguments.out, request.address)
    command = arguments.command("from-source", requests, options)
    return forge_sources(replace(command, name=_checked(name)), context.obj, arguments.reporting)


@with_option_groups
def from_ddl(
    context: typer.Context,
    file: Annotated[str, typer.Argument(metavar="FILE", help="A SQL file.")],
    schema: Schemas = None,
    include: Include = None,
    exclude: Exclude = None,
    dialect: Dialect = None,
    name: Name = None,
    technique: Technique = "flat",
    variant: Variant = None,
    fiscal_year_start: FiscalYearStart = None,
    locale: Locale = None,
    business_vault: BusinessVault = False,
    target: Target = "duckdb",
    arguments: ForgeArguments = _NO_ARGUMENTS,
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
    if address.kind is DUMP:
        address = Address(DDL, address.place)
    if address.kind is not DDL:
        raise UsageError(
            f"{redact(file)} isn't a SQL file.",
            hint="Pass a .sql file, or use `from-source` for data.",
        )
    read = ReadOptions(
        schemas=schema or (), include=include or (), exclude=exclude or (), dialect=dialect
    )
    command = arguments.command("from-ddl", [SourceRequest(address, read=read)], options)
    command = replace(command, name=_checked(name))
    return forge_sources(command, context.obj, arguments.reporting)


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
