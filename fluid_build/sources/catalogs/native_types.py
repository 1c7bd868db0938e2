"""DuckDB's names for the types that catalogs declare."""

from functools import lru_cache

from fluid_build.sources.sql_text.ddl.dialects import DIALECTS
from fluid_build.sources.sql_text.ddl.tokens import tokens_of
from fluid_build.sources.sql_text.ddl.types import TEXT, duckdb_type

_LONGEST = 65_536
"""Characters of a type: a struct of a thousand fields has about half as many."""


# Most columns share a few types, and tokenizing one takes longer than looking it up.
@lru_cache(maxsize=4_096)
def known_type(native_type: str, dialect: str) -> str | None:
    """Return DuckDB's type for a native one; None where nothing is known of it.

    ``dialect`` is sqlglot's name of the engine; an unknown one is read as standard SQL.
    """
    if not native_type.strip() or len(native_type) > _LONGEST:
        return None
    grammar = DIALECTS.get(dialect) or DIALECTS[""]
    return duckdb_type(tokens_of(native_type, grammar), grammar, {})


def read_type(native_type: str, dialect: str) -> str:
    """Return DuckDB's type for a native one; text where nothing is known of it."""
    return known_type(native_type, dialect) or TEXT
