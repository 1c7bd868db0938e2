"""What the classifier gets to know about a column, and what it returns."""

from dataclasses import dataclass
from typing import Final, Literal

from fluid_build.profiling.names.concepts import NameConcepts, read_concepts
from fluid_build.sources.text_values.personal_text import ABSENT

Family = Literal["text", "integer", "decimal", "date", "boolean", "uuid", "other"]

_FAMILIES: tuple[tuple[tuple[str, ...], Family], ...] = (
    (("VARCHAR", "ENUM", "TEXT", "CHAR", "STRING", "JSON", "INET"), "text"),
    (
        (
            *("INTEGER", "BIGINT", "SMALLINT", "TINYINT", "HUGEINT", "INT"),
            *("UINTEGER", "UBIGINT", "USMALLINT", "UTINYINT", "UHUGEINT", "BIGNUM"),
        ),
        "integer",
    ),
    (("DECIMAL", "DOUBLE", "FLOAT", "REAL", "NUMERIC"), "decimal"),
    (("DATE", "TIMESTAMP"), "date"),
    (("BOOLEAN",), "boolean"),
    (("UUID",), "uuid"),
)


@dataclass(frozen=True, slots=True)
class ColumnFacts:
    """What the profiler knows about a column.

    ``type`` is DuckDB's name of the type as read, such as VARCHAR or DECIMAL(10,2). ``values`` are
    up to 100 distinct values that are not null, as text, the most frequent first; they may come
    from a sample. ``documents`` are some values of a nested column, as JSON. ``siblings`` are the
    names of the table's other columns.
    """

    table: str
    column: str
    type: str
    rows: int
    nulls: int
    distinct: int
    values: tuple[str, ...]
    min: str | None = None
    max: str | None = None
    siblings: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SemanticType:
    """The meaning of a column.

    ``pii`` says whether it holds personal data, or may. ``confidence`` is 0 to 1. ``reason`` is
    one sentence with the figures; it never quotes a value.
    """

    name: str
    pii: bool
    confidence: float
    reason: str


def family_of(type_name: str) -> Family:
    """Return the family of a DuckDB type; lists of text are text, other nested types are other."""
    name = type_name.upper()
    if name.endswith("]"):
        return "text" if name.startswith(("VARCHAR[", "INET[")) else "other"
    base = name.split("(", 1)[0].split(" ", 1)[0]
    for names, family in _FAMILIES:
        if base in names or (family == "date" and base.startswith("TIMESTAMP")):
            return family
    return "other"


_MOST_VALUES: Final = 60
"""Values that are tested: shares are then right to about 6 %, at a fraction of a millisecond."""
_LONGEST_VALUE: Final = 400
"""Characters of a value that are tested; longer ones are text whatever follows."""


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
        if (text := value[:_LONGEST_VALUE].strip()).lower() not in ABSENT
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
