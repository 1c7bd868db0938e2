"""Which columns of a table change at another rate than the rest, as far as that can be known.

One look at the data shows no rate. What can be known is what a column is: a balance or a stock is
a state that every transaction moves, a status is what a process moves, and the time of the last
change moves with either. Where a table has none of the first two, its rate of change is unknown.
"""

from collections.abc import Sequence

from fluid_build.modeling.conceptual import Attribute
from fluid_build.modeling.data_vault.source_tables import is_change_stamp, last_word
from fluid_build.modeling.types import family
from fluid_build.profiling.names import words

_FEWEST_STATIC = 3
_OF_A_PERSON = frozenset({"marital", "civil", "family"})


def fast_columns(attributes: Sequence[Attribute]) -> tuple[str, ...]:
    """The columns to part from the others, in order; none where parting them is not worth it."""
    moving = [attribute.name for attribute in attributes if _is_state(attribute)]
    stamps = [attribute.name for attribute in attributes if is_change_stamp(attribute)]
    if not moving or len(attributes) - len(moving) - len(stamps) < _FEWEST_STATIC:
        return ()
    parted = {*moving, *stamps}
    return tuple(attribute.name for attribute in attributes if attribute.name in parted)


def _is_state(attribute: Attribute) -> bool:
    if attribute.measure is not None:
        return attribute.measure.additivity == "semi-additive"
    coded = family(attribute.type) in {"text", "integer", "boolean"}
    moves = bool(last_word(attribute.name, {"status"})) and not _OF_A_PERSON & set(
        "".join(words(attribute.name)).split("status")
    )
    return coded and moves
