"""A project of BigQuery with customers and their orders."""

from collections.abc import Iterator
from datetime import UTC, date, datetime

import pytest

from tests.bigquery import BigQueryProject, bigquery_project

CUSTOMERS = [
    {"name": "id", "type": "INTEGER", "mode": "REQUIRED", "description": "Who it is"},
    {"name": "name", "type": "STRING"},
    {"name": "balance", "type": "NUMERIC"},
    {"name": "limit", "type": "BIGNUMERIC", "precision": "20", "scale": "4"},
    {"name": "seen", "type": "TIMESTAMP"},
    {"name": "noted", "type": "DATETIME"},
    {"name": "born", "type": "DATE"},
    {"name": "photo", "type": "BYTES"},
]
ORDERS = [
    {"name": "id", "type": "INTEGER"},
    {"name": "customer_id", "type": "INTEGER"},
    {"name": "lines", "type": "RECORD", "mode": "REPEATED", "fields": [
        {"name": "sku", "type": "STRING"}, {"name": "quantity", "type": "INTEGER"},
    ]},
]  # fmt: skip


@pytest.fixture
def project(monkeypatch: pytest.MonkeyPatch) -> Iterator[BigQueryProject]:
    with bigquery_project() as served:
        monkeypatch.setenv("BIGQUERY_EMULATOR_HOST", served.address)
        reference = {"projectId": served.name, "datasetId": "shop", "tableId": "customers"}
        served.add(
            "customers", CUSTOMERS,
            (1, "Zoë", "19.990000001", "12345.6789", datetime(2024, 1, 1, 10, tzinfo=UTC),
             datetime(2024, 1, 1, 10), date(1990, 5, 17), b"\x00\xff"),
            (2, None, None, None, None, None, None, None),
            description="Who buys", tableConstraints={"primaryKey": {"columns": ["id"]}},
        )  # fmt: skip
        served.add(
            "orders", ORDERS, (10, 1, [{"sku": "a", "quantity": 2}]), (11, 2, []),
            tableConstraints={"foreignKeys": [{
                "name": "who", "referencedTable": reference,
                "columnReferences": [
                    {"referencingColumn": "customer_id", "referencedColumn": "id"},
                ],
            }]},
        )  # fmt: skip
        yield served
