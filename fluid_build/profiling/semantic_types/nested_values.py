"""What lies inside nested values: each key of JSON, XML or hstore judged like a column."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

from fluid_build.profiling.semantic_types.column_facts import ColumnFacts, SemanticType
from fluid_build.profiling.semantic_types.name_concepts import read_concepts
from fluid_build.sources.personal_text import holds_personal

Leaf: TypeAlias = tuple[str, str]
"""A key, "" where there is none, and a value as text."""

Classify: TypeAlias = Callable[[ColumnFacts], SemanticType | None]

_MOST_DOCUMENTS: Final = 100
_MOST_LEAVES: Final = 20_000
_MOST_KEYS: Final = 200
_LONGEST: Final = 1_000_000
"""Limits of what is looked into, so that a stranger's documents cost no more than a second."""

_DEEPEST: Final = 50
_XML_ELEMENT = re.compile(r"<([A-Za-z][\w:.-]*)[^<>]*>([^<>]{1,400})<")
_XML_ATTRIBUTE = re.compile(r"\s([A-Za-z][\w:.-]*)\s*=\s*[\"']([^\"'<>]{1,400})[\"']")
_HSTORE_PAIR = re.compile(r"\"([^\"]{1,100})\"\s*=>\s*\"([^\"]{0,400})\"")


def personal_leaf(facts: ColumnFacts, classify: Classify) -> SemanticType | None:
    """The surest personal meaning of what a column's documents hold; None if nothing is personal.

    ``classify`` judges the values of one key as those of a column of that name, in a table that
    is named after both the table and the column.
    """
    keyed: dict[str, list[str]] = {}
    for number, (key, value) in enumerate(_leaves_of(facts)):
        if number >= _MOST_LEAVES:
            break
        if key in keyed or len(keyed) < _MOST_KEYS:
            keyed.setdefault(key, []).append(value)
    found = [
        meaning
        for key, values in keyed.items()
        for meaning in _meanings(key, values, facts, tuple(keyed), classify)
    ]
    return max(found, key=lambda meaning: meaning.confidence, default=None)


def _meanings(
    key: str, values: list[str], facts: ColumnFacts, keys: tuple[str, ...], classify: Classify
) -> Iterator[SemanticType]:
    counted = Counter(value for value in values if value)
    leaf = ColumnFacts(
        table=_table(facts),
        column=key or facts.column,
        type="VARCHAR",
        rows=len(values),
        nulls=len(values) - counted.total(),
        distinct=len(counted),
        values=tuple(value for value, _ in counted.most_common(_MOST_DOCUMENTS)),
        siblings=tuple(other for other in keys if other != key),
    )
    meaning = classify(leaf)
    if meaning is not None and meaning.pii:
        yield meaning
    if holds_personal(key):
        yield SemanticType("email", True, _KEY_CONFIDENCE, "A key of the documents is personal.")


_KEY_CONFIDENCE: Final = 0.9


def _table(facts: ColumnFacts) -> str:
    """A ``contact`` in a table of orders is a table of contacts; a ``payload`` says nothing."""
    says_something = bool(read_concepts(facts.column).concepts)
    return facts.column if says_something else facts.table


def _leaves_of(facts: ColumnFacts) -> Iterator[Leaf]:
    for text in (facts.documents or facts.values)[:_MOST_DOCUMENTS]:
        yield from _leaves(text[:_LONGEST].lstrip())


def _leaves(text: str) -> Iterator[Leaf]:
    if text.startswith(("{", "[")):
        try:
            document = json.loads(text)
        except (ValueError, RecursionError):
            return
        yield from _walk(document, "", 0)
    elif text.startswith("<"):
        yield from _XML_ELEMENT.findall(text)
        yield from _XML_ATTRIBUTE.findall(text)
    elif text.startswith('"'):
        yield from _HSTORE_PAIR.findall(text)


def _walk(part: object, key: str, depth: int) -> Iterator[Leaf]:
    if depth > _DEEPEST:
        return
    if isinstance(part, dict):
        for name, inner in part.items():
            yield from _walk(inner, name, depth + 1)
    elif isinstance(part, list):
        for inner in part:
            yield from _walk(inner, key, depth + 1)
    elif part is not None:
        yield key, str(part)
