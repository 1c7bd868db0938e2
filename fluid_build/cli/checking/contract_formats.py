"""``fluid export`` and ``fluid import``: a contract in another format, and back."""

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from fluid_build.artifacts import write_artifacts
from fluid_build.cli import failures, messages
from fluid_build.cli.options import Debug, Json
from fluid_build.contract.exports.format import ExportFormat, Imported, Unsaid
from fluid_build.contract.exports.formats import FORMATS, export, known_version
from fluid_build.contract.exports.paths import paths_from
from fluid_build.contract.read.files import read_contract
from fluid_build.contract.validation import parse_contract
from fluid_build.contract.write.yaml_text import as_document, contract_yaml
from fluid_build.errors import OutputError, UsageError
from fluid_build.text import counted

_MOST_PLACES = 8

Contract: TypeAlias = Annotated[Path, typer.Argument(metavar="CONTRACT", help="A FLUID contract.")]
OutFile: TypeAlias = Annotated[
    Path | None,
    typer.Option("-o", "--out", metavar="FILE", help="Where to write it; stdout by default."),
]


def export_commands() -> dict[str, Callable[..., int]]:
    """Return the command that exports to each format, by the format's name."""
    return {name: _export_command(format_) for name, format_ in FORMATS.items()}


def import_commands() -> dict[str, Callable[..., int]]:
    """Return the command that imports each format that can be read, by the format's name."""
    return {
        name: _import_command(format_, format_.read)
        for name, format_ in FORMATS.items()
        if format_.read is not None
    }


def _export_command(format_: ExportFormat) -> Callable[..., int]:
    """Return the command that exports to a format, with ``--version`` where there are several."""
    name, numbers = format_.name, " or ".join(format_.versions)
    version_help = f"{numbers}; by default {format_.version_note or 'the newest'}."

    def export_version(
        contract: Contract,
        out: OutFile = None,
        version: Annotated[
            str | None, typer.Option("--version", metavar="N", help=version_help)
        ] = None,
        json: Json = False,
        _debug: Debug = False,
    ) -> int:
        return _export(format_, contract, out, version, json=json)

    def export_only_version(
        contract: Contract, out: OutFile = None, json: Json = False, _debug: Debug = False
    ) -> int:
        return _export(format_, contract, out, None, json=json)

    command = export_version if len(format_.versions) > 1 else export_only_version
    command.__doc__ = f"""Write a contract in {format_.title}.

    {format_.notes} The document has passed the official validator. Anything left out is listed on
    stderr.

    \b
    Example:  fluid export {name} contract.fluid.yaml -o contract.{name}.yaml
    """
    return command


def _import_command(
    format_: ExportFormat, read: Callable[[object], Imported]
) -> Callable[..., int]:
    name, label = format_.name, format_.name.upper()

    def command(
        file: Annotated[
            Path,
            typer.Argument(metavar="FILE", help=f"A contract in {label} {format_.readable}."),
        ],
        out: OutFile = None,
        json: Json = False,
        _debug: Debug = False,
    ) -> int:
        return _import(label, read, file, out, json=json)

    command.__doc__ = f"""Turn a contract in {format_.title} into a FLUID contract.

    The document is checked by the official validator, and the result by FLUID's. What FLUID has no
    key for is kept as labels, and listed on stderr.

    \b
    Example:  fluid import {name} contract.{name}.yaml -o contract.fluid.yaml
    """
    return command


def _export(
    format_: ExportFormat, file: Path, out: Path | None, version: str | None, *, json: bool
) -> int:
    known_version(format_, version)
    _check_differs(out, file)
    contract = paths_from(parse_contract(read_contract(file)), file.parent, Path.cwd())
    exported = export(contract, format_.name, version)
    if out is not None or not json:
        _write_document(exported.text, out)
    if json:
        messages.show_json(
            {
                "contract": str(file),
                "format": format_.name,
                "version": exported.version,
                "valid": True,
                "file": None if out is None else str(out),
                "document": exported.document if out is None else None,
                "unsaid": _unsaid_document(exported.unsaid),
            }
        )
    label = f"{format_.name.upper()} {exported.version}"
    messages.tell(f"{label}, valid{'' if out is None else f': {out}'}.")
    if exported.unsaid:
        values = counted(sum(place.count for place in exported.unsaid), "value")
        messages.tell(f"{label} can't represent {values}: {_places(exported.unsaid)}.")
    else:
        messages.tell(f"{label} represents everything in the contract.")
    return failures.DONE


def _import(
    label: str,
    read: Callable[[object], Imported],
    file: Path,
    out: Path | None,
    *,
    json: bool,
) -> int:
    _check_differs(out, file)
    imported = read(read_contract(file))
    folder = file.parent if out is None else out.parent
    contract = paths_from(imported.contract, Path.cwd(), folder)
    if out is not None or not json:
        _write_document(contract_yaml(contract), out)
    if json:
        messages.show_json(
            {
                "source": str(file),
                "version": imported.version,
                "valid": True,
                "file": None if out is None else str(out),
                "contract": as_document(contract) if out is None else None,
                "unsaid": _unsaid_document(imported.unsaid),
            }
        )
    destination = "" if out is None else f": {out}"
    messages.tell(f"FLUID 0.7.2 from {label} {imported.version}, valid{destination}.")
    if imported.unsaid:
        messages.tell(
            f"Kept as labels, since FLUID has no keys for them: {_places(imported.unsaid)}."
        )
    return failures.DONE


def _check_differs(out: Path | None, file: Path) -> None:
    """Refuse to write a document over the one that it is made from."""
    if out is not None and os.path.realpath(out) == os.path.realpath(file):
        raise UsageError(f"{out} is the input.", hint="Choose another file for the result.")


def _write_document(text: str, out: Path | None) -> None:
    """Write a document whole or not at all: to the file, or to stdout if none is named.

    OutputError where it can't be written.
    """
    if out is not None:
        write_artifacts(out.parent, {out.name: text})
        return
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        raise OutputError(
            f"The document has characters that {sys.stdout.encoding} can't represent.",
            hint="Write it to a file with -o, or set PYTHONIOENCODING=utf-8.",
        ) from None
    sys.stdout.write(text)


def _places(unsaid: Sequence[Unsaid]) -> str:
    """Return the paths of what a format can't represent, each with its number of values."""
    places = ", ".join(f"{place.path} ({place.count})" for place in unsaid[:_MOST_PLACES])
    left = len(unsaid) - _MOST_PLACES
    return places + (f" and {counted(left, 'more path')} (--json lists them)" if left > 0 else "")


def _unsaid_document(unsaid: Sequence[Unsaid]) -> list[dict[str, object]]:
    return [{"path": place.path, "count": place.count} for place in unsaid]
