"""The documents that are checked, as JSON data: of our own models, plain objects or mappings."""

from collections.abc import Mapping
from types import SimpleNamespace

from pydantic import BaseModel

from fluid_build.contract.fluid import FluidContract
from fluid_build.contract.write.yaml_text import as_document


def contract_document(contract: object) -> object:
    """Return a contract as JSON data."""
    return as_document(contract) if isinstance(contract, FluidContract) else as_json(contract)


def osi_part(logical: object) -> object:
    """Return the OSI layer of a model as it is, None where it has none."""
    return logical.get("osi") if isinstance(logical, Mapping) else getattr(logical, "osi", None)


def as_json(value: object) -> object:
    """Return a value as JSON data; what is no model, mapping or list stays as it is."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", by_alias=True, exclude_none=True)
    if isinstance(value, SimpleNamespace):
        value = vars(value)
    if isinstance(value, Mapping):
        return {key: as_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [as_json(item) for item in value]
    return value
