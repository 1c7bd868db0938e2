"""Names taken apart: words, key suffixes, prefixes that a whole table shares, entities.

The rules know naming habits (camelCase, snake_case, glued suffixes, table-wide prefixes, plurals),
not schemas.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

Words = tuple[str, ...]

_BOUNDARY = re.compile(
    r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_A-Za-z]+",
)

KEY_WORDS = frozenset(
    "id ids key sk pk fk code cd no nr num number nbr uuid guid oid ref bk hk identifier".split()
)
_GENERIC_WORDS = KEY_WORDS | {"name", "title", "type"}
_GLUED_KEYS = ("uuid", "guid", "code", "key", "id", "sk", "no", "nr")
_TECHNICAL = frozenset(
    "dim fact fct stg stage staging raw tbl tab table src ods ref lkp lookup mst master dwh mart "
    "vw view t tb data".split()
)


_IRREGULAR = {
    "people": "person", "men": "man", "women": "woman", "children": "child", "feet": "foot",
    "indices": "index", "indexes": "index", "statuses": "status", "series": "series",
    "addresses": "address", "data": "data", "media": "media", "news": "news",
}  # fmt: skip


_NUMBERED = re.compile(r"^(c|col|column|f|field|fld|attr|var|v|x|t|tab|table)?[_ ]?\d+$", re.I)

_COMMON = frozenset(
    "info detail item line header history type status group category order product customer "
    "address date time from ship bill parent sold name number amount price unit country region "
    "city state person employee account contact phone email start end first last total sales "
    "purchase invoice payment store stock location department company".split()
)


@lru_cache(maxsize=200_000)
def words(name: str) -> Words:
    """The words of a name, lower case: ``ShipToAddressID`` gives ship, to, address, id.

    Mere numbering (``col_7``) says nothing and gives no words.
    """
    if _NUMBERED.match(name):
        return ()
    return tuple(part.lower() for part in _BOUNDARY.findall(name))


@lru_cache(maxsize=200_000)
def singular(word: str) -> str:
    """The singular of an English noun, by rule; other words come back as they are."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) > 3 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("sses", "shes", "ches", "xes", "zes")):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def stem(phrase: Iterable[str]) -> Words:
    """The words of a phrase, each in the singular."""
    return tuple(singular(word) for word in phrase)


def strip_key_suffix(phrase: Words) -> Words:
    """A phrase without the words that only say "key", also where one is glued to the last word."""
    while phrase and phrase[-1] in KEY_WORDS:
        phrase = phrase[:-1]
    if phrase:
        last = phrase[-1]
        for suffix in _GLUED_KEYS:
            if last.endswith(suffix) and len(last) - len(suffix) >= 2 and not _is_plain(last):
                return (*phrase[:-1], last[: -len(suffix)])
    return phrase


_PLAIN_WORDS = frozenset(
    "paid valid invalid void aid bid grid avoid liquid solid rapid acid android hybrid mid raid "
    "kid lid rid said laid covid fluid unpaid prepaid barcode zipcode postcode turkey monkey "
    "hockey whiskey casino piano video audio radio info memo logo photo zero volcano euro".split()
)


def _is_plain(word: str) -> bool:
    return word in _PLAIN_WORDS


def has_key_suffix(phrase: Words) -> bool:
    """Whether a name ends by saying that it is a key."""
    return bool(phrase) and (phrase[-1] in KEY_WORDS or strip_key_suffix(phrase) != phrase)


def is_generic(phrase: Words) -> bool:
    """Whether a name could be that of a column of any table: a key, a name, a title, a type."""
    return _GENERIC_WORDS.issuperset(phrase)


def common_prefix_words(names: Sequence[str]) -> int:
    """How many leading words (nearly) all names of a table share; 0 for fewer than three names."""
    if len(names) < 3:
        return 0
    firsts = Counter(words(name)[:1] for name in names)
    first, count = firsts.most_common(1)[0]
    if not first or count < max(3, 0.9 * len(names)):
        return 0
    return 1 if all(len(words(n)) > 1 for n in names if words(n)[:1] == first) else 0


def glued_prefix(names: Sequence[str]) -> str:
    """The letters that every one of three or more unparted lower-case names begins with, or ""."""
    lowered = [name.lower() for name in names]
    if len(lowered) < 3:
        return ""
    shortest, longest = min(lowered), max(lowered)
    size = 0
    while size < len(shortest) and shortest[size] == longest[size]:
        size += 1
    prefix = shortest[:size].rstrip("_")
    if size < 2 or any(len(name) <= size for name in lowered):
        return ""
    return prefix if prefix.isalpha() else ""


@dataclass(frozen=True, slots=True)
class ParsedColumnName:
    """A column's name taken apart.

    ``full`` has all words, ``bare`` lacks the prefix that all columns of the table share,
    ``entity`` is ``bare`` without its key suffix and in the singular, ``full_entity`` is ``full``
    without; ``keyed`` says that there was such a suffix, ``generic`` that ``bare`` could name a
    column of any table.
    """

    full: Words
    bare: Words
    entity: Words
    full_entity: Words
    keyed: bool
    generic: bool
    squashed: str
    bare_squashed: str


@dataclass(frozen=True, slots=True)
class ParsedTableName:
    """A table's name taken apart: ``entity`` lacks technical prefixes and is in the singular."""

    entity: Words
    squashed: str


@dataclass(frozen=True, slots=True)
class ParsedNames:
    """A table's own name and those of its columns."""

    table: ParsedTableName
    columns: tuple[ParsedColumnName, ...]


def name_tables(tables: Sequence[tuple[str, Sequence[str]]]) -> list[ParsedNames]:
    """Take the names of a whole schema apart; ``tables`` holds (table, columns).

    Columns whose names come apart alike share one object, so that what is learnt of a name can
    be kept by its identity.
    """
    bare_names = [name.rsplit(".", 1)[-1] for name, _ in tables]
    shared_words = _shared_table_prefix(bare_names)
    shared_glue = "" if shared_words else _glued_table_prefix(bare_names)
    vocabulary = _vocabulary(bare_names, [columns for _, columns in tables])
    known: dict[tuple[Words, Words], ParsedColumnName] = {}
    named = []
    for bare, (_, columns) in zip(bare_names, tables, strict=True):
        table = _table_name(bare, shared_words, shared_glue, vocabulary)
        parted = _column_words(columns)
        for full, own in parted:
            if (full, own) not in known:
                known[full, own] = _column_name(full, own, vocabulary)
        named.append(ParsedNames(table, tuple(known[words] for words in parted)))
    return named


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Words that a schema uses on their own, and among them those that name its entities."""

    words: frozenset[str]
    entities: frozenset[str]


def _vocabulary(tables: Sequence[str], columns: Sequence[Sequence[str]]) -> Vocabulary:
    known: set[str] = set(_COMMON)
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
        entity = "".join(strip_key_suffix(parts))
        if 3 <= len(entity) <= 8:
            known.add(entity)
            if (entity,) != parts:
                entities.add(entity)
    return Vocabulary(frozenset(known), frozenset(entities))


def _shared_table_prefix(names: Sequence[str]) -> int:
    return common_prefix_words(names) if len(names) >= 3 else 0


def _glued_table_prefix(names: Sequence[str]) -> str:
    prefix = glued_prefix(names)
    return prefix if 1 < len(prefix) <= 4 else ""


def _table_name(
    name: str, shared_words: int, shared_glue: str, vocabulary: Vocabulary
) -> ParsedTableName:
    phrase = words(name[len(shared_glue) :] if shared_glue else name)
    if shared_words and len(phrase) > shared_words:
        phrase = phrase[shared_words:]
    while len(phrase) > 1 and phrase[0] in _TECHNICAL:
        phrase = phrase[1:]
    while len(phrase) > 1 and phrase[-1] in _TECHNICAL:
        phrase = phrase[:-1]
    entity = stem(unglue(phrase, vocabulary))
    return ParsedTableName(entity, "".join(entity))


def unglue(phrase: Words, vocabulary: Vocabulary) -> Words:
    """Split words that are glued from known ones: ``orderline`` to order, line."""
    parted: list[str] = []
    for word in phrase:
        parted.extend(_split_known(word, vocabulary) if len(word) >= 6 else (word,))
    return tuple(parted)


@lru_cache(maxsize=100_000)
def _split_known(word: str, vocabulary: Vocabulary) -> Words:
    begun: Words = (word,)
    for cut in range(len(word) - 3, 2, -1):
        head, tail = word[:cut], word[cut:]
        if head not in vocabulary.words:
            continue
        if len(tail) >= 4 and (tail in vocabulary.words or singular(tail) in vocabulary.words):
            return head, tail
        rest = _split_known(tail, vocabulary) if len(tail) >= 6 else (tail,)
        if len(rest) > 1:
            return head, *rest
        if len(head) >= 5 and len(tail) >= 4 and head in vocabulary.entities and len(begun) == 1:
            begun = (head, tail)
    return begun


def hump_prefix(names: Sequence[str]) -> str:
    """The letters that all of four or more names begin with before a capital: ``O`` of ``OId``.

    Written in humps, a prefix of one letter runs into the next word: ``OCId`` is O, c, id.
    """
    if len(names) < 4:
        return ""
    size = 0
    for letters in zip(*names, strict=False):
        if len(set(letters)) > 1:
            break
        size += 1
    while size and not all(name[size : size + 1].isupper() for name in names):
        size -= 1
    prefix = names[0][:size]
    return prefix if prefix.isupper() and size <= 3 else ""


def _column_words(names: Sequence[str]) -> list[tuple[Words, Words]]:
    """The words of a table's columns, all of them and without the prefix that the names share."""
    humps = hump_prefix(names)
    parts = [_words_after(humps, name) for name in names]
    firsts = Counter(part[:1] for part in parts)
    shared = bool(humps) or common_prefix_words(names) > 0
    prefix = firsts.most_common(1)[0][0] if shared and firsts else ()
    glue = "" if shared else glued_prefix(names)
    parted = []
    for name, full in zip(names, parts, strict=True):
        bare = full
        if prefix and full[:1] == prefix and len(full) > 1:
            bare = full[1:]
        elif glue and name.lower().startswith(glue) and len(name) > len(glue):
            bare = words(name[len(glue) :])
        parted.append((full, bare))
    return parted


def _words_after(prefix: str, name: str) -> Words:
    return (prefix.lower(), *words(name[len(prefix) :])) if prefix else words(name)


def _column_name(full: Words, bare: Words, vocabulary: Vocabulary) -> ParsedColumnName:
    return ParsedColumnName(
        full=full,
        bare=bare,
        entity=stem(unglue(strip_key_suffix(bare), vocabulary)),
        full_entity=stem(strip_key_suffix(full)),
        keyed=has_key_suffix(bare),
        generic=is_generic(bare),
        squashed="".join(full),
        bare_squashed="".join(bare),
    )
