"""The parsed names of a schema: entities, prefixes that a whole table shares, glued words.

The rules know naming habits (camelCase, snake_case, glued suffixes, table-wide prefixes, plurals),
not schemas.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, groupby

from fluid_build.lexicon import starts, terms
from fluid_build.profiling.names.habits import (
    common_prefix_words,
    find_heads,
    find_key_words,
    find_marks,
    find_modules,
    glued_letter,
    glued_prefix,
    hump_prefix,
    short_first_words,
)
from fluid_build.profiling.names.words import (
    Words,
    has_key_word,
    is_generic,
    singular,
    stem,
    strip_key_words,
    words,
)

_TECHNICAL_WORDS = terms("layer", "layer_word", "table_mark")
"""Words around a table's name that say which layer it is in, not what it holds."""
_REFERENCE_MARKS = terms("reference_mark")
_MOST_GLUED_PREFIX = 4
"""Letters of a prefix glued to all table names (``tblorders``); longer ones are words."""
_FEWEST_STEM_LETTERS = 4
"""Shorter words follow a glued key word by accident (``ideal``)."""
_FEWEST_PLURAL_LETTERS = 6
"""Letters of a plural that another word may be glued to (``debtorsmaster``)."""
_FEWEST_GLUED_LETTERS = 6
"""Shorter words aren't split: any three letters and three more may be words."""


@dataclass(frozen=True, slots=True)
class ParsedColumnName:
    """A column's name as words.

    ``full`` has all words, ``bare`` lacks the prefix that all columns of the table share.
    ``entity`` is ``bare`` without its key words and in the singular, ``full_entity`` the same of
    ``full``. ``has_key_word`` says that there was such a word, ``is_generic`` that any table
    could have a column called ``bare``. ``squashed`` and ``bare_squashed`` are ``full`` and
    ``bare`` without spaces. ``names_table`` says that ``entity`` is the name of a table.
    """

    full: Words
    bare: Words
    entity: Words
    full_entity: Words
    has_key_word: bool
    is_generic: bool
    squashed: str
    bare_squashed: str
    names_table: bool

    @property
    def is_reference(self) -> bool:
        """Whether the name itself says that the column is a foreign key."""
        return not _REFERENCE_MARKS.isdisjoint((*self.full[:1], *self.full[-1:]))


@dataclass(frozen=True, slots=True)
class ParsedTableName:
    """A table's name as words: ``entity`` lacks technical prefixes and is in the singular.

    ``module`` is a first word that many tables share, "" if there is none. ``head`` is the last
    word if no other table has it, else nothing.
    """

    entity: Words
    squashed: str
    module: str = ""
    head: Words = ()


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
    table_names, column_names = _without_marks(tables)
    vocabulary = _vocabulary(table_names, column_names)
    shared_words = common_prefix_words(table_names)
    glued = "" if shared_words else _glued_table_prefix(table_names)
    entities = [_table_entity(name[len(glued) :], shared_words, vocabulary) for name in table_names]
    vocabulary = replace(
        vocabulary, tables=frozenset(entities), key_words=find_key_words(column_names)
    )
    modules, heads = find_modules(entities), find_heads(entities)
    known: dict[tuple[Words, Words], ParsedColumnName] = {}
    parsed = []
    for entity, columns in zip(entities, column_names, strict=True):
        has_several_words = len(entity) > 1
        module = entity[0] if has_several_words and entity[0] in modules else ""
        head = entity[-1:] if has_several_words and entity[-1] in heads else ()
        table = ParsedTableName(entity, "".join(entity), module, head)
        column_words = _column_words(columns)
        for full, own in column_words:
            if (full, own) not in known:
                known[full, own] = _parse_column_name(full, own, vocabulary)
        parsed.append(ParsedNames(table, tuple(known[words] for words in column_words)))
    return parsed


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Words that a schema uses by themselves, and those of them that name its entities.

    ``tables`` are the names of its tables, ``key_words`` its own words for a key.
    """

    words: frozenset[str]
    entities: frozenset[str]
    tables: frozenset[Words] = frozenset()
    key_words: frozenset[str] = frozenset()


def _without_marks(
    tables: Sequence[tuple[str, Sequence[str]]],
) -> tuple[list[str], list[list[str]]]:
    """Return the names of tables and columns without the marks that the schema puts around them."""
    names = [name.rsplit(".", 1)[-1] for name, _ in tables]
    modules = short_first_words(names)
    table_marks = find_marks(names, modules)
    column_marks = find_marks([name for _, columns in tables for name in columns], modules)
    return (
        [table_marks.strip(name) for name in names],
        [[column_marks.strip(name) for name in columns] for _, columns in tables],
    )


def _vocabulary(tables: Sequence[str], columns: Sequence[Sequence[str]]) -> Vocabulary:
    known: set[str] = set(terms("common"))
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
    """Return the letters glued to all tables: ``tbl``, but not the first one of two names alike."""
    prefix = glued_prefix(names)
    return prefix if 1 < len(prefix) <= _MOST_GLUED_PREFIX else ""


def _table_entity(name: str, shared_words: int, vocabulary: Vocabulary) -> Words:
    phrase = words(name)
    if shared_words and len(phrase) > shared_words:
        phrase = phrase[shared_words:]
    while len(phrase) > 1 and phrase[0] in _TECHNICAL_WORDS:
        phrase = phrase[1:]
    phrase = unglue(phrase, vocabulary)
    while len(phrase) > 1 and phrase[-1] in _TECHNICAL_WORDS:
        phrase = phrase[:-1]
    # ``club_club`` holds the clubs of its module.
    return tuple(word for word, _ in groupby(stem(phrase)))


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
        if head not in vocabulary.words and (
            len(head) < _FEWEST_PLURAL_LETTERS or singular(head) not in vocabulary.words
        ):
            continue
        if len(singular(tail)) >= 4 and vocabulary.words & {tail, singular(tail)}:
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
    phrases = [
        (humps.lower(), *words(name[len(humps) :])) if humps else words(name) for name in names
    ]
    first_words = Counter(phrase[:1] for phrase in phrases)
    shared = bool(humps) or common_prefix_words(names) > 0
    prefix = first_words.most_common(1)[0][0] if shared and first_words else ()
    glued = "" if shared else glued_prefix(names) or glued_letter(names)
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


def _parse_column_name(full: Words, bare: Words, vocabulary: Vocabulary) -> ParsedColumnName:
    phrase = _with_known_key_word(_without_number(bare), vocabulary)
    stripped = _strip_to_table(phrase, vocabulary)
    named = _without_glued_key_word(stripped, vocabulary)
    entity = stem(unglue(named, vocabulary))
    return ParsedColumnName(
        full=full,
        bare=bare,
        entity=entity,
        full_entity=stem(strip_key_words(full)),
        has_key_word=has_key_word(phrase) or named != stripped,
        is_generic=is_generic(phrase),
        squashed="".join(full),
        bare_squashed="".join(bare),
        names_table=entity in vocabulary.tables,
    )


def _without_number(phrase: Words) -> Words:
    """Return a phrase without the number of a role: ``study1_id`` and ``goalie_id_2``."""
    stripped = strip_key_words(phrase)
    if len(stripped) > 1 and stripped[-1].isdigit():
        key_words = phrase[len(stripped) :] if phrase[: len(stripped)] == stripped else ("id",)
        return (*stripped[:-1], *key_words)
    return phrase


def _with_known_key_word(phrase: Words, vocabulary: Vocabulary) -> Words:
    """Return a phrase with ``id`` for the schema's own word for a key."""
    return (*phrase[:-1], "id") if phrase and phrase[-1] in vocabulary.key_words else phrase


def _strip_to_table(phrase: Words, vocabulary: Vocabulary) -> Words:
    """Return a phrase without key words, except for those that end a table's name.

    ``allele_code_id`` names the table ``allele_code``.
    """
    if stem(phrase) in vocabulary.tables:
        return phrase
    for size in range(len(phrase) - 1, 1, -1):
        if phrase[size] not in terms("key_word") or phrase[size - 1] not in terms("key_word"):
            break
        if stem(phrase[:size]) in vocabulary.tables:
            return phrase[:size]
    return strip_key_words(phrase)


def _without_glued_key_word(phrase: Words, vocabulary: Vocabulary) -> Words:
    """Return a phrase without a key word that is glued to the front of a known word."""
    if not phrase or phrase[0] in vocabulary.entities:
        return phrase
    for prefix in starts("key_word"):
        stem_word = phrase[0].removeprefix(prefix)
        if len(stem_word) < _FEWEST_STEM_LETTERS or stem_word == phrase[0]:
            continue
        if stem_word in vocabulary.words or singular(stem_word) in vocabulary.words:
            return (stem_word, *phrase[1:])
    return phrase
