"""Where data is stored: FLUID's bindings as the servers of ODCS, and back.

A binding is for one exposed thing, a server for all of them: bindings that differ in nothing but
the table share a server. What a kind of server has a key for stands there, the rest in custom
properties.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fluid_build.contract.exports.odcs.custom_properties import (
    KeptAsLabels,
    custom_properties,
    read_custom_properties,
)
from fluid_build.contract.exports.tracking import Json, TrackedMapping, without_none
from fluid_build.text import free_name

_S3 = re.compile(r"s3://([^/]+)/(.+)")
_KEYS: dict[str, dict[str, str]] = {
    "bigquery": {"project": "project", "dataset": "dataset"},
    "snowflake": {"account": "account", "database": "database", "schema": "schema"},
    "databricks": {"database": "catalog", "schema": "schema"},
    "duckdb": {"path": "database", "schema": "schema"},
    "kafka": {"gateway": "host"},
    "pubsub": {"project": "project"},
    "api": {"baseUrl": "location"},
    "local": {"path": "path"},
    "custom": {
        "account": "account",
        "project": "project",
        "dataset": "dataset",
        "database": "database",
        "schema": "schema",
        "path": "path",
        "region": "region",
        "baseUrl": "endpointUrl",
    },
}
"""For each kind of server, the keys of a FLUID location and the server's keys for them."""
_NEEDED = {
    "bigquery": ("project", "dataset"),
    "snowflake": ("account", "database", "schema"),
    "databricks": ("database", "schema"),
    "duckdb": ("path",),
    "kafka": ("gateway",),
    "pubsub": ("project",),
    "api": ("baseUrl",),
    "local": ("path",),
}
_OF_FORMAT = {
    "bigquery_table": "bigquery",
    "snowflake_table": "snowflake",
    "kafka_topic": "kafka",
    "pubsub_topic": "pubsub",
    "s3_file": "s3",
    "http_api": "api",
}
_PLATFORMS = {
    "gcp": ("bigquery", "pubsub", "cloudsql"),
    "aws": ("s3", "athena", "glue", "redshift", "kinesis"),
    "azure": ("azure", "synapse"),
    "snowflake": ("snowflake",),
    "databricks": ("databricks",),
    "kafka": ("kafka",),
    "local": ("local", "duckdb"),
}
_FORMATS = {"parquet": "parquet", "csv": "csv", "json": "json", "delta": "delta_table"}
_OWN = ("platform", "format", "location", "icebergConfig", "properties", "tags")


@dataclass(frozen=True, slots=True)
class Servers:
    """The servers of a contract, and for each expose the name of its own; None if there is one."""

    documents: list[Json]
    names: list[str | None]


def servers_of(bindings: Sequence[TrackedMapping]) -> Servers:
    """Return servers for bindings; takes all of each binding but its table."""
    known: dict[str, str] = {}
    documents: list[Json] = []
    names = []
    for binding in bindings:
        identity = json.dumps(_without_table(binding.value), sort_keys=True)
        server = _server(binding)
        if identity not in known:
            known[identity] = free_name(str(server["server"]), known.values())
            documents.append({**server, "server": known[identity]})
        names.append(known[identity])
    alone = len(documents) == 1
    return Servers(documents, [None if alone else name for name in names])


def _without_table(binding: Mapping[str, object]) -> Json:
    location = binding.get("location")
    address = (
        {k: v for k, v in location.items() if k != "table"} if isinstance(location, dict) else {}
    )
    return {**binding, "location": address}


def _server(binding: TrackedMapping) -> Json:
    location = binding.part("location")
    type_ = _type(binding, location)
    native = _native(type_, location)
    if type_ == "local":
        native["format"] = binding.peek("format")
    own = {key: binding.take(key) for key in _OWN if key != "location"}
    own["location"] = {k: location.take(k) for k in location.value if _remains(location, k)} or None
    words = binding.labels()
    name = _name(words or {}, binding)
    return {
        "server": name,
        "type": type_,
        **native,
        "customProperties": custom_properties(own, words),
    }


def _name(labels: Mapping[str, str], binding: TrackedMapping) -> str:
    kind = binding.part("properties").peek("kind")
    named = labels.get("server") or kind or binding.peek("platform")
    return named if isinstance(named, str) else "server"


def _native(type_: str, location: TrackedMapping) -> Json:
    if type_ == "s3":
        return {"location": f"s3://{location.text('bucket')}/{location.text('path')}"}
    values = {theirs: location.text(ours) for ours, theirs in _KEYS[type_].items()}
    return {key: value for key, value in values.items() if value is not None}


def _remains(location: TrackedMapping, key: str) -> bool:
    return key != "table" and not location.touched(key)


def _type(binding: TrackedMapping, location: TrackedMapping) -> str:
    """Return the kind of server whose needs the location meets."""
    type_ = _OF_FORMAT.get(str(binding.peek("format")))
    platform = binding.peek("platform")
    if type_ == "s3":
        return "s3" if _is_s3(location.peek("bucket"), location.peek("path")) else "custom"
    if type_ is None and platform == "databricks":
        type_ = "databricks"
    if type_ is None and platform == "local":
        kind = binding.part("properties").peek("kind")
        type_ = "duckdb" if kind == "duckdb" else "local"
    if type_ is None or not all(isinstance(location.peek(k), str) for k in _NEEDED[type_]):
        return "custom"
    return type_


def _is_s3(bucket: object, path: object) -> bool:
    """Return whether bucket and path can be read back from one address."""
    match = _S3.fullmatch(f"s3://{bucket}/{path}")
    return match is not None and match.groups() == (bucket, path)


def read_binding(server: TrackedMapping, kept: KeptAsLabels) -> Json:
    """Take a server as the binding of the data on it, which lacks the table."""
    own, labels = read_custom_properties(server, _OWN)
    type_ = server.text("type") or "custom"
    location = _read_location(server, type_)
    if "platform" in own and "format" in own:
        server.take("server")
        if type_ == "local":
            server.take("format")
        more = own.get("location")
        binding = {**own, "location": {**location, **(more if isinstance(more, dict) else {})}}
    else:
        binding = {
            "platform": next((p for p, kinds in _PLATFORMS.items() if type_ in kinds), "other"),
            "format": _read_format(server, type_),
            "location": location,
            "properties": {"kind": type_, **_read_settings(server)},
        }
    kept.keep_rest(server, labels)
    return {**binding, "labels": labels} if labels else binding


def _read_location(server: TrackedMapping, type_: str) -> Json:
    match = _S3.fullmatch(str(server.peek("location")))
    if type_ == "s3" and match is not None:
        server.take("location")
        return {"bucket": match[1], "path": match[2]}
    keys = {**_KEYS["custom"], "catalog": "catalog", **_KEYS.get(type_, {})}
    location = {ours: server.text(theirs) for ours, theirs in keys.items()}
    catalog = location.pop("catalog", None)
    if catalog is not None and location.get("database") is None:
        location["database"] = catalog
    return without_none(location)


def _read_format(server: TrackedMapping, type_: str) -> str:
    """Return FLUID's word for what is stored there, ``other`` if it has none."""
    of_type = next((ours for ours, theirs in _OF_FORMAT.items() if theirs == type_), None)
    if of_type is not None and type_ != "s3":
        return of_type
    stored = _FORMATS.get(str(server.peek("format")).lower())
    if stored is not None:
        server.take("format")
    return stored or of_type or "other"


def _read_settings(server: TrackedMapping) -> Json:
    """Take what else a server says about how it's reached: host, port, warehouse …"""
    described = ("id", "server", "environment", "description")
    return {
        key: server.take(key)
        for key, value in server.value.items()
        if key not in described and not server.touched(key) and not isinstance(value, dict | list)
    }
