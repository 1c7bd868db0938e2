"""Which column is a code that people know a row by, next to the number that a database assigned.

Such a column is named for a code, a number, an abbreviation or a slug, or has the form of a known
one (ISBN). A name isn't a code: it describes, and the next row may have the same. A column that
only has some technique's word (``key``, ``ref``) is a code where it's text and named for its own
table: ``driverRef`` of the drivers.
"""

from collections.abc import Collection

from fluid_build.lexicon import terms
from fluid_build.modeling.conceptual import Attribute, Entity, EntityKey
from fluid_build.modeling.types import family
from fluid_build.profiling.names.naming_words import are_forms
from fluid_build.profiling.names.words import last_word, singular, words

_FEWEST_ROWS = 100
"""Rows that a measured code must be unique in. In fewer, many columns are unique by accident."""
_FEWEST_ROWS_OF_OWN = 3
"""The same for text that is named as the code of its own table: that's no accident."""
CODE_WORDS = terms("worldwide_code", "code", "number", "serial", "abbreviation")
CODE_TYPES = frozenset(
    {"isbn", "ean", "checked_number", "vin", "bic", "country_code", "currency_code"}
)


def is_code(attribute: Attribute) -> bool:
    """Return whether people know rows by a column: ``order_no``, but not ``phone_no``."""
    if not _may_be_code(attribute):
        return False
    if attribute.semantic_type in CODE_TYPES:
        return True
    code = last_word(attribute.name, CODE_WORDS)
    squashed = "".join(words(attribute.name)).removesuffix(code)
    is_of_something_else = any(
        squashed.startswith(word) or squashed.endswith(word) for word in terms("numbered_otherwise")
    )
    return attribute.semantic_type is None and bool(code) and not is_of_something_else


def is_code_key(entity: Entity, key: EntityKey, table_words: Collection[str]) -> bool:
    """Return whether a key is a code, in enough rows for one that nobody declared.

    ``table_words`` are those of the table's name, each in the singular.
    """
    if len(key.attributes) != 1 or not key.holds:
        return False
    attribute = entity.attribute(key.attributes[0])
    if not attribute.required or _is_part(entity, attribute.name):
        return False
    is_own = _is_own_code(attribute, table_words)
    fewest = _FEWEST_ROWS_OF_OWN if is_own else _FEWEST_ROWS
    is_shown = key.kind != "candidate" or entity.rows >= fewest
    return is_shown and (is_own or is_code(attribute))


def _is_part(entity: Entity, column: str) -> bool:
    """Return whether the source declares that a column identifies rows only with others.

    Voyages that are numbered within a service may all have different numbers as yet.
    """
    declared = [key.attributes for key in entity.keys if key.kind == "declared" and key.holds]
    return (column,) not in declared and any(column in columns for columns in declared)


def _may_be_code(attribute: Attribute) -> bool:
    # A vehicle's number identifies the vehicle, even though it may lead to the owner.
    if attribute.pii and attribute.semantic_type != "vin":
        return False
    return family(attribute.type) in {"text", "integer", "decimal"} and attribute.type != "uuid"


def _is_own_code(attribute: Attribute, table_words: Collection[str]) -> bool:
    """Return whether text is named as the code of its table's rows, whatever the code is called."""
    if not _may_be_code(attribute) or family(attribute.type) != "text":
        return False
    if attribute.semantic_type is not None and attribute.semantic_type not in CODE_TYPES:
        return False
    own = words(attribute.name)
    if not last_word(attribute.name, CODE_WORDS | terms("text_code")) or len(own) == 1:
        return bool(own) and own[0] in CODE_WORDS | terms("text_code")
    return all(any(are_forms(singular(word), noun) for noun in table_words) for word in own[:-1])
