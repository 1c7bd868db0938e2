"""SQL Server databases, on a recorded catalog: no server is available to the tests."""

import datetime
from decimal import Decimal

import mssql_python
import pytest

from fluid_build.errors import EmptySourceError, SourceUnreachableError, SourceUnreadableError
from fluid_build.sources import open_source
from fluid_build.sources.servers.sqlserver.catalog import CatalogColumn
from fluid_build.sources.servers.sqlserver.database import connection_text
from fluid_build.sources.servers.sqlserver.types import SqlServerDialect
from tests.sources.recorded_client import RecordedClient
from tests.sources.sqlserver_shop import DSN, TABLES, recording
from tests.sources.sqlserver_shop import client as client


def test_tables_have_what_the_catalog_declares(client: RecordedClient) -> None:
    """Keys, references, comments, computed columns and notes come from the catalog."""
    with open_source(DSN) as source:
        customer, order = source.tables
    assert (customer.name, customer.schema, customer.primary_key) == ("Customer", "sales", ("id",))
    assert customer.comment == "Everyone who ever bought."
    assert customer.column("email").comment == "Where invoices go."
    assert [column.declared_type for column in customer.columns] == ["int", "nvarchar(100)", "Flag"]
    assert order.unique_keys == (("customer]id", "placed"),)
    assert [(key.columns, key.to_table, key.to_columns) for key in order.foreign_keys] == [
        (("customer]id",), "Customer", ("id",))
    ]
    assert order.column("tax").generated
    assert "Row-level security" in order.notes[-1]
    assert any("email is masked" in note for note in customer.notes)


def test_values_keep_every_digit(client: RecordedClient) -> None:
    """Money, decimals, 100-nanosecond times and moments arrive with the types that hold them."""
    with open_source(DSN) as source:
        order = source.tables[1]
        types = {column.name: column.type for column in order.columns}
        first = source.relation(order).order("total DESC").fetchone()
    assert types == {
        "number": "UUID",
        "customer]id": "INTEGER",
        "total": "DECIMAL(19,4)",
        "tax": "DECIMAL(12,2)",
        "placed": "TIMESTAMP_NS",
        "paid": "TIMESTAMP WITH TIME ZONE",
    }
    assert first is not None
    assert first[2:4] == (Decimal("12345678901.2345"), Decimal("1.20"))
    assert first[5].astimezone(datetime.UTC).hour == 10


def test_one_table_that_fails_does_not_stop_the_others(client: RecordedClient) -> None:
    """A broken table and one without permission are skipped, each with its reason."""
    with open_source(DSN) as source:
        assert {skip.name: skip.reason for skip in source.skipped} == {
            "secret": "This user has no permission to SELECT from it.",
            "broken": "page 7 is torn.",
        }
    assert sum("[sales].[Order]" in sql for sql in client.queries) == 1, "rows are read once"


def test_a_sample_is_bounded_by_the_server(client: RecordedClient) -> None:
    """Pages from all over a large table are read, and all rows of a small one."""
    with open_source(DSN, sample=3, include=["Order", "Customer"]) as source:
        sampled = {table.name: table.sampled for table in source.tables}
    assert sampled["Order"] is not None
    assert (sampled["Order"].rows, sampled["Order"].total) == (2, 1_000_000)
    assert sampled["Customer"] is None
    small, large = (sql for sql in client.queries if " AS c0" in sql)
    assert small.startswith("SELECT TOP 3 [id] AS c0")
    assert large.endswith("FROM [sales].[Order] TABLESAMPLE SYSTEM (0.00036 PERCENT)")


def test_everything_is_read_in_one_snapshot_and_nothing_is_written(client: RecordedClient) -> None:
    """The session asks for a snapshot first, and only for rows after that."""
    with open_source(DSN):
        pass
    begun = client.queries.index("BEGIN TRANSACTION")
    assert client.queries[begun - 1] == "SET TRANSACTION ISOLATION LEVEL SNAPSHOT"
    others = (*client.queries[: begun - 1], *client.queries[begun + 1 :])
    assert all(sql.lstrip().startswith("SELECT") for sql in others)
    assert sum("CAST(" in sql or "AS c0" in sql for sql in client.queries[:begun]) == 0


def test_the_connection_string_quotes_every_value(monkeypatch: pytest.MonkeyPatch) -> None:
    """A password with a semicolon and a brace can't become a keyword."""
    monkeypatch.delenv("SQLCMDPASSWORD", raising=False)
    assert connection_text(DSN) == (
        "Server={db.example,1444};Database={Shop};UID={reader};PWD={s3cr;et}}};"
        "ApplicationIntent={ReadOnly};TrustServerCertificate={yes};"
    )


def test_what_the_address_leaves_out_comes_from_sqlcmds_variables(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Server, user, password and database have the variables of Microsoft's own tool."""
    for part in ("SERVER", "USER", "PASSWORD", "DBNAME"):
        monkeypatch.setenv(f"SQLCMD{part}", part.lower())
    assert connection_text("mssql:///") == (
        "Server={server};Database={dbname};UID={user};PWD={password};ApplicationIntent={ReadOnly};"
    )


@pytest.mark.parametrize(
    ("base", "scale", "expression", "settle"),
    [
        ("nvarchar", 0, "[a]]b]", "as is"),
        ("xml", 0, "CAST([a]]b] AS nvarchar(max))", "as is"),
        ("rowversion", 0, "CAST([a]]b] AS varbinary(8))", "as is"),
        ("geography", 0, "[a]]b].ToString()", "as is"),
        ("time", 7, "CONVERT(varchar(16), [a]]b], 121)", "time"),
        ("json", 0, "CAST([a]]b] AS nvarchar(max))", "json"),
        ("sql_variant", 0, "CAST([a]]b] AS nvarchar(max))", "as is"),
    ],
)
def test_a_type_is_asked_for_without_loss(
    base: str, scale: int, expression: str, settle: str
) -> None:
    """What the client could bend is turned into text by the server."""
    column = CatalogColumn("a]b", base, True, False, None, base, 0, scale)
    request = SqlServerDialect().request(column, careful=False)
    assert (request.expression, request.settle) == (expression, settle)


def test_a_refused_login_is_reported_without_the_password(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server's reason is shown, and the password isn't, whatever the server says."""

    def refuse(*_: object, **__: object) -> None:
        raise mssql_python.OperationalError(
            "Driver Error",
            "[Microsoft][SQL Server]Login failed for user 'reader'; tried s3cr;et}",
        )

    monkeypatch.setattr(mssql_python, "connect", refuse)
    with pytest.raises(SourceUnreachableError, match="Login failed for user 'reader'") as caught:
        open_source(DSN)
    assert "s3cr" not in f"{caught.value}{caught.value.hint}"
    assert "SQLCMDPASSWORD" in str(caught.value.hint)


def test_a_server_that_does_not_answer_is_reported() -> None:
    """The real client gives up on a closed port, and the error says what to check."""
    with pytest.raises(SourceUnreachableError, match="can't be reached") as caught:
        open_source("mssql://reader@127.0.0.1:9/Shop")
    assert "1433" in str(caught.value.hint)


def test_a_database_without_tables_is_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    """A database that has only views says so."""
    monkeypatch.setattr(mssql_python, "connect", lambda *_, **__: recording(tables=[], views=3))
    with pytest.raises(EmptySourceError, match="3 views"):
        open_source(DSN)


def test_no_readable_table_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing can be read, the first reason is in the message."""
    monkeypatch.setattr(mssql_python, "connect", lambda *_, **__: recording(tables=TABLES[2:3]))
    with pytest.raises(SourceUnreadableError, match="no permission"):
        open_source(DSN)
