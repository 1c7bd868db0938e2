"""The SQL dialects of the targets, each made from the dialect that plans are written in."""

from typing import Protocol

from fluid_build.transform.dbt.targets import Target


class TargetDialect(Protocol):
    """What a target is told in: the plan's SQL in its own words, and the names of its types."""

    target: Target
    backslashes: bool

    def query(self, sql: str) -> str:
        """A query of the plan's in the target's dialect; relations keep their names."""
        ...

    def type(self, duckdb_type: str) -> str:
        """The target's name of a type."""
        ...

    @property
    def notes(self) -> tuple[str, ...]:
        """What the target cannot say just so, in sentences, for all that was translated."""
        ...


class DuckDbDialect:
    """The dialect that plans are written in."""

    target: Target = "duckdb"
    backslashes = False
    notes: tuple[str, ...] = ()

    def query(self, sql: str) -> str:
        """The SQL as it is."""
        return sql

    def type(self, duckdb_type: str) -> str:
        """The type as it is."""
        return duckdb_type


def dialect_of(target: Target) -> TargetDialect:
    """The dialect of a target."""
    if target == "duckdb":
        return DuckDbDialect()
    # sqlglot takes a third of a second to import, and DuckDB's own project does without it.
    from fluid_build.transform.dbt.translation import Translation

    return Translation(target)
