"""The SQL dialects of the targets, each made from the dialect that plans are written in."""

from typing import Protocol

from fluid_build.transform.dbt.targets import Target


class TargetDialect(Protocol):
    """A target's SQL: translates the plan's queries and types."""

    target: Target
    backslashes: bool

    def query(self, sql: str) -> str:
        """Return a query of the plan in the target's dialect; relations keep their names."""
        ...

    def type(self, duckdb_type: str) -> str:
        """Return the target's name of a type."""
        ...

    @property
    def notes(self) -> tuple[str, ...]:
        """What the target can't express exactly, in sentences, of all that was translated."""
        ...


class DuckDbDialect:
    """The dialect that plans are written in."""

    target: Target = "duckdb"
    backslashes = False
    notes: tuple[str, ...] = ()

    def query(self, sql: str) -> str:
        """Return the SQL as it is."""
        return sql

    def type(self, duckdb_type: str) -> str:
        """Return the type as it is."""
        return duckdb_type


def dialect_of(target: Target) -> TargetDialect:
    """Return the dialect of a target."""
    if target == "duckdb":
        return DuckDbDialect()
    # sqlglot takes a third of a second to import, and DuckDB's own project does without it.
    from fluid_build.transform.dbt.translation import Translation

    return Translation(target)
