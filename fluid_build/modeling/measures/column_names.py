"""What the name of a column says, whatever its type: a category, a quantity, a name."""

from fluid_build.lexicon import leading, terms
from fluid_build.modeling.measures.number_names import read_number_name
from fluid_build.profiling.names.words import words


def is_category_name(name: str) -> bool:
    """Return whether a column's name says that its values are codes of a short list."""
    parts = words(name)
    return bool(parts) and (parts[-1] in terms("category_name") or parts[0] in leading("truth"))


def is_quantity_name(name: str) -> bool:
    """Return whether a column's name says that it counts, weighs or prices something."""
    return read_number_name(name).meaning not in {"unknown", "code", "reading", "intensity"}


def holds_names(name: str) -> bool:
    """Return whether a column's name says that its values are names or text, an open domain."""
    parts = words(name)
    return (
        bool(parts) and parts[-1] in terms("open_text") and not terms("calendar_word") & set(parts)
    )
