"""Oracle databases, on a recorded catalog: no server is available to the tests."""

import datetime
from collections.abc import Iterator
from decimal import Decimal

import oracledb
import pyarrow as pa
import pytest

from fluid_build.errors import SourceNotFoundError, SourceUnreachableError, SourceUnreadableError
from fluid_build.sources import open_source
from fluid_build.sources.servers.oracle.catalog import CatalogColumn
from fluid_build.sources.servers.oracle.database import connect_arguments
from fluid_build.sources.servers.oracle.types import OracleDialect
from tests.sources.recorded_client import RecordedClient

DSN = "oracle://reader:s3cret@db.example:1522/SHOPPDB"

# owner, name, bytes, external, view, rows, comment
TABLES = [
    ("SHOP", "CUSTOMER", 4096, "NO", 0, 2, "Everyone who ever bought."),
    ("SHOP", "Order", 1 << 30, "YES", 0, 1_000_000, None),
    ("SHOP", "broken", 4096, "NO", 0, None, None),
]
# owner, table, name, type, type's owner, precision, scale, characters, bytes, nullable, virtual,
# comment
COLUMNS = [
    ("SHOP", "CUSTOMER", "ID", "NUMBER", None, 10, 0, 0, 22, "N", "NO", None),
    ("SHOP", "CUSTOMER", "NAME", "VARCHAR2", None, None, None, 80, 320, "Y", "NO", "Full name."),
    ("SHOP", "CUSTOMER", "BORN", "DATE", None, None, None, 0, 7, "Y", "NO", None),
    ("SHOP", "CUSTOMER", "PLACE", "ADDRESS_T", "SHOP", None, None, 0, 1, "Y", "NO", None),
    ("SHOP", "Order", "NO", "NUMBER", None, None, None, 0, 22, "N", "NO", None),
    ("SHOP", "Order", "CUSTOMER_ID", "NUMBER", None, 10, 0, 0, 22, "N", "NO", None),
    ("SHOP", "Order", "TOTAL", "NUMBER", None, 12, 2, 0, 22, "Y", "YES", None),
    ("SHOP", "Order", "PAID", "TIMESTAMP(9) WITH TIME ZONE", None, None, 9, 0, 13, "Y", "NO", None),
    ("SHOP", "broken", "ID", "NUMBER", None, 3, 0, 0, 22, "N", "NO", None),
]
CONSTRAINTS = [
    ("SHOP", "CUSTOMER", "PK", "P", "ID"),
    ("SHOP", "Order", "PK2", "P", "NO"),
]
INDEXES = [
    ("SHOP", "CUSTOMER", "PK", "U", "ID"),
    ("SHOP", "CUSTOMER", "UX", "U", "NAME"),
    ("SHOP", "CUSTOMER", "UX", "U", "BORN"),
]
FOREIGN_KEYS = [("SHOP", "Order", "FK", "SHOP", "CUSTOMER", "CUSTOMER_ID", "ID")]
CUSTOMERS = pa.table(
    {
        "ID": pa.array([1, 2], pa.int64()),
        "NAME": ["Ann", "Bob"],
        "BORN": ["1990-02-28 00:00:00", None],
    }
)
ORDERS = pa.table(
    {
        "NO": ["100000000000000000000", "2"],
        "CUSTOMER_ID": pa.array([1, 1], pa.int64()),
        "TOTAL": ["1.5", "-.25"],
        "PAID": ["2024-02-29 12:00:00.000000000+02:00", None],
    }
)


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> Iterator[RecordedClient]:
    recorded = RecordedClient(
        catalog={
            "SYS_CONTEXT": [("SHOPPDB",)],
            "count(*) FROM all_views": [(1,)],
            "all_tab_comments": TABLES,
            "all_tab_cols": COLUMNS,
            "IN ('P', 'U')": CONSTRAINTS,
            "all_ind_columns": INDEXES,
            "constraint_type = 'R'": FOREIGN_KEYS,
        },
        tables={
            '"SHOP"."CUSTOMER"': CUSTOMERS,
            '"SHOP"."Order"': ORDERS,
            '"SHOP"."broken"': oracledb.DatabaseError("ORA-08103: object no longer exists"),
        },
    )
    monkeypatch.setattr(oracledb, "connect", lambda **_: recorded)
    yield recorded
    assert recorded.is_closed


def test_tables_have_what_the_dictionary_declares(client: RecordedClient) -> None:
    """Keys, references, comments and virtual columns come from the dictionary; names stay as is."""
    with open_source(DSN) as source:
        customer, order = source.tables
        assert source.notes == ("Views aren't read (1 found); add --views to read them.",)
    assert (customer.name, customer.primary_key) == ("CUSTOMER", ("ID",))
    assert customer.unique_keys == (("NAME", "BORN"),)
    assert customer.comment == "Everyone who ever bought."
    assert [column.declared_type for column in customer.columns] == [
        "NUMBER(10)",
        "VARCHAR2(80)",
        "DATE",
    ]
    assert customer.notes == ("PLACE wasn't read: DuckDB has nothing like its type ADDRESS_T.",)
    assert order.notes[-1].startswith("It's an external table")
    assert order.column("TOTAL").generated
    assert [(key.columns, key.to_table) for key in order.foreign_keys] == [
        (("CUSTOMER_ID",), "CUSTOMER")
    ]


def test_values_keep_every_digit(client: RecordedClient) -> None:
    """A NUMBER of any size, a decimal and a moment arrive with the types that hold them."""
    with open_source(DSN) as source:
        customer, order = source.tables
        types = [column.type for column in order.columns]
        first = source.relation(order).order("NO DESC").fetchone()
        assert customer.column("BORN").type == "TIMESTAMP"
    assert types == ["DECIMAL(38,0)", "BIGINT", "DECIMAL(12,2)", "TIMESTAMP WITH TIME ZONE"]
    assert first is not None
    assert first[:3] == (Decimal(10) ** 20, 1, Decimal("1.50"))
    assert first[3].astimezone(datetime.UTC).hour == 10


def test_one_table_that_fails_does_not_stop_the_others(client: RecordedClient) -> None:
    """A table that fails is skipped with the server's reason, and the others are read once."""
    with open_source(DSN) as source:
        assert [(skip.name, skip.reason) for skip in source.skipped] == [
            ("broken", "object no longer exists.")
        ]
    assert sum(sql.endswith('FROM "SHOP"."Order"') for sql in client.queries) == 1


def test_a_connection_that_breaks_between_batches_keeps_the_servers_reason(
    client: RecordedClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The table is skipped with what the client said, not with what DuckDB made of it."""

    def break_off(*, statement: str, size: int) -> Iterator[pa.Table]:
        yield client.table_of(statement)
        raise oracledb.DatabaseError("ORA-03113: end-of-file on communication channel")

    monkeypatch.setattr(client, "fetch_df_batches", break_off)
    with pytest.raises(SourceUnreadableError, match=r"read\. end-of-file on communication channel"):
        open_source(DSN, include=["CUSTOMER"])


def test_a_sample_is_bounded_by_the_server(client: RecordedClient) -> None:
    """Blocks from all over a large table are read, and all rows of a small one."""
    with open_source(DSN, sample=3, include=["Order", "CUSTOMER"]) as source:
        sampled = [table.sampled for table in source.tables]
    assert sampled[0] is None
    assert sampled[1] is not None
    large = client.queries[-1]
    assert large.endswith('FROM "SHOP"."Order" SAMPLE BLOCK (0.00036) FETCH FIRST 3 ROWS ONLY')


def test_everything_is_read_as_of_one_moment(client: RecordedClient) -> None:
    """The first statement makes the transaction read-only, and only rows are asked for."""
    with open_source(DSN):
        pass
    assert client.queries[0] == "SET TRANSACTION READ ONLY"
    assert all(sql.lstrip().startswith("SELECT") for sql in client.queries[1:])


@pytest.mark.parametrize(
    ("base", "precision", "scale", "expression"),
    [
        ("NUMBER", 18, 0, '"a""b"'),
        ("NUMBER", 19, 0, "TO_CHAR(\"a\"\"b\", 'TM9', 'NLS_NUMERIC_CHARACTERS=''.,''')"),
        ("NUMBER", 5, -2, "TO_CHAR(\"a\"\"b\", 'TM9', 'NLS_NUMERIC_CHARACTERS=''.,''')"),
        ("BLOB", None, None, '"a""b"'),
        ("XMLTYPE", None, None, 'XMLSERIALIZE(CONTENT "a""b" AS CLOB)'),
        ("INTERVAL DAY TO SECOND", 2, 6, 'TO_CHAR("a""b")'),
    ],
)
def test_a_type_is_asked_for_without_loss(
    base: str, precision: int | None, scale: int | None, expression: str
) -> None:
    """What the client could bend is turned into text by the server."""
    column = CatalogColumn('a"b', base, True, False, None, base, precision, scale)
    assert OracleDialect().request(column, careful=False).expression == expression


def test_an_address_becomes_the_clients_arguments(monkeypatch: pytest.MonkeyPatch) -> None:
    """A service, an older SID and an alias of tnsnames.ora are told apart."""
    monkeypatch.setenv("ORACLE_PASSWORD", "from variable")
    service = connect_arguments("oracle://me:p%40ss@h:1600/shop?protocol=tcps")
    assert (service["host"], service["port"], service["service_name"]) == ("h", 1600, "shop")
    assert (service["password"], service["protocol"]) == ("p@ss", "tcps")
    assert connect_arguments("oracle://me@h:1521/?sid=XE")["sid"] == "XE"
    alias = connect_arguments("oracle://me@shop_high")
    assert (alias["dsn"], alias["password"]) == ("shop_high", "from variable")


@pytest.mark.parametrize(
    ("text", "error", "hint"),
    [
        ("ORA-01017: invalid credential (s3cret)", SourceUnreachableError, "ORACLE_PASSWORD"),
        ("DPY-6001: Service x is not registered", SourceNotFoundError, "service name"),
    ],
)
def test_a_refusal_says_what_to_check(
    monkeypatch: pytest.MonkeyPatch, text: str, error: type[Exception], hint: str
) -> None:
    """The server's reason decides the error; the password is in none of it."""

    def refuse(**_: object) -> None:
        raise oracledb.DatabaseError(text)

    monkeypatch.setattr(oracledb, "connect", refuse)
    with pytest.raises(error) as caught:
        open_source(DSN)
    assert hint in caught.value.hint  # type: ignore[attr-defined]
    assert "s3cret" not in f"{caught.value}"


def test_a_server_that_does_not_answer_is_reported() -> None:
    """The real client gives up on a closed port, and the error says what to check."""
    with pytest.raises(SourceUnreachableError, match="can't be reached") as caught:
        open_source("oracle://reader:pw@127.0.0.1:9/shop")
    assert "1521" in str(caught.value.hint)
