"""``fluid import``: a contract of another format as a FLUID contract."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from fluid_build.cli import failures, screen
from fluid_build.cli.documents import (
    OutFile,
    check_target,
    name_parts,
    unsaid_as_json,
    write_document,
)
from fluid_build.cli.options import Debug, Json
from fluid_build.contract.exports.format import ExportFormat, Imported
from fluid_build.contract.exports.formats import FORMATS
from fluid_build.contract.exports.paths import paths_from
from fluid_build.contract.read.files import read_contract
from fluid_build.contract.write.yaml_text import as_document, contract_yaml


def commands() -> dict[str, Callable[..., int]]:
    """Return the command of each format that can be read, by the format's name."""
    return {
        name: _command(format_, format_.read)
        for name, format_ in FORMATS.items()
        if format_.read is not None
    }


def _command(format_: ExportFormat, read: Callable[[object], Imported]) -> Callable[..., int]:
    name, upper = format_.name, format_.name.upper()

    def command(
        file: Annotated[
            Path,
            typer.Argument(metavar="FILE", help=f"A contract in {upper} {format_.readable}."),
        ],
        out: OutFile = None,
        json: Json = False,
        _debug: Debug = False,
    ) -> int:
        return _import(upper, read, file, out, json=json)

    command.__doc__ = f"""Turn a contract in {format_.title} into a FLUID contract.

    The document is checked by the official validator, and the result by FLUID's. What FLUID has no
    key for is kept as labels, and listed on stderr.

    \b
    Example:  fluid import {name} contract.{name}.yaml -o contract.fluid.yaml
    """
    return command


def _import(
    format_: str,
    read: Callable[[object], Imported],
    file: Path,
    out: Path | None,
    *,
    json: bool,
) -> int:
    check_target(out, file)
    imported = read(read_contract(file))
    folder = file.parent if out is None else out.parent
    contract = paths_from(imported.contract, Path.cwd(), folder)
    if out is not None or not json:
        write_document(contract_yaml(contract), out)
    if json:
        result = {
            "source": str(file),
            "version": imported.version,
            "valid": True,
            "file": None if out is None else str(out),
            "contract": as_document(contract) if out is None else None,
            "unsaid": unsaid_as_json(imported.unsaid),
        }
        screen.show_json(result)
    where = "" if out is None else f": {out}"
    screen.tell(f"FLUID 0.7.2 from {format_} {imported.version}, valid{where}.")
    if imported.unsaid:
        screen.tell(f"Kept as labels, for FLUID has no key: {name_parts(imported.unsaid)}.")
    return failures.DONE
