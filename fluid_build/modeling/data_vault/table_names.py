"""What a table's name says about its rows: orders, payments, lines, translations, levels.

A name only decides where columns and references leave a choice.
"""

from collections.abc import Sequence

from fluid_build.lexicon import terms
from fluid_build.modeling.conceptual import Attribute
from fluid_build.modeling.data_vault.source_tables import SourceTables
from fluid_build.profiling.names.naming_words import are_forms, named_noun
from fluid_build.profiling.names.words import Words, last_word, singular, strip_key_words, words

_SHORTEST_GLUED_EVENT = 5
"""Letters of an event that is looked for at the end of a longer word: ``log`` ends ``catalog``."""
_LONG_EVENTS = frozenset(word for word in terms("event") if len(word) >= _SHORTEST_GLUED_EVENT)
_SEQUENCES = terms("line", "line_number", "sequence", "position", "index", "order_number")
_NUMBERED_THINGS = terms("position", "order_number")


def is_core_concept(tables: SourceTables, table: str) -> bool:
    """Return whether a table is named for what a business numbers and follows, such as orders."""
    own = _last_word(tables, table)
    known = terms("core_thing", "case")
    return own in known or bool(last_word(own, known))


def is_event_name(tables: SourceTables, table: str) -> bool:
    """Return whether a table is named for what happens once, such as payments."""
    last_words = table_words(tables, table)[-2:]
    return any(word in terms("event") or last_word(word, _LONG_EVENTS) for word in last_words)


def is_line_name(tables: SourceTables, table: str, parents: Sequence[str]) -> bool:
    """Return whether a table is named for the lines of one of its parents, such as order items."""
    own = table_words(tables, table)
    if len(own) < 2 or own[-1] not in terms("line", "detail"):
        return False
    return any(set(own) & set(table_words(tables, parent)) for parent in parents)


def is_named_for_all(tables: SourceTables, table: str, parents: Sequence[str]) -> bool:
    """Return whether a name is made of the parents' names, such as ``customer_address``."""
    own = table_words(tables, table)
    squashed = "".join(own)
    names = ["".join(table_words(tables, parent)) for parent in parents]
    return len(set(names)) > 1 and all(
        name in squashed and len(name) < len(squashed) for name in names
    )


def names_language(attribute: Attribute) -> bool:
    """Return whether a column says which language the other columns are in."""
    return any(singular(word) in terms("language") for word in words(attribute.name))


def lists_languages(tables: SourceTables, table: str) -> bool:
    """Return whether a table lists languages."""
    return _last_word(tables, table) in terms("language")


def is_scoped_place(tables: SourceTables, table: str) -> bool:
    """Return whether a table is named for what is unique only within something else."""
    return _last_word(tables, table) in terms("scoped_place")


def lists_codes(tables: SourceTables, table: str) -> bool:
    """Return whether a table is named for what lists of codes are about, such as a type."""
    own = table_words(tables, table)
    known = terms("listed")
    return bool(known & set(own)) or bool(own and last_word(own[-1], known))


def lists_types(tables: SourceTables, table: str) -> bool:
    """Return whether a table lists what types or statuses there are of something else."""
    own = table_words(tables, table)
    return bool(terms("type_word") & {*own[:1], *own[-1:]})


def names_table(tables: SourceTables, table: str, attribute: Attribute) -> bool:
    """Return whether a column that holds names isn't named for something else than its table.

    Where the word for a name comes first, what follows it is whose name it is.
    """
    own = table_words(tables, table)
    return all(
        any(are_forms(word, noun) or noun.endswith(word) for noun in own)
        for word in named_noun(attribute.name)
    )


def names_sequence(attribute: Attribute) -> bool:
    """Return whether a column only numbers the rows of one parent."""
    own = words(attribute.name)
    if not own:
        return False
    # A line number numbers lines, but an order number identifies an order.
    numbered = strip_key_words(own)[-1:]
    is_numbered = bool(numbered) and numbered[0] in _SEQUENCES - _NUMBERED_THINGS
    return own[-1] in _SEQUENCES or own[-1].endswith(("seq", "sequence")) or is_numbered


def names_list(attribute: Attribute) -> bool:
    """Return whether a column is named for the codes of a list, such as a type."""
    return bool(terms("listed") & set(strip_key_words(words(attribute.name))[-1:]))


def names_part(attribute: Attribute) -> bool:
    """Return whether a column only says which part of one parent a row is: a place or a time."""
    numbered = strip_key_words(words(attribute.name))[-1:]
    return names_sequence(attribute) or bool(terms("time_word") & set(numbered))


def names_hierarchy(columns: Sequence[str]) -> bool:
    """Return whether columns are named for the ends of a hierarchy."""
    return any(singular(word) in terms("hierarchy") for column in columns for word in words(column))


def table_words(tables: SourceTables, table: str) -> Words:
    """Return the words of a table's name, each in the singular, without prefixes of the schema."""
    parsed = tables.parsed_names[table].table
    return tuple(map(singular, parsed.entity or words(table)))


def _last_word(tables: SourceTables, table: str) -> str:
    return table_words(tables, table)[-1] if table_words(tables, table) else ""
