"""Parsed names: words, key suffixes, prefixes that a whole table shares, entities.

The rules know naming habits (camelCase, snake_case, glued suffixes, table-wide prefixes, plurals),
not schemas.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, groupby

Words = tuple[str, ...]

_BOUNDARY = re.compile(
    r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_A-Za-z]+",
)

KEY_WORDS = frozenset(
    "id ids key sk pk fk code cd no nr num number nbr uuid guid oid ref bk hk identifier "
    "rowid recid pkid ident "
    "cod codigo numero nro clave clef cle chave chiave codice codigos kod kode nummer "
    "schluessel".split()
)
"""Words that only say that a column is a key, in databases of any domain."""
_LEADING_KEY_WORDS = frozenset(
    "id fk pk sk key code cod codigo codice kod kode clave chave cle uuid guid".split()
)
"""Key words that come first in many databases, and in those with Romance names: ``id_client``."""
_LEADING_COUNT_WORDS = frozenset("num no nr nro numero number".split())
"""Words that lead a key (``num_client``) or a count (``num_pages``, ``number_of_pages``)."""
_GLUED_LEADING_KEY_WORDS = ("codigo", "cod", "num", "fk", "pk", "id")
"""Key words that are found glued to the front of a word that the schema knows (``idclient``)."""
_GENERIC_WORDS = KEY_WORDS | {"name", "title", "type"}
_GLUED_KEY_WORDS = ("uuid", "guid", "code", "key", "id", "sk", "no", "nr")
"""Key words that are found at the end of a longer word too (``custid``), the longest first."""
_TECHNICAL_WORDS = frozenset(
    "dim fact fct stg stage staging raw tbl tab table src ods ref lkp lookup mst master dwh mart "
    "vw view t tb data".split()
)
"""Words around a table's name that say which layer it is in, not what it holds."""

_IRREGULAR = {
    "people": "person", "men": "man", "women": "woman", "children": "child", "feet": "foot",
    "indices": "index", "indexes": "index", "statuses": "status", "series": "series",
    "addresses": "address", "data": "data", "media": "media", "news": "news",
}  # fmt: skip

_NUMBERED = re.compile(r"^(c|col|column|f|field|fld|attr|var|v|x|t|tab|table)?[_ ]?\d+$", re.I)
"""Names that only number their columns or tables: ``col_7``, ``f3``."""

_COMMON_WORDS = frozenset(
    "info detail item line header history type status group category order product customer "
    "address date time from ship bill parent sold name number amount price unit country region "
    "city state person employee account contact phone email start end first last total sales "
    "purchase invoice payment store stock location department company".split()
)
"""Words that names of business databases are glued from (``orderline``), whatever the schema."""

_PLAIN_WORDS = frozenset(
    "paid valid invalid void aid bid grid avoid liquid solid rapid acid android hybrid mid raid "
    "kid lid rid said laid covid fluid unpaid prepaid barcode zipcode postcode turkey monkey "
    "hockey whiskey casino piano video audio radio info memo logo photo zero volcano euro".split()
)
"""Words that end in a key word's letters by nature."""

_PREPOSITIONS = frozenset("of de di do da du des del von".split())

_MOST_GLUED_PREFIX = 4
"""Letters of a prefix glued to all table names (``tblorders``); longer ones are words."""
_FEWEST_STEM_LETTERS = 4
"""Shorter words follow a glued key word by accident (``ideal``)."""
_FEWEST_GLUED_LETTERS = 6
"""Shorter words aren't split: any three letters and three more may be words."""
_PREFIX_SHARE = 0.9
"""The share of a table's columns that must begin with a word for it to be their prefix; a few
columns added later often lack it."""


@lru_cache(maxsize=200_000)
def words(name: str) -> Words:
    """Return the words of a name in lower case: ship, to, address, id of ``ShipToAddressID``.

    Mere numbering (``col_7``) says nothing and gives no words.
    """
    if _NUMBERED.match(name):
        return ()
    return tuple(part.lower() for part in _BOUNDARY.findall(_without_accents(name)))


def _without_accents(name: str) -> str:
    if name.isascii():
        return name
    decomposed = unicodedata.normalize("NFKD", name)
    return "".join(letter for letter in decomposed if not unicodedata.combining(letter))


@lru_cache(maxsize=200_000)
def singular(word: str) -> str:
    """Return the singular of an English noun, by rule; other words stay as they are."""
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
    """Return the words of a phrase, each in the singular."""
    return tuple(singular(word) for word in phrase)


def strip_key_words(phrase: Words) -> Words:
    """Return a phrase without its key words: those at the end, glued ones too, or at the front."""
    while phrase and phrase[-1] in KEY_WORDS:
        phrase = phrase[:-1]
    if phrase:
        last = phrase[-1]
        for suffix in _GLUED_KEY_WORDS:
            has_stem = len(last) - len(suffix) >= 2 and last not in _PLAIN_WORDS
            if last.endswith(suffix) and has_stem:
                return (*phrase[:-1], last[: -len(suffix)])
    return phrase[1:] if _leads_with_key_word(phrase) else phrase


def _leads_with_key_word(phrase: Words) -> bool:
    if len(phrase) < 2:
        return False
    if phrase[0] in _LEADING_COUNT_WORDS:
        # What is counted is in the plural or follows a preposition.
        return phrase[1] not in _PREPOSITIONS and singular(phrase[-1]) == phrase[-1]
    return phrase[0] in _LEADING_KEY_WORDS


def has_key_word(phrase: Words) -> bool:
    """Return whether a name says, at its end or its front, that it is a key."""
    return bool(phrase) and (phrase[-1] in KEY_WORDS or strip_key_words(phrase) != phrase)


def is_generic(phrase: Words) -> bool:
    """Return whether any table could have a column of that name: a key, name, title or type."""
    return _GENERIC_WORDS.issuperset(phrase)


def common_prefix_words(names: Sequence[str]) -> int:
    """Return how many leading words (nearly) all of three or more names share, 0 or 1."""
    if len(names) < 3:
        return 0
    firsts = Counter(words(name)[:1] for name in names)
    first, count = firsts.most_common(1)[0]
    if not first or count < max(3, _PREFIX_SHARE * len(names)):
        return 0
    return 1 if all(len(words(n)) > 1 for n in names if words(n)[:1] == first) else 0


def glued_prefix(names: Sequence[str]) -> str:
    """Return the letters that all of three or more names begin with in any case, or ""."""
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
    known: set[str] = set(_COMMON_WORDS)
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
    while len(phrase) > 1 and phrase[0] in _TECHNICAL_WORDS:
        phrase = phrase[1:]
    while len(phrase) > 1 and phrase[-1] in _TECHNICAL_WORDS:
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


def hump_prefix(names: Sequence[str]) -> str:
    """Return the letters that all of four or more names begin with before a capital, or "".

    In camel case, a prefix of one letter runs into the next word: ``OCId`` is O, c, id.
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
    for prefix in _GLUED_LEADING_KEY_WORDS:
        stem_word = phrase[0].removeprefix(prefix)
        if len(stem_word) < _FEWEST_STEM_LETTERS or stem_word == phrase[0]:
            continue
        if stem_word in vocabulary.words or singular(stem_word) in vocabulary.words:
            return (stem_word, *phrase[1:])
    return phrase
