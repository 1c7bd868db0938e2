"""Staging a server's tables into DuckDB, the same for every kind of server.

A kind of server brings its catalog, the way its rows are read (``ServerRows``) and a
``ServerDialect``: how a column is asked for. What doesn't come over exactly is turned into text on
the server, and settled here afterwards.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Generic, Literal, Protocol, TypeAlias, TypeVar

import duckdb

from fluid_build.progress import OnProgress, Progress
from fluid_build.sources.base import Column, DeclaredForeignKey, Skipped, Table
from fluid_build.sources.declared import qualified, settle_foreign_keys, unique_names
from fluid_build.sources.engine.connection import DUCKDB_ERRORS, STAGE, reason
from fluid_build.sources.engine.query_progress import following
from fluid_build.sources.origin import InDatabase, NativeQuery
from fluid_build.sources.servers.catalog_rows import ForeignKey, Key
from fluid_build.sources.servers.keys import ServerKeys
from fluid_build.sources.servers.row_limits import RowLimiter, first_rows
from fluid_build.sources.servers.rows import ServerQueryError, ServerRows
from fluid_build.sources.servers.sampling import TableSampling, sample_notes
from fluid_build.sources.sql import quote
from fluid_build.sources.table_choice import TableName
from fluid_build.sources.text_values.decimals import Settled, settle_decimal, settle_whole
from fluid_build.sources.text_values.loose_types import LooseType, settle_loosely
from fluid_build.sources.text_values.timestamps import Moment, settle_moment
from fluid_build.text import counted

Settle: TypeAlias = Literal["as is", "decimal", "whole", "json", "uuid"] | Moment | LooseType


_RECEIVED: Mapping[Settle, str] = {"json": "CAST({} AS JSON)", "uuid": "CAST({} AS UUID)"}
"""What is made of a value as it arrives."""


@dataclass(frozen=True, slots=True)
class Doubt:
    """Values that don't arrive as they are: ``phrase`` says what they are, for a note.

    ``condition`` is SQL for the server that holds for them alone. ``arrived`` is DuckDB's SQL for
    what they arrive as, where others may arrive as well: the server is asked only if some did.
    """

    condition: str
    phrase: str
    arrived: str = "{} IS NULL"


@dataclass(frozen=True, slots=True)
class ColumnRequest:
    """How a column is asked for.

    ``expression`` is SQL for the server; ``settle`` is what its result is turned into here, and
    ``decimal`` DuckDB's type for the declared precision, if there is one. ``cast`` is the type that
    a value is cast to as it arrives, "" for the one that it arrives in. ``lost`` are values that
    stay NULL and are counted; for ``unfit`` ones, the column is asked for again, carefully.
    """

    expression: str
    settle: Settle = "as is"
    decimal: str | None = None
    cast: str = ""
    lost: Doubt | None = None
    unfit: Doubt | None = None


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
    user must see. ``hidden`` are columns that the user may not read. Without
    ``rows_of_children``, a query has to leave out those of tables that inherit from it.
    """

    schema: str
    name: str
    bytes: int
    readable: bool
    comment: str | None
    columns: tuple[C, ...]
    primary_key: tuple[str, ...] = ()
    unique_keys: tuple[Key, ...] = ()
    foreign_keys: tuple[ForeignKey, ...] = ()
    notes: tuple[str, ...] = ()
    rows: int | None = None
    is_estimate: bool = False
    is_view: bool = False
    rows_of_children: bool = True
    hidden: tuple[str, ...] = ()


class ServerDialect(Protocol[Asked]):
    """What differs between kinds of servers when their tables are staged."""

    def request(self, column: Asked, *, careful: bool) -> ColumnRequest:
        """Say how to ask for a column; ``careful`` asks for text where a value might surprise."""
        ...

    def attaches(self, names: Sequence[str], *, hidden: Sequence[str]) -> bool:
        """Say whether DuckDB can read a table of an attached database at all.

        ``names`` are those of its schema, its own and its columns', ``hidden`` those of columns
        that this user may not read.
        """
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

    def attaches(self, names: Sequence[str], *, hidden: Sequence[str]) -> bool:  # noqa: ARG002
        """Return False."""
        return False

    def reads_plainly(
        self,
        column: ServerColumn,  # noqa: ARG002
        column_request: ColumnRequest,  # noqa: ARG002
        type_: str,  # noqa: ARG002
    ) -> bool:
        """Return False: nothing is read but by the requests."""
        return False

    def quote(self, name: str) -> str:
        """Quote a name as standard SQL does."""
        return quote(name)


@dataclass(frozen=True)
class _Planned(Generic[C]):
    catalog: ServerTable[C]
    name: str
    relation: str
    aliases: list[str]
    requests: list[ColumnRequest]


class _CopyFailedError(Exception):
    """A table couldn't be copied. The text says why, in one sentence."""


_TEXT_AFTER_FAILURE = "Some of its values don't fit the type that DuckDB has for it; read as text."


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
        self._notes: dict[tuple[str, str], list[str]] = {}
        self._nullable: set[tuple[str, str]] = set()

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
                requests=[self._dialect.request(each, careful=False) for each in table.columns],
            )
            for table, name, stage_name in zip(catalog, names, unique_names(names), strict=True)
        ]

    def _stage_all(self, on_progress: OnProgress) -> tuple[list[_Planned[C]], list[Skipped]]:
        """Copy every table; return those that were copied, and those that were not with why."""
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
        staged: list[_Planned[C]] = []
        with self._rows.one_moment():
            for position, table in enumerate(readable):
                report = Progress("reading", position, len(readable), table.name)
                with following(self._connection, on_progress, report):
                    try:
                        staged.append(self._stage(table))
                    except _CopyFailedError as failure:
                        skipped.append(Skipped(table.name, str(failure)))
        on_progress(Progress("reading", len(readable), len(readable)))
        return staged, skipped

    def _stage(self, table: _Planned[C]) -> _Planned[C]:
        """Copy a table, again with text for columns whose values don't arrive as they are."""
        try:
            self._copy(table)
        except _CopyFailedError:
            failing = self._failing(table)
            for alias in failing:
                self._note(table, alias, _TEXT_AFTER_FAILURE)
            table = self._carefully(table, failing)
            self._copy(table)
        doubted = self._doubted(table)
        unfit = [alias for alias, doubt, request in doubted if doubt is request.unfit]
        if unfit:
            table = self._carefully(table, unfit)
            self._copy(table)
        return table

    def _carefully(self, table: _Planned[C], aliases: Sequence[str]) -> _Planned[C]:
        """Return a table whose columns of those aliases are asked for carefully."""
        requests = [
            self._dialect.request(column, careful=True) if alias in aliases else column_request
            for column, alias, column_request in zip(
                table.catalog.columns, table.aliases, table.requests, strict=True
            )
        ]
        return replace(table, requests=requests)

    def _failing(self, table: _Planned[C]) -> list[str]:
        """Return the aliases of columns that can't be read by themselves; the table was not."""
        failing = []
        careful = self._carefully(table, table.aliases)
        for position, alias in enumerate(table.aliases):
            if careful.requests[position] == table.requests[position]:
                continue
            alone = replace(
                table,
                catalog=replace(
                    table.catalog, columns=table.catalog.columns[position : position + 1]
                ),
                aliases=[alias],
                requests=[table.requests[position]],
            )
            try:
                self._copy(alone)
            except _CopyFailedError:
                failing.append(alias)
        return failing

    def _copy(self, table: _Planned[C]) -> None:
        with self._asked(self._server_sql(table), table.catalog.bytes) as rows:
            self._connection.execute(_copy_sql(table, rows))

    @contextmanager
    def _asked(self, sql: str, source_bytes: int = 0) -> Iterator[str]:
        """Provide the rows of a query; _CopyFailedError where it fails."""
        try:
            with self._rows.relation(sql, source_bytes) as rows:
                yield rows
        except duckdb.InterruptException:
            raise
        except DUCKDB_ERRORS as error:
            raise _CopyFailedError(reason(error)) from None
        except ServerQueryError as error:
            raise _CopyFailedError(str(error)) from None

    def _doubted(self, table: _Planned[C]) -> list[tuple[str, Doubt, ColumnRequest]]:
        """Return the columns with values that didn't arrive as they are, and note them.

        The server is asked only where such values may have arrived.
        """
        possible = [
            (alias, doubt, column_request)
            for alias, column_request in zip(table.aliases, table.requests, strict=True)
            for doubt in (column_request.lost, column_request.unfit)
            if doubt
        ]
        here = [f"({doubt.arrived.format(quote(alias))})" for alias, doubt, _ in possible]
        counts = self._counts(here, table.relation)
        possible = [each for each, count in zip(possible, counts, strict=True) if count]
        if not possible:
            return []
        limit = self._sampling.limit(table.catalog)
        columns = ", ".join(self._dialect.quote(column.name) for column in table.catalog.columns)
        parts = ("SELECT", columns, "FROM", self._place(table), limit.after_table, limit.at_end)
        read = " ".join(filter(None, parts))
        conditions = ", ".join(
            f"COUNT(CASE WHEN {doubt.condition} THEN 1 END) AS c{i}"
            for i, (_, doubt, _) in enumerate(possible)
        )
        with self._asked(f"SELECT {conditions} FROM ({read}) AS rows_read") as rows:
            numbers = self._connection.execute(f"FROM {rows}").fetchone() or ()
        found = [(*each, int(number)) for each, number in zip(possible, numbers, strict=True)]
        for alias, doubt, column_request, number in found:
            if number and doubt is column_request.lost:
                self._note(
                    table, alias, f"{counted(number, 'value')}: {doubt.phrase}; read as NULL."
                )
                self._nullable.add((table.name, alias))
            elif number:
                self._note(
                    table, alias, f"{counted(number, 'value')} {doubt.phrase}; read as text."
                )
        return [(alias, doubt, request) for alias, doubt, request, number in found if number]

    def _counts(self, conditions: Sequence[str], relation: str) -> Sequence[int]:
        """Count the rows for which each condition holds."""
        if not conditions:
            return ()
        counts = ", ".join(f"count(*) FILTER {condition}" for condition in conditions)
        return self._connection.execute(f"SELECT {counts} FROM {relation}").fetchone() or ()

    def _note(self, table: _Planned[C], alias: str, note: str) -> None:
        self._notes.setdefault((table.name, alias), []).append(note)

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
                nullable=column.nullable or (planned.name, alias) in self._nullable,
                comment=column.comment,
                alias=alias,
                generated=column.generated,
                notes=(
                    *self._notes.get((planned.name, alias), ()),
                    *filter(None, (settled[alias].note if alias in settled else "",)),
                ),
            )
            for column, alias in zip(catalog.columns, planned.aliases, strict=True)
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

    def _origin(self, table: _Planned[C], types: Mapping[str, str]) -> InDatabase:
        catalog = table.catalog
        # DuckDB can't tell apart two tables of a database whose names differ in case alone.
        has_twin = self._lower_names[_lower_place(catalog)] > 1
        names = (catalog.schema, catalog.name, *(column.name for column in catalog.columns))
        attaches = self._dialect.attaches(names, hidden=catalog.hidden)
        is_plain = (attaches and not has_twin) and all(
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
    return f"CREATE OR REPLACE TABLE {table.relation} AS SELECT {columns} FROM {rows}"


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
