"""What a table's name says about its rows: orders, payments, lines, translations, levels.

The words are general ones of business databases, in the languages that most of them are written in.
A name only decides where columns and references leave a choice.
"""

from collections.abc import Sequence

from fluid_build.modeling.conceptual import Attribute
from fluid_build.modeling.data_vault.column_purposes import last_word
from fluid_build.modeling.data_vault.source_tables import SourceTables
from fluid_build.profiling.names.naming_words import are_forms, named_noun
from fluid_build.profiling.names.words import Words, singular, strip_key_words, words


def _word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_CORE_CONCEPTS = _word_set(
    """
    airplane aircraft asset building car client company customer device employee equipment machine
    member party patient person plane product site staff store student supplier teacher team
    tournament user vehicle vendor warehouse
    account agreement appointment auftrag bestellung booking buchung case claim commande commessa
    contract contrat contrato contratto encargo enrollment factura faktura fattura facture invoice
    job loan mietvertrag order ordine orden pedido policy prescription prenotazione project quote
    quotation rechnung reservation reserva reservacion reservation rezerwacja shipment siparis
    subscription ticket umowa vertrag zamowienie
    """
)
"""Whom and what a business knows, and what it numbers and follows from start to end."""
_EVENTS = _word_set(
    """
    activity audit award badge bewegung change check checkin click entry event evento feedback
    history historie impression journal like log measurement messung movement movimento movimiento
    mouvement observation pagamento pago paiement payment platnosc posting rating reading result
    review score scan snapshot trans transaction
    transaktion transfer view visit vote zahlung
    """
)
"""What happens once and stays as it was: nobody follows a vote or a payment from state to state."""
_SHORTEST_GLUED_EVENT = 5
"""Letters of an event that is looked for at the end of a longer word: ``log`` ends ``catalog``."""
_LONG_EVENTS = frozenset(word for word in _EVENTS if len(word) >= _SHORTEST_GLUED_EVENT)
_LINES = _word_set(
    """
    det detail detalle dettaglio item itm ligne linea line linha pos position posten pozycja riga
    wiersz zeile
    """
)
_LANGUAGES = _word_set(
    "culture idioma jezyk lang language langue lengua lingua linguaggio locale spras sprache"
)
_SCOPED_PLACES = _word_set(
    """
    adres adresse address area building chapter city comuna comune commune county course district
    floor gemeinde line location miasto municipality neighborhood neighbourhood place quarter room
    section settlement site stadt strasse street suburb team town ulica via village ville zone
    """
)
"""What shares its name with others of its kind elsewhere: there are many Springfields."""
_LIST_WORDS = _word_set(
    """
    availability category class classification code condition config configuration grade group kind
    level measure method mode option parameter period purpose rating reason role scale setting
    severity source state status style tag term type typ tipo unit
    categoria estado genre kategoria kategorie klasse rodzaj stan statut stato statuses
    """
)
"""What lists of codes are about. Other small lists may be the customers of a shop that is new."""
_TYPE_WORDS = _word_set("estado kind rodzaj stan stato status statut tipo type typ statuses")
"""What says how something is, and is nothing by itself, unlike a category or a group."""
_SEQUENCES = _word_set(
    "line lineno lnr nth num ord order ordinal pos position rank row seq sequence"
)
_NUMBERED_THINGS = frozenset({"ord", "order", "position"})
_TIMES = frozenset(
    "date day daynum fy hour month period quarter season semester term week weekday year".split()
)
"""What doesn't identify a thing, even where it's numbered: the year 2024, the first semester."""
_WHOLES = _word_set(
    """
    ancestor assembly boss child component descendant father managed manager mother parent
    predecessor sub subordinate successor super
    """
)
"""Words for the two ends of a hierarchy: a parent and a child, an assembly and a component."""


def is_core_concept(tables: SourceTables, table: str) -> bool:
    """Return whether a table is named for what a business numbers and follows, such as orders."""
    own = _last_word(tables, table)
    return own in _CORE_CONCEPTS or bool(last_word(own, _CORE_CONCEPTS))


def is_event_name(tables: SourceTables, table: str) -> bool:
    """Return whether a table is named for what happens once, such as payments."""
    last_words = table_words(tables, table)[-2:]
    return any(word in _EVENTS or last_word(word, _LONG_EVENTS) for word in last_words)


def is_line_name(tables: SourceTables, table: str, parents: Sequence[str]) -> bool:
    """Return whether a table is named for the lines of one of its parents, such as order items."""
    own = table_words(tables, table)
    if len(own) < 2 or own[-1] not in _LINES:
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
    return any(singular(word) in _LANGUAGES for word in words(attribute.name))


def lists_languages(tables: SourceTables, table: str) -> bool:
    """Return whether a table lists languages."""
    return _last_word(tables, table) in _LANGUAGES


def is_scoped_place(tables: SourceTables, table: str) -> bool:
    """Return whether a table is named for what is unique only within something else."""
    return _last_word(tables, table) in _SCOPED_PLACES


def lists_codes(tables: SourceTables, table: str) -> bool:
    """Return whether a table is named for what lists of codes are about, such as a type."""
    own = table_words(tables, table)
    return bool(_LIST_WORDS & set(own)) or bool(own and last_word(own[-1], _LIST_WORDS))


def lists_types(tables: SourceTables, table: str) -> bool:
    """Return whether a table lists what types or statuses there are of something else."""
    own = table_words(tables, table)
    return bool(_TYPE_WORDS & {*own[:1], *own[-1:]})


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
    return bool(_LIST_WORDS & set(strip_key_words(words(attribute.name))[-1:]))


def names_part(attribute: Attribute) -> bool:
    """Return whether a column only says which part of one parent a row is: a place or a time."""
    numbered = strip_key_words(words(attribute.name))[-1:]
    return names_sequence(attribute) or bool(_TIMES & set(numbered))


def names_hierarchy(columns: Sequence[str]) -> bool:
    """Return whether columns are named for the ends of a hierarchy."""
    return any(singular(word) in _WHOLES for column in columns for word in words(column))


def table_words(tables: SourceTables, table: str) -> Words:
    """Return the words of a table's name, each in the singular, without prefixes of the schema."""
    parsed = tables.parsed_names[table].table
    return tuple(map(singular, parsed.entity or words(table)))


def _last_word(tables: SourceTables, table: str) -> str:
    return table_words(tables, table)[-1] if table_words(tables, table) else ""
