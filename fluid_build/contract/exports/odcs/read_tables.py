"""The tables of an ODCS document as FLUID's exposes."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import get_args

from fluid_build.contract.exports.odcs.custom_properties import (
    KeptAsLabels,
    Labels,
    read_custom_properties,
)
from fluid_build.contract.exports.odcs.read_checks import ReadCheck, read_check
from fluid_build.contract.exports.odcs.read_references import (
    ReadReference,
    ReferenceTargets,
    read_references,
)
from fluid_build.contract.exports.odcs.references import plain_id
from fluid_build.contract.exports.odcs.write_checks import EXPRESSION
from fluid_build.contract.exports.odcs.writing import COLUMN_KEYS, EXPOSE_KEYS, LINKS
from fluid_build.contract.exports.tracking import Json, TrackedMapping, without_none
from fluid_build.contract.exports.type_names import (
    BOUNDS,
    bounds,
    fluid_type,
    odcs_type,
    spelled,
    type_options,
)
from fluid_build.contract.fluid import Sensitivity
from fluid_build.contract.fluid.column import ColumnType
from fluid_build.contract.fluid.common import Tag, fits
from fluid_build.contract.fluid.expose import ExposeKind
from fluid_build.contract.keys import names_label, names_of
from fluid_build.contract.lineage import Origins
from fluid_build.modeling.identifiers import tag

_OWN_KEYS = ("version", "server", "dq", "contract", "qos", "docs", *EXPOSE_KEYS)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What each table needs to know of the document, and where it notes what it can't say."""

    targets: ReferenceTargets
    origins: Origins
    kept: KeptAsLabels


@dataclass(slots=True)
class ReadTable:
    """A table: its expose, and the keys and references that the document has for it."""

    expose: Json = field(default_factory=dict)
    primary: list[tuple[float, str]] = field(default_factory=list)
    unique: list[str] = field(default_factory=list)
    references: list[ReadReference] = field(default_factory=list)
    checks: list[ReadCheck] = field(default_factory=list)


def read_table(
    part: TrackedMapping, index: int, expose_id: str, binding: Json, surroundings: Surroundings
) -> ReadTable:
    """Take a table, the one at an index of the schema."""
    table = ReadTable()
    own, labels = read_custom_properties(part, _OWN_KEYS)
    name, title = str(part.peek("name")), part.text("businessName")
    if name == expose_id or title is None:
        part.take("name")
    columns = [
        _read_column(column, index, expose_id, table, surroundings)
        for column in part.parts("properties")
    ]
    table.references += read_references(part, index, surroundings.targets)
    table.checks += _read_checks(part, None, expose_id, surroundings.kept)
    promise = {**_mapping(own.get("contract")), **_read_expressions(part)}
    if "properties" in part.value or "openapiRef" not in promise:
        promise["schema"] = columns
    dq = {**_mapping(own.get("dq")), "rules": [check.rule for check in table.checks] or None}
    promise["dq"] = without_none(dq) or None
    table.expose = {
        "exposeId": expose_id,
        "title": name if title is None and name != expose_id else title,
        "description": part.text("description"),
        "kind": _read_kind(part),
        "version": own.get("version"),
        "tags": read_tags(part),
        "contract": without_none(promise),
        "binding": _read_place(part, binding),
        "docs": {**read_links(part), **_mapping(own.get("docs"))} or None,
        "qos": own.get("qos"),
        **{key: own.get(key) for key in EXPOSE_KEYS},
    }
    if part.flag("deprecated") and own.get("lifecycle") is None:
        table.expose["lifecycle"] = {"state": "deprecated"}
    part.take("logicalType")
    _take_plain_id(part, expose_id)
    surroundings.kept.keep_rest(part, labels)
    table.expose = without_none({**table.expose, "labels": labels or None})
    return table


def read_tags(part: TrackedMapping) -> list[str] | None:
    """Read the tags as FLUID spells them; they are taken only where none had to be respelled."""
    tags = part.peek("tags")
    if not isinstance(tags, list):
        return None
    texts = [str(text) for text in tags]
    spelt = list(dict.fromkeys(text if fits(Tag, text) else tag(text) for text in texts))
    if texts == spelt:
        part.take("tags")
    return spelt


def read_links(part: TrackedMapping) -> Json:
    """Take the links for readers; of several links of one type, the first."""
    docs: Json = {}
    for definition in part.parts("authoritativeDefinitions"):
        type_ = definition.peek("type")
        if type_ in LINKS and type_ not in docs:
            definition.take("type")
            docs[str(type_)] = definition.text("url")
    return docs


def _read_kind(part: TrackedMapping) -> str:
    """Read what is exposed from the physical type; a table where FLUID has no word for it."""
    kinds: tuple[str, ...] = get_args(ExposeKind)
    physical = str(part.peek("physicalType"))
    if physical in kinds:
        part.take("physicalType")
        return physical
    return next((kind for kind in kinds if kind in physical.lower()), "table")


def _read_place(part: TrackedMapping, binding: Json) -> Json:
    physical = part.text("physicalName")
    location = _mapping(binding.get("location"))
    return {**binding, "location": location | ({"table": physical} if physical is not None else {})}


def _read_expressions(part: TrackedMapping) -> Json:
    """Take the rules that are written as expressions."""
    expressions = []
    for item in part.parts("quality"):
        if item.peek("engine") == EXPRESSION and isinstance(item.peek("implementation"), str):
            own, _ = read_custom_properties(item, ("more",))
            for key in ("type", "engine"):
                item.take(key)
            expression = {
                "rule": item.text("name"),
                "expression": item.text("implementation"),
                "severity": item.text("severity"),
            }
            expressions.append(expression | _mapping(own.get("more")))
    return {"quality": expressions} if expressions else {}


def _read_checks(
    part: TrackedMapping, column: str | None, place: str, kept: KeptAsLabels
) -> list[ReadCheck]:
    return [
        read_check(item, column, f"{place}.check_{number}", kept)
        for number, item in enumerate(part.parts("quality"), start=1)
        if item.peek("engine") != EXPRESSION
    ]


def _read_column(
    part: TrackedMapping, index: int, expose_id: str, table: ReadTable, surroundings: Surroundings
) -> Json:
    name = part.text("name") or "unnamed"
    own, labels = read_custom_properties(part, COLUMN_KEYS, ("precision", "scale"))
    figures = {key: own.pop(key, None) for key in ("precision", "scale")}
    column: Json = {
        "name": name,
        "type": _read_type(part, figures),
        "required": part.flag("required"),
        "description": part.text("description"),
        "sensitivity": _read_sensitivity(part),
        "businessName": part.text("businessName"),
        "tags": read_tags(part),
        **own,
    }
    column["validationRules"] = _read_validation_rules(part, column)
    _read_keys(part, name, table)
    table.references += read_references(part, index, surroundings.targets, name)
    place = f"{expose_id}.{name}"
    table.checks += _read_enumeration(part, name, place, surroundings.kept)
    table.checks += _read_checks(part, name, place, surroundings.kept)
    _read_sources(part, labels, surroundings.origins.get(place, ()))
    _take_plain_id(part, name)
    surroundings.kept.keep_rest(part, labels)
    return without_none({**column, "labels": labels or None})


def _read_type(part: TrackedMapping, figures: Mapping[str, object]) -> str:
    """Read the physical type where FLUID knows it, else what the logical type says."""
    physical, logical = part.peek("physicalType"), part.peek("logicalType")
    if isinstance(physical, str) and fits(ColumnType, physical):
        part.take("physicalType")
        if logical == (odcs_type(spelled(physical)) or "string"):
            part.take("logicalType")
        return physical
    part.take("logicalType")
    length = part.part("logicalTypeOptions").peek("maxLength")
    return fluid_type(
        None if logical is None else str(logical),
        length=_whole_number(length),
        precision=_whole_number(figures["precision"]),
        scale=_whole_number(figures["scale"]),
    )


def _whole_number(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _read_sensitivity(part: TrackedMapping) -> str | None:
    """Read the classification; it's taken only where it is FLUID's word."""
    word = part.peek("classification")
    if word in get_args(Sensitivity):
        part.take("classification")
    lowered = word.lower() if isinstance(word, str) else None
    return lowered if lowered in get_args(Sensitivity) else None


def _read_validation_rules(part: TrackedMapping, column: Json) -> list[object] | None:
    """Take the options of the type as rules, where FLUID's own rules don't have them yet."""
    own = column.get("validationRules")
    rules = list(own) if isinstance(own, list) else []
    options = part.part("logicalTypeOptions")
    type_ = spelled(str(column["type"]))
    read = [TrackedMapping(rule) for rule in rules]
    known = type_options(type_, [(rule.text("type"), rule.text("constraint")) for rule in read])
    for key, value in options.value.items():
        if key in known and known[key] == value:
            options.take(key)
    if isinstance(options.peek("pattern"), str) and not options.touched("pattern"):
        rules.append({"type": "regex", "constraint": options.take("pattern")})
    limits = {key: options.peek(key) for key in BOUNDS if key in options.value}
    limits = {key: value for key, value in limits.items() if not options.touched(key)}
    if bounds(odcs_type(type_), json.dumps(limits)):
        rules.append({"type": "range", "constraint": json.dumps(limits)})
        for key in limits:
            options.take(key)
    return rules or None


def _read_keys(part: TrackedMapping, name: str, table: ReadTable) -> None:
    """Take what a column says about keys."""
    position = part.number("primaryKeyPosition")
    if part.flag("primaryKey"):
        table.primary.append((math.inf if position is None or position < 1 else position, name))
    if part.flag("unique"):
        table.unique.append(name)


def _read_enumeration(
    part: TrackedMapping, name: str, place: str, kept: KeptAsLabels
) -> list[ReadCheck]:
    """Take the allowed values of 3.2 as a rule."""
    items = part.parts("enum")
    if not items or not all(isinstance(item.peek("value"), str) for item in items):
        return []
    values = [item.text("value") for item in items]
    native: Json = {"metric": "invalidValues", "arguments": {"validValues": values}, "mustBe": 0}
    item = TrackedMapping({"name": f"{place}.enum", "severity": "error", **native})
    return [read_check(item, name, "", kept)]


def _read_sources(part: TrackedMapping, labels: Labels, mapped: tuple[str, ...]) -> None:
    """Take the source columns, which a label or the lineage may have already."""
    sources = part.texts("transformSourceObjects")
    if sources and tuple(sources) != (mapped or names_of(labels.get("source-columns"))):
        labels["source-columns"] = names_label(sources)


def _take_plain_id(part: TrackedMapping, name: str) -> None:
    """Take an id that FLUID would give the element itself."""
    if part.peek("id") == plain_id(name):
        part.take("id")


def _mapping(value: object) -> Json:
    return dict(value) if isinstance(value, dict) else {}
