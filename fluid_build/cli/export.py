"""``fluid export``: a contract in one of the open formats, checked before it is written."""

from collections.abc import Callable
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
from fluid_build.contract.exports.format import ExportFormat
from fluid_build.contract.exports.formats import FORMATS, export, known_version
from fluid_build.contract.exports.paths import paths_from
from fluid_build.contract.read.files import read_contract
from fluid_build.contract.validation import parse_contract

Contract = Annotated[Path, typer.Argument(metavar="CONTRACT", help="A FLUID contract.")]


def commands() -> dict[str, Callable[..., int]]:
    """Return the command of each format by the format's name."""
    return {name: _command(format_) for name, format_ in FORMATS.items()}


def _command(format_: ExportFormat) -> Callable[..., int]:
    """Return the command that writes a format; it takes ``--version`` where there are several."""
    name, numbers = format_.name, " or ".join(format_.versions)
    version_help = f"{numbers}; by default {format_.version_note or 'the newest'}."

    def write_version(
        contract: Contract,
        out: OutFile = None,
        version: Annotated[
            str | None, typer.Option("--version", metavar="N", help=version_help)
        ] = None,
        json: Json = False,
        _debug: Debug = False,
    ) -> int:
        return _export(name, contract, out, version, json=json)

    def write(
        contract: Contract, out: OutFile = None, json: Json = False, _debug: Debug = False
    ) -> int:
        return _export(name, contract, out, None, json=json)

    command: Callable[..., int] = write_version if len(format_.versions) > 1 else write
    command.__doc__ = f"""Write a contract in {format_.title}.

    {format_.notes} The document has passed the official validator. What the format can't say is
    listed on stderr.

    \b
    Example:  fluid export {name} contract.fluid.yaml -o contract.{name}.yaml
    """
    return command


def _export(format_: str, file: Path, out: Path | None, version: str | None, *, json: bool) -> int:
    known_version(FORMATS[format_], version)
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
