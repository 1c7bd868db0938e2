"""Values looked up among all keys of a table at its server, where only a part of it was read.

A sample of a parent can't show that a value is missing from it. The server can.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import duckdb

from fluid_build.sources.base import Table
from fluid_build.sources.engine.connection import DUCKDB_ERRORS
from fluid_build.sources.origin import InDatabase
from fluid_build.sources.servers.rows import ServerQueryError, ServerRows

MOST_VALUES = 1_000
"""Values of a column that are looked up: Oracle takes no longer list, and a thousand settle it."""
MOST_LOOKUPS = 200
"""Lookups of a source, each of which scans a column at the server."""
_WHOLE = re.compile(r"-?\d{1,38}")
PLAIN_TEXT = r"[ !#-&(-\[\]-~]{1,200}"
"""What every server reads alike between quotes: ASCII without quotes and backslashes.

SQL Server takes other letters for those of a code page, and Oracle no text for NULL.
"""
_PLAIN_TEXT = re.compile(PLAIN_TEXT)
_WHOLE_TYPES = re.compile(r"U?(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT)|DECIMAL\(\d+,0\)")


class Quoting(Protocol):
    """How a server quotes a name."""

    def quote(self, name: str) -> str:
        """Quote a name for the server."""
        ...


@dataclass
class ServerKeys:
    """The keys of a server's tables, asked for while the connection to it is open."""

    connection: duckdb.DuckDBPyConnection
    rows: ServerRows
    quoting: Quoting
    tables: Sequence[Table]
    container: str = ""
    _lookups: int = field(default=0, init=False)

    def matching(self, table: str, column: str, values: str) -> set[str] | None:
        """Return which values a column of a table has at the server, as text.

        ``values`` is a query of at most MOST_VALUES of them on the connection, one column of text.
        None where the server can't tell, or was asked often enough.
        """
        place = next((each for each in self.tables if each.name == table), None)
        if place is None or not isinstance(place.origin, InDatabase):
            return None
        texts = [text for (text,) in self.connection.execute(values).fetchall()]
        literals = _literals(texts, place.column(column).type)
        if literals is None or self._lookups >= MOST_LOOKUPS:
            return None
        self._lookups += 1
        name = self.quoting.quote(column)
        names = (self.container, place.origin.schema, place.origin.table)
        at = ".".join(self.quoting.quote(part) for part in names if part)
        sql = f"SELECT DISTINCT {name} AS c0 FROM {at} WHERE {name} IN ({', '.join(literals)})"
        try:
            with self.rows.relation(sql) as relation:
                found = self.connection.execute(
                    f"SELECT CAST(c0 AS VARCHAR) FROM {relation}"
                ).fetchall()
        except duckdb.InterruptException:
            raise
        except (*DUCKDB_ERRORS, ServerQueryError):
            return None
        return {text for (text,) in found}


def _literals(texts: Sequence[str], type_: str) -> list[str] | None:
    """Return values as SQL that every server reads alike; None where there is none for one."""
    if not texts or len(texts) > MOST_VALUES:
        return None
    if _WHOLE_TYPES.fullmatch(type_):
        return list(texts) if all(map(_WHOLE.fullmatch, texts)) else None
    if type_ in ("VARCHAR", "UUID"):
        return [f"'{text}'" for text in texts] if all(map(_PLAIN_TEXT.fullmatch, texts)) else None
    return None
