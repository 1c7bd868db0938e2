"""A column prepared for classifying: its name and table as concepts, its values cleaned."""

from dataclasses import dataclass
from typing import Final

from fluid_build.profiling.names.concepts import NameConcepts, read_concepts
from fluid_build.profiling.semantic_types.column_facts import ColumnFacts, Family, family_of

_MOST_VALUES: Final = 60
"""Values that are tested: shares are then right to about 6 %, at a fraction of a millisecond."""
_LONGEST_VALUE: Final = 400
"""Characters of a value that are tested; longer ones are text whatever follows."""
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
    """A column as the tests need it.

    ``values`` are up to sixty, stripped, without placeholders such as "N/A". ``has_no_rows`` says
    that the name alone has to decide.
    """

    facts: ColumnFacts
    family: Family
    name: NameConcepts
    table: NameConcepts
    values: tuple[str, ...]
    has_no_rows: bool


def prepare(facts: ColumnFacts) -> PreparedColumn:
    """Read the concepts of a column's names and clean its values."""
    values = tuple(
        text
        for value in facts.values[:_MOST_VALUES]
        if (text := value[:_LONGEST_VALUE].strip()).lower() not in _PLACEHOLDERS
    )
    return PreparedColumn(
        facts=facts,
        family=family_of(facts.type),
        name=read_concepts(facts.column),
        table=read_concepts(facts.table),
        values=values,
        has_no_rows=facts.rows == 0,
    )


def parse_number(text: str) -> float | None:
    """Return a number written as text with a decimal comma or point, None if it isn't one."""
    try:
        return float(text.replace(",", "."))
    except ValueError:
        return None
