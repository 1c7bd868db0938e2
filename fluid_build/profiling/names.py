"""What names say: words, entities, and how well a column's name refers to a table's key.

Names rank candidates and never prove one; the data has the veto. The rules know naming habits
(camelCase, snake_case, glued suffixes, table-wide prefixes, plurals, abbreviations), not schemas.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

Words = tuple[str, ...]

_BOUNDARY = re.compile(
    r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_A-Za-z]+",
)

KEY_WORDS = frozenset(
    "id ids key sk pk fk code cd no nr num number nbr uuid guid oid ref bk hk identifier".split()
)
SURROGATE_WORDS = frozenset("id key sk pk fk uuid guid oid identifier".split())
_GLUED_KEYS = ("uuid", "guid", "code", "key", "id", "sk", "no", "nr")
_TECHNICAL = frozenset(
    "dim fact fct stg stage staging raw tbl tab table src ods ref lkp lookup mst master dwh mart vw "
    "view t tb data".split()
)
STRUCTURE_WORDS = frozenset(
    "parent ancestor predecessor previous prev next successor original replaces replaced "
    "duplicate master root reply superior".split()
)
LEADER_WORDS = frozenset(
    "manager mgr boss supervisor reports reportsto head lead leader sponsor mentor coach chief "
    "referrer".split()
)
_PEOPLE_WORDS = frozenset(
    "employee staff person people user worker agent salesperson member officer personnel rep "
    "contact associate customer student player teacher consultant".split()
)
_LINK_WORDS = frozenset("to of by for from at in on the a via per".split())

_SYNONYMS: tuple[frozenset[str], ...] = (
    frozenset("customer client user account buyer member patron subscriber consumer".split()),
    frozenset("employee staff worker associate personnel rep representative agent".split()),
    frozenset("employee salesperson seller salesman".split()),
    frozenset("product item article good sku".split()),
    frozenset("vendor supplier".split()),
    frozenset("store shop branch outlet".split()),
    frozenset("order purchase".split()),
    frozenset("city town".split()),
    frozenset("doctor physician provider".split()),
    frozenset("person people individual human".split()),
    frozenset("company organization organisation firm".split()),
    frozenset("user author owner creator person".split()),
)

_IRREGULAR = {
    "people": "person", "men": "man", "women": "woman", "children": "child", "feet": "foot",
    "indices": "index", "indexes": "index", "statuses": "status", "series": "series",
    "addresses": "address", "data": "data", "media": "media", "news": "news",
}  # fmt: skip


@lru_cache(maxsize=200_000)
def words(name: str) -> Words:
    """The words of a name, lower case: ``ShipToAddressID`` gives ship, to, address, id."""
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
    return bool(phrase) and (
        phrase[-1] in KEY_WORDS or strip_key_suffix(phrase) != phrase
    )


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
class ColumnName:
    """A column's name taken apart.

    ``full`` has all words, ``bare`` lacks the prefix that all columns of the table share,
    ``entity`` is ``bare`` without its key suffix and in the singular; ``keyed`` says that there
    was such a suffix.
    """

    full: Words
    bare: Words
    entity: Words
    keyed: bool
    squashed: str
    bare_squashed: str


@dataclass(frozen=True, slots=True)
class TableName:
    """A table's name taken apart: ``entity`` lacks technical prefixes and is in the singular."""

    entity: Words
    squashed: str


@dataclass(frozen=True, slots=True)
class TableNames:
    """A table's own name and those of its columns."""

    table: TableName
    columns: tuple[ColumnName, ...]


def name_tables(tables: Sequence[tuple[str, Sequence[str]]]) -> list[TableNames]:
    """Take the names of a whole schema apart; ``tables`` holds (table, columns)."""
    bare_names = [name.rsplit(".", 1)[-1] for name, _ in tables]
    shared_words = _shared_table_prefix(bare_names)
    shared_glue = "" if shared_words else _glued_table_prefix(bare_names)
    vocabulary = _vocabulary(bare_names, [columns for _, columns in tables])
    named = []
    for bare, (_, columns) in zip(bare_names, tables, strict=True):
        table = _table_name(bare, shared_words, shared_glue, vocabulary)
        named.append(TableNames(table, _column_names(columns, vocabulary)))
    return named


def _vocabulary(tables: Sequence[str], columns: Sequence[Sequence[str]]) -> frozenset[str]:
    found: set[str] = set()
    for name in tables:
        found.update(singular(word) for word in words(name) if len(word) >= 3)
        found.update(word for word in words(name) if len(word) >= 3)
    for names in columns:
        for name in names:
            parts = words(name)
            if len(parts) > 1:
                found.update(word for word in parts if len(word) >= 3)
            elif len(parts) == 1:
                entity = "".join(strip_key_suffix(parts))
                if 3 <= len(entity) <= 8:
                    found.add(entity)
    return frozenset(found)


def _shared_table_prefix(names: Sequence[str]) -> int:
    return common_prefix_words(names) if len(names) >= 3 else 0


def _glued_table_prefix(names: Sequence[str]) -> str:
    prefix = glued_prefix(names)
    return prefix if 1 < len(prefix) <= 4 else ""


def _table_name(
    name: str, shared_words: int, shared_glue: str, vocabulary: frozenset[str]
) -> TableName:
    phrase = words(name[len(shared_glue) :] if shared_glue else name)
    if shared_words and len(phrase) > shared_words:
        phrase = phrase[shared_words:]
    while len(phrase) > 1 and phrase[0] in _TECHNICAL:
        phrase = phrase[1:]
    while len(phrase) > 1 and phrase[-1] in _TECHNICAL:
        phrase = phrase[:-1]
    entity = stem(unglue(phrase, vocabulary))
    return TableName(entity, "".join(entity))


def unglue(phrase: Words, vocabulary: frozenset[str]) -> Words:
    """Split words that are glued from two or three known ones: ``orderline`` to order, line."""
    parted: list[str] = []
    for word in phrase:
        parted.extend(_split_known(word, vocabulary) if len(word) >= 6 else (word,))
    return tuple(parted)


@lru_cache(maxsize=100_000)
def _split_known(word: str, vocabulary: frozenset[str]) -> Words:
    best: Words = (word,)
    for cut in range(len(word) - 3, 2, -1):
        head, tail = word[:cut], word[cut:]
        if head not in vocabulary:
            continue
        if tail in vocabulary or singular(tail) in vocabulary or tail in KEY_WORDS:
            return head, tail
        rest = _split_known(tail, vocabulary) if len(tail) >= 6 else (tail,)
        if len(rest) > 1:
            return head, *rest
        if len(head) >= 4 and len(tail) >= 4 and best == (word,):
            best = (head, tail)
    return best


def _column_names(names: Sequence[str], vocabulary: frozenset[str]) -> tuple[ColumnName, ...]:
    shared = common_prefix_words(names)
    glue = "" if shared else glued_prefix(names)
    prefix = words(names[0])[:1] if shared else ()
    if shared:
        prefix = Counter(words(name)[:1] for name in names).most_common(1)[0][0]
    parted = []
    for name in names:
        full = words(name)
        bare = full
        if prefix and full[:1] == prefix and len(full) > 1:
            bare = full[1:]
        elif glue and name.lower().startswith(glue) and len(name) > len(glue):
            bare = words(name[len(glue) :])
        entity = stem(unglue(strip_key_suffix(bare), vocabulary))
        parted.append(
            ColumnName(
                full=full,
                bare=bare,
                entity=entity,
                keyed=has_key_suffix(bare),
                squashed="".join(full),
                bare_squashed="".join(bare),
            )
        )
    return tuple(parted)


def abbreviates(short: str, long: str) -> bool:
    """Whether one word is short for another: a prefix of two letters or more, or its consonants."""
    if len(short) < 2 or len(short) >= len(long) or short[0] != long[0]:
        return False
    if len(short) >= 3 and long.startswith(short):
        return True
    if len(short) >= 3 and not set(short[1:]) & set("aeiou"):
        return _is_subsequence(short, long)
    return len(short) >= 4 and _is_subsequence(short, long) and short[-1] == long[-1]


def _is_subsequence(short: str, long: str) -> bool:
    letters = iter(long)
    return all(letter in letters for letter in short)


@lru_cache(maxsize=200_000)
def same_word(left: str, right: str) -> float:
    """How alike two words are: 1 the same, 0.9 short for, 0.5 a synonym of a kind, else 0."""
    if left == right or singular(left) == singular(right):
        return 1.0
    if abbreviates(left, right) or abbreviates(right, left):
        return 0.9
    if any(left in group and right in group for group in _SYNONYMS):
        return 0.5
    return 0.0


@lru_cache(maxsize=200_000)
def same_phrase(left: Words, right: Words) -> float:
    """How alike two phrases are, word by word or as initials and glued abbreviations; 0 to 1."""
    if not left or not right:
        return 0.0
    if left == right or "".join(left) == "".join(right):
        return 1.0
    if len(left) == len(right):
        score = 1.0
        for one, other in zip(left, right, strict=True):
            score = min(score, same_word(one, other))
        if score:
            return score
    if len(left) == 1 and _abbreviates_phrase(left[0], right):
        return 0.85
    if len(right) == 1 and _abbreviates_phrase(right[0], left):
        return 0.85
    return 0.0


def _abbreviates_phrase(short: str, phrase: Words) -> bool:
    """Whether ``short`` is glued from beginnings of all words of the phrase, in order."""
    if len(phrase) < 2 or len(short) < 2 or not short:
        return False
    return _take(short, phrase)


def _take(rest: str, phrase: Words) -> bool:
    if not phrase:
        return not rest
    head, tail = phrase[0], phrase[1:]
    limit = min(len(rest), len(head))
    return any(
        rest[:size] == head[:size] and _take(rest[size:], tail) for size in range(limit, 0, -1)
    )


@lru_cache(maxsize=200_000)
def ends_with(phrase: Words, tail: Words) -> float:
    """How well a longer phrase ends with another (``ship to address`` with ``address``); 0 to 1."""
    if not tail or not phrase:
        return 0.0
    if len(phrase) > len(tail):
        alike = same_phrase(phrase[-len(tail) :], tail)
        if alike:
            return alike
    if len(phrase) > 1 and len(tail) > 1 and _abbreviates_phrase(phrase[-1], tail):
        return 0.85
    ending, whole = "".join(tail), "".join(phrase)
    return 0.9 if len(ending) >= 4 and len(whole) > len(ending) + 1 and whole.endswith(ending) else 0.0


def explains(key: ColumnName, table: TableName) -> float:
    """How well a key's own name explains its table's name; 0 to 1.

    ``customer_id`` explains ``customers`` fully, a bare ``id`` nearly so, a foreign word not at all.
    """
    if not key.entity:
        return 0.95 if key.keyed else 0.0
    alike = same_phrase(key.entity, table.entity)
    if alike:
        return alike if key.keyed else 0.9 * alike
    partly = max(ends_with(table.entity, key.entity), 0.9 * ends_with(key.entity, table.entity))
    if partly:
        return 0.75 * partly
    if key.entity[0] == table.entity[0] or same_word(key.entity[-1], table.entity[-1]) >= 0.9:
        return 0.4
    if table.squashed.startswith("".join(key.entity)) and len("".join(key.entity)) >= 3:
        return 0.4
    return 0.0


def refers(
    child: ColumnName, child_table: TableName, key: ColumnName, parent: TableName, own: bool
) -> float:
    """How well a column's name says that it refers to ``key`` of ``parent``; 0 to 1.

    ``own`` tells that child and key are of the same table (a hierarchy).
    """
    if own:
        return _refers_to_own_table(child, key, parent)
    owned = explains(key, parent)
    scores = [0.0]
    phrase = child.entity
    if _same_name(child, key):
        scores.append(0.55 + 0.45 * owned)
        if _kin(child_table, parent):
            scores.append(0.9)
    if phrase and (child.keyed or owned):
        keyed = 1.0 if child.keyed else 0.85
        scores.append(keyed * same_phrase(phrase, parent.entity))
        scores.append(0.95 * keyed * ends_with(phrase, parent.entity))
        scores.append(0.8 * keyed * ends_with(parent.entity, phrase))
        scores.append(0.6 * keyed * _starts_like(phrase, parent.entity))
        scores.append(0.5 * keyed * _contains(phrase, parent.entity))
        if key.entity and not _is_generic(key.bare):
            base = 0.6 + 0.35 * owned
            scores.append(base * keyed * same_phrase(phrase, key.entity))
            scores.append(0.95 * base * keyed * ends_with(phrase, key.entity))
            full_key = stem(strip_key_suffix(key.full))
            if full_key != key.entity:
                scores.append(base * keyed * same_phrase(phrase, full_key))
                scores.append(0.95 * base * keyed * ends_with(phrase, full_key))
    return max(scores)


def _refers_to_own_table(child: ColumnName, key: ColumnName, parent: TableName) -> float:
    hierarchy = is_hierarchical(child, parent)
    tail = max(
        ends_with(child.entity, key.entity) if key.entity else 0.0,
        ends_with(child.entity, parent.entity),
        0.9 if key.bare and child.bare[-len(key.bare) :] == key.bare and child.keyed else 0.0,
    )
    if hierarchy:
        return max(0.75, 0.95 * tail)
    return 0.6 * tail


def is_hierarchical(child: ColumnName, table: TableName) -> bool:
    """Whether a name speaks of another row of its own table: a parent, a predecessor, a boss."""
    said = set(child.full)
    if said & STRUCTURE_WORDS:
        return True
    return bool(said & LEADER_WORDS and set(table.entity) & _PEOPLE_WORDS)


def _same_name(child: ColumnName, key: ColumnName) -> bool:
    if child.bare_squashed == key.squashed or child.squashed == key.squashed:
        return not _is_generic(key.full)
    return child.bare_squashed == key.bare_squashed and not _is_generic(key.bare)


def _is_generic(phrase: Words) -> bool:
    return all(word in KEY_WORDS or word in {"name", "title", "type"} for word in phrase)


def _kin(child: TableName, parent: TableName) -> bool:
    """Whether a table's name begins with the other's: ``employee pay history`` and ``employee``."""
    size = len(parent.entity)
    if not size or len(child.entity) < size:
        return child.squashed.startswith(parent.squashed) and len(parent.squashed) >= 4
    return child.entity[:size] == parent.entity or same_word(child.entity[-1], parent.entity[-1]) == 1.0


def _starts_like(phrase: Words, entity: Words) -> float:
    """Whether the first word shares its stem with the entity's: ``membership`` and ``member``."""
    first, other = phrase[0], entity[-1]
    size = min(len(first), len(other))
    return 1.0 if size >= 4 and first[:size] == other[:size] else 0.0


def _contains(phrase: Words, entity: Words) -> float:
    size = len(entity)
    for start in range(len(phrase) - size):
        found = same_phrase(phrase[start : start + size], entity)
        if found:
            return found
    return 0.0
