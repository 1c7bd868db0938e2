"""A server's client that answers catalog queries with recorded rows, and tables with Arrow."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa


@dataclass
class RecordedClient:
    """A PEP 249 connection.

    ``catalog`` has the rows of each catalog query by a text that only it holds; ``tables`` what a
    query on a table returns by the table's quoted name, or the error that it raises. ``queries``
    are all that were run.
    """

    catalog: Mapping[str, Sequence[Sequence[Any]]]
    tables: Mapping[str, pa.Table | Exception]
    queries: list[str] = field(default_factory=list)
    is_closed: bool = False

    def cursor(self) -> "RecordedCursor":
        return RecordedCursor(self)

    def close(self) -> None:
        self.is_closed = True

    def fetch_df_batches(self, *, statement: str, size: int) -> Any:
        table = self.table_of(statement)
        yield from (pa.table(batch) for batch in table.to_batches(size)) if len(table) else [table]

    def table_of(self, sql: str) -> pa.Table:
        self.queries.append(sql)
        for name, table in self.tables.items():
            if f"FROM {name}" in sql:
                if isinstance(table, Exception):
                    raise table
                return table.rename_columns([f"c{i}" for i in range(table.num_columns)])
        raise AssertionError(f"nothing is recorded for: {sql}")

    def select_of(self, table: str) -> str:
        """Return the query on a table."""
        return next(sql for sql in self.queries if sql.endswith(f"FROM {table}"))


class RecordedCursor:
    def __init__(self, client: RecordedClient) -> None:
        self._client = client
        self._sql = ""

    def __enter__(self) -> "RecordedCursor":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def execute(self, sql: str) -> None:
        self._sql = sql
        if " AS c0" in sql:
            self._table = self._client.table_of(sql)
        else:
            self._client.queries.append(sql)

    def fetchall(self) -> Sequence[Sequence[Any]]:
        matching = [rows for mark, rows in self._client.catalog.items() if mark in self._sql]
        assert len(matching) == 1, f"{len(matching)} recordings for: {self._sql}"
        return matching[0]

    def arrow_reader(self, batch_size: int) -> pa.RecordBatchReader:
        return self._table.to_reader(batch_size)

    def close(self) -> None:
        pass
