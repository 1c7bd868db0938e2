"""The parsed names of a schema: entities, prefixes that a whole table shares, glued words.

The rules know naming habits (camelCase, snake_case, glued suffixes, table-wide prefixes, plurals),
not schemas.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, groupby

from fluid_build.profiling.names import (
    Words,
    has_key_word,
    is_generic,
    singular,
    stem,
    strip_key_words,
    words,
)
from fluid_build.profiling.shared_prefixes import common_prefix_words, glued_prefix, hump_prefix
from fluid_build.profiling.vocabulary import (
    COMMON_WORDS,
    GLUED_LEADING_KEY_WORDS,
    TECHNICAL_WORDS,
)

_MOST_GLUED_PREFIX = 4
"""Letters of a prefix glued to all table names (``tblorders``); longer ones are words."""
_FEWEST_STEM_LETTERS = 4
"""Shorter words follow a glued key word by accident (``ideal``)."""
_FEWEST_GLUED_LETTERS = 6
"""Shorter words aren't split: any three letters and three more may be words."""


@dataclass(frozen=True, slots=True)
class ParsedColumnName:
    """A column's name as words.

    ``full`` has all words, ``bare`` lacks the prefix that all columns of the table share.
    ``entity`` is ``bare`` without its key words and in the singular, ``full_entity`` the same of
    ``full``. ``has_key_word`` says that there was such a word, ``is_generic`` that any table
    could have a column called ``bare``. ``squashed`` and ``bare_squashed`` are ``full`` and
    ``bare`` without spaces.
    """

    full: Words
    bare: Words
    entity: Words
    full_entity: Words
    has_key_word: bool
    is_generic: bool
    squashed: str
    bare_squashed: str


@dataclass(frozen=True, slots=True)
class ParsedTableName:
    """A table's name as words: ``entity`` lacks technical prefixes and is in the singular."""

    entity: Words
    squashed: str


@dataclass(frozen=True, slots=True)
class ParsedNames:
    """The parsed names of a table and its columns."""

    table: ParsedTableName
    columns: tuple[ParsedColumnName, ...]


def parse_names(tables: Sequence[tuple[str, Sequence[str]]]) -> list[ParsedNames]:
    """Parse the names of a whole schema; ``tables`` holds (table, columns).

    Columns whose names have the same words share one object, so that what is computed for a name
    can be cached by its identity.
    """
    bare_names = [name.rsplit(".", 1)[-1] for name, _ in tables]
    shared_words = common_prefix_words(bare_names)
    glued = "" if shared_words else _glued_table_prefix(bare_names)
    vocabulary = _vocabulary(bare_names, [columns for _, columns in tables])
    known: dict[tuple[Words, Words], ParsedColumnName] = {}
    parsed = []
    for bare, (_, columns) in zip(bare_names, tables, strict=True):
        table = _parse_table_name(bare, shared_words, glued, vocabulary)
        column_words = _column_words(columns)
        for full, own in column_words:
            if (full, own) not in known:
                known[full, own] = _parse_column_name(full, own, vocabulary)
        parsed.append(ParsedNames(table, tuple(known[words] for words in column_words)))
    return parsed


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Words that a schema uses by themselves, and those of them that name its entities."""

    words: frozenset[str]
    entities: frozenset[str]


def _vocabulary(tables: Sequence[str], columns: Sequence[Sequence[str]]) -> Vocabulary:
    known: set[str] = set(COMMON_WORDS)
    entities: set[str] = set()
    for name in tables:
        parts = words(name)
        known.update(part for word in parts if len(word) >= 3 for part in (word, singular(word)))
        if len(parts) == 1:
            entities.add(singular(parts[0]))
    for name in chain.from_iterable(columns):
        parts = words(name)
        if len(parts) > 1:
            known.update(word for word in parts if len(word) >= 3)
            continue
        entity = "".join(strip_key_words(parts))
        # Only short single words: a longer one is more likely glued itself than part of another.
        if 3 <= len(entity) <= 8:
            known.add(entity)
            if (entity,) != parts:
                entities.add(entity)
    return Vocabulary(frozenset(known), frozenset(entities))


def _glued_table_prefix(names: Sequence[str]) -> str:
    prefix = glued_prefix(names)
    return prefix if 1 < len(prefix) <= _MOST_GLUED_PREFIX else ""


def _parse_table_name(
    name: str, shared_words: int, glued: str, vocabulary: Vocabulary
) -> ParsedTableName:
    phrase = words(name[len(glued) :] if glued else name)
    if shared_words and len(phrase) > shared_words:
        phrase = phrase[shared_words:]
    while len(phrase) > 1 and phrase[0] in TECHNICAL_WORDS:
        phrase = phrase[1:]
    while len(phrase) > 1 and phrase[-1] in TECHNICAL_WORDS:
        phrase = phrase[:-1]
    entity = _without_repeats(stem(unglue(phrase, vocabulary)))
    return ParsedTableName(entity, "".join(entity))


def _without_repeats(phrase: Words) -> Words:
    """Return a phrase without repeated words: ``menu_menu`` holds the menus of its module."""
    return tuple(word for word, _ in groupby(phrase))


def unglue(phrase: Words, vocabulary: Vocabulary) -> Words:
    """Split words that are glued from known ones: ``orderline`` to order, line."""
    split: list[str] = []
    for word in phrase:
        split.extend(_split(word, vocabulary))
    return tuple(split)


def _split(word: str, vocabulary: Vocabulary) -> Words:
    return _split_long(word, vocabulary) if len(word) >= _FEWEST_GLUED_LETTERS else (word,)


@lru_cache(maxsize=100_000)
def _split_long(word: str, vocabulary: Vocabulary) -> Words:
    """Split at the longest known beginning whose rest is known; else after a known entity's name.

    The rest needs four letters, and so does what follows an entity of at least five: shorter pieces
    occur in too many words.
    """
    fallback: Words = (word,)
    for cut in range(len(word) - 3, 2, -1):
        head, tail = word[:cut], word[cut:]
        if head not in vocabulary.words:
            continue
        if len(tail) >= 4 and (tail in vocabulary.words or singular(tail) in vocabulary.words):
            return head, tail
        tail_words = _split(tail, vocabulary)
        if len(tail_words) > 1:
            return head, *tail_words
        is_entity = len(head) >= 5 and len(tail) >= 4 and head in vocabulary.entities
        if is_entity and len(fallback) == 1:
            fallback = (head, tail)
    return fallback


def _column_words(names: Sequence[str]) -> list[tuple[Words, Words]]:
    """Return the words of a table's columns: all of them, and without the names' shared prefix."""
    humps = hump_prefix(names)
    phrases = [_words_after(humps, name) for name in names]
    first_words = Counter(phrase[:1] for phrase in phrases)
    shared = bool(humps) or common_prefix_words(names) > 0
    prefix = first_words.most_common(1)[0][0] if shared and first_words else ()
    glued = "" if shared else glued_prefix(names)
    return [
        (full, _without_prefix(name, full, prefix, glued))
        for name, full in zip(names, phrases, strict=True)
    ]


def _without_prefix(name: str, full: Words, prefix: Words, glued: str) -> Words:
    if prefix and full[:1] == prefix and len(full) > 1:
        return full[1:]
    if glued and name.lower().startswith(glued) and len(name) > len(glued):
        return words(name[len(glued) :])
    return full


def _words_after(prefix: str, name: str) -> Words:
    return (prefix.lower(), *words(name[len(prefix) :])) if prefix else words(name)


def _parse_column_name(full: Words, bare: Words, vocabulary: Vocabulary) -> ParsedColumnName:
    named = _without_glued_key_word(strip_key_words(bare), vocabulary)
    return ParsedColumnName(
        full=full,
        bare=bare,
        entity=stem(unglue(named, vocabulary)),
        full_entity=stem(strip_key_words(full)),
        has_key_word=has_key_word(bare) or named != strip_key_words(bare),
        is_generic=is_generic(bare),
        squashed="".join(full),
        bare_squashed="".join(bare),
    )


def _without_glued_key_word(phrase: Words, vocabulary: Vocabulary) -> Words:
    """Return a phrase without a key word that is glued to the front of a known word."""
    if not phrase or phrase[0] in vocabulary.entities:
        return phrase
    for prefix in GLUED_LEADING_KEY_WORDS:
        stem_word = phrase[0].removeprefix(prefix)
        if len(stem_word) < _FEWEST_STEM_LETTERS or stem_word == phrase[0]:
            continue
        if stem_word in vocabulary.words or singular(stem_word) in vocabulary.words:
            return (stem_word, *phrase[1:])
    return phrase
