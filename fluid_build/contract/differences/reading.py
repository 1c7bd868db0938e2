"""Reading what can be compared: a contract, a model, or the contract of a forged folder."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from fluid_build.contract.differences.comparing import Document
from fluid_build.contract.printable import escaped, path_shown
from fluid_build.contract.read.files import CONTRACT_FILE, read_contract
from fluid_build.contract.validation import parse_contract
from fluid_build.errors import ContractError, SourceNotFoundError, SourceUnreadableError
from fluid_build.modeling.logical import LogicalModel

_MODEL_KEYS = frozenset({"technique", "conceptual"})


@dataclass(frozen=True, slots=True)
class Comparable:
    """A valid document and what it is; ``path`` is the file that it was read from."""

    kind: Literal["contract", "model"]
    path: Path
    document: Document


def read_comparable(place: Path) -> Comparable:
    """Return the contract or model of a file, or the contract of a folder.

    Raises SourceNotFoundError where nothing is there, SourceUnreadableError for what is neither,
    and ContractError for an invalid contract.
    """
    path = place
    if place.is_dir():
        path = place / CONTRACT_FILE
        if not path.is_file():
            raise SourceNotFoundError(
                f"The folder {place} has no {CONTRACT_FILE}.",
                hint="Pass a folder that `fluid forge` wrote, a contract or a model.json.",
            )
    document = read_contract(path)
    if isinstance(document, dict) and document.keys() >= _MODEL_KEYS:
        return Comparable("model", path, _model(path, document))
    try:
        parse_contract(document)
    except ContractError as error:
        raise ContractError(f"{path}: {error.message}", hint=error.hint) from None
    return Comparable("contract", path, document)


def _model(path: Path, document: Document) -> Document:
    try:
        model = LogicalModel.model_validate(document)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        raise SourceUnreadableError(
            f"{path} isn't a model of this version: {path_shown(first['loc'])}: "
            f"{escaped(first['msg'])}.",
            hint="Run `fluid forge` again to get a model of this version.",
        ) from None
    document_: Document = model.model_dump(mode="json", by_alias=True, exclude_none=True)
    return document_
