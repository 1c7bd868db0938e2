"""Staging a server's tables into DuckDB, the same for every kind of server.

A kind of server brings its catalog, the way its rows are read (``ServerRows``) and a
``ServerDialect``: how a column is asked for. What doesn't come over exactly is turned into text on
the server, and settled here afterwards.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Generic, Literal, Protocol, TypeAlias, TypeVar

import duckdb

from fluid_build.progress import OnProgress, Progress
from fluid_build.sources.base import Column, DeclaredForeignKey, Skipped, Table
from fluid_build.sources.decimals import Settled, settle_decimal, settle_whole
from fluid_build.sources.declared import qualified, settle_foreign_keys, unique_names
from fluid_build.sources.engine import DUCKDB_ERRORS, STAGE, reason
from fluid_build.sources.loose_types import LooseType, settle_loosely
from fluid_build.sources.origin import InDatabase, NativeQuery
from fluid_build.sources.query_progress import following
from fluid_build.sources.row_limits import RowLimiter, first_rows
from fluid_build.sources.server_keys import ServerKeys
from fluid_build.sources.server_rows import ServerQueryError, ServerRows
from fluid_build.sources.sql import quote
from fluid_build.sources.table_choice import TableName
from fluid_build.sources.table_sampling import TableSampling, sample_notes
from fluid_build.sources.timestamps import Moment, settle_moment
from fluid_build.text import counted

Settle: TypeAlias = Literal["as is", "decimal", "whole", "json", "uuid"] | Moment | LooseType


_RECEIVED: Mapping[Settle, str] = {"json": "CAST({} AS JSON)", "uuid": "CAST({} AS UUID)"}
"""What is made of a value as it arrives."""


@dataclass(frozen=True, slots=True)
class ArrivesAsNull:
    """Values that a scanner reads as NULL: the ``condition`` is SQL for the server.

    ``phrase`` says what they are, for a note.
    """

    condition: str
    phrase: str


@dataclass(frozen=True, slots=True)
class ColumnRequest:
    """How a column is asked for.

    ``expression`` is SQL for the server; ``settle`` is what its result is turned into here, and
    ``decimal`` DuckDB's type for the declared precision, if there is one. ``cast`` is the type that
    a value is cast to as it arrives, "" for the one that it arrives in. ``lost`` are the values
    that are counted because they arrive as NULL.
    """

    expression: str
    settle: Settle = "as is"
    decimal: str | None = None
    cast: str = ""
    lost: ArrivesAsNull | None = None


@dataclass(frozen=True, slots=True)
class ServerColumn:
    """A column in a server's catalog; a kind of server adds what its own types need."""

    name: str
    declared_type: str
    nullable: bool
    generated: bool
    comment: str | None


C = TypeVar("C", bound=ServerColumn)
Asked = TypeVar("Asked", bound=ServerColumn, contravariant=True)


@dataclass(frozen=True)
class ServerTable(Generic[C]):
    """A table and all that it declares; ``foreign_keys`` are (columns, schema, table, columns).

    ``readable`` says whether the user may read it. ``rows`` is how many rows the server says it
    has, None where it doesn't, and ``is_estimate`` that it may be wrong. ``notes`` are sentences a
    user must see. Without ``rows_of_children``, a query has to leave out those of tables that
    inherit from it.
    """

    schema: str
    name: str
    bytes: int
    readable: bool
    comment: str | None
    columns: tuple[C, ...]
    primary_key: tuple[str, ...] = ()
    unique_keys: tuple[tuple[str, ...], ...] = ()
    foreign_keys: tuple[tuple[tuple[str, ...], str, str, tuple[str, ...]], ...] = ()
    notes: tuple[str, ...] = ()
    rows: int | None = None
    is_estimate: bool = False
    is_view: bool = False
    rows_of_children: bool = True


class ServerDialect(Protocol[Asked]):
    """What differs between kinds of servers when their tables are staged."""

    def request(self, column: Asked, *, careful: bool) -> ColumnRequest:
        """Say how to ask for a column; ``careful`` asks for text where a value might surprise."""
        ...

    def reads_plainly(self, column: Asked, column_request: ColumnRequest, type_: str) -> bool:
        """Say whether DuckDB reads a column of an attached database as it was read by the request.

        ``type_`` is the type that the request's values were given.
        """
        ...

    def quote(self, name: str) -> str:
        """Quote a name for the server."""
        ...


class NeverAttached:
    """A part of the dialect of a server whose databases DuckDB can't attach."""

    def reads_plainly(
        self,
        column: ServerColumn,  # noqa: ARG002
        column_request: ColumnRequest,  # noqa: ARG002
        type_: str,  # noqa: ARG002
    ) -> bool:
        """Return False: nothing is read but by the requests."""
        return False


@dataclass(frozen=True)
class _Planned(Generic[C]):
    catalog: ServerTable[C]
    name: str
    relation: str
    aliases: list[str]
    requests: list[ColumnRequest]


@dataclass(frozen=True, slots=True)
class _Count:
    """How many tables come before those that are copied, and how many there are in all."""

    before: int
    total: int


class _StagingFailedError(Exception):
    """A table broke the transaction, which takes all others with it."""

    def __init__(self, position: int, why: str) -> None:
        super().__init__(why)
        self.position = position
        self.why = why


class ServerStaging(Generic[C]):
    """The staging of a server's tables, which ``names`` are known of before a row is read.

    ``sample`` is how many rows of a table are read at most, which ``limiter`` says in SQL.
    ``container`` is the database or project that has the schemas, where they aren't found without.
    """

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        rows: ServerRows,
        dialect: ServerDialect[C],
        catalog: Sequence[ServerTable[C]],
        *,
        sample: int | None = None,
        limiter: RowLimiter = first_rows,
        container: str = "",
    ) -> None:
        self._connection = connection
        self._sampling = TableSampling(sample, limiter)
        self._container = container
        self._rows = rows
        self._dialect = dialect
        self._has_left = False
        self.keys: ServerKeys | None = None
        self._planned = self._plan(catalog)
        self._lower_names = Counter(_lower_place(table) for table in catalog)
        self._lost: dict[tuple[str, str], int] = {}

    @property
    def names(self) -> list[TableName]:
        """The tables by the names that they will have in the source."""
        return [
            TableName(table.name, table.catalog.schema, table.catalog.name)
            for table in self._planned
        ]

    @property
    def queries(self) -> list[str]:
        """What the server will be asked for each table that can be read."""
        readable = (table for table in self._planned if table.catalog.readable and table.requests)
        return [self._server_sql(table) for table in readable]

    def stage(self, on_progress: OnProgress) -> tuple[tuple[Table, ...], tuple[Skipped, ...]]:
        """Copy every table; return those that could be read, and those that couldn't with why."""
        staged, skipped = self._stage_all(on_progress)
        names = {(table.catalog.schema, table.catalog.name): table.name for table in self._planned}
        tables = settle_foreign_keys([self._table(table, names) for table in staged])
        if any(table.sampled for table in tables):
            self.keys = ServerKeys(
                self._connection, self._rows, self._dialect, tables, self._container
            )
        else:
            self.cleanup()
        return tables, tuple(skipped)

    def cleanup(self) -> None:
        """Leave the server."""
        if not self._has_left:
            self._has_left = True
            # A scanner left the server when its connection was closed.
            with suppress(duckdb.ConnectionException):
                self._rows.close()

    def _plan(self, catalog: Sequence[ServerTable[C]]) -> list[_Planned[C]]:
        names = qualified([(table.schema, table.name) for table in catalog])
        return [
            _Planned(
                catalog=table,
                name=name,
                relation=f"{quote(STAGE)}.main.{quote(stage_name)}",
                aliases=unique_names(column.name for column in table.columns),
                requests=self._requests(table, careful=False),
            )
            for table, name, stage_name in zip(catalog, names, unique_names(names), strict=True)
        ]

    def _requests(self, table: ServerTable[C], *, careful: bool) -> list[ColumnRequest]:
        return [self._dialect.request(column, careful=careful) for column in table.columns]

    def _stage_all(self, on_progress: OnProgress) -> tuple[list[_Planned[C]], list[Skipped]]:
        """Copy every table; return those that were copied, and those that were not with why.

        Where all are read in one transaction, so that they're seen at the same moment, a table that
        fails breaks it. That table is asked for more carefully, then left out, and the copying
        starts again. Elsewhere only the table that failed is asked for again.
        """
        skipped = [
            Skipped(table.name, "This user has no permission to SELECT from it.")
            for table in self._planned
            if not table.catalog.readable
        ]
        skipped += [
            Skipped(table.name, "It has no columns.")
            for table in self._planned
            if table.catalog.readable and not table.requests
        ]
        readable = [t for t in self._planned if t.catalog.readable and t.requests]
        groups = [readable] if self._rows.is_one_transaction else [[table] for table in readable]
        staged: list[_Planned[C]] = []
        for group in groups:
            count = _Count(len(staged), len(readable))
            tables, failed = self._stage_together(group, count, on_progress)
            staged += tables
            skipped += failed
        on_progress(Progress("reading", len(readable), len(readable)))
        return staged, skipped

    def _stage_together(
        self, tables: Sequence[_Planned[C]], count: _Count, on_progress: OnProgress
    ) -> tuple[list[_Planned[C]], list[Skipped]]:
        """Copy tables in one transaction, without those that fail even when asked carefully."""
        remaining, skipped = list(tables), []
        careful: set[str] = set()
        while remaining:
            try:
                self._copy(remaining, count, on_progress)
            except _StagingFailedError as failure:
                failed = remaining[failure.position]
                if failed.name in careful:
                    skipped.append(Skipped(failed.name, failure.why))
                    del remaining[failure.position]
                else:
                    careful.add(failed.name)
                    remaining[failure.position] = self._carefully(failed)
            else:
                break
        return remaining, skipped

    def _carefully(self, table: _Planned[C]) -> _Planned[C]:
        requests = self._requests(table.catalog, careful=True)
        return _Planned(table.catalog, table.name, table.relation, table.aliases, requests)

    def _copy(self, tables: Sequence[_Planned[C]], count: _Count, on_progress: OnProgress) -> None:
        self._connection.execute("BEGIN")
        try:
            for position, table in enumerate(tables):
                report = Progress("reading", count.before + position, count.total, table.name)
                try:
                    with (
                        following(self._connection, on_progress, report),
                        self._rows.relation(self._server_sql(table), table.catalog.bytes) as rows,
                    ):
                        self._connection.execute(_copy_sql(table, rows))
                    self._count_lost(table)
                except duckdb.InterruptException:
                    raise
                except DUCKDB_ERRORS as error:
                    raise _StagingFailedError(position, reason(error)) from None
                except ServerQueryError as error:
                    raise _StagingFailedError(position, str(error)) from None
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")

    def _count_lost(self, table: _Planned[C]) -> None:
        """Count the values that arrived as NULL; the server is asked only where there are NULLs."""
        doubts = {
            alias: column_request.lost.condition
            for alias, column_request in zip(table.aliases, table.requests, strict=True)
            if column_request.lost
        }
        if not doubts:
            return
        nulls = ", ".join(f"count(*) - count({quote(alias)})" for alias in doubts)
        row = self._connection.execute(f"SELECT {nulls} FROM {table.relation}").fetchone()
        aliases = [alias for alias, number in zip(doubts, row or (), strict=True) if number]
        if not aliases:
            return
        counts = ", ".join(
            f"COUNT(CASE WHEN {doubts[alias]} THEN 1 END) AS c{i}"
            for i, alias in enumerate(aliases)
        )
        limit = self._sampling.limit(table.catalog)
        read = " ".join(
            filter(None, ("SELECT * FROM", self._place(table), limit.after_table, limit.at_end))
        )
        with self._rows.relation(f"SELECT {counts} FROM ({read}) AS rows_read") as rows:
            numbers = self._connection.execute(f"FROM {rows}").fetchone() or ()
        for alias, number in zip(aliases, numbers, strict=True):
            self._lost[table.name, alias] = int(number)

    def _place(self, table: _Planned[C]) -> str:
        names = (self._container, table.catalog.schema, table.catalog.name)
        place = ".".join(self._dialect.quote(name) for name in names if name)
        return place if table.catalog.rows_of_children else f"ONLY {place}"

    def _server_sql(self, table: _Planned[C]) -> str:
        columns = ", ".join(f"{r.expression} AS c{i}" for i, r in enumerate(table.requests))
        limit = self._sampling.limit(table.catalog)
        parts = ("SELECT", limit.before_columns, columns, "FROM", self._place(table))
        return " ".join(filter(None, (*parts, limit.after_table, limit.at_end)))

    def _table(self, planned: _Planned[C], names: Mapping[tuple[str, str], str]) -> Table:
        catalog = planned.catalog
        settled = self._settle_text(planned)
        sampled = self._sampling.part_read(self._connection, catalog, planned.relation)
        types = dict(
            self._connection.execute(
                f"SELECT column_name, column_type FROM (DESCRIBE {planned.relation})"
            ).fetchall()
        )
        columns = tuple(
            Column(
                name=column.name,
                type=types[alias],
                declared_type=column.declared_type,
                nullable=column.nullable or bool(self._lost.get((planned.name, alias))),
                comment=column.comment,
                alias=alias,
                generated=column.generated,
                notes=self._column_notes(planned, alias, column_request, settled.get(alias)),
            )
            for column, alias, column_request in zip(
                catalog.columns, planned.aliases, planned.requests, strict=True
            )
        )
        notes = tuple(f"{column.name}: {note}" for column in columns for note in column.notes)
        return Table(
            name=planned.name,
            columns=columns,
            relation=planned.relation,
            primary_key=catalog.primary_key,
            unique_keys=catalog.unique_keys,
            foreign_keys=tuple(
                DeclaredForeignKey(own, names.get((schema, table), f"{schema}.{table}"), theirs)
                for own, schema, table, theirs in catalog.foreign_keys
            ),
            schema=catalog.schema,
            comment=catalog.comment,
            notes=(*notes, *catalog.notes, *sample_notes(sampled)),
            origin=self._origin(planned, types),
            sampled=sampled,
        )

    def _column_notes(
        self, table: _Planned[C], alias: str, request: ColumnRequest, settled: Settled | None
    ) -> tuple[str, ...]:
        notes = [settled.note] if settled and settled.note else []
        number = self._lost.get((table.name, alias), 0)
        if number and request.lost:
            notes.append(f"{counted(number, 'value')}: {request.lost.phrase}; read as NULL.")
        return tuple(notes)

    def _origin(self, table: _Planned[C], types: Mapping[str, str]) -> InDatabase:
        catalog = table.catalog
        # DuckDB can't tell apart two tables of a database whose names differ in case alone.
        has_twin = self._lower_names[_lower_place(catalog)] > 1
        is_plain = not has_twin and all(
            column.name == alias
            and self._dialect.reads_plainly(column, column_request, types[alias])
            for column, column_request, alias in zip(
                catalog.columns, table.requests, table.aliases, strict=True
            )
        )
        query = None if is_plain else NativeQuery(self._server_sql(table), _received(table))
        return InDatabase(catalog.schema, catalog.name, query, self._container)

    def _settle_text(self, table: _Planned[C]) -> dict[str, Settled]:
        """Give columns that were asked for as text the type that holds their values."""
        settled: dict[str, Settled] = {}
        for column_request, alias in zip(table.requests, table.aliases, strict=True):
            result = self._settled(table.relation, quote(alias), column_request)
            if result is None:
                continue
            settled[alias] = result
            if result.type != "VARCHAR":
                self._connection.execute(
                    f"ALTER TABLE {table.relation} ALTER {quote(alias)} TYPE {result.type}"
                )
        return settled

    def _settled(self, relation: str, column: str, request: ColumnRequest) -> Settled | None:
        match request.settle:
            case "decimal":
                return settle_decimal(self._connection, relation, column, request.decimal)
            case "whole":
                return settle_whole(self._connection, relation, column)
            case "timestamp" | "timestamp with offset" | "time":
                return settle_moment(self._connection, relation, column, request.settle)
            case "as is" | "json" | "uuid":
                return None
            case loose_type:
                return settle_loosely(self._connection, relation, column, loose_type)


def _copy_sql(table: _Planned[C], rows: str) -> str:
    columns = ", ".join(f"{value} AS {quote(alias)}" for alias, value in _received(table))
    return f"CREATE TABLE {table.relation} AS SELECT {columns} FROM {rows}"


def _received(table: _Planned[C]) -> tuple[tuple[str, str], ...]:
    """Return the columns by their aliases, as expressions over what the server sends."""
    return tuple(
        (alias, _received_value(column_request, f"c{i}"))
        for i, (column_request, alias) in enumerate(zip(table.requests, table.aliases, strict=True))
    )


def _received_value(column_request: ColumnRequest, column: str) -> str:
    if column_request.cast:
        return f"CAST({column} AS {column_request.cast})"
    return _RECEIVED.get(column_request.settle, "{}").format(column)


def _lower_place(table: ServerTable[C]) -> tuple[str, str]:
    return table.schema.lower(), table.name.lower()
