"""The JSON schemas of the Open Data Contract Standard, one a version.

The official package holds the schema of its own version alone, 3.2.0. That of 3.1.0 is the same
without what came later, all of which is listed here; a test holds the result against the
fingerprint of the one that the official package 3.1.2 holds.
https://github.com/bitol-io/open-data-contract-standard/tree/main/schema
"""

import copy
from collections.abc import Iterable
from functools import cache
from typing import Any, Literal, get_args

import jsonschema_rs
from pydantic import BaseModel

from fluid_build.contract.exports.official import (
    model_findings,
    packaged_schema,
    published_model,
    schema_findings,
)
from fluid_build.contract.fluid.common import named
from fluid_build.contract.printable import escaped, shown
from fluid_build.errors import ContractError

OdcsVersion = Literal["3.1.0", "3.2.0"]
ODCS_VERSIONS: tuple[OdcsVersion, ...] = get_args(OdcsVersion)
_PACKAGE = "open_data_contract_standard"
LATEST: OdcsVersion = "3.2.0"

READABLE = ("3.0.0", "3.0.1", "3.0.2", *ODCS_VERSIONS)
_NAME_ONE = "Pass an ODCS contract: a file with `apiVersion` and `kind: DataContract`."
_ENGINES = "btrieve exasol fastobjects hana iceberg ingres poet teradata vectorwise versant".split()
_LATER_WORDS: dict[str, tuple[str, ...]] = {
    "properties/apiVersion/enum": ("v3.2.0",),
    "$defs/SchemaBaseProperty/properties/logicalType/enum": ("map", "vector"),
    "$defs/Server/properties/type/enum": tuple(_ENGINES),
}
_LATER_KEYS = (
    "properties/context",
    *(f"$defs/{name}" for name in ("Context", "EnumValue", "Port", "Synonym", "Synonyms")),
    "$defs/SchemaElement/properties/synonyms",
    "$defs/SchemaElement/properties/deprecated",
    "$defs/SchemaBaseProperty/properties/semanticType",
    "$defs/SchemaBaseProperty/properties/enum",
    "$defs/SchemaObject/properties/context",
    "$defs/RelationshipBase/properties/id",
    "$defs/CustomProperty/properties/vendor",
    "$defs/ServiceLevelAgreementProperty/properties/customProperties",
    "$defs/ServiceLevelAgreementProperty/properties/authoritativeDefinitions",
    *(
        f"$defs/ServerSource/{name}Server"
        for name in "Iceberg Vectorwise Teradata Poet Versant Hana Ingres Exasol".split()
    ),
    *(
        f"$defs/ServerSource/{name}Server/properties/encoding"
        for name in "Kinesis Sftp Glue Local Kafka S3 Azure Custom".split()
    ),
    "$defs/ServerSource/AthenaServer/properties/workgroup",
)
_EARLIER: dict[str, object] = {
    "required": ["version", "apiVersion", "kind", "id", "status"],
    "$defs/ServerSource/AthenaServer/required": ["stagingDir", "schema"],
    "$defs/ShorthandReference/pattern": "^[A-Za-z_][A-Za-z0-9_]*\\.[A-Za-z_][A-Za-z0-9_]*$",
    "$defs/FullyQualifiedReference/pattern": (
        "^(?:(?:https?:\\/\\/)?[A-Za-z0-9._\\-\\/]+\\.yaml#)?\\/?[A-Za-z_][A-Za-z0-9_]*"
        "\\/[A-Za-z0-9_-]+(?:\\/[A-Za-z_][A-Za-z0-9_]*\\/[A-Za-z0-9_-]+)*$"
    ),
}


@cache
def odcs_schema(version: str) -> dict[str, Any]:
    """Return the JSON schema (draft 2019-09) of a version of the standard."""
    latest = packaged_schema(_PACKAGE)
    return latest if version == LATEST else _as_of_3_1(copy.deepcopy(latest))


def _as_of_3_1(schema: dict[str, Any]) -> dict[str, Any]:
    for place, words in _LATER_WORDS.items():
        above, key = _spot(schema, place)
        above[key] = [word for word in above[key] if word not in words]
    for place in _LATER_KEYS:
        above, key = _spot(schema, place)
        del above[key]
    for place, value in _EARLIER.items():
        above, key = _spot(schema, place)
        above[key] = value
    for place, words in (
        ("$defs/SchemaBaseProperty/allOf", ("map", "vector")),
        ("$defs/Server/allOf", tuple(_ENGINES)),
    ):
        above, key = _spot(schema, place)
        above[key] = [branch for branch in above[key] if not _is_about(branch, words)]
    for server in schema["$defs"]["ServerSource"].values():
        port = server["properties"].get("port", {})
        if port.pop("$ref", None):
            port["type"] = "integer"
    return schema


def check_odcs(document: object) -> str:
    """Return the version of an ODCS document that can be read; ContractError where it is none.

    It can where the official schema of its version and the published model have nothing against
    it.
    """
    if not isinstance(document, dict):
        raise ContractError("This isn't an ODCS contract: it isn't a mapping.", hint=_NAME_ONE)
    version = _version_of(document)
    findings = schema_findings(_reading_validator(version), document)
    findings = findings or model_findings(_published, document)
    if findings:
        more = f" (and {len(findings) - 1} more)" if len(findings) > 1 else ""
        raise ContractError(
            f"This isn't a valid ODCS {version} contract: {findings[0]}{more}.",
            hint="Correct that part of the document.",
        )
    return version


def _version_of(document: dict[str, object]) -> str:
    kind, version = document.get("kind"), document.get("apiVersion")
    if "fluidVersion" in document:
        message = "This is already a FLUID contract, not an ODCS one."
        raise ContractError(message, hint="To convert it to ODCS, run `fluid export odcs`.")
    if "dataContractSpecification" in document:
        message = "This is a Data Contract Specification contract, not an ODCS one."
        raise ContractError(message, hint=_NAME_ONE)
    number = version.removeprefix("v") if isinstance(version, str) else ""
    if number.startswith("2."):
        raise ContractError(
            f"This is an ODCS {escaped(number)} contract. Versions before 3.0 aren't supported.",
            hint="Migrate it to ODCS 3 first; the standard's change log says how.",
        )
    supported = named([f"v{known}" for known in READABLE])
    if kind != "DataContract":
        found = "it has no `kind`" if kind is None else f"its `kind` is {shown(kind)}"
        raise ContractError(
            f"This isn't an ODCS contract: {found}.",
            hint=f"An ODCS contract has `kind: DataContract` and an `apiVersion` of {supported}.",
        )
    if number not in READABLE:
        raise ContractError(
            "This ODCS contract has no `apiVersion`."
            if version is None
            else f"ODCS version {shown(version)} isn't supported.",
            hint=f"Supported versions: {supported}.",
        )
    return number


def _published() -> type[BaseModel]:
    return published_model(_PACKAGE, "OpenDataContractStandard")


def odcs_findings(version: str, document: dict[str, object]) -> tuple[str, ...]:
    """Return what the official schema and model have against a document; empty if nothing."""
    return schema_findings(_validator(version), document) or model_findings(_published, document)


@cache
def _validator(version: str) -> jsonschema_rs.Validator:
    return jsonschema_rs.validator_for(odcs_schema(version))


@cache
def _reading_validator(version: str) -> jsonschema_rs.Validator:
    """Return the schema that documents are read by: the official one with mistakes corrected.

    3.2.0 asks a property without ``logicalType`` for what only a map needs. 3.0 is read by the
    schema of 3.1 without what 3.0 did not ask: a status, bounds of checks, and a ``metric`` where
    it said ``rule``; its exclusive bounds were flags.
    """
    schema = copy.deepcopy(odcs_schema("3.2.0" if version == "3.2.0" else "3.1.0"))
    definitions = schema["$defs"]
    branches = definitions["SchemaBaseProperty"]["allOf"]
    for branch in branches:
        if "required" in branch.get("then", {}):
            branch["if"]["required"] = ["logicalType"]
    if version.startswith("3.0."):
        operators = definitions["DataQualityOperators"]
        operators["anyOf"] = [*operators.pop("oneOf"), {}]
        del definitions["DataQualityLibrary"]["required"]
        schema["required"].remove("status")
        for branch in branches:
            options = branch.get("then", {}).get("properties", {}).get("logicalTypeOptions", {})
            for key in ("exclusiveMinimum", "exclusiveMaximum"):
                options.get("properties", {}).get(key, {}).pop("type", None)
    return jsonschema_rs.validator_for(schema)


def _is_about(branch: dict[str, Any], words: Iterable[str]) -> bool:
    """Return whether a condition of the schema is on one of the words."""
    properties = branch.get("if", {}).get("properties", {})
    return any(rule.get("const") in words for rule in properties.values())


def _spot(schema: dict[str, Any], place: str) -> tuple[dict[str, Any], str]:
    """Return the mapping around a place of the schema, and the key in it."""
    *way, key = place.split("/")
    for part in way:
        schema = schema[part]
    return schema, key
