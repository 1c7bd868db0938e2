"""What the name of a column says, whatever its type: a category, a quantity, a name."""

from fluid_build.modeling.measures.number_names import read_number_name
from fluid_build.profiling.names.words import words

_CATEGORY_WORDS = frozenset(
    """
    active category class code enabled flag gender group has is kind level mode phase priority
    state status tier type
    """.split()
)
_NAME_WORDS = frozenset("comment desc description label name note text title".split())
_CALENDAR_WORDS = frozenset("day month quarter weekday".split())


def is_category_name(name: str) -> bool:
    """Return whether a column's name says that its values are codes of a short list."""
    parts = words(name)
    return bool(parts) and (parts[-1] in _CATEGORY_WORDS or parts[0] in {"is", "has"})


def is_quantity_name(name: str) -> bool:
    """Return whether a column's name says that it counts, weighs or prices something."""
    return read_number_name(name).meaning not in {"unknown", "code", "reading", "intensity"}


def holds_names(name: str) -> bool:
    """Return whether a column's name says that its values are names or text, an open domain."""
    parts = words(name)
    return bool(parts) and parts[-1] in _NAME_WORDS and not _CALENDAR_WORDS & set(parts)
