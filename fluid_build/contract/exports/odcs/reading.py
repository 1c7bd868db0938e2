"""A contract of the Open Data Contract Standard (3.0, 3.1 or 3.2) as a FLUID contract.

What FLUID has a key for is read natively; everything else is kept as a label of the element it's
about, and goes back out as a custom property.
"""

from collections.abc import Sequence
from typing import cast

from fluid_build.contract.exports.format import Imported, summed, without_infinite
from fluid_build.contract.exports.odcs.custom_properties import (
    KeptAsLabels,
    Labels,
    read_custom_properties,
)
from fluid_build.contract.exports.odcs.read_checks import prefer_native
from fluid_build.contract.exports.odcs.read_references import ReferenceTargets
from fluid_build.contract.exports.odcs.read_tables import (
    ReadTable,
    Surroundings,
    read_links,
    read_table,
    read_tags,
)
from fluid_build.contract.exports.odcs.servers import read_binding
from fluid_build.contract.exports.odcs.versions import check_odcs
from fluid_build.contract.exports.odcs.writing import (
    GRANT_KEYS,
    PRODUCT_KEYS,
    SERVICE,
    STATUS,
    UNSTATED,
    UNVERSIONED,
)
from fluid_build.contract.exports.tracking import Json, TrackedMapping, without_none
from fluid_build.contract.fluid import FluidContract
from fluid_build.contract.fluid.common import Identifier, IsoDuration, SemVer, fits
from fluid_build.contract.fluid.sections import PERMISSIONS, SECTIONS
from fluid_build.contract.keys import keys_of, names_label
from fluid_build.contract.lineage import Origins, origins_of
from fluid_build.contract.validation import parse_contract
from fluid_build.errors import ContractError
from fluid_build.modeling.identifiers import identifier
from fluid_build.text import free_name

# Keys and references of ODCS that no rule or label of FLUID has yet, as rules.


def add_keys(contract: FluidContract, tables: Sequence[ReadTable]) -> None:
    """Add to the exposes of the tables the keys and references that the contract lacks."""
    for table, keys in zip(tables, keys_of(contract), strict=True):
        primary = tuple(name for _, name in sorted(table.primary, key=lambda key: key[0]))
        if primary and primary != keys.primary:
            labels = cast(Labels, table.expose.setdefault("labels", {}))
            labels["primary-key"] = names_label(primary)
            _add_rule(table, "primary_key", primary, {"key": "primary"})
        for name in table.unique:
            if (name,) not in {*keys.unique, primary}:
                _add_rule(table, f"{identifier(name)}.unique", (name,), {})
        known = {(r.columns, r.expose, r.to_columns) for r in keys.references}
        for reference in table.references:
            columns, to_columns = reference.columns, reference.to_columns
            if (columns, reference.target, to_columns) not in known:
                target = str(tables[reference.target].expose["exposeId"])
                words = {"rule": "reference", "to-table": target}
                words["to-columns"] = names_label(to_columns)
                name = f"{identifier(' '.join(columns))}_to_{target}.reference"
                _add_rule(table, name, columns, words)


def _add_rule(table: ReadTable, name: str, columns: tuple[str, ...], words: Labels) -> None:
    """Add a rule that every row has to keep."""
    promise = cast(Json, table.expose["contract"])
    dq = cast(Json, promise.setdefault("dq", {}))
    rules = cast(list[Json], dq.setdefault("rules", []))
    labels = {**words, **({"columns": names_label(columns)} if len(columns) > 1 else {})}
    rule: Json = {
        "id": free_name(f"{table.expose['exposeId']}.{name}", [str(r["id"]) for r in rules]),
        "type": "accuracy" if "rule" in words else "uniqueness",
        "selector": ", ".join(columns),
        "threshold": 1,
        "operator": ">=",
        "severity": "error",
    }
    rules.append({**rule, "labels": labels} if labels else rule)


_OWN_KEYS = ("version", "kind", "metadata", "lifecycle", "docs", "accessPolicy", *PRODUCT_KEYS)
_STATES = {word: state for state, word in STATUS.items()} | {
    "proposed": "preview",
    "preview": "preview",
    "development": "preview",
    "production": "active",
}
_NOWHERE: Json = {"platform": "other", "format": "other", "location": {}}


def import_odcs(document: object) -> Imported:
    """Return the contract of an ODCS document.

    ContractError for another kind of document, a version that can't be read (2.x among them), a
    document that the official validator refuses, and one without a table.
    """
    version = check_odcs(document)
    finite, broken = without_infinite(document if isinstance(document, dict) else {})
    read = TrackedMapping(finite)
    kept = KeptAsLabels([(path, 1) for path in broken])
    own, labels = read_custom_properties(read, _OWN_KEYS)
    tables = _read_tables(read, origins_of(own.get("lineage")), kept)
    product = _read_product(read, own, labels, [table.expose for table in tables], kept)
    prefer_native(parse_contract(product), [table.checks for table in tables])
    add_keys(parse_contract(product), tables)
    return Imported(parse_contract(product), version, summed(kept.paths))


def _read_tables(read: TrackedMapping, origins: Origins, kept: KeptAsLabels) -> list[ReadTable]:
    parts = read.parts("schema")
    if not parts:
        raise ContractError(
            "The document describes no tables (`schema` is empty or missing).",
            hint="A FLUID contract needs at least one table. Add a schema to the document.",
        )
    names = [str(part.peek("name")) for part in parts]
    expose_ids = _expose_ids(names)
    surroundings = Surroundings(ReferenceTargets.of(parts), origins, kept)
    servers = {str(part.peek("server")): part for part in reversed(read.parts("servers"))}
    first = next(reversed(servers), "")
    bindings: dict[str, Json] = {}
    tables = []
    for index, (part, expose_id) in enumerate(zip(parts, expose_ids, strict=True)):
        server = _server_name(part) or first
        if server in servers and server not in bindings:
            bindings[server] = read_binding(servers[server], kept)
        binding = bindings.get(server, _NOWHERE)
        tables.append(read_table(part, index, expose_id, binding, surroundings))
    return tables


def _expose_ids(names: list[str]) -> list[str]:
    """Return an id for each table: its name, respelled where FLUID doesn't allow it as an id."""
    used = {name for name in names if fits(Identifier, name)}
    expose_ids = []
    for name in names:
        expose_ids.append(name if name in used else free_name(identifier(name), used))
        used.add(expose_ids[-1])
    return expose_ids


def _server_name(table: TrackedMapping) -> str | None:
    """Return the server that FLUID noted for a table, where a contract has several."""
    for item in table.parts("customProperties"):
        if item.peek("property") == "fluid.server":
            return str(item.peek("value"))
    return None


def _read_product(
    read: TrackedMapping, own: Json, labels: Labels, exposes: list[Json], kept: KeptAsLabels
) -> Json:
    """Take everything about the contract; adds to the exposes what is said about them here."""
    for key in ("apiVersion", "kind"):
        read.take(key)
    id_, name = str(read.peek("id")), read.text("name")
    if fits(Identifier, id_):
        read.take("id")
    product: Json = {
        "fluidVersion": "0.7.2",
        "kind": own.pop("kind", "DataProduct"),
        "id": id_ if fits(Identifier, id_) else identifier(id_),
        "name": name or id_ or "unnamed",
        "description": read.part("description").text("purpose"),
        "domain": read.text("domain"),
        "tags": read_tags(read),
        "labels": None,
        "metadata": _read_metadata(read, own),
        "exposes": exposes,
        "lifecycle": _read_lifecycle(read, own),
        "docs": {**read_links(read), **_mapping(own.get("docs"))} or None,
        "accessPolicy": _read_access_policy(read, own),
        **{key: own.get(key) for key in PRODUCT_KEYS},
    }
    _read_service(read, exposes)
    _read_version(read, exposes)
    kept.keep_rest(read.part("description"), labels)
    kept.keep_rest(read, labels)
    return without_none({**product, "labels": labels or None})


def _read_lifecycle(read: TrackedMapping, own: Json) -> Json | None:
    """Take the stage of life and how long the data is kept."""
    lifecycle: Json = {}
    state = _STATES.get(str(read.peek("status")).lower())
    if state is not None:
        lifecycle["state"] = state
    if state is not None or read.peek("status") == UNSTATED:
        read.take("status")
    for promise in read.parts("slaProperties"):
        is_whole = promise.peek("property") == "retention" and "element" not in promise.value
        if is_whole and fits(IsoDuration, promise.peek("value")) and "retention" not in lifecycle:
            promise.take("property")
            lifecycle["retention"] = promise.take("value")
    return {**lifecycle, **_mapping(own.get("lifecycle"))} or None


def _read_metadata(read: TrackedMapping, own: Json) -> Json:
    team = read.part("team")
    properties, _ = read_custom_properties(team, ("oncall",))
    owner: Json = {"team": team.text("name"), "oncall": properties.get("oncall")}
    for channel in read.parts("support"):
        _read_channel(channel, owner)
    _read_owning_member(read, owner)
    created = {"createdAt": read.text("contractCreatedTs")}
    metadata = {**without_none(created), **_mapping(own.get("metadata"))}
    return {**metadata, "owner": without_none(owner)}


def _read_channel(channel: TrackedMapping, owner: Json) -> None:
    """Take a way to reach the owner, by its tool; an e-mail's address says more than its name."""
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


def _read_owning_member(read: TrackedMapping, owner: Json) -> None:
    """Take the owner from the team of 3.0, which has no name: the member of that role."""
    for member in read.parts("team"):
        if owner["team"] is None and "owner" in str(member.peek("role")).lower():
            owner["team"] = member.text("name") or member.text("username")
            member.take("role")


def _read_access_policy(read: TrackedMapping, own: Json) -> Json | None:
    """Take who may do what, one grant a role; access in other words than FLUID's is left."""
    grants: list[Json] = []
    for role in read.parts("roles"):
        grant, _ = read_custom_properties(role, GRANT_KEYS)
        permissions = str(role.peek("access")).split(", ")
        if all(word in PERMISSIONS for word in permissions):
            role.take("access")
            grant = {"permissions": permissions, **grant}
        grants.append({"principal": role.text("role"), **grant})
    policy = _mapping(own.get("accessPolicy"))
    return {"grants": grants, **policy} if grants else policy or None


def _read_service(read: TrackedMapping, exposes: list[Json]) -> None:
    """Take the promised service of single tables, where FLUID has the word and the value fits."""
    by_id = {str(expose["exposeId"]): expose for expose in reversed(exposes)}
    known = {theirs: ours for ours, theirs in SERVICE.items()}
    for promise in read.parts("slaProperties"):
        key = known.get(str(promise.peek("property")))
        expose = by_id.get(str(promise.peek("element")))
        value = promise.peek("value")
        if key is None or expose is None or not fits(SECTIONS["qos"].type, {key: value}):
            continue
        for word in ("property", "element", "value"):
            promise.take(word)
        expose["qos"] = {**_mapping(expose.get("qos")), key: value}


def _read_version(read: TrackedMapping, exposes: list[Json]) -> None:
    """Take the contract's version as that of everything it exposes."""
    version = read.peek("version")
    if version == UNVERSIONED or fits(SemVer, version):
        read.take("version")
    if version != UNVERSIONED and fits(SemVer, version):
        for expose in exposes:
            expose.setdefault("version", version)


def _mapping(value: object) -> Json:
    return dict(value) if isinstance(value, dict) else {}
