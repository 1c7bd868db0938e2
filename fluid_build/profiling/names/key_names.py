"""How well a column's name says that it is its table's key, or that it refers to another.

Scores run from 0 to 1. They rank candidates and prove nothing.
"""

from fluid_build.lexicon import Concept, leading, terms
from fluid_build.profiling.names.parsing import ParsedColumnName, ParsedTableName
from fluid_build.profiling.names.similarity import (
    ABBREVIATED,
    FEWEST_STEM_LETTERS,
    ending_similarity,
    phrase_similarity,
    word_similarity,
)
from fluid_build.profiling.names.words import Words, between_key_words, is_generic, singular, stem
from fluid_build.profiling.weights import NameWeights

_MEANT_ENTITIES: dict[Concept, Concept] = {"seat": "town", "citizenship": "land", "side": "team"}
"""What names an entity by what it is to another: a capital is a town, a winner is a team."""
_MEANT_WORDS = terms("staff", *_MEANT_ENTITIES.values())
"""The words of tables that a name may mean without naming them."""
_STRUCTURE_WORDS = terms("structure")
_LONG_STRUCTURE_WORDS = tuple(sorted(word for word in _STRUCTURE_WORDS if len(word) >= 6))
_MEMBER_WORDS = terms("member")
_LABEL_WORDS = terms("label")


def own_key_score(key: ParsedColumnName, table: ParsedTableName, weights: NameWeights) -> float:
    """Return how well a column's name marks it as the key of its own table.

    ``customer_id`` does so fully in ``customers``, a bare ``id`` nearly so, another word not.
    """
    if not key.entity:
        return weights.bare_own_key if key.has_key_word else 0.0
    if len(key.bare) == 1 and key.bare[0] in _LABEL_WORDS:
        return weights.label_own_key
    if not table.entity or key.bare[-1].isdigit():
        return 0.0
    similarity = phrase_similarity(key.entity, table.entity)
    if similarity < 1.0 and key.names_table:
        # It's called like another table, and belongs to that one, unless this is a kind of it.
        return weights.own_key_partly * ending_similarity(table.entity, key.entity)
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
        or word_similarity(key.entity[-1], table.entity[-1]) >= ABBREVIATED
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
    if child.has_key_word or own_key or child.entity == parent.entity:
        is_key = own_key or key.has_key_word
        factor = suffix if is_key else suffix * weights.unrelated_key
        best = max(best, factor * _table_name_score(child, parent, weights))
    if child.has_key_word or own_key or key.has_key_word:
        best = max(best, suffix * _key_name_score(child, key, parent, own_key, weights))
    return max(best, _whole_key_score(child, key, parent, own_key, weights))


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
    if not own_key and key.entity and key.entity[-1] in _LABEL_WORDS:
        own_key = weights.own_key_without_key_word * phrase_similarity(
            key.entity[:-1], parent.entity
        )
    return weights.same_name + weights.same_name_own_key * own_key


def _meaning_score(
    child: ParsedColumnName, key: ParsedColumnName, parent: ParsedTableName, weights: NameWeights
) -> float:
    """Score a name that means the parent's entity without naming it: an author is a user."""
    if not parent.entity or parent.entity[-1] not in _MEANT_WORDS:
        return 0.0
    if parent.entity[-1] not in meant_words(child):
        return 0.0
    if len(parent.entity) > 1 and parent.entity[-1] in _MEMBER_WORDS:
        # A ``group_member`` says who belongs to a group, and is nobody who acts.
        return 0.0
    if not _LABEL_WORDS.isdisjoint(key.bare[-1:]):
        return 0.0
    return weights.acting_person if is_acting(child) else weights.meant_parent


def is_acting(name: ParsedColumnName) -> bool:
    """Return whether a name says what a person did with a row: ``created_by``, ``author``."""
    return not terms("acting").isdisjoint(name.entity[-1:])


def meant_words(name: ParsedColumnName) -> frozenset[str]:
    """Return the entities that a name means without naming them."""
    last = name.entity[-1:]
    if is_acting(name) or not terms("leader").isdisjoint(last):
        return terms("staff")
    meant = (of for word, of in _MEANT_ENTITIES.items() if not terms(word).isdisjoint(last))
    return next(map(terms, meant), frozenset())


def _attribute_factor(child: ParsedColumnName, weights: NameWeights) -> float:
    """Return the factor for a name without a key word that looks like an amount or a list.

    ``max_level`` is a figure, and ``pages`` counts them.
    """
    if child.bare[0] in terms("figure"):
        return weights.amount
    return weights.plural if singular(child.bare[-1]) != child.bare[-1] else 1.0


def _table_name_score(
    child: ParsedColumnName, parent: ParsedTableName, weights: NameWeights
) -> float:
    """Score a name that has the parent's name: at its end, at its front or inside."""
    phrase, entity = child.entity, parent.entity
    best = max(
        phrase_similarity(phrase, entity),
        weights.other_order * _has_other_order(phrase, entity),
        weights.ending * ending_similarity(phrase, entity),
        weights.parent_ending * ending_similarity(entity, phrase),
        _front_score(child, entity, weights),
    )
    if parent.head:
        best = max(best, weights.head * ending_similarity(phrase, parent.head))
    # The first letters are compared first, since most pairs have nothing in common.
    if parent.module and best < weights.other_module and phrase[-1][0] == entity[-1][0]:
        best = max(best, weights.other_module * _similarity_in_module(child, parent, weights))
    if best < weights.stem:
        best = max(best, weights.stem * shares_stem(phrase, entity))
        best = max(best, weights.inside * _similarity_inside(phrase, entity))
        if child.has_key_word and phrase == (parent.squashed[:1],):
            best = max(best, weights.initial)
    return best


def _has_other_order(phrase: Words, entity: Words) -> bool:
    """Return whether a name begins with the end of the parent's: ``status_cv`` of ``cv_status``."""
    turned = ("".join(entity[cut:] + entity[:cut]) for cut in range(1, len(entity)))
    return "".join(phrase) in turned


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
    more_words = weights.front_word * (size - 1)
    if terms("role").issuperset(phrase[size:]):
        return min(1.0, weights.front + more_words) * similarity
    is_led_by_key_word = child.bare[0] in leading("key_word")
    return min(1.0, weights.front_noun + more_words) * similarity * is_led_by_key_word


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


def _whole_key_score(
    child: ParsedColumnName,
    key: ParsedColumnName,
    parent: ParsedTableName,
    own_key: float,
    weights: NameWeights,
) -> float:
    """Score a name that has all of the key's: with the parent's, behind a role or before one.

    ``state_code`` is so for ``states(code)``, ``code_state`` too, ``head_dept_no`` for ``dept_no``,
    and ``country_code_of_birth`` for ``country_code``.
    """
    name, entity = "".join(stem(child.full)), "".join(parent.entity)
    key_name = "".join(stem(key.bare))
    if entity and key_name and name in {entity + key_name, key_name + entity}:
        return weights.table_and_key
    is_own = own_key or not key.names_table
    if is_own and len(key.full) > 1 and child.full[-len(key.full) :] == key.full != child.full:
        return weights.key_at_end
    if key.is_generic or len(key.bare_squashed) < FEWEST_STEM_LETTERS:
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
    if words & _STRUCTURE_WORDS or child.squashed.startswith(_LONG_STRUCTURE_WORDS):
        return True
    if is_acting(child) and not terms("account_word").isdisjoint(table.entity[-1:]):
        return True
    return bool(words & terms("leader") and set(table.entity) & terms("people"))


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
        long_enough = len(parent.squashed) >= FEWEST_STEM_LETTERS
        return long_enough and child.squashed.startswith(parent.squashed)
    return child.entity[:size] == parent.entity


def shares_stem(phrase: Words, entity: Words) -> float:
    """Return 1 if the first word has the stem of the entity: ``membership`` and ``member``."""
    if not entity:
        return 0.0
    first, last = phrase[0], entity[-1]
    size = min(len(first), len(last))
    return 1.0 if size >= FEWEST_STEM_LETTERS and first[:size] == last[:size] else 0.0


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
            return "_".join(between_key_words(child.entity[:-size]))
    return ""
