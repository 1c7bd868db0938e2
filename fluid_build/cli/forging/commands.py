"""``fluid forge data-model``: a source's model, contract, dbt project and proof, as files."""

from dataclasses import replace
from typing import Annotated, TypeAlias

import typer

from fluid_build.cli.forging.arguments import ForgeArguments
from fluid_build.cli.forging.runs import forge_sources
from fluid_build.cli.option_groups import Offered, with_option_groups
from fluid_build.cli.options import CredentialId, Debug, Name
from fluid_build.cli.reading.read_arguments import DdlReading, Reading
from fluid_build.cli.reading.source_options import CHOICES, source_requests, uris_to_open
from fluid_build.errors import UsageError
from fluid_build.forging import ForgeOptions
from fluid_build.secrets import redact
from fluid_build.sources.addresses.kinds import DDL, DUMP
from fluid_build.sources.combined import SourceRequest
from fluid_build.sources.declarations.source_names import check_name
from fluid_build.sources.options import READ_ALL
from fluid_build.sources.outside import check_outside
from fluid_build.sources.uri import Address, locate
from fluid_build.stated_options import stated_options

_NO_ARGUMENTS = ForgeArguments()
_FLAT = ForgeOptions()

_OPTIONS = tuple(option.keyword for option in stated_options(ForgeOptions))
Modelling: TypeAlias = Annotated[ForgeOptions, Offered(_OPTIONS)]
DdlModelling: TypeAlias = Annotated[
    ForgeOptions, Offered(tuple(each for each in _OPTIONS if each != "event_dates"))
]
"""Without rows, nothing tells which date is that of an event."""


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
    read: Reading = READ_ALL,
    name: Name = None,
    options: Modelling = _FLAT,
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
    uris = uris_to_open(source, uri or (), credential_id)
    if len(uris) > 1:
        options.check_several()
    requests = source_requests(source, uris, read)
    for request in requests:
        if arguments.out is not None:
            check_outside(arguments.out, request.address)
    command = arguments.command("from-source", requests, options)
    return forge_sources(replace(command, name=_checked(name)), context.obj, arguments.reporting)


@with_option_groups
def from_ddl(
    context: typer.Context,
    file: Annotated[str, typer.Argument(metavar="FILE", help="A SQL file.")],
    read: DdlReading = READ_ALL,
    name: Name = None,
    options: DdlModelling = _FLAT,
    arguments: ForgeArguments = _NO_ARGUMENTS,
    _debug: Debug = False,
) -> int:
    """Generate a model, a contract and a dbt project from CREATE TABLE statements.

    Statements that can't be read are counted and shown. There is no data to check keys on, so the
    model holds what is declared.

    \b
    Example:  fluid forge data-model from-ddl schema.sql --dialect postgres -o shop-model
    """
    address = locate(file)
    if address.kind is DUMP:
        address = Address(DDL, address.place)
    if address.kind is not DDL:
        raise UsageError(
            f"{redact(file)} isn't a SQL file.",
            hint="Pass a .sql file, or use `from-source` for data.",
        )
    command = arguments.command("from-ddl", [SourceRequest(address, read=read)], options)
    command = replace(command, name=_checked(name))
    return forge_sources(command, context.obj, arguments.reporting)


def _checked(name: str | None) -> str | None:
    return None if name is None else check_name(name)
