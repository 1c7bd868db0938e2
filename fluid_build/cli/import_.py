"""``fluid import``: a contract of another format as a FLUID contract."""

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
from fluid_build.contract.exports.odcs.reading import import_odcs
from fluid_build.contract.exports.paths import paths_from
from fluid_build.contract.read.files import read_contract
from fluid_build.contract.write.yaml_text import as_document, contract_yaml


def odcs(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="An ODCS contract, 3.0 to 3.2.")],
    out: OutFile = None,
    json: Json = False,
    _debug: Debug = False,
) -> int:
    """Write a contract of the Open Data Contract Standard as a FLUID contract.

    The document is checked by the official validator, and the result by FLUID's. What FLUID cannot
    say is told on stderr.

    \b
    Example:  fluid import odcs contract.odcs.yaml -o contract.fluid.yaml
    """
    check_target(out, file)
    imported = import_odcs(read_contract(file))
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
    screen.tell(f"FLUID 0.7.2 from ODCS {imported.version}, valid{where}.")
    tell_unsaid(imported.unsaid, "FLUID 0.7.2")
    return failures.DONE
