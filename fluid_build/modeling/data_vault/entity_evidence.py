"""Evidence that the rows of a table are things or events: their names, dates and measures."""

from collections.abc import Sequence

from fluid_build.lexicon import terms
from fluid_build.modeling.conceptual import Entity
from fluid_build.modeling.data_vault.business_keys import is_known_by_key, natural_key
from fluid_build.modeling.data_vault.column_purposes import (
    is_begin,
    is_bookkeeping,
    is_date,
    is_distinctive,
    is_end,
    is_event_date,
    is_naming,
    is_period,
    is_status,
    is_technical,
    is_valid_from,
    is_validity,
)
from fluid_build.modeling.data_vault.source_tables import SourceTables
from fluid_build.modeling.data_vault.table_names import (
    is_core_concept,
    is_event_name,
    names_language,
    names_sequence,
    names_table,
    table_words,
)
from fluid_build.profiling.names.words import singular, stem, words

_SHARE_IN_ORDER = 0.95
"""Share of rows whose dates follow each other in a process; a few are mistyped or corrected."""


def entity_evidence(tables: SourceTables, entity: Entity) -> str:
    """Return why a table that nothing refers to is an entity and no relationship, or "".

    A contract between a customer and a supplier that nothing refers to is a thing all the same: it
    has a number on paper, or a status that changes. A rating of a film by a user has neither.
    """
    names = naming_columns(tables, entity)
    if names:
        return f"{names[0]} names its rows"
    natural = natural_key(tables, entity)
    if natural is not None:
        return f"people identify its rows by {natural.attributes[0]}"
    if is_core_concept(tables, entity.name):
        return "its name says that a business numbers and follows what it lists"
    if is_event_name(tables, entity.name):
        return ""
    identity = tables.identities[entity.name]
    if identity is not None and is_known_by_key(entity, identity):
        return f"people identify its rows by {identity.attributes[0]}"
    later = milestones(tables, entity)
    changing = [a.name for a in entity.attributes if is_status(a) or a.name in later]
    if changing and any(map(is_event_date, entity.attributes)):
        return f"{changing[0]} says how far each row has come"
    return ""


def milestones(tables: SourceTables, entity: Entity) -> set[str]:
    """Return the dates of a table that are filled in as things go on, by what its rows show.

    The youngest orders have no shipping date yet: that's a step to come. A date that is null in
    rows of any age is an optional remark, and one that comes without the earlier date no step.
    Until when something lasted is no step either.
    """
    return _filled_in_later(tables, entity, recently=True)


def steps(tables: SourceTables, entity: Entity) -> set[str]:
    """Return the dates of a table that change with its state.

    Where a status says how far each row has come, these are all that come after an earlier date and
    that not every row has: few bookings are cancelled, and old ones never will be.
    """
    has_status = any(map(is_status, entity.attributes))
    return _filled_in_later(tables, entity, recently=not has_status)


def _filled_in_later(tables: SourceTables, entity: Entity, *, recently: bool) -> set[str]:
    """Return the dates that follow another; ``recently`` if the youngest rows have to lack them."""
    return {
        order.later
        for order in tables.observations.date_orders
        if order.table == entity.name
        and order.open
        and (order.open_is_recent or not recently)
        and order.in_order >= _SHARE_IN_ORDER * order.both
        and order.skipped <= (1 - _SHARE_IN_ORDER) * (order.both + order.skipped)
        and is_event_date(entity.attribute(order.later))
        and not is_technical(entity.attribute(order.later))
        and not is_end(entity.attribute(order.later))
    }


def ends_later(tables: SourceTables, entity: Entity) -> bool:
    """Return whether a date of a row's key is followed by one that is open until it's reached.

    A meter's installation is updated on the day of its removal.
    """
    identity = tables.identity(entity.name)
    return any(
        order.open
        and order.earlier in identity
        and order.in_order >= _SHARE_IN_ORDER * order.both > 0
        and not is_technical(entity.attribute(order.later))
        for order in tables.observations.date_orders
        if order.table == entity.name
    )


def naming_columns(tables: SourceTables, entity: Entity) -> list[str]:
    """Return the columns that name the rows of a table, of its key only where that's one column."""
    key = tables.identity(entity.name)
    part_of_key = key if len(key) > 1 else ()
    return [
        a.name
        for a in entity.attributes
        if a.name not in part_of_key
        and is_naming(a)
        and is_distinctive(a)
        and names_table(tables, entity.name, a)
        and not _names_another(tables, entity, a.name)
    ]


def numbers_its_rows(entity: Entity, own_columns: Sequence[str]) -> bool:
    """Return whether the own part of a key identifies something, and isn't a date or a place.

    ``room_no`` of a hotel's rooms is the number on a door; ``line_no`` only tells lines apart.
    """
    return not any(
        is_date(attribute) or names_language(attribute) or names_sequence(attribute)
        for attribute in map(entity.attribute, own_columns)
    )


def identifies_others(tables: SourceTables, entity: Entity, own_columns: Sequence[str]) -> bool:
    """Return whether the own part of a key identifies something that has no table here.

    Prescriptions by (patient, ``drug_code``) link a patient with a drug, listed or not.
    """
    referring = {c for r in tables.references[entity.name] for c in r.from_attributes}
    own_words = set(table_words(tables, entity.name))
    parsed_columns = tables.parsed_names[entity.name].columns
    return any(
        parsed.has_key_word
        and not own_words.issuperset(map(singular, parsed.entity))
        and numbers_its_rows(entity, [attribute.name])
        for attribute, parsed in zip(entity.attributes, parsed_columns, strict=True)
        if attribute.name in own_columns and attribute.name not in referring
    )


def _names_another(tables: SourceTables, entity: Entity, column: str) -> bool:
    """Return whether a column holds another entity's name, such as the name of a customer."""
    phrase = stem(tables.bare_words(entity.name, column)[:-1])
    own = tables.parsed_names[entity.name].table.entity
    return any(
        phrase[start:end] in tables.called and phrase[start:end] != own
        for start in range(len(phrase))
        for end in range(start + 1, len(phrase) + 1)
    )


def count_descriptive(tables: SourceTables, entity: Entity) -> int:
    """Return how many columns neither refer, measure, keep records nor bound a period."""
    referring = {c for r in tables.references[entity.name] for c in r.from_attributes}
    key = tables.identity(entity.name)
    lasts = is_period(entity.attributes)
    return sum(
        a.name not in {*referring, *key}
        and a.measure is None
        and not is_technical(a)
        and not is_bookkeeping(a)
        and not (lasts and (is_begin(a) or is_end(a)))
        for a in entity.attributes
    )


def is_event(entity: Entity) -> bool:
    """Return whether rows are events: they're measured, or dated without holding for a period.

    A price that is valid from one day to another is no event, since its end moves.
    """
    is_dated = any(map(is_event_date, entity.attributes))
    return is_measured(entity) or (is_dated and not is_period(entity.attributes))


def is_measured(entity: Entity) -> bool:
    """Return whether a table measures more than levels, which stay until they're updated.

    The stock of a product in a store is a state of the pair; an amount sold happened.
    """
    return not is_validity(entity.attributes) and any(
        a.measure is not None
        and a.measure.additivity != "semi-additive"
        and not terms("property") & set(words(a.name))
        for a in entity.attributes
    )


def happens_to_one(entity: Entity, key: Sequence[str]) -> bool:
    """Return whether the rows of one parent happened to it, instead of describing it together.

    Payments, the items of a payslip and the levels of a month are dated or add up. A customer's
    phones don't, from when an address holds dates no event, and a rate holds until the next one.
    """
    measures = [a.measure.additivity for a in entity.attributes if a.measure is not None]
    if is_measured(entity) and "additive" in measures:
        return True
    if is_period(entity.attributes):
        return False
    dates = [
        attribute.name
        for attribute in entity.attributes
        if is_event_date(attribute)
        and attribute.required
        and not is_technical(attribute)
        and not is_valid_from(attribute)
    ]
    if not measures or not set(dates) <= set(key):
        return bool(dates)
    return "semi-additive" in measures and is_snapshot(entity, key)


def is_snapshot(entity: Entity, key: Sequence[str]) -> bool:
    """Return whether rows are measured as of a day, or a month, that is part of their key."""
    is_timed = any(
        (is_date(attribute) and not is_valid_from(attribute))
        or terms("time_word") & set(words(attribute.name))
        for attribute in map(entity.attribute, key)
    )
    return is_timed and any(attribute.measure is not None for attribute in entity.attributes)
