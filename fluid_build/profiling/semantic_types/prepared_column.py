"""A column laid out for classifying: its name and table read, its values cleaned."""

from dataclasses import dataclass
from typing import Final

from fluid_build.profiling.semantic_types.column_facts import ColumnFacts, Family, family_of
from fluid_build.profiling.semantic_types.name_concepts import NameConcepts, read_concepts

_READ: Final = 60
_LONGEST: Final = 400
_PLACEHOLDERS: Final = frozenset(
    {
        "",
        "-",
        "--",
        ".",
        "?",
        "null",
        "none",
        "n/a",
        "na",
        "nan",
        "nil",
        "\\n",
        "unknown",
        "tbd",
        "#n/a",
    }
)


@dataclass(frozen=True, slots=True)
class PreparedColumn:
    """``values`` are up to sixty, stripped, without placeholders such as "N/A".

    ``unseen`` says that there are no rows to look at, so that the name alone speaks.
    """

    facts: ColumnFacts
    family: Family
    name: NameConcepts
    table: NameConcepts
    values: tuple[str, ...]
    unseen: bool


def lay_out(facts: ColumnFacts) -> PreparedColumn:
    """The column as the tests want it."""
    values = tuple(
        text
        for value in facts.values[:_READ]
        if (text := value[:_LONGEST].strip()).lower() not in _PLACEHOLDERS
    )
    return PreparedColumn(
        facts=facts,
        family=family_of(facts.type),
        name=read_concepts(facts.column),
        table=read_concepts(facts.table),
        values=values,
        unseen=facts.rows == 0,
    )


def number(text: str | None) -> float | None:
    """A number written as text, with a decimal comma or point; None if it is none."""
    if text is None:
        return None
    try:
        return float(text.replace(",", "."))
    except ValueError:
        return None
