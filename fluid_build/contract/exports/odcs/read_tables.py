"""The tables of an ODCS document as FLUID's exposes; keys and references are read beside them."""

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import get_args

from fluid_build.contract.exports.odcs.custom_properties import Custom, read_custom
from fluid_build.contract.exports.odcs.read_checks import ReadCheck, read_check
from fluid_build.contract.exports.odcs.rules import EXPRESSION
from fluid_build.contract.exports.odcs.writing import EXPOSE_KEPT, LINKS
from fluid_build.contract.exports.tracking import Json, TrackedMapping, said
from fluid_build.contract.exports.type_names import (
    BOUNDS,
    bounds,
    fluid_type,
    is_fluid_type,
    odcs_type,
    spelled,
    type_options,
)
from fluid_build.contract.fluid import Sensitivity
from fluid_build.contract.fluid.expose import ExposeKind
from fluid_build.modeling.identifiers import tag

_TAG = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?", re.ASCII)
_OBJECT_OWN = ("version", "server", "dq", "contract", "qos", "docs", *EXPOSE_KEPT)
_COLUMN_OWN = ("semanticType", "businessDefinition", "validationRules")
_COLUMN_WORDS = (
    "physicalName",
    "semanticType",
    "encryptedName",
    "transformLogic",
    "transformDescription",
    "criticalDataElement",
    "deprecated",
    "partitioned",
    "partitionKeyPosition",
    "examples",
)
_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")


@dataclass(frozen=True, slots=True)
class Pointer:
    """A relationship as it is written: from columns (none where it stands at one) to columns."""

    start: tuple[str, ...]
    to: tuple[str, ...]
    place: TrackedMapping


@dataclass(slots=True)
class ReadTable:
    """A table: the expose so far, and what stood natively and may add to it."""

    name: str
    id: str | None
    expose: Json
    custom: Custom
    primary: list[tuple[float, str]] = field(default_factory=list)
    unique: list[str] = field(default_factory=list)
    ids: dict[str, str] = field(default_factory=dict)
    sources: dict[str, list[str]] = field(default_factory=dict)
    pointers: list[Pointer] = field(default_factory=list)
    checks: list[ReadCheck] = field(default_factory=list)


def read_table(table: TrackedMapping, expose_id: str, binding: Json) -> ReadTable:
    """Take a table; its rules are in ``checks``, not in the expose yet."""
    custom = read_custom(table, _OBJECT_OWN)
    name = str(table.text("name"))
    labels = {**words(table, ("dataGranularityDescription",)), **(custom.labels or {})}
    if name != expose_id:
        labels.setdefault("name", name)
    found = ReadTable(name, table.text("id"), {}, custom)
    physical = table.text("physicalName")
    location = {**_mapping(binding.get("location"))}
    if physical is not None:
        location["table"] = physical
    promise = {**_mapping(custom.own.get("contract"))}
    if "properties" in table.value:
        promise["schema"] = [_column(part, found) for part in table.parts("properties")]
    _read_checks(table, found, None)
    promise |= _expressions(table)
    kind = _kind(table, labels)
    found.expose = said(
        {
            "exposeId": expose_id,
            "title": _title(table, name, expose_id),
            "description": table.text("description"),
            "kind": kind,
            "version": custom.own.get("version"),
            "tags": tags_of(table),
            "labels": labels or custom.labels,
            "contract": promise,
            "binding": {**binding, "location": location},
            "docs": links(table, _mapping_or_none(custom.own.get("docs"))),
            "qos": custom.own.get("qos"),
            **{key: custom.own.get(key) for key in EXPOSE_KEPT},
        }
    )
    if table.flag("deprecated") and found.expose.get("lifecycle") is None:
        found.expose["lifecycle"] = {"state": "deprecated"}
    table.take("logicalType")
    found.pointers += _pointers(table, None)
    return found


def tags_of(part: TrackedMapping) -> list[str] | None:
    """The tags as FLUID spells them; where one had to be respelled they count as not taken."""
    given = part.peek("tags")
    if not isinstance(given, list):
        return None
    texts = [str(text) for text in given]
    spelt = [text if _TAG.fullmatch(text) else tag(text) for text in texts]
    if texts == list(dict.fromkeys(spelt)):
        part.take("tags")
    return list(dict.fromkeys(spelt))


def words(part: TrackedMapping, keys: Sequence[str]) -> dict[str, str]:
    """Values that FLUID has no key for, as labels: under kebab-case names, in JSON if no text."""
    found = {}
    for key in keys:
        value = part.peek(key)
        if key in part.value and not part.touched(key):
            part.take(key)
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            found[_CAPITAL.sub("-", key).lower()] = text
    return found


def links(part: TrackedMapping, kept: Json | None) -> Json | None:
    """The links for readers; of several links of one kind, the first."""
    docs: Json = {}
    for definition in part.parts("authoritativeDefinitions"):
        kind = definition.peek("type")
        if kind in LINKS and kind not in docs:
            definition.take("type")
            docs[str(kind)] = definition.text("url")
    return {**docs, **(kept or {})} if docs or kept is not None else None


def _title(table: TrackedMapping, name: str, expose_id: str) -> str | None:
    title = table.text("businessName")
    return name if title is None and name != expose_id else title


def _kind(table: TrackedMapping, labels: dict[str, str]) -> str:
    """What is exposed, by the physical type; a table where FLUID has no word for it."""
    spelled_ = table.text("physicalType")
    kinds: tuple[str, ...] = get_args(ExposeKind)
    if spelled_ in kinds:
        return str(spelled_)
    if spelled_ is not None:
        labels.setdefault("physical-type", spelled_)
    return next((kind for kind in kinds if kind in (spelled_ or "").lower()), "table")


def _expressions(table: TrackedMapping) -> Json:
    """The rules that are written as expressions."""
    found = []
    for item in table.parts("quality"):
        if item.peek("engine") == EXPRESSION and isinstance(item.peek("implementation"), str):
            more = read_custom(item, ("more",)).own.get("more")
            for key in ("type", "engine"):
                item.take(key)
            found.append(
                {
                    "rule": item.text("name"),
                    "expression": item.text("implementation"),
                    "severity": item.text("severity"),
                    **_mapping(more),
                }
            )
    return {"quality": found} if found else {}


def _read_checks(part: TrackedMapping, table: ReadTable, column: str | None) -> None:
    for number, item in enumerate(part.parts("quality")):
        if item.peek("engine") != EXPRESSION:
            place = f"{table.name}.{column}" if column else table.name
            table.checks.append(read_check(item, column, f"{place}.check_{number + 1}"))


def _column(part: TrackedMapping, table: ReadTable) -> Json:
    name = part.text("name") or "unnamed"
    custom = read_custom(part, _COLUMN_OWN, ("precision", "scale"))
    labels = dict(custom.labels or {})
    column: Json = said(
        {
            "name": name,
            "type": _type(part, custom, labels),
            "required": part.flag("required"),
            "description": part.text("description"),
            "sensitivity": _sensitivity(part, labels),
            "businessName": part.text("businessName"),
            "tags": tags_of(part),
            **custom.own,
        }
    )
    column["validationRules"] = _validation_rules(part, column, labels)
    labels |= {k: v for k, v in words(part, _COLUMN_WORDS).items() if k not in labels}
    column["labels"] = labels or custom.labels
    _read_keys(part, name, table)
    _read_enumeration(part, name, table)
    _read_checks(part, table, name)
    return said(column)


def _type(part: TrackedMapping, custom: Custom, labels: dict[str, str]) -> str:
    """The physical type where FLUID knows it, else what the logical type says."""
    physical, logical = part.text("physicalType"), part.text("logicalType")
    if physical is not None and is_fluid_type(physical):
        if logical is not None and (odcs_type(spelled(physical)) or "string") != logical:
            labels.setdefault("logical-type", logical)
        return physical
    if physical is not None:
        labels.setdefault("physical-type", physical)
    length = part.part("logicalTypeOptions").number("maxLength")
    return fluid_type(
        logical,
        length=int(length) if length is not None else None,
        precision=custom.figures.get("precision"),
        scale=custom.figures.get("scale"),
    )


def _sensitivity(part: TrackedMapping, labels: dict[str, str]) -> str | None:
    given = part.text("classification")
    if given is None or given in get_args(Sensitivity):
        return given
    labels.setdefault("classification", given)
    return given.lower() if given.lower() in get_args(Sensitivity) else None


def _validation_rules(
    part: TrackedMapping, column: Json, labels: dict[str, str]
) -> list[object] | None:
    """The column's rules, and new ones for options that they do not say."""
    kept = column.get("validationRules")
    rules = list(kept) if isinstance(kept, list) else []
    given = part.mapping("logicalTypeOptions") or {}
    type_ = spelled(str(column["type"]))
    known = type_options(type_, [_told(rule) for rule in rules])
    new = {key: value for key, value in given.items() if known.get(key) != value}
    pattern = new.pop("pattern", None)
    if isinstance(pattern, str):
        rules.append({"type": "regex", "constraint": pattern})
    limits = {key: new[key] for key in BOUNDS if key in new}
    if bounds(odcs_type(type_), json.dumps(limits)):
        rules.append({"type": "range", "constraint": json.dumps(limits)})
        new = {key: value for key, value in new.items() if key not in limits}
    if new:
        labels.setdefault("logical-type-options", json.dumps(new, ensure_ascii=False))
    return rules if rules or kept is not None else None


def _told(rule: object) -> tuple[str | None, str | None]:
    """The type and constraint of a validation rule that was not judged yet."""
    told = TrackedMapping(rule)
    return told.text("type"), told.text("constraint")


def _read_keys(part: TrackedMapping, name: str, table: ReadTable) -> None:
    """Note what the column says of keys, references and sources."""
    id_, position = part.text("id"), part.number("primaryKeyPosition")
    if id_ is not None:
        table.ids[name] = id_
    if part.flag("primaryKey"):
        table.primary.append((math.inf if position is None or position < 1 else position, name))
    if part.flag("unique"):
        table.unique.append(name)
    table.sources[name] = part.texts("transformSourceObjects") or []
    table.pointers += _pointers(part, name)


def _read_enumeration(part: TrackedMapping, name: str, table: ReadTable) -> None:
    """The allowed values of 3.2, as a rule."""
    values = part.parts("enum")
    if not values or not all(isinstance(value.peek("value"), str) for value in values):
        return
    listed = [value.text("value") for value in values]
    native: Json = {"metric": "invalidValues", "arguments": {"validValues": listed}, "mustBe": 0}
    item = TrackedMapping({"name": f"{table.name}.{name}.enum", "severity": "error", **native})
    table.checks.append(read_check(item, name, f"{table.name}.{name}.enum"))


def _pointers(part: TrackedMapping, column: str | None) -> list[Pointer]:
    found = []
    for relation in part.parts("relationships"):
        start = (column,) if column is not None else _listed(relation.peek("from"))
        found.append(Pointer(start, _listed(relation.peek("to")), relation))
    return found


def _listed(value: object) -> tuple[str, ...]:
    items = value if isinstance(value, list) else [value]
    return tuple(item for item in items if isinstance(item, str))


def _mapping(value: object) -> Json:
    return dict(value) if isinstance(value, dict) else {}


def _mapping_or_none(value: object) -> Json | None:
    return dict(value) if isinstance(value, dict) else None
