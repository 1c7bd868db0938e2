"""A FLUID contract as a contract of the Open Data Contract Standard (ODCS), 3.1 or 3.2.

What describes the exposed data is carried, natively where the standard has a place for it and else
as a custom property of the same element. How the data is made and run, the standard does not say.
"""

import re
from collections import Counter
from dataclasses import dataclass

from fluid_build.contract.exports.odcs.custom_properties import custom_properties
from fluid_build.contract.exports.odcs.references import (
    Names,
    names_of_references,
    relationship,
)
from fluid_build.contract.exports.odcs.servers import servers_of
from fluid_build.contract.exports.odcs.versions import LATEST
from fluid_build.contract.exports.odcs.write_checks import TableChecks, table_checks
from fluid_build.contract.exports.tracking import Json, TrackedMapping, without_none
from fluid_build.contract.exports.type_names import odcs_type, rules_of, spelled, type_options
from fluid_build.contract.fluid import Expose, FluidContract
from fluid_build.contract.fluid.column import ContractColumn
from fluid_build.contract.keys import Keys, keys_of
from fluid_build.contract.lineage import Origins, origins_of, origins_of_column

NO_TYPE_NEEDED = "3.1.0"
"""The version in which a column may have no logical type: the schema of 3.2.0 asks for one."""
UNVERSIONED = "0.0.0"
UNSTATED = "unstated"
STATUS = {
    "preview": "draft",
    "active": "active",
    "deprecated": "deprecated",
    "retired": "retired",
}
PRODUCT_KEYS = ("consumes", "lineage", "schemaEvolution", "sovereignty")
EXPOSE_KEYS = ("policy", "semantics", "lifecycle")
COLUMN_KEYS = ("semanticType", "businessDefinition", "validationRules")
GRANT_KEYS = ("resources", "conditions")
LINKS = ("homepage", "runbook", "dictionary", "changeLog")
SERVICE = {
    "availability": "availability",
    "freshnessSLO": "freshness",
    "dataLossSLO": "dataLoss",
    "latencyP95": "latencyP95",
    "completenessTarget": "completeness",
    "errorBudget": "errorBudget",
}
_TIMESTAMP = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?([Zz]|[+-][0-9]{2}:[0-9]{2})"
)


@dataclass(frozen=True, slots=True)
class _Whole:
    """What each table needs of the whole contract."""

    contract: FluidContract
    version: str
    keys: tuple[Keys, ...]
    names: Names
    servers: list[str | None]
    is_versioned: bool
    sources: list[dict[str, list[str]]]


def odcs_document(contract: FluidContract, read: TrackedMapping, version: str) -> Json:
    """Return the ODCS document of a contract; ``read`` is the same contract as a document."""
    exposes = read.parts("exposes")
    servers = servers_of([expose.part("binding") for expose in exposes])
    keys = keys_of(contract)
    shared = _shared_version(contract)
    origins = origins_of(read.peek("lineage"))
    whole = _Whole(
        contract=contract,
        version=version,
        keys=keys,
        names=names_of_references(contract.exposes, keys),
        servers=servers.names,
        is_versioned=shared is not None,
        sources=[_sources_of_columns(e, origins) for e in contract.exposes],
    )
    lifecycle = read.part("lifecycle")
    document: Json = {
        "apiVersion": f"v{version}",
        "kind": "DataContract",
        "id": read.text("id"),
        "name": read.text("name"),
        "version": shared or UNVERSIONED,
        "status": _status(lifecycle, version),
        "domain": read.text("domain"),
        "description": _purpose(read),
        "tags": read.texts("tags"),
        **_ownership(read),
        "roles": _roles(read),
        "servers": servers.documents,
        "slaProperties": _service(read, lifecycle),
        "schema": [_table(expose, at, whole) for at, expose in enumerate(exposes)],
        "authoritativeDefinitions": _links(read.part("docs")),
        "contractCreatedTs": _created(read.part("metadata")),
    }
    document["customProperties"] = _product_properties(read)
    return without_none(document)


def best_version(contract: FluidContract) -> str:
    """Return the newest version that says the truth about the type of every column."""
    columns = (column for expose in contract.exposes for column in expose.contract.columns or ())
    has_unsayable = any(odcs_type(spelled(column.type)) is None for column in columns)
    return NO_TYPE_NEEDED if has_unsayable else LATEST


def _shared_version(contract: FluidContract) -> str | None:
    """Return the version that every expose has, if it is one."""
    versions = {expose.version for expose in contract.exposes}
    shared = versions.pop() if len(versions) == 1 else None
    return None if shared == UNVERSIONED else shared


def _status(lifecycle: TrackedMapping, version: str) -> str | None:
    state = lifecycle.text("state")
    if state is not None:
        return STATUS[state]
    return UNSTATED if version == "3.1.0" else None


def _purpose(read: TrackedMapping) -> Json | None:
    text = read.text("description")
    return None if text is None else {"purpose": text}


def _ownership(read: TrackedMapping) -> Json:
    """Return the owner as the team, and the ways to reach it as support channels."""
    owner = read.part("metadata").part("owner")
    email, slack = owner.text("email"), owner.text("slack")
    team = without_none(
        {
            "name": owner.text("team"),
            "customProperties": custom_properties({"oncall": owner.text("oncall")}),
        }
    )
    support: list[Json] = []
    if email is not None:
        support.append({"channel": email, "tool": "email", "url": f"mailto:{email}"})
    if slack is not None:
        support.append({"channel": slack, "tool": "slack"})
    return {"team": team or None, "support": support or None}


def _roles(read: TrackedMapping) -> list[Json] | None:
    """Return the grants of the access policy, one role a grant."""
    policy = read.part("accessPolicy")
    if not policy.peek("grants"):
        return None
    return [_role(grant) for grant in policy.parts("grants")]


def _role(grant: TrackedMapping) -> Json:
    permissions = grant.texts("permissions")
    own = {key: grant.take(key) for key in GRANT_KEYS}
    return without_none(
        {
            "role": grant.text("principal"),
            "access": ", ".join(permissions) if permissions else None,
            "customProperties": custom_properties(own),
        }
    )


def _service(read: TrackedMapping, lifecycle: TrackedMapping) -> list[Json] | None:
    """Return the promised service of each expose, and how long the data is kept."""
    promises: list[Json] = []
    retention = lifecycle.text("retention")
    if retention is not None:
        promises.append({"property": "retention", "value": retention})
    exposes = read.parts("exposes")
    ids = Counter(expose.peek("exposeId") for expose in exposes)
    for expose in exposes:
        name = expose.peek("exposeId")
        promised = expose.part("qos") if ids[name] == 1 else TrackedMapping(None)
        for ours, theirs in SERVICE.items():
            if ours in promised.value:
                value = promised.take(ours)
                promises.append({"property": theirs, "value": value, "element": name})
    return promises or None


def _links(docs: TrackedMapping) -> list[Json] | None:
    links = [(kind, docs.text(kind)) for kind in LINKS]
    return [{"url": url, "type": kind} for kind, url in links if url is not None] or None


def _created(metadata: TrackedMapping) -> str | None:
    is_time = _TIMESTAMP.fullmatch(str(metadata.peek("createdAt")))
    return metadata.text("createdAt") if is_time else None


def _product_properties(read: TrackedMapping) -> list[Json] | None:
    """Return what the standard has no place for about the product itself."""
    metadata = read.part("metadata")
    own: Json = {
        "version": read.text("fluidVersion"),
        "kind": read.text("kind"),
        "metadata": metadata.take_untouched() or None,
        "lifecycle": _untouched(read, "lifecycle"),
        "docs": _untouched(read, "docs"),
        "accessPolicy": _untouched(read, "accessPolicy"),
        **{key: read.take(key) for key in PRODUCT_KEYS},
    }
    return custom_properties(own, read.labels())


def _untouched(part: TrackedMapping, key: str) -> Json | None:
    """Return what is left of the mapping under a key, None where that is nothing."""
    return part.part(key).take_untouched() or None


def _table(expose: TrackedMapping, index: int, whole: _Whole) -> Json:
    keys, names = whole.keys[index], whole.names
    promise = expose.part("contract")
    checks = table_checks(promise, index, whole.contract.exposes, keys)
    composite = [r for r in keys.references if r.holds and len(r.columns) > 1]
    state = expose.part("lifecycle").peek("state")
    document: Json = {
        "id": names.tables.get(index),
        "name": expose.text("exposeId"),
        "physicalName": expose.part("binding").part("location").text("table"),
        "physicalType": expose.text("kind"),
        "logicalType": "object",
        "businessName": expose.text("title"),
        "description": expose.text("description"),
        "deprecated": True if whole.version != "3.1.0" and state == "deprecated" else None,
        "tags": expose.texts("tags"),
        "authoritativeDefinitions": _links(expose.part("docs")),
        "properties": _columns(promise, index, whole, checks),
        "relationships": [relationship(names, index, r, implied=False) for r in composite] or None,
        "quality": checks.table or None,
    }
    document["customProperties"] = _expose_properties(expose, promise, index, whole)
    return without_none(document)


def _expose_properties(
    expose: TrackedMapping, promise: TrackedMapping, index: int, whole: _Whole
) -> list[Json] | None:
    version = expose.text("version")
    own: Json = {
        "version": None if whole.is_versioned else version,
        "server": whole.servers[index],
        "dq": _untouched(promise, "dq"),
        "contract": promise.take_untouched() or None,
        "qos": _untouched(expose, "qos"),
        "docs": _untouched(expose, "docs"),
        **{key: expose.take(key) for key in EXPOSE_KEYS},
    }
    return custom_properties(own, expose.labels())


def _columns(
    promise: TrackedMapping, index: int, whole: _Whole, checks: TableChecks
) -> list[Json] | None:
    columns = whole.contract.exposes[index].contract.columns
    if columns is None:
        return None
    seen: set[str] = set()
    properties = []
    for column, read in zip(columns, promise.parts("schema"), strict=True):
        is_first = column.name not in seen
        seen.add(column.name)
        quality = checks.columns.get(column.name) if is_first else None
        keys = _key_flags(column, index, whole) if is_first else {}
        properties.append(_column(column, read, {**keys, "quality": quality}, whole.version))
    return properties


def _key_flags(column: ContractColumn, index: int, whole: _Whole) -> Json:
    """Return what the table's keys, references and sources say about one of its columns."""
    keys, name = whole.keys[index], column.name
    is_primary = keys.primary_holds and name in keys.primary
    single = [r for r in keys.references if r.holds and r.columns == (name,)]
    return {
        "id": whole.names.columns.get((index, name)),
        "primaryKey": True if is_primary else None,
        "primaryKeyPosition": keys.primary.index(name) + 1 if is_primary else None,
        "unique": True if (name,) in keys.unique else None,
        "transformSourceObjects": whole.sources[index].get(name) or None,
        "relationships": [relationship(whole.names, index, r, implied=True) for r in single]
        or None,
    }


def _column(column: ContractColumn, read: TrackedMapping, flags: Json, version: str) -> Json:
    type_ = spelled(column.type)
    own = {key: read.take(key) for key in COLUMN_KEYS}
    document: Json = {
        "id": flags.get("id"),
        "name": read.text("name"),
        "businessName": read.text("businessName"),
        "logicalType": odcs_type(type_) or (None if version == NO_TYPE_NEEDED else "string"),
        "logicalTypeOptions": type_options(type_, rules_of(column)) or None,
        "physicalType": read.text("type"),
        "description": read.text("description"),
        "required": read.flag("required"),
        "unique": flags.get("unique"),
        "primaryKey": flags.get("primaryKey"),
        "primaryKeyPosition": flags.get("primaryKeyPosition"),
        "classification": read.text("sensitivity"),
        "transformSourceObjects": flags.get("transformSourceObjects"),
        "tags": read.texts("tags"),
        "relationships": flags.get("relationships"),
        "quality": flags.get("quality"),
        "customProperties": custom_properties(
            own, read.labels(), {"precision": type_.precision, "scale": type_.scale}
        ),
    }
    return without_none(document)


def _sources_of_columns(expose: Expose, origins: Origins) -> dict[str, list[str]]:
    """Return, for each column of an expose, the source columns it's made from."""
    sources: dict[str, list[str]] = {}
    for column in expose.contract.columns or ():
        sources.setdefault(column.name, list(origins_of_column(column, expose, origins)))
    return sources
