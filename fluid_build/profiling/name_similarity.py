"""How alike two names are, and how well a column's name refers to a table's key.

Scores run from 0 to 1. They rank candidates and prove nothing.
"""

from functools import lru_cache

from fluid_build.profiling.names import (
    ParsedColumnName,
    ParsedTableName,
    Words,
    is_generic,
    singular,
)

STRUCTURE_WORDS = frozenset(
    "parent ancestor predecessor previous prev next successor original replaces replaced "
    "duplicate master root reply superior".split()
)
_LONG_STRUCTURE_WORDS = tuple(sorted(word for word in STRUCTURE_WORDS if len(word) >= 6))
LEADER_WORDS = frozenset(
    "manager mgr boss supervisor reports reportsto head lead leader sponsor mentor coach chief "
    "referrer".split()
)
ACTING_WORDS = frozenset(
    "by owner author creator approver assignee assigned reviewer editor requester reporter "
    "responsible handler".split()
)
STAFF_WORDS = frozenset("user employee staff person people worker personnel member".split())
_PEOPLE_WORDS = frozenset(
    "employee staff person people user worker agent salesperson member officer personnel rep "
    "contact associate customer student player teacher consultant".split()
)
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


def abbreviates(short: str, long: str) -> bool:
    """Whether one word is short for another: a prefix of two letters or more, or its consonants."""
    if len(short) < 2 or len(short) >= len(long) or short[0] != long[0]:
        return False
    if len(short) >= 3 and long.startswith(short):
        return True
    if len(short) >= 3 and not set(short[1:]) & set("aeiou"):
        return _is_subsequence(short, long)
    if len(short) < 4 or long.endswith(short) or short[-1] != long[-1]:
        return False
    return _is_subsequence(short, long)


def _is_subsequence(short: str, long: str) -> bool:
    letters = iter(long)
    return all(letter in letters for letter in short)


@lru_cache(maxsize=200_000)
def synonyms(word: str) -> frozenset[str]:
    """The words that may stand for the same kind of thing."""
    return frozenset(other for group in _SYNONYMS if word in group for other in group)


@lru_cache(maxsize=200_000)
def same_word(left: str, right: str) -> float:
    """How alike two words are: 1 the same, 0.9 short for, 0.5 a synonym of a kind, else 0."""
    if left == right or singular(left) == singular(right):
        return 1.0
    if abbreviates(left, right) or abbreviates(right, left):
        return 0.9
    if right in synonyms(left):
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
    return 0.9 if _is_glued_to("".join(phrase), "".join(tail)) else 0.0


def _is_glued_to(whole: str, ending: str) -> bool:
    """Whether a name ends in another without a break between: ``fromcurrency``, ``currency``."""
    if len(ending) < 4 or len(whole) < len(ending) + 2 or not whole.endswith(ending):
        return False
    return not (ending[0].isdigit() and whole[-len(ending) - 1].isdigit())


def explains(key: ParsedColumnName, table: ParsedTableName) -> float:
    """How well a key's own name explains its table's name; 0 to 1.

    ``customer_id`` explains ``customers`` fully, a bare ``id`` nearly so, another word not at all.
    """
    if not key.entity:
        return 0.95 if key.keyed else 0.0
    if not table.entity:
        return 0.0
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
    child: ParsedColumnName, key: ParsedColumnName, parent: ParsedTableName, owned: float
) -> float:
    """How well a column's name says that it refers to ``key`` of another table; 0 to 1.

    ``owned`` is how well the key explains that table (``explains``).
    """
    best = 0.55 + 0.45 * owned if same_name(child, key) else 0.0
    phrase, entity = child.entity, parent.entity
    if entity and entity[-1] in STAFF_WORDS and not ACTING_WORDS.isdisjoint(child.bare[-2:]):
        best = max(best, 0.72)
    if not phrase or not (child.keyed or owned):
        return best
    keyed = 1.0 if child.keyed else 0.85
    best = max(
        best,
        keyed * same_phrase(phrase, entity),
        0.95 * keyed * ends_with(phrase, entity),
        0.8 * keyed * ends_with(entity, phrase),
    )
    if best < 0.6 * keyed:
        best = max(best, 0.6 * keyed * _starts_like(phrase, entity))
        best = max(best, 0.5 * keyed * _contains(phrase, entity))
    if key.entity and not key.generic:
        base = (0.6 + 0.35 * owned) * keyed
        for other in {key.entity, key.full_entity} - {entity}:
            best = max(best, base * same_phrase(phrase, other))
            best = max(best, 0.95 * base * ends_with(phrase, other))
    return best


def refers_within(child: ParsedColumnName, key: ParsedColumnName, parent: ParsedTableName) -> float:
    """How well a column's name says that it refers to ``key`` of its own table, a hierarchy."""
    hierarchy = is_hierarchical(child, parent)
    tail = max(
        ends_with(child.entity, key.entity) if key.entity else 0.0,
        ends_with(child.entity, parent.entity),
        0.9 if key.bare and child.bare[-len(key.bare) :] == key.bare and child.keyed else 0.0,
    )
    if hierarchy:
        return max(0.75, 0.95 * tail)
    return 0.6 * tail


def is_hierarchical(child: ParsedColumnName, table: ParsedTableName) -> bool:
    """Whether a name speaks of another row of its own table: a parent, a predecessor, a boss."""
    said = {*child.full, *child.entity}
    if said & STRUCTURE_WORDS or child.squashed.startswith(_LONG_STRUCTURE_WORDS):
        return True
    return bool(said & LEADER_WORDS and set(table.entity) & _PEOPLE_WORDS)


def same_name(child: ParsedColumnName, key: ParsedColumnName) -> bool:
    """Whether two columns are called the same, by a name that tells something."""
    if not child.full or not key.full:
        return False
    if child.bare_squashed == key.squashed or child.squashed == key.squashed:
        return not is_generic(key.full)
    return child.bare_squashed == key.bare_squashed and not key.generic


def kin(child: ParsedTableName, parent: ParsedTableName) -> bool:
    """Whether a table's name begins with the other's: ``employee pay history`` and ``employee``."""
    size = len(parent.entity)
    if not size or len(child.entity) < size:
        return child.squashed.startswith(parent.squashed) and len(parent.squashed) >= 4
    return child.entity[:size] == parent.entity


def _starts_like(phrase: Words, entity: Words) -> float:
    """Whether the first word shares its stem with the entity's: ``membership`` and ``member``."""
    if not entity:
        return 0.0
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


def role(child: ParsedColumnName, key: ParsedColumnName, parent: ParsedTableName) -> str:
    """What a column's name adds to its parent's: ``ship_to`` of ``ship_to_address_id``, or ""."""
    for tail in (parent.entity, key.entity):
        size = len(tail)
        if size and len(child.entity) > size and same_phrase(child.entity[-size:], tail):
            return "_".join(child.entity[:-size])
    return ""
