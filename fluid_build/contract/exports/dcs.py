"""A FLUID contract as a contract of the Data Contract Specification (DCS) 1.2.1.

Models and fields take what they have no key for in ``config``; the contract itself takes it in
``info``. https://datacontract.com
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fluid_build.contract.exports.checks import check
from fluid_build.contract.exports.format import ExportFormat
from fluid_build.contract.exports.official import (
    model_findings,
    packaged_validator,
    published_model,
    schema_findings,
)
from fluid_build.contract.exports.tracking import Json, TrackedMapping, without_none
from fluid_build.contract.exports.type_names import dcs_type, rules_of, spelled, type_options
from fluid_build.contract.fluid import Expose, FluidContract
from fluid_build.contract.fluid.column import ContractColumn
from fluid_build.contract.keys import (
    Keys,
    TableReference,
    column_names,
    columns_of_rule,
    keys_of,
)
from fluid_build.contract.lineage import Origins, origins_of, origins_of_column
from fluid_build.text import free_name

DCS_VERSION = "1.2.1"
_PACKAGE = "datacontract_specification"
_NOT_IN_NAMES = re.compile(r"[^a-zA-Z0-9_-]+")
_KINDS = {"table": "table", "view": "view"}
_LINKS = ("homepage", "runbook", "dictionary", "changeLog")
# Both narrower than the standards that DCS requires, so that every validator accepts them.
_URI = re.compile(
    r"https?://[A-Za-z0-9.-]+(:[0-9]{1,5})?(/[\w.~/-]*)?(\?[\w.~=&/-]*)?(#[\w.~/-]*)?", re.ASCII
)
_EMAIL = re.compile(r"\w+([.+-]\w+)*@[A-Za-z0-9]+([.-][A-Za-z0-9]+)*\.[A-Za-z]{2,}", re.ASCII)
_S3_PART = re.compile(r"[\w.~-]+(/[\w.~-]+)*", re.ASCII)
_UNVERSIONED = "0.0.0"
_SERVERS: dict[str, dict[str, str]] = {
    "bigquery": {"project": "project", "dataset": "dataset"},
    "snowflake": {"account": "account", "database": "database", "schema": "schema"},
    "databricks": {"database": "catalog", "schema": "schema"},
    "duckdb": {"path": "database", "database": "catalog", "schema": "schema"},
    "kafka": {"gateway": "host", "topic": "topic"},
    "pubsub": {"project": "project", "topic": "topic"},
    "local": {"path": "path"},
    "s3": {},
    "custom": {},
}
"""For each type of server, the keys of a FLUID location that it has keys for, and those keys."""
_NEEDED = {"duckdb": ("path",)}
"""The keys that a type of server cannot do without, where those are not all of its keys."""
_OF_FORMAT = {
    "bigquery_table": "bigquery",
    "snowflake_table": "snowflake",
    "kafka_topic": "kafka",
    "pubsub_topic": "pubsub",
    "s3_file": "s3",
}
_FIELD_KEPT = ("semanticType", "businessDefinition", "validationRules", "labels")
_PRODUCT_KEPT = ("sovereignty", "lineage", "consumes", "accessPolicy", "schemaEvolution")


@dataclass(frozen=True, slots=True)
class _Whole:
    """What each model needs of the whole contract."""

    contract: FluidContract
    keys: tuple[Keys, ...]
    names: list[str]
    origins: Origins


def dcs_document(contract: FluidContract, read: TrackedMapping, _version: str) -> Json:
    """Return the DCS document of a contract; ``read`` is the same contract as a document."""
    names = _model_names(contract.exposes)
    whole = _Whole(contract, keys_of(contract), names, origins_of(read.peek("lineage")))
    exposes = read.parts("exposes")
    lifecycle = read.part("lifecycle")
    retention = lifecycle.text("retention")
    links = _links(read.part("docs"))
    notice = lifecycle.part("deprecationPolicy").text("noticePeriod")
    models = {
        name: _model(expose, at, whole)
        for at, (name, expose) in enumerate(zip(whole.names, exposes, strict=True))
    }
    return without_none(
        {
            "dataContractSpecification": DCS_VERSION,
            "id": read.text("id"),
            "info": _info(read, lifecycle),
            "servers": _servers(exposes),
            "terms": {"noticePeriod": notice} if notice is not None else None,
            "models": models,
            "servicelevels": {"retention": {"period": retention}} if retention else None,
            "links": links or None,
            "tags": read.texts("tags"),
        }
    )


def _model_names(exposes: Sequence[Expose]) -> list[str]:
    """Return a name for each expose that DCS allows as the name of a model, no two the same."""
    names: list[str] = []
    for expose in exposes:
        names.append(free_name(_NOT_IN_NAMES.sub("_", expose.expose_id), names))
    return names


def _info(read: TrackedMapping, lifecycle: TrackedMapping) -> Json:
    """Return the product's name, owner and place, with FLUID's own keys next to those of DCS."""
    metadata = read.part("metadata")
    owner = metadata.part("owner")
    versions = {str(e.peek("version") or _UNVERSIONED) for e in read.parts("exposes")}
    is_address = _EMAIL.fullmatch(str(owner.peek("email")))
    contact = without_none(
        {
            "email" if is_address else "name": owner.text("email"),
            "slack": owner.text("slack"),
            "oncall": owner.text("oncall"),
        }
    )
    return without_none(
        {
            "title": read.text("name"),
            "version": versions.pop() if len(versions) == 1 else _UNVERSIONED,
            "status": lifecycle.text("state"),
            "description": read.text("description"),
            "owner": owner.text("team"),
            "contact": contact or None,
            "fluidVersion": read.text("fluidVersion"),
            "kind": read.text("kind"),
            "domain": read.text("domain"),
            "labels": read.take("labels"),
            "metadata": metadata.take_untouched() or None,
            "lifecycle": lifecycle.take_untouched() or None,
            "docs": read.part("docs").take_untouched() or None,
            **{key: read.take(key) for key in _PRODUCT_KEPT},
        }
    )


def _links(docs: TrackedMapping) -> dict[str, str]:
    """Return the links that are addresses, as DCS asks."""
    links = {}
    for kind in _LINKS:
        if _URI.fullmatch(str(docs.peek(kind))):
            links[kind] = docs.text(kind) or ""
    return links


def _servers(exposes: Sequence[TrackedMapping]) -> Json:
    """Return one server for all bindings that differ only in the table, named by its type."""
    servers: Json = {}
    for expose in exposes:
        server = _server(expose.part("binding"))
        if server not in servers.values():
            servers[free_name(str(server["type"]), servers)] = server
    return servers


def _server(binding: TrackedMapping) -> Json:
    location, stored = binding.part("location"), binding.text("format")
    type_ = _server_type(binding, location, str(stored))
    native = {theirs: location.text(ours) for ours, theirs in _SERVERS[type_].items()}
    if type_ == "local":
        native["format"] = stored
    if type_ == "s3":
        native["location"] = f"s3://{location.peek('bucket')}/{location.peek('path')}"
    own_keys = ("icebergConfig", "properties", "tags", "labels")
    more = {k: location.take(k) for k in location.value if k != "table" and not location.touched(k)}
    return {
        **without_none({"type": type_, "platform": binding.text("platform"), "binding": stored}),
        **without_none(native),
        **more,
        **{key: binding.take(key) for key in own_keys if key in binding.value},
    }


def _server_type(binding: TrackedMapping, location: TrackedMapping, stored: str) -> str:
    """Return the type whose needs the location meets, else ``custom``, which needs nothing."""
    platform = str(binding.peek("platform"))
    type_ = _OF_FORMAT.get(stored, platform)
    if platform == "local" and binding.part("properties").peek("kind") == "duckdb":
        type_ = "duckdb"
    known = _NEEDED.get(type_) or tuple(_SERVERS.get(type_, ("?",)))
    needed = ("bucket", "path") if type_ == "s3" else known
    if type_ == "s3" and not all(_S3_PART.fullmatch(str(location.peek(key))) for key in needed):
        return "custom"
    return type_ if all(isinstance(location.peek(key), str) for key in needed) else "custom"


def _model(expose: TrackedMapping, index: int, whole: _Whole) -> Json:
    name, keys = whole.names[index], whole.keys[index]
    promise = expose.part("contract")
    kind, title = expose.text("kind"), expose.text("title")
    expose_id, version = expose.text("exposeId"), expose.text("version")
    config = {
        "exposeId": expose_id if expose_id != name else None,
        "kind": kind,
        "version": version,
        "physicalName": expose.part("binding").part("location").text("table"),
        **{key: expose.take(key) for key in ("labels", "tags", "qos", "policy", "lifecycle")},
        **{key: expose.take(key) for key in ("semantics", "docs")},
    }
    checks = _checks(promise, index, whole)
    fields = _fields(promise, index, whole, checks)
    config["references"] = _composite_references(keys, whole) or None
    config["dq"] = promise.part("dq").take_untouched() or None
    config["contract"] = promise.take_untouched() or None
    return without_none(
        {
            "title": title,
            "description": expose.text("description"),
            "type": _KINDS.get(str(kind), "object"),
            "fields": fields,
            "primaryKey": list(keys.primary)
            if keys.primary_holds and len(keys.primary) > 1
            else None,
            "quality": checks.get(None),
            "config": without_none(config) or None,
        }
    )


def _composite_references(keys: Keys, whole: _Whole) -> list[Json]:
    """Return the references over several columns, which DCS has no key for."""
    return [
        {
            "columns": list(reference.columns),
            "model": whole.names[reference.expose],
            "toColumns": list(reference.to_columns),
        }
        for reference in keys.references
        if len(reference.columns) > 1
    ]


def _fields(
    promise: TrackedMapping, index: int, whole: _Whole, checks: Mapping[str | None, list[Json]]
) -> Json | None:
    """Return the fields by name; of two columns of one name, DCS can say the first."""
    columns = whole.contract.exposes[index].contract.columns
    if columns is None:
        return None
    fields: Json = {}
    for column, read in zip(columns, promise.parts("schema"), strict=True):
        if column.name not in fields:
            read.take("name")
            quality: Json = {"quality": checks[column.name]} if column.name in checks else {}
            fields[column.name] = _field(column, read, index, whole) | quality
    return fields


def _field(column: ContractColumn, read: TrackedMapping, index: int, whole: _Whole) -> Json:
    keys, type_ = whole.keys[index], spelled(column.type)
    references = [r for r in keys.references if r.columns == (column.name,)]
    single = [r for r in references if r.holds]
    # A reference with known exceptions stays in `config`; its rule alone checks it.
    config_references = [*single[1:], *(r for r in references if not r.holds)]
    sensitivity = read.text("sensitivity")
    options = type_options(type_, rules_of(column))
    bounds = {k: v for k, v in options.items() if not isinstance(v, str) or k == "pattern"}
    config = {
        "physicalType": read.text("type"),
        **{key: read.take(key) for key in _FIELD_KEPT},
        "references": [_pointer(r, whole) for r in config_references] or None,
    }
    return without_none(
        {
            "title": read.text("businessName"),
            "type": dcs_type(type_),
            "description": read.text("description"),
            "required": read.flag("required"),
            "unique": True if (column.name,) in keys.unique else None,
            "primaryKey": True if keys.primary_holds and keys.primary == (column.name,) else None,
            "references": _pointer(single[0], whole) if single else None,
            "precision": type_.precision,
            "scale": type_.scale,
            **bounds,
            "pii": True if sensitivity == "pii" else None,
            "classification": sensitivity,
            "tags": read.texts("tags"),
            "lineage": _lineage(
                origins_of_column(column, whole.contract.exposes[index], whole.origins)
            ),
            "config": without_none(config),
        }
    )


def _pointer(reference: TableReference, whole: _Whole) -> str:
    return f"{whole.names[reference.expose]}.{reference.to_columns[0]}"


def _lineage(origins: Sequence[str]) -> Json | None:
    """Return the source columns of a column, each ``table.column``."""
    fields = [name.rpartition(".") for name in origins]
    inputs = [
        {"namespace": "source", "name": table_name, "field": name} for table_name, _, name in fields
    ]
    return {"inputFields": inputs} if inputs else None


def _checks(promise: TrackedMapping, index: int, whole: _Whole) -> dict[str | None, list[Json]]:
    """Return the checks of each field by its name, and under None those of the model."""
    expose = whole.contract.exposes[index]
    names = column_names(expose)
    references = {r.rule: r for r in whole.keys[index].references}
    read = promise.part("dq").parts("rules") if expose.rules else []
    by_place: dict[str | None, list[Json]] = {}
    for rule, part in zip(expose.rules, read, strict=True):
        columns = columns_of_rule(rule, names)
        native = check(rule, columns, expose, references.get(rule.id), whole.contract.exposes)
        place = columns[0] if len(columns) == 1 else None
        by_place.setdefault(place, []).append(_check(part, native))
    if promise.peek("quality"):
        by_place.setdefault(None, []).extend(
            {"type": "custom", "engine": "fluid-expression", **part.take_untouched()}
            for part in promise.parts("quality")
        )
    return by_place


def _check(rule: TrackedMapping, native: Json) -> Json:
    """Return a check with all of FLUID's keys for the rule; DCS allows further keys."""
    description = rule.text("description")
    if native["type"] == "text" and description is None:
        description = f"{rule.peek('type')}: {rule.peek('id')}"
    own = {
        "name": rule.text("id"),
        "dimension": rule.text("type"),
        **{key: rule.take(key) for key in ("severity", "selector", "threshold", "operator")},
        **{key: rule.take(key) for key in ("window", "tags", "labels")},
    }
    return without_none({**native, "description": description, **own})


def _findings(_version: str, document: Json) -> tuple[str, ...]:
    """Return what the official schema and model have against a document; empty if nothing."""
    return schema_findings(packaged_validator(_PACKAGE), document) or model_findings(
        lambda: published_model(_PACKAGE, "DataContractSpecification"), document
    )


DCS = ExportFormat(
    name="dcs",
    title=f"the Data Contract Specification {DCS_VERSION}",
    notes="What the format can't represent goes into `config` and `info`.",
    versions=(DCS_VERSION,),
    write=dcs_document,
    findings=_findings,
)
