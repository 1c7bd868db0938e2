"""Which columns of a table change more often than the others, as far as that can be known.

A single look at the data shows no rate of change. What a column is can be known, though: every
transaction changes a balance or a stock, a process changes a status, and the time of the last
change follows both. Where a table has no balance, stock or status, its rate is unknown.
"""

from collections.abc import Sequence

from fluid_build.lexicon import terms
from fluid_build.modeling.conceptual import Attribute
from fluid_build.modeling.data_vault.column_purposes import is_change_stamp, last_word
from fluid_build.modeling.types import family
from fluid_build.profiling.names.words import words

_FEWEST_SLOW = 3
"""Slow columns that make a satellite of their own worth its load and its join: with fewer, keeping
their old values once more with each change costs less."""


def fast_columns(attributes: Sequence[Attribute]) -> tuple[str, ...]:
    """Return the columns for a satellite of their own, in order; none where it isn't worth it."""
    states = [attribute.name for attribute in attributes if _is_state(attribute)]
    stamps = [attribute.name for attribute in attributes if is_change_stamp(attribute)]
    if not states or len(attributes) - len(states) - len(stamps) < _FEWEST_SLOW:
        return ()
    return tuple(attribute.name for attribute in attributes if attribute.name in {*states, *stamps})


def _is_state(attribute: Attribute) -> bool:
    """Return whether an attribute is a level (balance, stock) or the status of a process."""
    if attribute.measure is not None:
        return attribute.measure.additivity == "semi-additive"
    if family(attribute.type) not in {"text", "integer", "boolean"}:
        return False
    # In one word or two: marital_status, maritalstatus.
    before_status = "".join(words(attribute.name)).split("status")
    return bool(last_word(attribute.name, {"status"})) and not terms("of_a_person") & set(
        before_status
    )
