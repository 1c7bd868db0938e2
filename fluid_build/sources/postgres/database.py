"""A PostgreSQL database, staged into DuckDB from one read-only snapshot."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import duckdb

from fluid_build.errors import (
    SourceError,
    SourceNotFoundError,
    SourceUnreachableError,
    SourceUnreadableError,
)
from fluid_build.progress import OnProgress, Progress, ignore
from fluid_build.secrets import passwords, redact
from fluid_build.sources.base import Column, DeclaredForeignKey, OpenSource, Skipped, Table
from fluid_build.sources.decimals import Settled, settle_decimal
from fluid_build.sources.declared import qualified, settle_foreign_keys, unique_names
from fluid_build.sources.engine import DUCKDB_ERRORS, STAGE, reason, starting
from fluid_build.sources.origin import InDatabase, NativeQuery
from fluid_build.sources.postgres.catalog import (
    CatalogTable,
    Query,
    Rows,
    existing_schemas,
    overview,
    read_tables,
)
from fluid_build.sources.postgres.types import (
    Request,
    declared_decimal,
    reads_plainly,
    request,
)
from fluid_build.sources.query_progress import following
from fluid_build.sources.schemas import chosen_schemas, no_tables
from fluid_build.sources.sql import literal, quote
from fluid_build.sources.table_choice import OnTables, TableName, any_tables

_EXPORT = "\\copy (SELECT * FROM my_view) TO 'views/my_view.csv' CSV HEADER in psql."
_CONNECT_SECONDS = 10


@dataclass(frozen=True, slots=True)
class _Staged:
    catalog: CatalogTable
    name: str
    relation: str
    aliases: list[str]
    requests: list[Request]


class _StagingFailedError(Exception):
    """A table broke the transaction, which takes all others with it."""

    def __init__(self, at: int, why: str) -> None:
        super().__init__(why)
        self.at = at
        self.why = why


def open_postgres(
    dsn: str,
    *,
    schemas: Sequence[str] = (),
    memory_limit: str | None = None,
    on_tables: OnTables = any_tables,
    on_progress: OnProgress = ignore,
) -> OpenSource:
    """Stage every table of the chosen schemas of a PostgreSQL database.

    ``dsn`` is a URI or a keyword connection string; libpq's environment variables apply as well.
    A partitioned table is one table. Raises SourceUnreachableError where the server does not
    answer or refuses, SourceNotFoundError for an unknown database or schema, EmptySourceError
    where there is no table.
    """
    with starting(memory_limit, scanner="postgres") as engine:
        connection = engine.connection
        _attach(connection, dsn)
        try:
            query = _querying(connection)
            connection.execute("BEGIN")
            found = overview(query)
            wanted = chosen_schemas(
                schemas, existing_schemas(query) if schemas else found.schemas, found.database
            )
            catalog = read_tables(query, wanted)
            connection.execute("ROLLBACK")
            if not catalog:
                views = sum(number for kind, number in found.left_out if "view" in kind)
                raise no_tables(found.database, schemas, views=views, export=_EXPORT)
            plan = _plan(catalog)
            on_tables([TableName(one.name, one.catalog.schema, one.catalog.name) for one in plan])
            engine.stage(sum(table.bytes for table in catalog))
            staged, skipped = _stage_all(connection, plan, on_progress)
        except DUCKDB_ERRORS as error:
            raise SourceUnreadableError(
                f"The database stopped answering: {_said(error, dsn)}",
                hint="Try again; check the server's log if it happens once more.",
            ) from None
        connection.execute("DETACH origin")
        if not staged:
            raise SourceUnreadableError(
                f"None of the {len(catalog)} tables could be read. {skipped[0].reason}",
                hint="Check that this user may SELECT from them.",
            )
        names = {(one.catalog.schema, one.catalog.name): one.name for one in plan}
        tables = [_table(connection, one, names) for one in staged]
        return OpenSource(
            kind="postgres",
            name=found.database,
            connection=connection,
            tables=settle_foreign_keys(tables),
            skipped=tuple(skipped),
            notes=tuple(
                f"{kind.capitalize()} are not read ({number} found)."
                for kind, number in found.left_out
            ),
            cleanup=[engine],
        )


def _attach(connection: duckdb.DuckDBPyConnection, dsn: str) -> None:
    try:
        connection.execute(
            f"ATTACH {literal(_with_timeout(dsn))} AS origin (TYPE postgres, READ_ONLY)"
        )
    except DUCKDB_ERRORS as error:
        raise _connection_error(_said(error, dsn)) from None


def _with_timeout(dsn: str) -> str:
    if "connect_timeout" in dsn:
        return dsn
    if "://" not in dsn:
        return f"{dsn} connect_timeout={_CONNECT_SECONDS}"
    return f"{dsn}{'&' if '?' in dsn else '?'}connect_timeout={_CONNECT_SECONDS}"


def _said(error: Exception, dsn: str) -> str:
    """What the server said, in one sentence, without any password of the connection string."""
    text = redact(str(error), passwords(dsn))
    text = re.sub(r'^.*?Unable to connect to Postgres at "[^"]*":', "", text, flags=re.DOTALL)
    text = re.sub(
        r"^.*?connection to server at .*? failed: (?:FATAL: +)?", "", text, flags=re.DOTALL
    )
    text = re.sub(
        r"^.*?connection to server on socket .*? failed: (?:FATAL: +)?", "", text, flags=re.DOTALL
    )
    return reason(SourceError(text.strip()))


def _connection_error(said: str) -> SourceError:
    if re.search(r'database ".*" does not exist', said):
        return SourceNotFoundError(
            f"The server has no such database: {said}", hint="Check the name after the last slash."
        )
    if "authentication" in said or "password" in said or "role" in said or "pg_hba" in said:
        return SourceUnreachableError(
            f"The server refuses the login: {said}", hint="Check user and password."
        )
    return SourceUnreachableError(
        f"The PostgreSQL server cannot be reached: {said}",
        hint="Check host and port, and that the server runs and may be reached from here.",
    )


def _querying(connection: duckdb.DuckDBPyConnection) -> Query:
    def query(sql: str) -> Rows:
        return connection.execute("SELECT * FROM postgres_query('origin', ?)", [sql]).fetchall()

    return query


def _plan(catalog: Sequence[CatalogTable]) -> list[_Staged]:
    names = qualified([(table.schema, table.name) for table in catalog])
    stage_names = unique_names(names)
    return [
        _Staged(
            catalog=table,
            name=name,
            relation=f"{quote(STAGE)}.main.{quote(stage_name)}",
            aliases=unique_names(column.name for column in table.columns),
            requests=[request(column, careful=False) for column in table.columns],
        )
        for table, name, stage_name in zip(catalog, names, stage_names, strict=True)
    ]


def _carefully(staged: _Staged) -> _Staged:
    requests = [request(column, careful=True) for column in staged.catalog.columns]
    return _Staged(staged.catalog, staged.name, staged.relation, staged.aliases, requests)


def _stage_all(
    connection: duckdb.DuckDBPyConnection, plan: Sequence[_Staged], on_progress: OnProgress
) -> tuple[list[_Staged], list[Skipped]]:
    """Copy every table within one transaction, so that all are seen at the same moment.

    A table that fails breaks the transaction: it is asked for more carefully, then left out, and
    the copying starts again.
    """
    skipped = [
        Skipped(one.name, "This user has no permission to SELECT from it.")
        for one in plan
        if not one.catalog.readable
    ]
    skipped += [
        Skipped(one.name, "It has no columns.")
        for one in plan
        if one.catalog.readable and not one.requests
    ]
    left = [one for one in plan if one.catalog.readable and one.requests]
    careful: set[str] = set()
    while left:
        try:
            _copy(connection, left, on_progress)
        except _StagingFailedError as failure:
            one = left[failure.at]
            if one.name in careful:
                skipped.append(Skipped(one.name, failure.why))
                del left[failure.at]
            else:
                careful.add(one.name)
                left[failure.at] = _carefully(one)
        else:
            break
    return left, skipped


def _copy(
    connection: duckdb.DuckDBPyConnection, plan: Sequence[_Staged], on_progress: OnProgress
) -> None:
    connection.execute("BEGIN")
    try:
        for done, one in enumerate(plan):
            report = Progress("reading", done, len(plan), one.name)
            try:
                with following(connection, on_progress, report):
                    connection.execute(_copy_sql(one), [_server_sql(one)])
            except duckdb.InterruptException:
                raise
            except DUCKDB_ERRORS as error:
                raise _StagingFailedError(done, reason(error)) from None
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")
    on_progress(Progress("reading", len(plan), len(plan)))


def _server_sql(staged: _Staged) -> str:
    asked = ", ".join(f"{one.expression} AS c{i}" for i, one in enumerate(staged.requests))
    return f"SELECT {asked} FROM {quote(staged.catalog.schema)}.{quote(staged.catalog.name)}"


def _copy_sql(staged: _Staged) -> str:
    taken = ", ".join(f"{value} AS {quote(alias)}" for alias, value in _taken(staged))
    return f"CREATE TABLE {staged.relation} AS SELECT {taken} FROM postgres_query('origin', ?)"


def _taken(staged: _Staged) -> tuple[tuple[str, str], ...]:
    """The columns by their aliases, as expressions over what the server sends."""
    return tuple(
        (alias, f"CAST(c{i} AS JSON)" if one.settle == "json" else f"c{i}")
        for i, (one, alias) in enumerate(zip(staged.requests, staged.aliases, strict=True))
    )


def _origin(staged: _Staged, types: Mapping[str, str]) -> InDatabase:
    catalog = staged.catalog
    plain = all(
        column.name == alias and reads_plainly(column, one, types[alias])
        for column, one, alias in zip(catalog.columns, staged.requests, staged.aliases, strict=True)
    )
    query = None if plain else NativeQuery(_server_sql(staged), _taken(staged))
    return InDatabase(catalog.schema, catalog.name, query)


def _table(
    connection: duckdb.DuckDBPyConnection,
    staged: _Staged,
    names: dict[tuple[str, str], str],
) -> Table:
    catalog = staged.catalog
    settled = _settle_decimals(connection, staged)
    types = dict(
        connection.execute(
            f"SELECT column_name, column_type FROM (DESCRIBE {staged.relation})"
        ).fetchall()
    )
    columns = tuple(
        Column(
            name=column.name,
            type=types[alias],
            declared_type=column.declared_type,
            nullable=column.nullable,
            comment=column.comment,
            alias=alias,
            generated=column.generated,
            notes=(settled[alias].note,) if alias in settled and settled[alias].note else (),
        )
        for column, alias in zip(catalog.columns, staged.aliases, strict=True)
    )
    notes = tuple(f"{column.name}: {note}" for column in columns for note in column.notes)
    if catalog.row_security:
        notes += ("Row-level security is on: only the rows that this user may see were read.",)
    return Table(
        name=staged.name,
        columns=columns,
        relation=staged.relation,
        primary_key=catalog.primary_key,
        unique_keys=catalog.unique_keys,
        foreign_keys=tuple(
            DeclaredForeignKey(own, names.get((schema, table), f"{schema}.{table}"), theirs)
            for own, schema, table, theirs in catalog.foreign_keys
        ),
        schema=catalog.schema,
        comment=catalog.comment,
        notes=notes,
        origin=_origin(staged, types),
    )


def _settle_decimals(connection: duckdb.DuckDBPyConnection, staged: _Staged) -> dict[str, Settled]:
    settled: dict[str, Settled] = {}
    for column, one, alias in zip(
        staged.catalog.columns, staged.requests, staged.aliases, strict=True
    ):
        if one.settle != "decimal":
            continue
        found = settle_decimal(connection, staged.relation, quote(alias), declared_decimal(column))
        settled[alias] = found
        if found.type != "VARCHAR":
            connection.execute(
                f"ALTER TABLE {staged.relation} ALTER {quote(alias)} TYPE {found.type}"
            )
    return settled
