"""What each field of a FLUID contract means to a reader of the data when it changes."""

import re
from collections.abc import Iterator
from typing import Any

from fluid_build.contract.column_types import ValueType, value_type
from fluid_build.contract.differences.change import DocumentChange, Level
from fluid_build.contract.differences.comparing import (
    ABSENT,
    Document,
    ElementKind,
    Fields,
    Place,
    column_type,
    cosmetic,
    elements,
    flag,
    part,
    promise,
    ranked,
    restriction,
)
from fluid_build.contract.differences.rule_strength import RULE, shortness
from fluid_build.contract.keys import names_of
from fluid_build.contract.lineage import Origins
from fluid_build.modeling.evolution import EMPTIED, RETIRED

_WORDS = cosmetic("Descriptive text only.")
_HOW = cosmetic("How the data is produced; its meaning is the same.")
_MEANING = promise("Its meaning or its aggregation has changed.")
_ACCESS = restriction("Who may read the data, or how it's masked, has changed.")
_SERVICE = "The promised level of service has changed."
_PERCENT = re.compile(r"(\d+(?:\.\d+)?)%")
_TREATED = frozenset({"treated", "anonymized", "pseudonymized", "tokenized", "encrypted"})
_CARE = {"none": 0, "cleartext": 0, "internal": 1, "confidential": 2, "restricted": 3}
_PERSONAL = 4
_STATES = {"preview": 0, "active": 1, "deprecated": 1, "retired": -1}


def _text(element: Document, name: str) -> str:
    return str(element.get(name, ""))


def _percentage(value: Any) -> float:
    match = _PERCENT.fullmatch(str(value))
    if match is None:
        raise ValueError(value)
    return float(match[1])


def _number(value: Any) -> float:
    return float(value)


def _less(value: Any) -> float:
    return -float(value)


def _length(value: Any) -> float:
    return -shortness(value)


def _sensitivity(place: Place, old: Any, new: Any) -> Iterator[DocumentChange]:
    """Compare sensitivities: more care or another treatment breaks, less care adds."""
    treated = {old, new} & _TREATED
    level: Level = "additive" if not treated and _care(new) < _care(old) else "breaking"
    if not treated and _care(new) == _care(old):
        level = "cosmetic"
    yield place.change(level, old, new, "What readers may do with the values has changed.")


def _care(sensitivity: Any) -> int:
    return 0 if sensitivity is ABSENT else _CARE.get(sensitivity, _PERSONAL)


def _lifecycle_state(place: Place, old: Any, new: Any) -> Iterator[DocumentChange]:
    before, after = (_STATES.get(state, 0) for state in (old, new))
    level: Level = "breaking" if after < before else "additive"
    yield place.change(level, old, new, "Its lifecycle stage has changed.")


def _key(place: Place, old: Document, new: Document) -> Iterator[DocumentChange]:
    """Compare the keys, which are also the grain: what one row represents."""
    before, after = _key_of(old), _key_of(new)
    if before != after:
        pair = (", ".join(before) or ABSENT, ", ".join(after) or ABSENT)
        yield from promise("What one row represents has changed.")(place.at("key"), *pair)


def _key_of(expose: Document) -> tuple[str, ...]:
    """Return the columns that are tagged as the key, in their order, else the label's text."""
    columns = expose.get("contract", {}).get("schema") or ()
    tagged = tuple(
        str(column["name"]) for column in columns if "primary-key" in (column.get("tags") or ())
    )
    if tagged:
        return tuple(sorted(tagged))
    label = (expose.get("labels") or {}).get("primary-key")
    return () if label is None else (str(label),)


def _column_origin(column: Document, names: tuple[str, ...], origins: Origins) -> object:
    """Return the type of a column and its source columns; its own name where none are known."""
    sources = origins.get(".".join((*names[:-1], str(column["name"]))), (column["name"],))
    return [_type(column), [str(source).casefold() for source in sources]]


def _type(column: Document) -> list[object]:
    try:
        type_: ValueType = value_type(column["type"])
    except ValueError:
        return [column["type"]]
    return [type_.kind, type_.bits, type_.length, type_.precision, type_.scale]


def _expose_origin(expose: Document, names: tuple[str, ...], origins: Origins) -> object:
    """Return the source tables of an expose and the origins of all its columns."""
    labels = expose.get("labels") or {}
    tables = names_of(labels.get("source-tables")) or (labels.get("source-table"),)
    if tables == (None,):
        return None
    columns = expose.get("contract", {}).get("schema") or ()
    return [list(tables), [_column_origin(each, (*names, ""), origins) for each in columns]]


def _named_kind(kind: str, fields: Fields, identity: str = "name") -> ElementKind:
    return ElementKind(kind, lambda element: _text(element, identity), fields)


_DESCRIPTIVE = {"description": _WORDS, "tags": _WORDS, "labels": _WORDS}


def _column_description(place: Place, old: Any, new: Any) -> Iterator[DocumentChange]:
    """Words promise nothing, but that the values of a column are gone is told nowhere else."""
    if EMPTIED in str(new) and EMPTIED not in str(old):
        yield place.change("breaking", old, new, "No row has a value in it any more.")
    else:
        yield from _WORDS(place, old, new)


def _expose_description(place: Place, old: Any, new: Any) -> Iterator[DocumentChange]:
    """Words promise nothing, but whether a relation still gets rows is told nowhere else."""
    was_loaded, is_loaded = RETIRED not in str(old), RETIRED not in str(new)
    if was_loaded and not is_loaded:
        yield place.change("breaking", old, new, "It's loaded no more: no rows are added to it.")
    elif is_loaded and not was_loaded:
        yield place.change("additive", old, new, "It's loaded again.")
    else:
        yield from _WORDS(place, old, new)


_COLUMN = ElementKind(
    "column",
    lambda column: _text(column, "name"),
    Fields(
        {
            **_DESCRIPTIVE,
            "description": _column_description,
            "type": column_type,
            "required": flag("Whether values may be null has changed."),
            "sensitivity": _sensitivity,
            "semanticType": promise("Its meaning has changed."),
            "businessName": _WORDS,
            "businessDefinition": _WORDS,
            "validationRules": promise("The rules for each value have changed."),
        },
        promise("What is promised has changed."),
    ),
    _column_origin,
)
_PROMISE = Fields(
    {
        "schema": elements(_COLUMN),
        "schemaSignature": _WORDS,
        "dq": part(
            Fields(
                {
                    **_DESCRIPTIVE,
                    "rules": elements(_named_kind("rule", RULE, "id")),
                    "monitoring": cosmetic("How the rules are monitored; the rules are the same."),
                },
                _WORDS,
            )
        ),
        "quality": elements(
            _named_kind("quality rule", Fields({}, promise("It has changed.")), "rule")
        ),
        "tags": _WORDS,
        "labels": _WORDS,
    },
    promise("What is promised has changed."),
)
_SEMANTIC = Fields({"description": _WORDS, "owner": _WORDS}, _MEANING)
_SEMANTICS = Fields(
    {
        **_DESCRIPTIVE,
        "name": _WORDS,
        "entities": elements(_named_kind("entity", _SEMANTIC)),
        "measures": elements(_named_kind("measure", _SEMANTIC)),
        "dimensions": elements(_named_kind("dimension", _SEMANTIC)),
        "metrics": elements(_named_kind("metric", _SEMANTIC)),
    },
    _MEANING,
)
_QOS = Fields(
    {
        "tags": _WORDS,
        "labels": _WORDS,
        "availability": ranked(_percentage, _SERVICE),
        "freshnessSLO": ranked(shortness, _SERVICE),
        "latencyP95": ranked(shortness, _SERVICE),
        "completenessTarget": ranked(_number, _SERVICE),
        "errorBudget": ranked(_less, _SERVICE),
    },
    promise(_SERVICE),
)
_LIFECYCLE = Fields(
    {
        "state": _lifecycle_state,
        "retention": ranked(_length, "How long the data is kept has changed."),
    },
    cosmetic("The announcement of its end of life has changed."),
)
_WHERE = promise("The data has moved.")
_BINDING = Fields(
    {"location": part(Fields({}, _WHERE)), "platform": _WHERE, "format": _WHERE},
    cosmetic("How the data is stored; its location is the same."),
)
_EXPOSE = ElementKind(
    "expose",
    lambda expose: _text(expose, "exposeId"),
    Fields(
        {
            **_DESCRIPTIVE,
            "description": _expose_description,
            "title": _WORDS,
            "version": cosmetic("The version number itself."),
            "docs": _WORDS,
            "crawler": _HOW,
            "iceberg": _HOW,
            "observability": cosmetic("How the data is monitored."),
            "kind": promise("The kind of expose has changed."),
            "contract": part(_PROMISE),
            "qos": part(_QOS),
            "policy": _ACCESS,
            "binding": part(_BINDING),
            "lifecycle": part(_LIFECYCLE),
            "semantics": part(_SEMANTICS),
        },
        promise("What is promised has changed."),
        (_key,),
    ),
    _expose_origin,
)
CONTRACT = Fields(
    {
        **_DESCRIPTIVE,
        "name": _WORDS,
        "domain": _WORDS,
        "metadata": cosmetic("Its owner or its domain."),
        "docs": _WORDS,
        "fluidVersion": _WORDS,
        "builds": _HOW,
        "build": _HOW,
        "consumes": _HOW,
        "lineage": _HOW,
        "orchestration": _HOW,
        "environments": _HOW,
        "machineLearning": _HOW,
        "id": promise("Readers refer to the product by its id."),
        "kind": promise("The kind of product has changed."),
        "exposes": elements(_EXPOSE),
        "schemaEvolution": promise("The rules for schema changes have changed."),
        "lifecycle": part(_LIFECYCLE),
        "sovereignty": _ACCESS,
        "accessPolicy": _ACCESS,
    },
    promise("What is promised has changed."),
)
"""The whole contract."""
