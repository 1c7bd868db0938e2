"""Names of tables and columns as parts of the sentences that give reasons."""

from collections.abc import Collection, Iterable, Sequence

from fluid_build.modeling.conceptual import Relationship
from fluid_build.text import listed

_MOST_NAMES = 3
"""Names that a reason lists before it counts the others."""


def name_parents(references: Sequence[Relationship]) -> str:
    """Return the tables that references lead to, as a list in a sentence."""
    return name_a_few(dict.fromkeys(reference.to_entity for reference in references))


def subject(names: Collection[str], singular_verb: str, plural_verb: str) -> str:
    """Return names as the subject of a sentence, with the form of the verb that goes with them."""
    return f"{name_a_few(names)} {singular_verb if len(names) == 1 else plural_verb}"


def name_a_few(names: Iterable[str]) -> str:
    """Return names as a list in a sentence: up to three, or two and how many others."""
    listed_names = list(names)
    if len(listed_names) > _MOST_NAMES:
        more = len(listed_names) - _MOST_NAMES + 1
        listed_names = [*listed_names[: _MOST_NAMES - 1], f"{more} others"]
    return listed(listed_names)
