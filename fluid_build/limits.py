"""Bounds on what is read from a stranger, each of which an environment variable can raise.

They stand far above what real data needs, and below what takes minutes or gigabytes.
"""

import os
from collections.abc import Collection
from dataclasses import dataclass

from fluid_build.errors import UsageError


@dataclass(frozen=True, slots=True)
class Limit:
    """A bound: the environment variable that sets another one, and what it is without."""

    variable: str
    default: int

    @property
    def value(self) -> int:
        """The bound that holds; UsageError where the variable isn't a whole number above zero."""
        text = os.environ.get(self.variable, "").strip().replace("_", "")
        if not text:
            return self.default
        if not text.isdecimal() or not int(text):
            raise UsageError(
                f"{self.variable} is {text!r}, which isn't a whole number above zero.",
                hint=f"Set it to a number such as {10 * self.default}, or unset it.",
            )
        return int(text)

    def check(self, number: int, what: str) -> None:
        """Raise ValueError, with what to do, where there is more of something than allowed."""
        if number > self.value:
            raise ValueError(
                f"It has {number:,} {what}; the limit is {self.value:,}. {self.how_to_raise}"
            )

    @property
    def how_to_raise(self) -> str:
        """What to do about it, as a sentence."""
        return f"Set the environment variable {self.variable} to allow more."


COLUMNS = Limit("FLUID_MAX_COLUMNS", 10_000)
"""Columns of a table in a file. Each costs several aggregates of one query; most databases stop at
1,600 to 4,096."""

MOST_NAME = 10_000
"""Characters in a column's name. No database allows as many, but files do: the question of a survey
is the name of its column."""


def check_columns(names: Collection[str]) -> None:
    """Raise ValueError where a table has too many columns, or one with too long a name."""
    COLUMNS.check(len(names), "columns")
    longest = max(map(len, names), default=0)
    if longest > MOST_NAME:
        raise ValueError(
            f"A column's name has {longest:,} characters; the limit is {MOST_NAME:,}. Rename it."
        )


REMOTE_FILES = Limit("FLUID_MAX_REMOTE_FILES", 100_000)
"""Files of a remote folder: each is laid out on this machine, and takes a request of its own."""

NESTED_DEPTH = Limit("FLUID_MAX_NESTED_DEPTH", 16)
"""Structs and lists inside each other that are split into tables: documents have fewer than ten.
What is deeper stays nested: twenty lists inside each other take a query 40 s to put together."""

NESTED_TABLES = Limit("FLUID_MAX_NESTED_TABLES", 200)
"""Tables that one table with nested columns is split into. Each costs a pass over the documents."""

LINE_MEGABYTES = Limit("FLUID_MAX_LINE_MB", 32)
"""Megabytes of one line of a CSV file: DuckDB holds several of that size for each thread."""

EXPANSION = Limit("FLUID_MAX_EXPANSION", 250)
"""How many times its size a gzip file may expand to, from 64 MB up. Tables as text shrink to a
tenth, rarely to a hundredth; what shrinks to a thousandth was made to hurt."""

CELLS = Limit("FLUID_MAX_CELLS", 30_000_000)
"""Cells of a sheet between its first and its last: a million rows of thirty columns. Each takes
some fifty bytes while the sheet is read."""

DDL_TABLES = Limit("FLUID_MAX_DDL_TABLES", 10_000)
"""Tables of a DDL source: they take about a minute, since all of them are compared by name."""

DDL_COLUMNS = Limit("FLUID_MAX_DDL_COLUMNS", 200_000)
"""Columns of all tables of a DDL source: ``LIKE`` and ``INHERITS`` repeat those of other tables, so
that a few lines make a million."""

CONTRACT_VALUES = Limit("FLUID_MAX_CONTRACT_VALUES", 1_000_000)
"""Values in a contract, with those that its aliases repeat: some 50,000 columns, and 500 MB."""

FINDINGS = Limit("FLUID_MAX_FINDINGS", 1_000)
"""Findings about one contract that are listed."""

DECISIONS = Limit("FLUID_MAX_DECISIONS", 10_000)
"""Entries of decisions.yaml: ten for each table of a source of a thousand tables."""
