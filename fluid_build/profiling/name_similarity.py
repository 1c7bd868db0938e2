"""How similar two names are, and how well a column's name refers to a table's key.

Scores run from 0 to 1. They rank candidates and prove nothing. The similarity of words and phrases
is the scale below; what it is worth for keys and references is in ``NameWeights``.
"""

from functools import lru_cache

from fluid_build.profiling.names import Words, is_generic, singular
from fluid_build.profiling.parsed_names import ParsedColumnName, ParsedTableName
from fluid_build.profiling.vocabulary import (
    ACCOUNT_WORDS,
    ACTING_WORDS,
    AMOUNT_WORDS,
    LABEL_WORDS,
    LEADER_WORDS,
    LEADING_KEY_WORDS,
    LONG_STRUCTURE_WORDS,
    MEANT_ENTITIES,
    PEOPLE_WORDS,
    ROLE_WORDS,
    STAFF_WORDS,
    STRUCTURE_WORDS,
    SYNONYMS,
)
from fluid_build.profiling.weights import NameWeights

_ABBREVIATED = 0.9
"""``cust`` for ``customer``: nearly certain, though ``cont`` fits contact and contract."""
_SYNONYM = 0.5
"""``client`` for ``customer``: often another table of the same schema."""
_INFLECTED = 0.7
"""``pracownika`` for ``pracownicy``: languages that inflect change the end of a noun."""
_STEM_SHARE = 0.7
"""The share of both words that their common beginning must have to be their stem."""
_MOST_ENDING_LETTERS = 3
"""Letters of an inflection; longer endings make another word."""
_DERIVED_ENDINGS = frozenset("ed er or al ly ing ion ions ive ent ant ist ity ble ic ics".split())
"""Endings that make another word of an English one: ``production``, ``producer``."""
_PARTICIPLE_ENDINGS = frozenset({"d", "ed", "ing"})
"""``ordered`` is what was done, not the order."""
_PHRASE_ABBREVIATED = 0.85
"""``custaddr`` for ``customer address``: any short word fits some phrase, so less than one word."""
_GLUED = 0.9
"""``fromcurrency`` for ``currency``: the letters agree, the break between the words is a guess."""
_FEWEST_GLUED_LETTERS = 4
"""Shorter endings occur in many unrelated words."""
_FEWEST_STEM_LETTERS = 4
"""Shorter beginnings are shared by unrelated words (``con``, ``pro``)."""


def abbreviates(short: str, long: str) -> bool:
    """Return whether one word is short for another: its beginning, or its consonants in order."""
    if len(short) < 2 or len(short) >= len(long) or short[0] != long[0]:
        return False
    if long.removeprefix(short) in _PARTICIPLE_ENDINGS:
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
    return max(_SYNONYM if right in synonyms(left) else 0.0, _inflection_similarity(left, right))


def _inflection_similarity(left: str, right: str) -> float:
    """Return how likely two words are forms of one: ``cliente`` and ``clienti``.

    English derivations (``order``, ``ordering``) are words of their own.
    """
    pairs = enumerate(zip(left, right, strict=False))
    shared = next((place for place, (a, b) in pairs if a != b), min(len(left), len(right)))
    endings = left[shared:], right[shared:]
    if shared >= _FEWEST_STEM_LETTERS and all(e in {"a", "e", "i", "o", "u"} for e in endings):
        return _ABBREVIATED
    is_long = shared > _FEWEST_STEM_LETTERS and shared >= _STEM_SHARE * max(len(left), len(right))
    if not is_long or not all(0 < len(e) <= _MOST_ENDING_LETTERS for e in endings):
        return 0.0
    return 0.0 if not _DERIVED_ENDINGS.isdisjoint(endings) else _INFLECTED


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
    if len(phrase) < 2 or len(short) < 2 or phrase[0].startswith(short):
        return False
    return _is_glued_from(short, phrase)


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
    if _is_label(key):
        return weights.label_own_key
    if not table.entity or key.bare[-1].isdigit():
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
    if key.names_table and own_key < weights.own_key_partly:
        # A key that shares a word with its table but is called like another belongs to that one.
        own_key = 0.0
    best = max(
        _same_name_score(child, key, parent, own_key, weights),
        _meaning_score(child, key, parent, weights),
    )
    if not child.entity:
        return best
    suffix = (
        1.0 if child.has_key_word else weights.without_key_word * _attribute_factor(child, weights)
    )
    if child.has_key_word or own_key:
        is_key = own_key or key.has_key_word
        factor = suffix if is_key else suffix * weights.unrelated_key
        best = max(best, factor * _table_name_score(child, parent, weights))
    if child.has_key_word or own_key or key.has_key_word:
        best = max(best, suffix * _key_name_score(child, key, parent, own_key, weights))
    return max(best, _key_in_front_score(child, key, weights))


def _same_name_score(
    child: ParsedColumnName,
    key: ParsedColumnName,
    parent: ParsedTableName,
    own_key: float,
    weights: NameWeights,
) -> float:
    """Score the very name of the key."""
    if not is_same_name(child, key):
        return 0.0
    if not own_key and key.entity and key.entity[-1] in LABEL_WORDS:
        own_key = weights.own_key_without_key_word * phrase_similarity(
            key.entity[:-1], parent.entity
        )
    return weights.same_name + weights.same_name_own_key * own_key


def _meaning_score(
    child: ParsedColumnName, key: ParsedColumnName, parent: ParsedTableName, weights: NameWeights
) -> float:
    """Score a name that means the parent's entity without naming it: an author is a user."""
    if not parent.entity or parent.entity[-1] not in meant_words(child):
        return 0.0
    if not LABEL_WORDS.isdisjoint(key.bare[-1:]):
        return 0.0
    return weights.acting_person if is_acting(child) else weights.meant_parent


def is_acting(name: ParsedColumnName) -> bool:
    """Return whether a name says what a person did with a row: ``created_by``, ``author``."""
    return not ACTING_WORDS.isdisjoint(name.entity[-1:])


def meant_words(name: ParsedColumnName) -> frozenset[str]:
    """Return the entities that a name means without naming them."""
    if is_acting(name) or not LEADER_WORDS.isdisjoint(name.entity[-1:]):
        return STAFF_WORDS
    return MEANT_ENTITIES.get(name.entity[-1], frozenset()) if name.entity else frozenset()


def _is_label(key: ParsedColumnName) -> bool:
    """Return whether a key is just called ``name`` or ``title``."""
    return len(key.bare) == 1 and key.bare[0] in LABEL_WORDS


def _attribute_factor(child: ParsedColumnName, weights: NameWeights) -> float:
    """Return the factor for a name without a key word that looks like an amount or a list."""
    if child.bare[0] in AMOUNT_WORDS:
        return weights.amount
    return weights.plural if singular(child.bare[-1]) != child.bare[-1] else 1.0


def _table_name_score(
    child: ParsedColumnName, parent: ParsedTableName, weights: NameWeights
) -> float:
    """Score a name that has the parent's name: at its end, at its front or inside."""
    phrase, entity = child.entity, parent.entity
    best = max(
        phrase_similarity(phrase, entity),
        weights.ending * ending_similarity(phrase, entity),
        weights.parent_ending * ending_similarity(entity, phrase),
        _front_score(child, entity, weights),
    )
    best = max(best, weights.head * ending_similarity(phrase, parent.head))
    if parent.module and best < weights.other_module:
        best = max(best, weights.other_module * _similarity_in_module(child, parent, weights))
    if best < weights.stem:
        best = max(best, weights.stem * _shares_stem(phrase, entity))
        best = max(best, weights.inside * _similarity_inside(phrase, entity))
        if child.has_key_word and phrase == (parent.squashed[:1],):
            best = max(best, weights.initial)
    return best


def _similarity_in_module(
    child: ParsedColumnName, parent: ParsedTableName, weights: NameWeights
) -> float:
    """Return how well a name agrees with the parent's without its module."""
    short = parent.entity[1:]
    return max(
        phrase_similarity(child.entity, short),
        weights.ending * ending_similarity(child.entity, short),
    )


def _front_score(child: ParsedColumnName, entity: Words, weights: NameWeights) -> float:
    """Score a name that begins with the parent's, followed by a role.

    Where a key word leads, the noun follows it, and the role comes last: ``id_client_delivery``.
    """
    size = len(entity)
    phrase = child.entity
    if not size or len(phrase) <= size:
        return 0.0
    similarity = phrase_similarity(phrase[:size], entity)
    if ROLE_WORDS.issuperset(phrase[size:]):
        return weights.front * similarity
    return weights.front_noun * similarity if child.bare[0] in LEADING_KEY_WORDS else 0.0


def _key_name_score(
    child: ParsedColumnName,
    key: ParsedColumnName,
    parent: ParsedTableName,
    own_key: float,
    weights: NameWeights,
) -> float:
    """Score a name that agrees with the key's instead of its table's."""
    if not key.entity or key.is_generic:
        return 0.0
    base = weights.key_name + weights.key_name_own_key * own_key
    best = 0.0
    for key_phrase in {key.entity, key.full_entity} - {parent.entity}:
        best = max(best, base * phrase_similarity(child.entity, key_phrase))
        best = max(best, weights.ending * base * ending_similarity(child.entity, key_phrase))
    return best


def _key_in_front_score(
    child: ParsedColumnName, key: ParsedColumnName, weights: NameWeights
) -> float:
    """Score a name that begins with all of the key's: ``country_code_of_birth``."""
    if key.is_generic or len(key.bare_squashed) < _FEWEST_STEM_LETTERS:
        return 0.0
    if child.bare[: len(key.bare)] == key.bare and len(child.bare) > len(key.bare):
        return weights.key_in_front
    return 0.0


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
    if is_acting(child) and not ACCOUNT_WORDS.isdisjoint(table.entity[-1:]):
        return True
    return bool(words & LEADER_WORDS and set(table.entity) & PEOPLE_WORDS)


def score_between(
    score: float,
    child: ParsedColumnName,
    child_table: ParsedTableName,
    parent: ParsedTableName,
    weights: NameWeights,
) -> float:
    """Return a ``reference_score`` with what the child's table adds to the column's name.

    The status of an ``invoice`` is an ``invoice_status``. Of two parents, the one in the child's
    module is meant.
    """
    phrase = (*child_table.entity, *child.entity)
    if child.entity and child_table.entity and len(parent.entity) > 1:
        suffix = 1.0 if child.has_key_word else weights.without_key_word
        score = max(score, weights.own_part * suffix * phrase_similarity(phrase, parent.entity))
    if parent.module and parent.module == child_table.module and child.entity:
        suffix = 1.0 if child.has_key_word else weights.without_key_word
        similarity = _similarity_in_module(child, parent, weights)
        score = max(score, min(1.0, suffix * similarity + weights.same_module * (similarity > 0)))
    return score


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
