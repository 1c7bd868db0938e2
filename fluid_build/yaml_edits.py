"""YAML that a person wrote, edited where it stands: comments, order and quotes stay as they are.

A text is edited at the places that YAML's nodes have. Where it can't be, because of how it's laid
out, ``NotEditableError`` says so, and the caller writes the whole.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import yaml

from fluid_build.block_yaml import block_yaml
from fluid_build.json_types import JsonObject, JsonValue

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_MOST_DEPTH = 64
"""Levels of nesting, of which the properties of dbt have some ten."""
_TYPED = {f"tag:yaml.org,2002:{kind}" for kind in ("null", "bool", "int", "float")}
"""Everything else is text, also what YAML takes for a date."""


class NotEditableError(Exception):
    """The text is laid out in a way that can't be edited in place."""


_LONG = "-" * 200
"""An item with which a list never fits into a line."""


@dataclass(frozen=True, slots=True)
class TextEdit:
    """What stands between two places of a text becomes another text."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Change:
    """What a node of a text says, and what it shall say instead.

    ``identity`` tells which item of a list is the same one before and after. What is new in the
    text is one line where it fits into ``width`` characters.
    """

    node: yaml.Node
    before: JsonValue
    after: JsonValue
    identity: Callable[[JsonValue], str]
    width: int = 0

    def of_part(self, node: yaml.Node, before: JsonValue, after: JsonValue) -> "Change":
        """Return the change of a part of the node."""
        return replace(self, node=node, before=before, after=after)

    @property
    def is_inside(self) -> bool:
        """Whether the node stays, and only some of its parts differ, in the same order."""
        if not self.before or not self.after or getattr(self.node, "flow_style", True):
            return False
        if isinstance(self.before, list) and isinstance(self.after, list):
            before, after = (list(map(self.identity, each)) for each in (self.before, self.after))
            there, now = set(before), set(after)
            return [n for n in before if n in now] == [n for n in after if n in there]
        return isinstance(self.before, dict) and isinstance(self.after, dict)


def plain_yaml(text: str) -> tuple[yaml.MappingNode, JsonObject]:
    """Return the nodes of a text that is one mapping, and what they say.

    Raises NotEditableError where it isn't, and for what a text can't be edited in: anchors, tags,
    keys that aren't text or come twice.
    """
    try:
        _check_plain(text)
        root = yaml.compose(text, Loader=_LOADER)
        if not isinstance(root, yaml.MappingNode):
            raise NotEditableError
        return root, _mapping(root)
    except (yaml.YAMLError, ValueError):
        raise NotEditableError from None


def edited_yaml(
    text: str, after: JsonObject, identity: Callable[[JsonValue], str], width: int = 0
) -> str:
    """Return a text that says ``after``, as much as possible as it stands; else written as a whole.

    What is written is in block style, but for what fits into a line of ``width`` characters.
    Raises NotEditableError as ``plain_yaml`` does.
    """
    root, before = plain_yaml(text)
    if before == after:
        return text
    change = Change(root, before, after, identity, width)
    try:
        result = with_edits(text, list(edits_of(text, change)))
        if plain_yaml(result)[1] == after:
            return result
    except NotEditableError:
        pass
    return block_yaml(after, width)


def _check_plain(text: str) -> None:
    depth, documents = 0, 0
    for event in yaml.parse(text, Loader=_LOADER):
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        documents += isinstance(event, yaml.DocumentStartEvent)
        is_shared = isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None
        is_tagged = isinstance(event, yaml.NodeEvent) and getattr(event, "tag", None) is not None
        if is_shared or is_tagged or depth > _MOST_DEPTH or documents > 1:
            raise NotEditableError


def _mapping(node: yaml.MappingNode) -> JsonObject:
    values: dict[str, JsonValue] = {}
    for key, value in node.value:
        if not isinstance(key, yaml.ScalarNode) or key.value in values:
            raise NotEditableError
        values[str(key.value)] = _value(value)
    return values


def _value(node: yaml.Node) -> JsonValue:
    if isinstance(node, yaml.MappingNode):
        return _mapping(node)
    if isinstance(node, yaml.SequenceNode):
        return [_value(item) for item in node.value]
    if node.tag not in _TYPED:
        return str(node.value)
    value: JsonValue = yaml.SafeLoader("").construct_object(node)
    return value


def with_edits(text: str, edits: Sequence[TextEdit]) -> str:
    """Return a text with edits, which don't overlap; several at one place keep their order."""
    pieces, end = [], 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        pieces += [text[end : edit.start], edit.text]
        end = edit.end
    return "".join((*pieces, text[end:]))


def edits_of(text: str, change: Change) -> Iterator[TextEdit]:
    """Yield the edits by which a text says what it shall; raise NotEditableError."""
    if not change.is_inside:
        raise NotEditableError
    if isinstance(change.before, dict) and isinstance(change.after, dict):
        yield from _mapping_edits(text, change, change.before, change.after)
    elif isinstance(change.before, list) and isinstance(change.after, list):
        yield from _list_edits(text, change, change.before, change.after)


def _mapping_edits(
    text: str, change: Change, before: Mapping[str, JsonValue], after: Mapping[str, JsonValue]
) -> Iterator[TextEdit]:
    indent = " " * change.node.value[0][0].start_mark.column
    places: dict[str, int] = {}
    for key_node, node in change.node.value:
        key = str(key_node.value)
        end = last_place(text, node, at_least=key_node.end_mark.index + 1)
        part = change.of_part(node, before[key], after.get(key))
        if key not in after:
            yield without_lines(text, key_node.start_mark.index, end)
            continue
        places[key] = line_end(text, end)
        if part.before == part.after:
            continue
        if part.is_inside:
            yield from edits_of(text, part)
        else:
            content = block({key: part.after}, indent, text, change.width)
            yield TextEdit(key_node.start_mark.index, end, content)
    for key, previous in _added(list(after), places):
        if previous is None:
            raise NotEditableError
        content = block({key: after[key]}, indent, text, change.width)
        yield TextEdit(places[previous], places[previous], f"{line_break(text)}{indent}{content}")


def _list_edits(
    text: str, change: Change, before: Sequence[JsonValue], after: Sequence[JsonValue]
) -> Iterator[TextEdit]:
    indent = " " * change.node.start_mark.column
    items = {change.identity(item): item for item in after}
    names = [change.identity(item) for item in before]
    if len(items) < len(after) or len(set(names)) < len(names):
        raise NotEditableError
    places: dict[str, int] = {}
    for name, node, item in zip(names, change.node.value, before, strict=True):
        end = last_place(text, node)
        if name not in items:
            yield without_lines(text, dash(text, node), end)
            continue
        places[name] = line_end(text, end)
        if item != items[name]:
            part = change.of_part(node, item, items[name])
            if part.is_inside:
                yield from edits_of(text, part)
            else:
                content = block([items[name]], indent, text, change.width).removeprefix("- ")
                yield TextEdit(int(node.start_mark.index), end, content)
    for name, previous in _added(list(items), places):
        content = block([items[name]], indent, text, change.width)
        first = change.node.value[0]
        if previous is None and names[0] in places:
            start = dash(text, first)
            yield TextEdit(start, start, f"{content}{line_break(text)}{indent}")
        else:
            # Without one before it, it's put behind the first item, which goes.
            place = places[previous] if previous else line_end(text, last_place(text, first))
            yield TextEdit(place, place, f"{line_break(text)}{indent}{content}")


def _added(names: Sequence[str], places: Mapping[str, int]) -> Iterator[tuple[str, str | None]]:
    """Yield each name that has no place yet, with the last one before it that has one."""
    previous = None
    for name in names:
        if name in places:
            previous = name
        else:
            yield name, previous


def without_lines(text: str, start: int, end: int) -> TextEdit:
    """Return what removes the lines between two places, of which nothing else is on the first."""
    before = text.rfind("\n", 0, start)
    if before < 0 or text[before:start].strip():
        raise NotEditableError
    if before > 0 and text[before - 1] == "\r":
        before -= 1
    return TextEdit(before, line_end(text, end), "")


def dash(text: str, node: yaml.Node) -> int:
    """Return the place of the dash in front of an entry."""
    return text.rfind("-", 0, int(node.start_mark.index))


def block(
    value: Mapping[str, JsonValue] | Sequence[JsonValue], indent: str, text: str, width: int = 0
) -> str:
    """Return a value as YAML to be put behind ``indent``, with the line breaks of ``text``."""
    room = max(0, width - len(indent))
    if isinstance(value, Mapping):
        lines = block_yaml(value, room).splitlines()
    else:
        # The list is the only value of a mapping, whose first line is its key.
        lines = block_yaml({"items": [*value, _LONG]}, room).splitlines()[1:-1]
    return f"{line_break(text)}{indent}".join(lines)


def last_place(text: str, node: yaml.Node, *, at_least: int = 0) -> int:
    """Return where a node's text ends, without the blank lines and comments behind it."""
    if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        if not isinstance(last, tuple):
            return last_place(text, last, at_least=at_least)
        key, value = last
        return last_place(text, value, at_least=int(key.end_mark.index) + 1)
    end = int(node.end_mark.index)
    while end > at_least and text[end - 1].isspace():
        end -= 1
    return max(end, at_least)


def line_end(text: str, place: int) -> int:
    """Return where the line of a place ends, before its line break."""
    end = text.find("\n", place)
    if end < 0:
        return len(text)
    return end - 1 if end > place and text[end - 1] == "\r" else end


def line_break(text: str) -> str:
    """Return the line break that a text has, by its first one."""
    first = text.find("\n")
    return "\r\n" if first > 0 and text[first - 1] == "\r" else "\n"
