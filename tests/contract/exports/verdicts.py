"""The official verdicts, asked of the official packages themselves and not of our code."""

import json
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import resources
from typing import Any

from datacontract_specification.model import DataContractSpecification
from jsonschema import Draft7Validator, Draft201909Validator, Draft202012Validator
from open_data_contract_standard.model import OpenDataContractStandard

from fluid_build.contract.exports.odcs.versions import LATEST, odcs_schema
from tests.shared import OSI_SCHEMA


@cache
def _odcs(version: str) -> Draft201909Validator:
    """The package holds the newest schema; a test holds ours of 3.1.0 against its fingerprint."""
    is_newest = version == LATEST
    return Draft201909Validator(
        _packaged("open_data_contract_standard") if is_newest else odcs_schema(version)
    )


@cache
def _dcs() -> Draft7Validator:
    return Draft7Validator(_packaged("datacontract_specification"))


def _packaged(package: str) -> Any:
    return json.loads(resources.files(package).joinpath("schema.json").read_text("utf-8"))


def refused_by_odcs(document: Mapping[str, object]) -> str | None:
    """What the official schema or model has against an ODCS document."""
    OpenDataContractStandard.model_validate(document)
    version = str(document["apiVersion"]).removeprefix("v")
    return _first(_odcs(version).iter_errors(document))


def refused_by_dcs(document: Mapping[str, object]) -> str | None:
    """What the official schema or model has against a DCS document."""
    DataContractSpecification.model_validate(document)
    return _first(_dcs().iter_errors(document))


def refused_by_osi(document: Mapping[str, object]) -> str | None:
    """What the official schema has against an OSI document."""
    schema = json.loads(OSI_SCHEMA.read_text(encoding="utf-8"))
    return _first(Draft202012Validator(schema).iter_errors(document))


def _first(errors: Iterator[Any]) -> str | None:
    error = next(errors, None)
    return None if error is None else f"{error.json_path}: {error.message[:200]}"
