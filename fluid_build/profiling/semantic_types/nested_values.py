"""Meanings inside nested values: each field of JSON, a struct, XML or hstore is judged as a column.

A field is named by its path: ``customer.email``, ``contacts[].phone``. Keys that are data
themselves, such as the keys of a map, are written as ``*``: a reason never quotes data.
"""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from fluid_build.profiling.names.concepts import read_concepts
from fluid_build.profiling.semantic_types.column_facts import ColumnFacts, SemanticType
from fluid_build.sources.text_values.personal_text import holds_personal

Path: TypeAlias = tuple[str, ...]
"""The keys from the document to a field, with ``ITEM`` for each list and ``ANY`` for data keys."""

Classify: TypeAlias = Callable[[ColumnFacts], SemanticType | None]

ITEM: Final = "[]"
ANY: Final = "*"

_MOST_DOCUMENTS: Final = 100
_MOST_LEAVES: Final = 20_000
_MOST_FIELDS: Final = 200
_LONGEST_DOCUMENT: Final = 1_000_000
"""Limits on what is read, so that a stranger's documents cost no more than a second."""

_MOST_LEVELS: Final = 50
_MOST_KEYS: Final = 40
"""Keys of an object; more of them are data, as in a map from users to their settings."""
_FEWEST_DOCUMENTS: Final = 3
"""Documents that must agree on a key before it counts as the name of a field."""
_KEY_CONFIDENCE: Final = 0.9
"""A key that is an e-mail address leaves little doubt."""
_FIELD_KEY = re.compile(r"[^\W\d][\w$:.-]{0,40}")
_XML_ELEMENT = re.compile(r"<([A-Za-z][\w:.-]*)[^<>]*>([^<>]{1,400})<")
_XML_ATTRIBUTE = re.compile(r"\s([A-Za-z][\w:.-]*)\s*=\s*[\"']([^\"'<>]{1,400})[\"']")
_HSTORE_PAIR = re.compile(r"\"([^\"]{1,100})\"\s*=>\s*\"([^\"]{0,400})\"")


@dataclass(frozen=True, slots=True)
class NestedField:
    """A field inside a column's documents, with its meaning."""

    path: str
    meaning: SemanticType


@dataclass(frozen=True, slots=True)
class _Leaf:
    """A single value of a document."""

    path: Path
    value: str
    type: Literal["VARCHAR", "BIGINT", "DOUBLE", "BOOLEAN"]


def classify_items(facts: ColumnFacts, classify: Classify) -> SemanticType | None:
    """Return what the items of plain lists mean; None if the documents hold keys, or nothing."""
    leaves = list(_read_leaves(facts))
    if not leaves or any(part != ITEM for leaf in leaves for part in leaf.path):
        return None
    if not all(leaf.path for leaf in leaves):
        return None
    return classify(_field_facts(facts, (), leaves, facts.siblings))


def find_personal_fields(facts: ColumnFacts, classify: Classify) -> list[NestedField]:
    """Return the fields of a column's documents that hold personal data, the surest first.

    ``classify`` judges the values of a field like a column of that name.
    """
    leaves = list(_read_leaves(facts))
    fields = _group_by_field(leaves)
    siblings: dict[Path, set[str]] = defaultdict(set)
    for path in fields:
        for depth, key in enumerate(path):
            siblings[path[:depth]].add(key)
    names = _FieldNames(facts, leaves)
    personal = []
    for path, values in fields.items():
        near = tuple(sorted(siblings[_parent(path)] - {_key(path), ITEM, ANY}))
        meaning = classify(_field_facts(facts, path, values, near))
        if meaning is not None and meaning.pii:
            personal.append(NestedField(names.describe(path), meaning))
    if any(holds_personal(key) for leaf in leaves for key in leaf.path):
        reason = "A key inside the documents is personal data."
        personal.append(NestedField(ANY, SemanticType("email", True, _KEY_CONFIDENCE, reason)))
    return sorted(personal, key=lambda field: -field.meaning.confidence)


def _field_facts(
    facts: ColumnFacts, path: Path, leaves: list[_Leaf], siblings: tuple[str, ...]
) -> ColumnFacts:
    counts = Counter(leaf.value for leaf in leaves if leaf.value)
    types = {leaf.type for leaf in leaves}
    bounds = sorted(map(int, counts)) if types == {"BIGINT"} else []
    key = _key(path)
    return ColumnFacts(
        table=_subject(facts, path) if key else facts.table,
        column=key or facts.column,
        type=types.pop() if len(types) == 1 else "VARCHAR",
        rows=len(leaves),
        nulls=len(leaves) - counts.total(),
        distinct=len(counts),
        values=tuple(value for value, _ in counts.most_common(_MOST_DOCUMENTS)),
        min=str(bounds[0]) if bounds else None,
        max=str(bounds[-1]) if bounds else None,
        siblings=siblings,
    )


def _key(path: Path) -> str:
    """Return the innermost key of a path, "" if it has none."""
    return next((part for part in reversed(path) if part not in (ITEM, ANY)), "")


def _parent(path: Path) -> Path:
    """Return the path of the object that has the innermost key."""
    key = _key(path)
    return path[: len(path) - 1 - path[::-1].index(key)] if key else ()


def _subject(facts: ColumnFacts, path: Path) -> str:
    around = [part for part in reversed(_parent(path)) if part not in (ITEM, ANY)]
    return subject_of((*around, facts.column), facts.table)


def subject_of(around: Iterable[str], table: str) -> str:
    """Return what an object is about: the ``contact`` of an order is a contact.

    ``around`` are the fields that it's in, the innermost first. A ``payload`` says nothing, so that
    what is around it counts, at last the table.
    """
    return next((name for name in around if read_concepts(name).concepts), table)


def _group_by_field(leaves: list[_Leaf]) -> dict[Path, list[_Leaf]]:
    """Return the leaves by field, with the keys of large objects joined into one field."""
    keys: dict[Path, set[str]] = defaultdict(set)
    for leaf in leaves:
        for depth, key in enumerate(leaf.path):
            keys[leaf.path[:depth]].add(key)
    maps = {path for path, children in keys.items() if len(children) > _MOST_KEYS}
    fields: dict[Path, list[_Leaf]] = {}
    for leaf in leaves:
        path = tuple(
            ANY if leaf.path[:depth] in maps else key for depth, key in enumerate(leaf.path)
        )
        if path in fields or len(fields) < _MOST_FIELDS:
            fields.setdefault(path, []).append(leaf)
    return fields


class _FieldNames:
    """The keys that may be written: those of a struct's type, and those that documents share."""

    def __init__(self, facts: ColumnFacts, leaves: list[_Leaf]) -> None:
        self._type = facts.type
        self._documents = len((facts.documents or facts.values)[:_MOST_DOCUMENTS])
        self._uses = Counter(key for leaf in leaves for key in leaf.path)

    def describe(self, path: Path) -> str:
        """Return a path as people write it, with ``*`` for a key that may be data."""
        text = ""
        for part in path:
            if part == ITEM:
                text += ITEM
            else:
                text += ("." if text else "") + (part if self._is_field(part) else ANY)
        return text or ANY

    def _is_field(self, key: str) -> bool:
        if not _FIELD_KEY.fullmatch(key) or holds_personal(key):
            return False
        if re.search(rf"\b{re.escape(key)}\b", self._type):
            return True
        return self._documents >= _FEWEST_DOCUMENTS and 2 * self._uses[key] >= self._documents


def _read_leaves(facts: ColumnFacts) -> Iterator[_Leaf]:
    number = 0
    for text in (facts.documents or facts.values)[:_MOST_DOCUMENTS]:
        for leaf in _leaves(text[:_LONGEST_DOCUMENT].lstrip()):
            number += 1
            if number > _MOST_LEAVES:
                return
            yield leaf


def _leaves(text: str) -> Iterator[_Leaf]:
    if text.startswith(("{", "[")):
        try:
            document = json.loads(text)
        except (ValueError, RecursionError):
            return
        yield from _walk(document, (), 0)
    elif text.startswith("<"):
        pairs = [*_XML_ELEMENT.findall(text), *_XML_ATTRIBUTE.findall(text)]
        yield from (_Leaf((key,), value, "VARCHAR") for key, value in pairs)
    elif text.startswith('"'):
        pairs = _HSTORE_PAIR.findall(text)
        yield from (_Leaf((key,), value, "VARCHAR") for key, value in pairs)


def _walk(part: object, path: Path, depth: int) -> Iterator[_Leaf]:
    if depth > _MOST_LEVELS:
        return
    if isinstance(part, dict):
        for name, inner in part.items():
            yield from _walk(inner, (*path, name), depth + 1)
    elif isinstance(part, list):
        for inner in part:
            yield from _walk(inner, (*path, ITEM), depth + 1)
    elif isinstance(part, bool):
        yield _Leaf(path, str(part).lower(), "BOOLEAN")
    elif isinstance(part, int):
        yield _Leaf(path, str(part), "BIGINT")
    elif isinstance(part, float):
        yield _Leaf(path, str(part), "DOUBLE")
    elif part is not None:
        yield _Leaf(path, str(part), "VARCHAR")
