"""A recorded catalog of SQL Server, and a client that answers with it."""

from collections.abc import Iterator
from typing import Any

import mssql_python
import pyarrow as pa
import pytest

from tests.sources.recorded_client import RecordedClient

DSN = "mssql://reader:s3cr;et}@db.example:1444/Shop?TrustServerCertificate=true"
# object_id, schema, name, type, readable, bytes, comment, row security, temporal type,
# rows
TABLES = [
    (10, "sales", "Customer", "U ", 1, 8192, "Everyone who ever bought.", 0, 0, 2),
    (11, "sales", "Order", "U ", 1, 1 << 30, None, 1, 2, 1_000_000),
    (12, "sales", "secret", "U ", 0, 8192, None, 0, 0, 1),
    (13, "sales", "broken", "U ", 1, 8192, None, 0, 0, 1),
]
# id, name, declared, base, length, precision, scale, nullable, computed, always, masked, encrypted,
# comment
COLUMNS = [
    (10, "id", "int", "int", 4, 10, 0, 0, 0, 0, 0, 0, None),
    (10, "email", "nvarchar", "nvarchar", 200, 0, 0, 1, 0, 0, 1, 0, "Where invoices go."),
    (10, "Flag", "Flag", "bit", 1, 1, 0, 0, 0, 0, 0, 0, None),
    (11, "number", "uniqueidentifier", "uniqueidentifier", 16, 0, 0, 0, 0, 0, 0, 0, None),
    (11, "customer]id", "int", "int", 4, 10, 0, 0, 0, 0, 0, 0, None),
    (11, "total", "money", "money", 8, 19, 4, 1, 0, 0, 0, 0, None),
    (11, "tax", "decimal", "decimal", 9, 12, 2, 1, 1, 0, 0, 0, None),
    (11, "placed", "datetime2", "datetime2", 8, 27, 7, 0, 0, 0, 0, 0, None),
    (11, "paid", "datetimeoffset", "datetimeoffset", 10, 34, 7, 1, 0, 0, 0, 0, None),
    (12, "id", "int", "int", 4, 10, 0, 0, 0, 0, 0, 0, None),
    (13, "id", "int", "int", 4, 10, 0, 0, 0, 0, 0, 0, None),
]
KEYS = [
    (10, 1, True, "id"),
    (11, 1, True, "number"),
    (11, 3, False, "customer]id"),
    (11, 3, False, "placed"),
]
FOREIGN_KEYS = [(11, 90, "sales", "Customer", "customer]id", "id")]
CUSTOMERS = pa.table(
    {"id": pa.array([1, 2], pa.int32()), "email": ["a@x.org", None], "Flag": [True, False]}
)
ORDERS = pa.table(
    {
        "number": ["6F9619FF-8B86-D011-B42D-00C04FC964FF", "6F9619FF-8B86-D011-B42D-00C04FC964FE"],
        "customer": pa.array([1, 1], pa.int32()),
        "total": ["12345678901.2345", "-0.5000"],
        "tax": ["1.20", None],
        "placed": ["2024-02-29 10:00:00.1234567", "2024-03-01 00:00:00.0000000"],
        "paid": ["2024-02-29 12:00:00.0000000+02:00", None],
    }
)


def recording(**changes: Any) -> RecordedClient:
    return RecordedClient(
        catalog={
            "DB_NAME() AS name": [("Shop",)],
            "snapshot_isolation_state": [(1,)],
            "count(*) FROM sys.views": [(changes.get("views", 0),)],
            "HAS_PERMS_BY_NAME": changes.get("tables", TABLES),
            "c.is_masked": COLUMNS,
            "sys.index_columns": KEYS,
            "sys.foreign_key_columns": FOREIGN_KEYS,
        },
        tables={
            "[sales].[Customer]": CUSTOMERS,
            "[sales].[Order]": ORDERS,
            "[sales].[broken]": mssql_python.OperationalError("Driver Error", "page 7 is torn"),
        },
    )


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> Iterator[RecordedClient]:
    recorded = recording()
    monkeypatch.setattr(mssql_python, "connect", lambda *_, **__: recorded)
    yield recorded
    assert recorded.is_closed
