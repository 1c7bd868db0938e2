"""A catalog of Glue whose tables have rows in S3, and a login that may read them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.sources.catalogs.glue_server import REGION, glue_server, make_shop, put_rows


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with glue_server() as address:
        make_shop(address, "measured")
        for day in ("2024-01-01", "2024-01-02", "__HIVE_DEFAULT_PARTITION__"):
            number = 100 + int(day[-1]) if day[-1].isdigit() else 500
            rows = f"SELECT {number} AS order_id, 1 AS customer_id, 9.5::DECIMAL(10,2) AS amount"
            put_rows(address, rows, f"measured/orders/day={day}/part-0")
        put_rows(address, "SELECT 1 AS x", "measured/orders/_SUCCESS")
        people = (
            "SELECT range + 1 AS customer_id, 'p' || range || '@x.org' AS mailbox FROM range(3)"
        )
        put_rows(address, people, "measured/customers/part-0.snappy.parquet")
        yield address


@pytest.fixture(autouse=True)
def aws(server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    for field, value in {
        "endpoint": server,
        "region": REGION,
        "access_key_id": "testing",
        "secret_access_key": "testing-secret",
    }.items():
        monkeypatch.setenv(f"FLUID_CREDENTIAL_AWS_{field.upper()}", value)
    return server
