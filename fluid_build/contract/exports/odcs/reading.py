"""A contract of the Open Data Contract Standard (3.0, 3.1 or 3.2) as a FLUID contract.

What FLUID wrote comes back as it was. Of any other document, what FLUID has no key for becomes a
label where it is one value, and is told as unsaid where it is more.
"""

from dataclasses import dataclass
from typing import get_args

from pydantic import TypeAdapter, ValidationError

from fluid_build.contract.exports.formats import Unsaid, summed, without_infinite
from fluid_build.contract.exports.odcs.custom_properties import Custom, read_custom
from fluid_build.contract.exports.odcs.read_keys import reconciled
from fluid_build.contract.exports.odcs.read_tables import (
    ReadTable,
    links,
    read_table,
    tags_of,
    words,
)
from fluid_build.contract.exports.odcs.servers import binding_of
from fluid_build.contract.exports.odcs.versions import check_odcs
from fluid_build.contract.exports.odcs.writing import PRODUCT_KEPT, SERVICE, STATUS, UNVERSIONED
from fluid_build.contract.exports.tracking import Json, TrackedMapping, said
from fluid_build.contract.fluid import FluidContract
from fluid_build.contract.fluid.common import Identifier, IsoDuration, SemVer
from fluid_build.contract.fluid.policy import Permission
from fluid_build.contract.fluid.quality import ExposeQoS
from fluid_build.contract.structure import Path
from fluid_build.errors import ContractError
from fluid_build.modeling.identifiers import identifier
from fluid_build.text import free_name

_ROOT_OWN = ("version", "kind", "metadata", "lifecycle", "docs", "accessPolicy", *PRODUCT_KEPT)
_STATES = {word: state for state, word in STATUS.items()} | {
    "proposed": "preview",
    "preview": "preview",
    "development": "preview",
    "production": "active",
}
_IDENTIFIER: TypeAdapter[str] = TypeAdapter(Identifier)
_DURATION: TypeAdapter[str] = TypeAdapter(IsoDuration)
_VERSION: TypeAdapter[str] = TypeAdapter(SemVer)
_NOWHERE: Json = {"platform": "other", "format": "other", "location": {}}


@dataclass(frozen=True, slots=True)
class Imported:
    """A valid FLUID contract, and what of the document FLUID does not say."""

    contract: FluidContract
    version: str
    left: tuple[Path, ...]
    unsaid: tuple[Unsaid, ...]


def import_odcs(document: object) -> Imported:
    """The contract of an ODCS document.

    ContractError for another kind of document, a version that cannot be read (2.x among them), a
    document that the official validator refuses, and one without a table.
    """
    version = check_odcs(document)
    finite, broken = without_infinite(document if isinstance(document, dict) else {})
    read = TrackedMapping(finite)
    for key in ("apiVersion", "kind"):
        read.take(key)
    custom = read_custom(read, _ROOT_OWN)
    tables = _tables(read)
    product = _product(read, custom, [table.expose for table in tables])
    contract = reconciled(product, tables)
    left = (*read.left(), *broken)
    lost = [*read.unsaid(), *((path, 1) for path in broken)]
    return Imported(contract, version, left, summed(lost))


def _tables(read: TrackedMapping) -> list[ReadTable]:
    parts = read.parts("schema")
    if not parts:
        raise ContractError(
            "The document describes no table (`schema` is empty or missing).",
            hint="A FLUID contract exposes at least one; give the document a schema.",
        )
    names = [str(part.peek("name")) for part in parts]
    taken = {name for name in names if _fits(_IDENTIFIER, name)}
    servers = {str(s.peek("server")): s for s in reversed(read.parts("servers"))}
    bindings: dict[str, Json] = {}
    first = next(reversed(servers), None)
    tables = []
    for part, name in zip(parts, names, strict=True):
        server = _server_name(part) or first
        if server in servers and server not in bindings:
            bindings[server] = binding_of(servers[server])
        binding = bindings.get(server or "", _NOWHERE)
        expose_id = name if name in taken else free_name(identifier(name), taken)
        taken.add(expose_id)
        tables.append(read_table(part, expose_id, binding))
    return tables


def _server_name(table: TrackedMapping) -> str | None:
    """The server that FLUID noted for a table, where a contract has several."""
    for item in table.parts("customProperties"):
        if item.peek("property") == "fluid.server":
            return str(item.peek("value"))
    return None


def _product(read: TrackedMapping, custom: Custom, exposes: list[Json]) -> Json:
    """Everything of the contract; adds to the exposes what is said of them at the top."""
    id_, name = str(read.text("id")), read.text("name")
    labels = _labels(read, custom, id_)
    lifecycle = _lifecycle(read, custom, labels)
    metadata = _metadata(read, custom)
    policy = _access_policy(read, custom)
    _add_service(read, exposes)
    _add_version(read, exposes, labels)
    purpose = read.part("description").text("purpose")
    return said(
        {
            "fluidVersion": "0.7.2",
            "kind": custom.own.get("kind", "DataProduct"),
            "id": id_ if _fits(_IDENTIFIER, id_) else identifier(id_),
            "name": name or id_ or "unnamed",
            "description": purpose,
            "domain": read.text("domain"),
            "tags": tags_of(read),
            "labels": labels or custom.labels,
            "metadata": metadata,
            "exposes": exposes,
            "lifecycle": lifecycle,
            "docs": links(read, _as_mapping(custom.own.get("docs"))),
            "accessPolicy": policy,
            **{key: custom.own.get(key) for key in PRODUCT_KEPT},
        }
    )


def _labels(read: TrackedMapping, custom: Custom, id_: str) -> dict[str, str]:
    described = words(read.part("description"), ("usage", "limitations"))
    found = {**described, **words(read, ("tenant", "dataProduct")), **(custom.labels or {})}
    if not _fits(_IDENTIFIER, id_):
        found.setdefault("id", id_)
    return found


def _lifecycle(read: TrackedMapping, custom: Custom, labels: dict[str, str]) -> Json | None:
    """The stage of life; a status that FLUID does not know stays as a label."""
    kept = _as_mapping(custom.own.get("lifecycle"))
    status = read.text("status")
    state = _STATES.get((status or "").lower())
    found: Json = {} if state is None else {"state": state}
    if status is not None and state is None and status != "unstated":
        labels.setdefault("status", status)
    for promised in read.parts("slaProperties"):
        is_whole = promised.peek("property") == "retention" and "element" not in promised.value
        if is_whole and _fits(_DURATION, promised.peek("value")) and "retention" not in found:
            promised.take("property")
            found["retention"] = promised.take("value")
    return {**found, **(kept or {})} if found or kept is not None else None


def _metadata(read: TrackedMapping, custom: Custom) -> Json:
    team = read.part("team")
    on_call = read_custom(team, ("oncall",)).own.get("oncall")
    owner: Json = {"team": team.text("name"), "oncall": on_call}
    for channel in read.parts("support"):
        _add_channel(channel, owner)
    _add_owning_member(read, owner)
    kept = _as_mapping(custom.own.get("metadata")) or {}
    created = read.text("contractCreatedTs")
    return {**said({"createdAt": created}), **kept, "owner": said(owner)}


def _add_channel(channel: TrackedMapping, owner: Json) -> None:
    """A way to reach the owner, by its tool; an e-mail's address says more than its name."""
    tool, url = channel.peek("tool"), str(channel.peek("url"))
    if tool not in ("email", "slack") or owner.get(str(tool)) is not None:
        return
    channel.take("tool")
    if tool == "email" and url.startswith("mailto:"):
        channel.take("url")
        owner["email"] = url.removeprefix("mailto:")
        if channel.peek("channel") == owner["email"]:
            channel.take("channel")
    else:
        owner[str(tool)] = channel.text("channel")


def _add_owning_member(read: TrackedMapping, owner: Json) -> None:
    """In the team of 3.0, which has no name, the owner is the member of that role."""
    for member in read.parts("team"):
        name = member.peek("username")
        if owner["team"] is None and "owner" in str(member.peek("role")).lower():
            owner["team"] = member.text("name") or name
            for key in ("username", "role"):
                if key == "role" or owner["team"] == name:
                    member.take(key)


def _access_policy(read: TrackedMapping, custom: Custom) -> Json | None:
    """Who may do what, one grant a role; access in other words than FLUID's is not taken."""
    grants: list[Json] = []
    for role in read.parts("roles"):
        own = read_custom(role, ("permissions", "resources", "conditions")).own
        permissions = str(role.peek("access")).split(", ")
        if all(word in get_args(Permission) for word in permissions):
            role.take("access")
            own = {"permissions": permissions, **own}
        grants.append({"principal": role.text("role"), **own})
    kept = _as_mapping(custom.own.get("accessPolicy"))
    if not grants:
        return kept
    return {"grants": grants, **(kept or {})}


def _add_service(read: TrackedMapping, exposes: list[Json]) -> None:
    """The promised service of single tables, as far as FLUID has the word and the value fits."""
    by_id = {str(expose["exposeId"]): expose for expose in reversed(exposes)}
    known = {theirs: ours for ours, theirs in SERVICE.items()}
    for promised in read.parts("slaProperties"):
        key = known.get(str(promised.peek("property")))
        expose = by_id.get(str(promised.peek("element")))
        value = promised.peek("value")
        if key is None or expose is None or not _is_service(key, value):
            continue
        for word in ("property", "element", "value"):
            promised.take(word)
        old = expose.get("qos")
        expose["qos"] = {**(old if isinstance(old, dict) else {}), key: value}


def _add_version(read: TrackedMapping, exposes: list[Json], labels: dict[str, str]) -> None:
    """The contract's version is that of everything it exposes."""
    version = read.text("version")
    if version is None or version == UNVERSIONED:
        return
    if not _fits(_VERSION, version):
        labels.setdefault("version", version)
        return
    for expose in exposes:
        expose.setdefault("version", version)


def _is_service(key: str, value: object) -> bool:
    try:
        ExposeQoS.model_validate({key: value}, strict=True, by_alias=True, by_name=False)
    except ValidationError:
        return False
    return True


def _fits(kind: TypeAdapter[str], value: object) -> bool:
    """Whether a value is of one of the contract's scalar types."""
    try:
        kind.validate_python(value, strict=True)
    except ValidationError:
        return False
    return True


def _as_mapping(value: object) -> Json | None:
    return dict(value) if isinstance(value, dict) else None
