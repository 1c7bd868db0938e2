"""Keys of several columns that the rows show and nobody declared, next to an assigned number.

Most columns that are unique together are so by chance. Two kinds of keys are meant: what a row
relates (a driver in a race, though results are numbered too), and a counter within a year or within
a parent that people know by a code (the third race of 2021). They are believed only where columns
that know nothing of each other would have repeated.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from math import prod

from fluid_build.lexicon import terms
from fluid_build.modeling.business_codes import is_code
from fluid_build.modeling.conceptual import Attribute, Entity, EntityKey, Relationship
from fluid_build.modeling.element import source_columns
from fluid_build.modeling.types import family
from fluid_build.profiling import checks
from fluid_build.profiling.names.words import words
from fluid_build.profiling.profile import Evidence
from fluid_build.text import counted

_ENOUGH_REPEATS = 3.0
"""With so many expected repeats, finding none by chance happens in one of twenty tables (e^-3)."""
_COUNTERS = terms("line", "line_number", "sequence", "step", "round")
"""Words for numbers that start again in each parent. A position may be a result."""


def related_key(
    entity: Entity, unique: Iterable[Collection[str]], references: Sequence[Relationship]
) -> tuple[str, ...]:
    """Return the references, and a counter if need be, that identify the rows; () if none do."""
    referring = {column for reference in references for column in reference.from_attributes}

    def is_meant(key: tuple[str, ...]) -> bool:
        others = [entity.attribute(column) for column in key if column not in referring]
        return len(others) < len(key) and len(others) <= 1 and all(map(_is_counter, others))

    return _shortest(entity, unique, is_meant, referring)


def numbered_key(
    entity: Entity, unique: Iterable[Collection[str]], references: Sequence[Relationship]
) -> EntityKey | None:
    """Return the key of a counter and of what people count within, or None.

    A parent by its assigned number is known to nobody, and so is what is counted within it.
    """
    referring = {column for reference in references for column in reference.from_attributes}

    def is_meant(key: tuple[str, ...]) -> bool:
        counters = [column for column in key if _is_counter(entity.attribute(column))]
        scopes = [entity.attribute(column) for column in key if column not in counters]
        return len(counters) == 1 and all(
            a.semantic_type == "year" or (a.name in referring and is_code(a)) for a in scopes
        )

    columns = _shortest(entity, unique, is_meant, referring)
    if not columns:
        return None
    sql = checks.repeated_values(entity.sql, columns)
    return EntityKey(
        kind="candidate",
        attributes=columns,
        origin="measured",
        holds=True,
        evidence=Evidence(origin="measured", rows=entity.rows, distinct=entity.rows, sql=sql),
        mapped_source_tables=(entity.name,),
        source_columns=source_columns(entity.name, columns),
        reason=f"Unique together and never null in {counted(entity.rows, 'row')}.",
    )


def _shortest(
    entity: Entity,
    unique: Iterable[Collection[str]],
    is_meant: Callable[[tuple[str, ...]], bool],
    referring: Collection[str],
) -> tuple[str, ...]:
    """Return the key of fewest columns, most of them references, that is meant and no accident."""
    names = [attribute.name for attribute in entity.attributes]
    keys = [tuple(name for name in names if name in key) for key in unique if len(key) > 1]
    meant = [
        key for key in keys if is_meant(key) and _expected_repeats(entity, key) >= _ENOUGH_REPEATS
    ]
    return min(
        meant,
        key=lambda key: (len(key), -len(set(key) & set(referring)), [*map(names.index, key)]),
        default=(),
    )


def _expected_repeats(entity: Entity, key: tuple[str, ...]) -> float:
    """Return how many pairs of rows would agree if the columns were independent, at least.

    Values that aren't equally frequent would agree more often.
    """
    attributes = [entity.attribute(column) for column in key]
    if not all(
        a.required and a.evidence.distinct and not a.evidence.is_sampled for a in attributes
    ):
        return 0.0
    combinations = prod(attribute.evidence.distinct or 1 for attribute in attributes)
    return entity.rows * (entity.rows - 1) / 2 / combinations


def _is_counter(attribute: Attribute) -> bool:
    """Return whether a column is named for what counts within something, from few numbers."""
    distinct = attribute.evidence.distinct or 0
    is_small = 2 * distinct <= attribute.evidence.rows
    is_named = not _COUNTERS.isdisjoint(words(attribute.name))
    return family(attribute.type) == "integer" and is_named and is_small
