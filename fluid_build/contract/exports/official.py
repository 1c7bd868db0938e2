"""The official validators of the formats: their JSON schemas and their published models.

The models drop keys that they do not know, and the schemas are stricter; a document has to pass
both. The packages are read, and nothing of theirs is run but their models.
"""

import importlib
import json
from collections.abc import Callable, Mapping
from functools import cache
from importlib import resources
from typing import Any

import jsonschema_rs
from pydantic import BaseModel, ValidationError

from fluid_build.contract.printable import escaped, path_shown

MOST_FINDINGS = 20


@cache
def packaged_schema(package: str) -> dict[str, Any]:
    """Return the JSON schema that an official package holds."""
    text = resources.files(package).joinpath("schema.json").read_text(encoding="utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema


def definitions_of(package: str) -> dict[str, Any]:
    """Return the definitions of an official schema without its rules for a whole document."""
    return {
        key: value for key, value in packaged_schema(package).items() if key in ("$schema", "$defs")
    }


def published_model(package: str, name: str) -> type[BaseModel]:
    """Return the model that an official package publishes; imported here, as few need it."""
    module: Any = importlib.import_module(f"{package}.model")
    model: type[BaseModel] = getattr(module, name)
    return model


@cache
def packaged_validator(package: str) -> jsonschema_rs.Validator:
    """Return the validator of the JSON schema that an official package holds."""
    return jsonschema_rs.validator_for(packaged_schema(package))


def schema_findings(
    validator: jsonschema_rs.Validator, document: Mapping[str, object]
) -> tuple[str, ...]:
    """Return what a JSON schema has against a document; at most 20 findings.

    Each is one line, ``path: what is wrong``, escaped and short.
    """
    findings = []
    for error in validator.iter_errors(document):
        findings.append(_line(tuple(error.instance_path), error.message))
        if len(findings) == MOST_FINDINGS:
            break
    return tuple(findings)


def model_findings(
    model: Callable[[], type[BaseModel]], document: Mapping[str, object]
) -> tuple[str, ...]:
    """Return what keeps a document from being read by a published model; at most 20 findings."""
    try:
        model().model_validate(document)
    except ValidationError as error:
        details = error.errors(include_url=False, include_input=False)
        return tuple(_line(d["loc"], d["msg"]) for d in details[:MOST_FINDINGS])
    return ()


def _line(path: tuple[str | int, ...], message: str) -> str:
    return f"{path_shown(path)}: {escaped(message, longest=160)}"
