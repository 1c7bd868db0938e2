"""``fluid export``: a contract in one of the open formats, checked before it is written."""

from pathlib import Path
from typing import Annotated

import typer

from fluid_build.cli import failures, screen
from fluid_build.cli.documents import (
    OutFile,
    check_target,
    tell_unsaid,
    unsaid_as_json,
    write_document,
)
from fluid_build.cli.options import Debug, Json
from fluid_build.contract.exports.formats import VERSIONS, Format, export, known_version
from fluid_build.contract.exports.paths import paths_from
from fluid_build.contract.read.files import read_contract
from fluid_build.contract.validation import parse_contract

Contract = Annotated[Path, typer.Argument(metavar="CONTRACT", help="A FLUID contract.")]


def odcs(
    contract: Contract,
    out: OutFile = None,
    version: Annotated[
        str | None,
        typer.Option(
            "--version",
            metavar="N",
            help=f"{' or '.join(VERSIONS['odcs'])}; the newest that can say every column's type.",
        ),
    ] = None,
    json: Json = False,
    _debug: Debug = False,
) -> int:
    """Write a contract as one of the Open Data Contract Standard.

    The result has passed the official validator. What the standard cannot say is told on stderr.

    \b
    Example:  fluid export odcs contract.fluid.yaml -o contract.odcs.yaml
    """
    return _export("odcs", contract, out, version, json=json)


def dcs(contract: Contract, out: OutFile = None, json: Json = False, _debug: Debug = False) -> int:
    """Write a contract as one of the Data Contract Specification 1.2.1.

    The result has passed the official validator. What the format cannot say is told on stderr.

    \b
    Example:  fluid export dcs contract.fluid.yaml -o datacontract.yaml
    """
    return _export("dcs", contract, out, None, json=json)


def osi(contract: Contract, out: OutFile = None, json: Json = False, _debug: Debug = False) -> int:
    """Write a contract's semantic model as Open Semantic Interchange 0.1.1.

    Datasets with their keys and fields, relationships and metrics. What the format cannot say is
    told on stderr.

    \b
    Example:  fluid export osi contract.fluid.yaml -o shop.osi.yaml
    """
    return _export("osi", contract, out, None, json=json)


def _export(
    format_: Format, file: Path, out: Path | None, version: str | None, *, json: bool
) -> int:
    known_version(format_, version)
    check_target(out, file)
    contract = paths_from(parse_contract(read_contract(file)), file.parent, Path.cwd())
    exported = export(contract, format_, version)
    name = f"{format_.upper()} {exported.version}"
    if out is not None or not json:
        write_document(exported.text, out)
    if json:
        result = {
            "contract": str(file),
            "format": format_,
            "version": exported.version,
            "valid": True,
            "file": None if out is None else str(out),
            "document": exported.document if out is None else None,
            "unsaid": unsaid_as_json(exported.unsaid),
        }
        screen.show_json(result)
    screen.tell(f"{name}, valid{'' if out is None else f': {out}'}.")
    tell_unsaid(exported.unsaid, name)
    return failures.DONE
