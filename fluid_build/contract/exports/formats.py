"""The formats that a contract can be written in, each checked by its official validator.

ODCS is Bitol's Open Data Contract Standard, DCS the Data Contract Specification, OSI the Open
Semantic Interchange. A new format is a module with its ``ExportFormat``, added to ``FORMATS``.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from fluid_build.block_yaml import block_yaml
from fluid_build.contract.exports.dcs import DCS
from fluid_build.contract.exports.format import ExportFormat, Unsaid, summed, without_infinite
from fluid_build.contract.exports.odcs import ODCS
from fluid_build.contract.exports.osi import OSI
from fluid_build.contract.exports.tracking import Json, TrackedMapping
from fluid_build.contract.fluid import FluidContract
from fluid_build.contract.fluid.common import named
from fluid_build.contract.structure import Path
from fluid_build.contract.validation import parse_contract
from fluid_build.contract.write.yaml_text import as_document
from fluid_build.errors import ContractError, UsageError

FORMATS: Mapping[str, ExportFormat] = {format_.name: format_ for format_ in (ODCS, DCS, OSI)}


@dataclass(frozen=True, slots=True)
class Exported:
    """A document that passed its format's official validator, and what it leaves unsaid.

    ``left`` are the paths of those values in the contract, ``unsaid`` the same summed up.
    """

    format: str
    version: str
    document: Json
    left: tuple[Path, ...]
    unsaid: tuple[Unsaid, ...]

    @property
    def text(self) -> str:
        """The document as YAML."""
        return block_yaml(self.document)


def export(contract: FluidContract, name: str, version: str | None = None) -> Exported:
    """Return the contract in a format, in the version that suits it best unless one is named.

    UsageError for a format or version that isn't known, ContractError where the result would not
    pass the official validator.
    """
    format_ = known_format(name)
    if version is None and format_.best_version is not None:
        version = format_.best_version(contract)
    number = known_version(format_, version)
    finite, broken = without_infinite(as_document(contract))
    read = TrackedMapping(finite)
    document = format_.write(parse_contract(finite) if broken else contract, read, number)
    findings = format_.findings(number, document)
    if findings:
        raise ContractError(
            f"The contract in {name.upper()} {number} wouldn't be valid: {findings[0]}.",
            hint="This is a bug in Fluid Forge. Please report it, with that part of the contract.",
        )
    left_parts = [*read.left_parts(), *((path, 1) for path in broken)]
    return Exported(name, number, document, (*read.left(), *broken), summed(left_parts))


def known_format(name: str) -> ExportFormat:
    """Return the format of a name; UsageError for another."""
    if name in FORMATS:
        return FORMATS[name]
    raise UsageError(
        f"Unknown format {name!r}.", hint=f"Use `fluid export {'|'.join(FORMATS)} CONTRACT`."
    )


def known_version(format_: ExportFormat, version: str | None) -> str:
    """Return a version of the format, the newest if none is named; UsageError for another."""
    if version is None:
        return format_.versions[-1]
    number = version.removeprefix("v")
    if number in format_.versions:
        return number
    raise UsageError(
        f"{format_.name.upper()} {version!r} isn't supported for export.",
        hint=f"Supported versions: {named(format_.versions)}.",
    )
