"""Personal data inside nested values: each key of JSON, XML or hstore is judged like a column."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

from fluid_build.profiling.semantic_types.column_facts import ColumnFacts, SemanticType
from fluid_build.profiling.semantic_types.name_concepts import read_concepts
from fluid_build.sources.personal_text import holds_personal

Leaf: TypeAlias = tuple[str, str]
"""A key, "" if there is none, and a value as text."""

Classify: TypeAlias = Callable[[ColumnFacts], SemanticType | None]

_MOST_DOCUMENTS: Final = 100
_MOST_LEAVES: Final = 20_000
_MOST_KEYS: Final = 200
_LONGEST_DOCUMENT: Final = 1_000_000
"""Limits on what is read, so that a stranger's documents cost no more than a second."""

_MOST_LEVELS: Final = 50
_KEY_CONFIDENCE: Final = 0.9
"""A key that is an e-mail address leaves little doubt."""
_XML_ELEMENT = re.compile(r"<([A-Za-z][\w:.-]*)[^<>]*>([^<>]{1,400})<")
_XML_ATTRIBUTE = re.compile(r"\s([A-Za-z][\w:.-]*)\s*=\s*[\"']([^\"'<>]{1,400})[\"']")
_HSTORE_PAIR = re.compile(r"\"([^\"]{1,100})\"\s*=>\s*\"([^\"]{0,400})\"")


def find_personal_leaf(facts: ColumnFacts, classify: Classify) -> SemanticType | None:
    """Return the surest personal meaning inside a column's documents, None if there is none.

    ``classify`` judges the values of one key like a column of that name.
    """
    by_key: dict[str, list[str]] = {}
    for number, (key, value) in enumerate(_leaves_of(facts)):
        if number >= _MOST_LEAVES:
            break
        if key in by_key or len(by_key) < _MOST_KEYS:
            by_key.setdefault(key, []).append(value)
    meanings = [
        meaning
        for key, values in by_key.items()
        for meaning in _personal_meanings(key, values, facts, tuple(by_key), classify)
    ]
    return max(meanings, key=lambda meaning: meaning.confidence, default=None)


def _personal_meanings(
    key: str, values: list[str], facts: ColumnFacts, keys: tuple[str, ...], classify: Classify
) -> Iterator[SemanticType]:
    counts = Counter(value for value in values if value)
    leaf = ColumnFacts(
        table=_table_name(facts),
        column=key or facts.column,
        type="VARCHAR",
        rows=len(values),
        nulls=len(values) - counts.total(),
        distinct=len(counts),
        values=tuple(value for value, _ in counts.most_common(_MOST_DOCUMENTS)),
        siblings=tuple(sibling for sibling in keys if sibling != key),
    )
    meaning = classify(leaf)
    if meaning is not None and meaning.pii:
        yield meaning
    if holds_personal(key):
        reason = "A key inside the documents is personal data."
        yield SemanticType("email", True, _KEY_CONFIDENCE, reason)


def _table_name(facts: ColumnFacts) -> str:
    """Return what the documents are about: a ``contact`` of an order is a contact.

    A ``payload`` says nothing, so that the table's name counts.
    """
    return facts.column if read_concepts(facts.column).concepts else facts.table


def _leaves_of(facts: ColumnFacts) -> Iterator[Leaf]:
    for text in (facts.documents or facts.values)[:_MOST_DOCUMENTS]:
        yield from _leaves(text[:_LONGEST_DOCUMENT].lstrip())


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
    if depth > _MOST_LEVELS:
        return
    if isinstance(part, dict):
        for name, inner in part.items():
            yield from _walk(inner, name, depth + 1)
    elif isinstance(part, list):
        for inner in part:
            yield from _walk(inner, key, depth + 1)
    elif part is not None:
        yield key, str(part)
