"""How similar two names are, and how well a column's name refers to a table's key.

Scores run from 0 to 1. They rank candidates and prove nothing. The similarity of words and phrases
is the scale below; what it is worth for keys and references is in ``NameWeights``.
"""

from functools import lru_cache

from fluid_build.profiling.names import Words, is_generic, singular
from fluid_build.profiling.parsed_names import ParsedColumnName, ParsedTableName
from fluid_build.profiling.vocabulary import (
    ACTING_WORDS,
    LEADER_WORDS,
    LONG_STRUCTURE_WORDS,
    PEOPLE_WORDS,
    STAFF_WORDS,
    STRUCTURE_WORDS,
    SYNONYMS,
)
from fluid_build.profiling.weights import NameWeights

_ABBREVIATED = 0.9
"""``cust`` for ``customer``: nearly certain, though ``cont`` fits contact and contract."""
_SYNONYM = 0.5
"""``client`` for ``customer``: often another table of the same schema."""
_PHRASE_ABBREVIATED = 0.85
"""``custaddr`` for ``customer address``: any short word fits some phrase, so less than one word."""
_GLUED = 0.9
"""``fromcurrency`` for ``currency``: the letters agree, the break between the words is a guess."""
_FEWEST_GLUED_LETTERS = 4
"""Shorter endings occur in many unrelated words."""
_FEWEST_STEM_LETTERS = 4
"""Shorter beginnings are shared by unrelated words (``con``, ``pro``)."""

_LABELS = frozenset({("name",), ("title",), ("nom",), ("nombre",), ("nome",)})
"""Names of columns by which people call the rows of a table."""


def abbreviates(short: str, long: str) -> bool:
    """Return whether one word is short for another: its beginning, or its consonants in order."""
    if len(short) < 2 or len(short) >= len(long) or short[0] != long[0]:
        return False
    if len(short) >= 3 and long.startswith(short):
        return True
    if len(short) >= 3 and not set(short[1:]) & set("aeiou"):
        return _is_subsequence(short, long)
    # With vowels in between, four letters and the same last one are needed: "cat" isn't "count".
    if len(short) < 4 or long.endswith(short) or short[-1] != long[-1]:
        return False
    return _is_subsequence(short, long)


def _is_subsequence(short: str, long: str) -> bool:
    letters = iter(long)
    return all(letter in letters for letter in short)


@lru_cache(maxsize=200_000)
def synonyms(word: str) -> frozenset[str]:
    """Return the words that may mean the same entity."""
    return frozenset(other for group in SYNONYMS if word in group for other in group)


@lru_cache(maxsize=200_000)
def word_similarity(left: str, right: str) -> float:
    """Return how similar two words are: 1 for the same word in the singular or the plural."""
    if left == right or singular(left) == singular(right):
        return 1.0
    if abbreviates(left, right) or abbreviates(right, left):
        return _ABBREVIATED
    if right in synonyms(left):
        return _SYNONYM
    return 0.0


@lru_cache(maxsize=200_000)
def phrase_similarity(left: Words, right: Words) -> float:
    """Return how similar two phrases are, word by word or as a glued abbreviation."""
    if not left or not right:
        return 0.0
    if left == right or "".join(left) == "".join(right):
        return 1.0
    if len(left) == len(right):
        score = 1.0
        for left_word, right_word in zip(left, right, strict=True):
            score = min(score, word_similarity(left_word, right_word))
        if score:
            return score
    if len(left) == 1 and _abbreviates_phrase(left[0], right):
        return _PHRASE_ABBREVIATED
    if len(right) == 1 and _abbreviates_phrase(right[0], left):
        return _PHRASE_ABBREVIATED
    return 0.0


def _abbreviates_phrase(short: str, phrase: Words) -> bool:
    """Return whether a word is glued from beginnings of all words of the phrase, in order."""
    return len(phrase) >= 2 and len(short) >= 2 and _is_glued_from(short, phrase)


def _is_glued_from(letters: str, phrase: Words) -> bool:
    if not phrase:
        return not letters
    word, rest = phrase[0], phrase[1:]
    longest = min(len(letters), len(word))
    return any(
        letters[:size] == word[:size] and _is_glued_from(letters[size:], rest)
        for size in range(longest, 0, -1)
    )


@lru_cache(maxsize=200_000)
def ending_similarity(phrase: Words, tail: Words) -> float:
    """Return how well a longer phrase ends with another: ``ship to address`` with ``address``."""
    if not tail or not phrase:
        return 0.0
    if len(phrase) > len(tail):
        similarity = phrase_similarity(phrase[-len(tail) :], tail)
        if similarity:
            return similarity
    if len(phrase) > 1 and len(tail) > 1 and _abbreviates_phrase(phrase[-1], tail):
        return _PHRASE_ABBREVIATED
    return _GLUED if _is_glued_to("".join(phrase), "".join(tail)) else 0.0


def _is_glued_to(name: str, ending: str) -> bool:
    """Return whether a name ends in another without a break between."""
    if (
        len(ending) < _FEWEST_GLUED_LETTERS
        or len(name) < len(ending) + 2
        or not name.endswith(ending)
    ):
        return False
    return not (ending[0].isdigit() and name[-len(ending) - 1].isdigit())


def own_key_score(key: ParsedColumnName, table: ParsedTableName, weights: NameWeights) -> float:
    """Return how well a column's name marks it as the key of its own table.

    ``customer_id`` does so fully in ``customers``, a bare ``id`` nearly so, another word not.
    """
    if not key.entity:
        return weights.bare_own_key if key.has_key_word else 0.0
    if key.bare in _LABELS:
        return weights.label_own_key
    if not table.entity:
        return 0.0
    similarity = phrase_similarity(key.entity, table.entity)
    if similarity:
        return similarity if key.has_key_word else weights.own_key_without_key_word * similarity
    partly = max(
        ending_similarity(table.entity, key.entity),
        weights.own_key_reversed * ending_similarity(key.entity, table.entity),
    )
    if partly:
        return weights.own_key_partly * partly
    is_related = (
        key.entity[0] == table.entity[0]
        or word_similarity(key.entity[-1], table.entity[-1]) >= _ABBREVIATED
        or (table.squashed.startswith("".join(key.entity)) and len("".join(key.entity)) >= 3)
    )
    return weights.own_key_related if is_related else 0.0


def reference_score(
    child: ParsedColumnName,
    key: ParsedColumnName,
    parent: ParsedTableName,
    own_key: float,
    weights: NameWeights,
) -> float:
    """Return how well a column's name says that it refers to ``key`` of another table.

    ``own_key`` is the key's ``own_key_score`` in that table.
    """
    best = (
        weights.same_name + weights.same_name_own_key * own_key if is_same_name(child, key) else 0.0
    )
    phrase, entity = child.entity, parent.entity
    if entity and entity[-1] in STAFF_WORDS and not ACTING_WORDS.isdisjoint(child.bare[-2:]):
        best = max(best, weights.acting_person)
    if not phrase or not (child.has_key_word or own_key):
        return best
    suffix = 1.0 if child.has_key_word else weights.without_key_word
    best = max(
        best,
        suffix * phrase_similarity(phrase, entity),
        weights.ending * suffix * ending_similarity(phrase, entity),
        weights.parent_ending * suffix * ending_similarity(entity, phrase),
    )
    if best < weights.stem * suffix:
        best = max(best, weights.stem * suffix * _shares_stem(phrase, entity))
        best = max(best, weights.inside * suffix * _similarity_inside(phrase, entity))
    if key.entity and not key.is_generic:
        base = (weights.key_name + weights.key_name_own_key * own_key) * suffix
        for key_phrase in {key.entity, key.full_entity} - {entity}:
            best = max(best, base * phrase_similarity(phrase, key_phrase))
            best = max(best, weights.ending * base * ending_similarity(phrase, key_phrase))
    return best


def hierarchy_score(
    child: ParsedColumnName, key: ParsedColumnName, table: ParsedTableName, weights: NameWeights
) -> float:
    """Return how well a column's name says that it refers to ``key`` of its own table."""
    ends_in_key = bool(key.bare) and child.bare[-len(key.bare) :] == key.bare
    tail = max(
        ending_similarity(child.entity, key.entity) if key.entity else 0.0,
        ending_similarity(child.entity, table.entity),
        weights.same_key_tail if ends_in_key and child.has_key_word else 0.0,
    )
    if is_hierarchical(child, table):
        return max(weights.hierarchy, weights.hierarchy_tail * tail)
    return weights.within_table * tail


def is_hierarchical(child: ParsedColumnName, table: ParsedTableName) -> bool:
    """Return whether a name means another row of its own table: a parent, a predecessor, a boss."""
    words = {*child.full, *child.entity}
    if words & STRUCTURE_WORDS or child.squashed.startswith(LONG_STRUCTURE_WORDS):
        return True
    return bool(words & LEADER_WORDS and set(table.entity) & PEOPLE_WORDS)


def is_same_name(child: ParsedColumnName, key: ParsedColumnName) -> bool:
    """Return whether two columns have the same name, and one that isn't generic."""
    if not child.full or not key.full:
        return False
    if child.bare_squashed == key.squashed or child.squashed == key.squashed:
        return not is_generic(key.full)
    return child.bare_squashed == key.bare_squashed and not key.is_generic


def extends_name(child: ParsedTableName, parent: ParsedTableName) -> bool:
    """Return whether a table's name begins with another's: ``employee history``, ``employee``."""
    size = len(parent.entity)
    if not size or len(child.entity) < size:
        long_enough = len(parent.squashed) >= _FEWEST_STEM_LETTERS
        return long_enough and child.squashed.startswith(parent.squashed)
    return child.entity[:size] == parent.entity


def _shares_stem(phrase: Words, entity: Words) -> float:
    """Return 1 if the first word has the stem of the entity: ``membership`` and ``member``."""
    if not entity:
        return 0.0
    first, last = phrase[0], entity[-1]
    size = min(len(first), len(last))
    return 1.0 if size >= _FEWEST_STEM_LETTERS and first[:size] == last[:size] else 0.0


def _similarity_inside(phrase: Words, entity: Words) -> float:
    """Return how similar the entity is to a part of the phrase that isn't its end."""
    size = len(entity)
    for start in range(len(phrase) - size):
        similarity = phrase_similarity(phrase[start : start + size], entity)
        if similarity:
            return similarity
    return 0.0


def role_name(child: ParsedColumnName, key: ParsedColumnName, parent: ParsedTableName) -> str:
    """Return what a column's name adds to its parent's: ``ship_to`` of ``ship_to_address_id``."""
    for tail in (parent.entity, key.entity):
        size = len(tail)
        if size and len(child.entity) > size and phrase_similarity(child.entity[-size:], tail):
            return "_".join(child.entity[:-size])
    return ""
