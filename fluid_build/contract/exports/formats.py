"""The formats that a contract can be written in, each checked by its official validator.

ODCS is Bitol's Open Data Contract Standard, DCS the Data Contract Specification, OSI the Open
Semantic Interchange.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, cast, get_args

from fluid_build.block_yaml import block_yaml
from fluid_build.contract.exports.dcs import DCS_VERSION, dcs_document
from fluid_build.contract.exports.odcs.versions import (
    ODCS_VERSIONS,
    OdcsVersion,
    odcs_validator,
)
from fluid_build.contract.exports.odcs.writing import best_version, odcs_document
from fluid_build.contract.exports.official import (
    model_findings,
    packaged_validator,
    published_model,
    schema_findings,
)
from fluid_build.contract.exports.osi import osi_document
from fluid_build.contract.exports.tracking import Json, TrackedMapping, is_finite
from fluid_build.contract.fluid import FluidContract
from fluid_build.contract.fluid.common import named
from fluid_build.contract.printable import path_shown
from fluid_build.contract.structure import Path
from fluid_build.contract.validation import parse_contract
from fluid_build.contract.write.yaml_text import as_document
from fluid_build.errors import ContractError, UsageError
from fluid_build.modeling.osi import OSI_VERSION, OsiDocument

Format = Literal["odcs", "dcs", "osi"]
FORMATS: tuple[Format, ...] = get_args(Format)
VERSIONS: dict[Format, tuple[str, ...]] = {
    "odcs": ODCS_VERSIONS,
    "dcs": (DCS_VERSION,),
    "osi": (OSI_VERSION,),
}


@dataclass(frozen=True, slots=True)
class Unsaid:
    """What a format does not say: a path with ``[]`` for any index, and how many values it is."""

    path: str
    count: int


@dataclass(frozen=True, slots=True)
class Exported:
    """A document that passed its format's official validator, and what it leaves unsaid.

    ``left`` are the paths of those values in the contract, ``unsaid`` the same summed up.
    """

    format: Format
    version: str
    document: Json
    left: tuple[Path, ...]
    unsaid: tuple[Unsaid, ...]

    @property
    def text(self) -> str:
        """The document as YAML."""
        return block_yaml(self.document)


def export(contract: FluidContract, format_: str, version: str | None = None) -> Exported:
    """The contract in a format, in its newest version unless another is named.

    Of ODCS that is the newest version that can say the type of every column.
    UsageError for a format or version that is not known, ContractError where the result would not
    pass the official validator.
    """
    known = known_format(format_)
    if known == "odcs" and version is None:
        version = best_version(contract)
    number = known_version(known, version)
    whole = as_document(contract)
    finite, broken = without_infinite(whole)
    read = TrackedMapping(finite)
    document = _written(known, parse_contract(finite) if broken else contract, read, number)
    found = findings(known, number, document)
    if found:
        raise ContractError(
            f"The contract in {known.upper()} {number} would not be valid: {found[0]}.",
            hint="Report this, with what the contract holds at that place.",
        )
    left = (*read.left(), *broken)
    lost = [*read.unsaid(), *((path, 1) for path in broken)]
    return Exported(known, number, document, left, summed(lost))


def _written(format_: Format, contract: FluidContract, read: TrackedMapping, version: str) -> Json:
    if format_ == "odcs":
        return odcs_document(contract, read, cast(OdcsVersion, version))
    if format_ == "dcs":
        return dcs_document(contract, read)
    model = osi_document(contract, read)
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


def known_format(name: str) -> Format:
    """The format of that name; UsageError for another."""
    if name in FORMATS:
        return cast(Format, name)
    raise UsageError(f"There is no format {name!r}.", hint=f"Known are {named(FORMATS)}.")


def known_version(format_: Format, version: str | None) -> str:
    """A version of the format, the newest if none is named; UsageError for an unknown one."""
    known = VERSIONS[format_]
    if version is None:
        return known[-1]
    number = version.removeprefix("v")
    if number in known:
        return number
    raise UsageError(
        f"{format_.upper()} {version!r} is not a version that can be written.",
        hint=f"Known are {named(known)}.",
    )


def findings(format_: Format, version: str, document: Json) -> tuple[str, ...]:
    """What the format's official schema and model have against a document; empty if nothing."""
    if format_ == "osi":
        return model_findings(lambda: OsiDocument, document)
    if format_ == "odcs":
        validator = odcs_validator(cast(OdcsVersion, version))
        package, name = "open_data_contract_standard", "OpenDataContractStandard"
    else:
        validator = packaged_validator("datacontract_specification")
        package, name = "datacontract_specification", "DataContractSpecification"
    return schema_findings(validator, document) or model_findings(
        lambda: published_model(package, name), document
    )


def summed(lost: Iterable[tuple[Path, int]]) -> tuple[Unsaid, ...]:
    """Paths with their numbers of values; those that differ in nothing but an index are one."""
    counts: Counter[str] = Counter()
    for path, count in lost:
        counts[_kind(path)] += count
    return tuple(Unsaid(path, count) for path, count in counts.items())


def _kind(path: Path) -> str:
    """A path as text, with ``[]`` for any index."""
    parts = ("[]" if isinstance(part, int) else f".{path_shown((part,))}" for part in path)
    return "".join(parts).lstrip(".")


def without_infinite(document: Mapping[str, object]) -> tuple[Json, tuple[Path, ...]]:
    """The document without numbers that are not finite, and their paths; no format says them."""
    if is_finite(document):
        return dict(document), ()
    broken: list[Path] = []
    kept = _finite(dict(document), (), broken)
    return cast(Json, kept), tuple(broken)


def _finite(value: object, path: Path, broken: list[Path]) -> object:
    if isinstance(value, dict):
        inner = {key: _finite(item, (*path, key), broken) for key, item in value.items()}
        return {key: item for key, item in inner.items() if not _is_infinite(item)}
    if isinstance(value, list):
        items = [_finite(item, (*path, at), broken) for at, item in enumerate(value)]
        return [item for item in items if not _is_infinite(item)]
    if _is_infinite(value):
        broken.append(path)
    return value


def _is_infinite(value: object) -> bool:
    return isinstance(value, float) and not math.isfinite(value)
