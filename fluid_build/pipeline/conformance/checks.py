"""One check for each standard: whole validators, and whether an export has all that it needs."""

from collections.abc import Callable, Iterator, Mapping

from pydantic import ValidationError

from fluid_build.contract.exports.formats import export
from fluid_build.contract.fluid import FluidContract
from fluid_build.contract.printable import escaped, path_shown
from fluid_build.contract.validation import parse_contract, validate
from fluid_build.errors import ContractError
from fluid_build.modeling.osi import OsiDocument
from fluid_build.modeling.osi_dialects import with_dialects
from fluid_build.pipeline.conformance.report import ConformanceFinding, Standard

_LONGEST_MESSAGE = 240
_TITLES = {"odcs": "ODCS", "dcs": "the Data Contract Specification"}

DocumentCheck = Callable[[object], Iterator[ConformanceFinding]]


def check_fluid(document: object) -> Iterator[ConformanceFinding]:
    """Check a contract with the full FLUID 0.7.2 validator."""
    for finding in validate(document):
        yield ConformanceFinding("fluid", "error", finding.path, finding.message)


def check_osi(document: object) -> Iterator[ConformanceFinding]:
    """Check an OSI document with the specification's types, and that its SQL can be read."""
    try:
        osi = OsiDocument.model_validate(document)
    except ValidationError as error:
        for detail in error.errors(include_url=False, include_input=False):
            place = path_shown(detail["loc"])
            yield ConformanceFinding(
                "osi", "error", place, escaped(detail["msg"], _LONGEST_MESSAGE)
            )
        return
    for place, reason in with_dialects(osi).untranslated:
        yield ConformanceFinding(
            "osi", "warning", escaped(place), escaped(reason, _LONGEST_MESSAGE)
        )


def check_odcs_readiness(document: object) -> Iterator[ConformanceFinding]:
    """Check that a contract carries what an ODCS contract needs."""
    yield from _check_readiness(document, "odcs", "odcs_translation_readiness")


def check_dcs_readiness(document: object) -> Iterator[ConformanceFinding]:
    """Check that a contract carries what the Data Contract Specification needs."""
    yield from _check_readiness(document, "dcs", "dcs_translation_readiness")


def _check_readiness(
    document: object, format_name: str, standard: Standard
) -> Iterator[ConformanceFinding]:
    for path, message in _missing_fields(document, _TITLES[format_name]):
        yield ConformanceFinding(standard, "warning", path, message)
    contract = _contract(document)
    if contract is None:
        message = "the contract must be valid FLUID before it can be exported"
        yield ConformanceFinding(standard, "warning", "(document)", message)
        return
    try:
        export(contract, format_name)
    except ContractError as error:
        message = escaped(str(error), _LONGEST_MESSAGE)
        yield ConformanceFinding(standard, "error", "(document)", message)


def _contract(document: object) -> FluidContract | None:
    try:
        return parse_contract(document)
    except ContractError:
        return None


def _missing_fields(document: object, title: str) -> Iterator[tuple[str, str]]:
    """Return paths of fields that the format needs, which an export would have to invent."""
    if not isinstance(document, Mapping):
        return
    for key in ("id", "name"):
        if not document.get(key):
            yield key, f"`{key}` is missing, and {title} needs it"
    exposes = document.get("exposes")
    for at, expose in enumerate(exposes if isinstance(exposes, list) else ()):
        if not isinstance(expose, Mapping):
            continue
        if not expose.get("version"):
            yield f"exposes[{at}].version", f"`version` is missing, and {title} needs it"
        promise = expose.get("contract")
        if not isinstance(promise, Mapping) or not promise.get("schema"):
            yield (
                f"exposes[{at}].contract.schema",
                f"there are no columns, and {title} describes data by its columns",
            )
