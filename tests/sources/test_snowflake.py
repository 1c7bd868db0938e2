"""Snowflake, against a server that answers its own client."""

from datetime import datetime
from decimal import Decimal

import pytest
import snowflake.connector

from fluid_build.errors import SourceError, SourceNotFoundError, SourceUnreachableError
from fluid_build.sources import open_source
from fluid_build.sources.scan_estimate import ScanEstimate
from fluid_build.sources.servers.snowflake.catalog import SnowflakeColumn, foreign_keys
from fluid_build.sources.servers.snowflake.connection import snowflake_place
from fluid_build.sources.servers.snowflake.database import limited
from fluid_build.sources.servers.snowflake.types import SnowflakeDialect
from fluid_build.sources.servers.staging import ServerTable
from tests.snowflake import SnowflakeDatabase
from tests.sources.snowflake_shop import shop as shop


def test_names_are_shown_as_the_catalog_has_them(shop: SnowflakeDatabase) -> None:
    """What was never quoted is in upper case, and the URI may write the database as it likes."""
    shop.run('CREATE TABLE "Order Details" ("line no" INT)')
    with open_source(f"snowflake:///{shop.name.lower()}/public") as source:
        assert [table.name for table in source.tables] == ["CUSTOMERS", "Order Details"]
        assert source.tables[0].schema == "PUBLIC"
        assert source.tables[1].columns[0].name == "line no"


def test_types_and_values_come_over_exactly(shop: SnowflakeDatabase) -> None:
    """Numbers keep their digits, and whole numbers that fit are whole numbers."""
    with open_source(shop.uri, nested="keep") as source:
        (table,) = source.tables
        types = {column.name: column.type for column in table.columns}
        row = source.connection.execute(f"FROM {table.relation}").fetchone()
    assert types == {
        "ID": "BIGINT", "NAME": "VARCHAR", "AMOUNT": "DECIMAL(10,2)", "SEEN": "TIMESTAMP",
        "DATA": "JSON",
    }  # fmt: skip
    assert row == (1, "Zoë", Decimal("1.20"), datetime(2024, 1, 1, 10, 0, 0, 123456), '{"a":1}')
    assert (table.comment, table.primary_key) == ("Who buys", ("ID",))
    assert table.column("ID").declared_type == "NUMBER(38,0)"


def test_tags_that_the_role_may_not_see_are_left_out_with_a_note(shop: SnowflakeDatabase) -> None:
    """The tables are read without them."""
    with open_source(shop.uri) as source:
        assert source.catalog is None
        assert any(note.startswith("The tags couldn't be read") for note in source.notes)


def test_what_will_be_scanned_is_said_first(shop: SnowflakeDatabase) -> None:
    """The catalog knows the rows; nothing is asked of a table before."""
    heard: list[ScanEstimate] = []
    with open_source(shop.uri, on_scan=heard.append):
        pass
    assert (heard[0].tables, heard[0].rows, heard[0].basis) == (1, 1, "by the catalog")


def test_an_unknown_schema_is_named(shop: SnowflakeDatabase) -> None:
    """With those that there are."""
    with pytest.raises(SourceNotFoundError, match="'nowhere'"):
        open_source(shop.uri, schemas=["nowhere"])


def test_foreign_keys_are_read_from_the_rows_of_show_imported_keys() -> None:
    """Columns pair by their sequence, and a key to another database is left out."""
    key = {
        "pk_database_name": "SHOP", "pk_schema_name": "PUBLIC", "pk_table_name": "LINES",
        "fk_schema_name": "PUBLIC", "fk_table_name": "RETURNS", "fk_name": "FK_1",
    }  # fmt: skip
    rows = [
        {**key, "pk_column_name": "NO", "fk_column_name": "LINE_NO", "key_sequence": 2},
        {**key, "pk_column_name": "ORDER", "fk_column_name": "ORDER_ID", "key_sequence": 1},
        {**key, "fk_name": "FK_2", "pk_database_name": "CRM", "pk_column_name": "ID",
         "fk_column_name": "WHO", "key_sequence": 1},
    ]  # fmt: skip
    assert foreign_keys(rows, "SHOP") == {
        ("PUBLIC", "RETURNS"): (
            (("ORDER_ID", "LINE_NO"), "PUBLIC", "LINES", ("ORDER", "NO")),
        )
    }  # fmt: skip


@pytest.mark.parametrize(
    ("type_", "expression", "settle"),
    [
        ("TIMESTAMP_TZ", "TO_VARCHAR(\"x\", 'YYYY-MM-DD HH24:MI:SS.FF9TZH:TZM')", None),
        ("OBJECT", 'TO_JSON("x")', "json"),
        ("GEOGRAPHY", 'ST_ASWKT("x")', "as is"),
        ("VECTOR", 'TO_VARCHAR("x")', "as is"),
        ("BINARY", '"x"', "as is"),
    ],
)
def test_a_type_that_arrow_would_bend_is_asked_for_as_text(
    type_: str, expression: str, settle: str | None
) -> None:
    """The offset of a moment and the shape of a document come over."""
    column = SnowflakeColumn("x", type_, True, False, None, data_type=type_)
    request = SnowflakeDialect().request(column, careful=False)
    assert request.expression == expression
    assert request.settle == (settle or "timestamp with offset")


def test_a_large_table_is_sampled_by_blocks_and_a_small_one_by_rows() -> None:
    """Both the same each time."""
    large = ServerTable("S", "T", 10**11, True, None, (), rows=10**9)
    small = ServerTable("S", "T", 10**6, True, None, (), rows=10**5)
    assert limited(large, 100_000).after_table == "SAMPLE SYSTEM (0.134) SEED (1)"
    assert limited(small, 1_000).after_table == "SAMPLE BERNOULLI (1.2) SEED (1)"


_CONNECTIONS = {"prod": {"account": "acme", "database": "SALES"}}


@pytest.fixture
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ACCOUNT", "USER", "PASSWORD", "HOST", "PORT", "PROTOCOL", "DATABASE"):
        monkeypatch.delenv(f"SNOWFLAKE_{name}", raising=False)


@pytest.mark.usefixtures("_no_environment")
def test_a_host_is_a_connection_of_the_files_or_an_account() -> None:
    """A user makes it an account, as in SQLAlchemy's form."""
    named = snowflake_place("snowflake://prod", _CONNECTIONS)
    assert (named.connection, named.database) == ("prod", "SALES")
    account = snowflake_place(
        "snowflake://me:se%23cret@org-acc/SHOP/PUBLIC?warehouse=WH", _CONNECTIONS
    )
    assert (account.connection, account.database, account.schema) == ("", "SHOP", "PUBLIC")
    assert account.arguments == {
        "account": "org-acc", "user": "me", "password": "se#cret", "warehouse": "WH",
    }  # fmt: skip


@pytest.mark.usefixtures("_no_environment")
def test_a_password_of_the_environment_isnt_sent_to_another_account(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It was written down for the account next to it."""
    monkeypatch.setenv("SNOWFLAKE_ACCOUNT", "own")
    monkeypatch.setenv("SNOWFLAKE_PASSWORD", "secret1")
    monkeypatch.setenv("SNOWFLAKE_WAREHOUSE", "WH")
    other = snowflake_place("snowflake://me@stranger/SHOP", {})
    assert other.arguments == {"account": "stranger", "user": "me", "warehouse": "WH"}
    assert snowflake_place("snowflake://me@own/SHOP", {}).arguments["password"] == "secret1"


def test_a_misspelled_parameter_is_refused() -> None:
    """It isn't ignored."""
    with pytest.raises(SourceError, match="warehuse"):
        snowflake_place("snowflake://prod/SHOP?warehuse=WH", _CONNECTIONS)


def test_no_message_has_the_password(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the client's error nor ours."""

    def refuse(**arguments: object) -> None:
        raise snowflake.connector.errors.DatabaseError(f"wrong password {arguments['password']}")

    monkeypatch.setattr(snowflake.connector, "connect", refuse)
    with pytest.raises(SourceUnreachableError) as refused:
        open_source("snowflake://me:hunter2secret@acme/SHOP")
    assert "hunter2secret" not in f"{refused.value} {refused.value.hint}"
