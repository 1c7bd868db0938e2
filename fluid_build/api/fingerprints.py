"""Whether the rows of a source are those that were forged."""

from collections.abc import Mapping

from fluid_build.errors import SourceChangedError
from fluid_build.sources.base import Source, Table
from fluid_build.sources.sql import quote
from fluid_build.sources.staged_views import staged_where_needed


def fingerprints(source: Source) -> dict[str, str]:
    """Return a text for each table that stays the same as long as its rows do, in any order.

    It's made of DuckDB's hashes, which are the same in every process that runs the same version.
    """
    return staged_where_needed(
        source, lambda: {table.name: _fingerprint(source, table) for table in source.tables}
    )


def check_same_rows(source: Source, expected: Mapping[str, str]) -> None:
    """Raise SourceChangedError where a table of the source isn't as expected."""
    current = fingerprints(source)
    changed = [name for name in (*expected, *current) if expected.get(name) != current.get(name)]
    if changed:
        raise SourceChangedError(
            f"{changed[0]} has changed since {source.name} was forged.",
            hint="Forge it again, with out= to write the files right away.",
        )


def _fingerprint(source: Source, table: Table) -> str:
    columns = ", ".join(quote(column.alias) for column in table.columns)
    (fingerprint,) = source.connection.execute(
        f"SELECT count(*) || ' ' || coalesce(sum(CAST(hash({columns}) AS HUGEINT)), 0)"
        f" FROM {table.relation}"
    ).fetchall()[0]
    return str(fingerprint)
