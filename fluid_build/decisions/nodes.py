"""The YAML of a file of decisions as nodes with their places, bounded and without surprises.

The file may be a stranger's: how large it is, how deep it nests and which tags it uses are checked
before anything is made of it. Anchors and aliases are refused, so nothing unfolds.
"""

import math
from dataclasses import dataclass
from typing import Any, get_args

import yaml
from pydantic import BaseModel

from fluid_build import limits
from fluid_build.decisions.conventions import Hashing
from fluid_build.decisions.language import DECISION_TYPES, DecisionEvidence, DecisionFile
from fluid_build.errors import DecisionError, DecisionProblem
from fluid_build.json_types import JsonObject, JsonValue

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_MAX_DEPTH = 16
"""Levels of nesting; an entry's evidence is on the fifth."""
_VALUES_PER_ENTRY = 100
"""An entry with its evidence has some 25 values; a split may list more attributes."""
_MOST_DIGITS = 30
"""Characters of a figure: far more than counts of rows and shares have."""
_TEXT = "str"


def _typed_fields() -> dict[str, str]:
    """Return the fields that aren't text, by name, each with the YAML type that it has."""
    parts: tuple[type[BaseModel], ...] = (DecisionFile, DecisionEvidence, Hashing, *DECISION_TYPES)
    typed: dict[str, str] = {"version": "int"}
    for part in parts:
        for name, field in part.model_fields.items():
            types = {field.annotation, *get_args(field.annotation)}
            for kind in {bool, int, float} & types:
                typed[name] = kind.__name__
    return typed


_TYPED_FIELDS = _typed_fields()
"""Everywhere else a bare ``no`` or ``2024`` is the name of a column."""


@dataclass(frozen=True, slots=True)
class EntryNode:
    """An entry of the list: its YAML, its value, and the line (from 1) of each of its fields."""

    node: yaml.Node
    value: JsonValue
    line: int
    lines: dict[str, int]


@dataclass(frozen=True, slots=True)
class DecisionNodes:
    """A file of decisions as YAML.

    ``root`` is None where the file has no value at all. ``fields`` are those of the document, by
    name, without the list of entries; ``entries_node`` is that list, None where there is none.
    """

    root: yaml.MappingNode | None
    fields: dict[str, tuple[JsonValue, int]]
    entries_node: yaml.Node | None
    entries: tuple[EntryNode, ...]


NO_NODES = DecisionNodes(None, {}, None, ())


def decision_nodes(text: str, file: str) -> DecisionNodes:
    """Return the nodes of a file of decisions; raise DecisionError where it isn't plain YAML."""
    try:
        _check_events(text, file)
        root = yaml.compose(text, Loader=_LOADER)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise _refusal(file, mark, error.problem or error.context or "it isn't YAML") from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        message = "a control character, which YAML doesn't allow."
        raise DecisionError(file, [DecisionProblem(message, line)]) from None
    if root is None or _is_null(root):
        return NO_NODES
    return _document(root, file)


def _check_events(text: str, file: str) -> None:
    depth, values, documents = 0, 0, 0
    most = limits.DECISIONS.value * _VALUES_PER_ENTRY
    for event in yaml.parse(text, Loader=_LOADER):
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            raise _refusal(file, event.start_mark, "anchors and aliases aren't allowed here")
        if isinstance(event, yaml.DocumentStartEvent):
            documents += 1
        if documents > 1:
            raise _refusal(file, event.start_mark, "a second document begins here")
        if not isinstance(event, yaml.NodeEvent | yaml.CollectionEndEvent):
            continue
        if getattr(event, "tag", None) is not None:
            raise _refusal(file, event.start_mark, "tags aren't allowed here")
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        values += isinstance(event, yaml.NodeEvent)
        if depth > _MAX_DEPTH:
            raise _refusal(file, event.start_mark, f"nested more than {_MAX_DEPTH} levels deep")
        if values > most:
            raise _refusal(
                file,
                event.start_mark,
                f"more than {most:,} values",
                hint=limits.DECISIONS.how_to_raise,
            )


def _document(root: yaml.Node, file: str) -> DecisionNodes:
    if not isinstance(root, yaml.MappingNode):
        message = "expected a mapping with the list `decisions`"
        raise _refusal(file, root.start_mark, message)
    pairs = _pairs(root, file)
    fields = {
        key: (_value(node, key, file), line)
        for key, (node, line) in pairs.items()
        if key != "decisions"
    }
    node, line = pairs.get("decisions", (None, 1))
    if node is None or _is_null(node):
        return DecisionNodes(root, fields, node, ())
    if not isinstance(node, yaml.SequenceNode):
        problem = DecisionProblem("`decisions` isn't a list.", line)
        raise DecisionError(file, [problem], hint="Begin each entry with `- decision:`.")
    entries = tuple(_entry(item, file) for item in node.value)
    return DecisionNodes(root, fields, node, entries)


def _entry(node: yaml.Node, file: str) -> EntryNode:
    line = node.start_mark.line + 1
    lines = (
        {key: key_line for key, (_, key_line) in _pairs(node, file).items()}
        if isinstance(node, yaml.MappingNode)
        else {}
    )
    return EntryNode(node, _value(node, "", file), line, lines)


def _pairs(node: yaml.MappingNode, file: str) -> dict[str, tuple[yaml.Node, int]]:
    """Return the values of a mapping by key, each with the line of its key."""
    pairs: dict[str, tuple[yaml.Node, int]] = {}
    for key, value in node.value:
        if not isinstance(key, yaml.ScalarNode):
            raise _refusal(file, key.start_mark, "a field's name must be text")
        name = str(key.value)
        if name in pairs:
            raise _refusal(file, key.start_mark, f"the field {name!r} occurs twice")
        pairs[name] = (value, key.start_mark.line + 1)
    return pairs


def _value(node: yaml.Node, field: str, file: str) -> JsonValue:
    if isinstance(node, yaml.MappingNode):
        values: JsonObject = {
            key: _value(value, key, file) for key, (value, _) in _pairs(node, file).items()
        }
        return values
    if isinstance(node, yaml.SequenceNode):
        return [_value(item, field, file) for item in node.value]
    return _scalar(node, _TYPED_FIELDS.get(field, _TEXT))


def _scalar(node: yaml.Node, expected: str) -> JsonValue:
    text = str(node.value)
    if _is_null(node):
        return None
    if expected == "bool" and node.tag.endswith(":bool"):
        return yaml.constructor.SafeConstructor.bool_values[text.lower()]
    is_short = text.isascii() and len(text) < _MOST_DIGITS
    is_whole = is_short and node.tag.endswith(":int") and text.isdecimal()
    if expected in ("int", "float") and is_whole:
        return int(text)
    if expected == "float" and is_short and node.tag.endswith(":float"):
        return _fraction(text)
    return text


def _fraction(text: str) -> JsonValue:
    """Return a plain number with a point; as text where YAML allows more than we write."""
    try:
        number = float(text)
    except ValueError:
        return text
    return number if math.isfinite(number) else text


def _is_null(node: yaml.Node) -> bool:
    return isinstance(node, yaml.ScalarNode) and bool(node.tag.endswith(":null"))


def _refusal(file: str, mark: Any, what: str, *, hint: str = "") -> DecisionError:
    line = mark.line + 1 if mark is not None else None
    return DecisionError(file, [DecisionProblem(f"{what}.", line)], hint=hint or None)
