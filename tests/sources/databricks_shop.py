"""A catalog of Databricks with customers and their orders, and no login of the developer's."""

from pathlib import Path

import pytest
from databricks import sql

from tests.databricks import DatabricksCatalog

URI = "databricks://dbc-1.cloud.databricks.com/prod/shop?http_path=/sql/1.0/warehouses/a1"


@pytest.fixture(autouse=True)
def no_profile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABRICKS_CONFIG_FILE", str(tmp_path / "databrickscfg"))
    for name in ("HOST", "TOKEN", "HTTP_PATH", "CONFIG_PROFILE"):
        monkeypatch.delenv(f"DATABRICKS_{name}", raising=False)


@pytest.fixture
def catalog(monkeypatch: pytest.MonkeyPatch) -> DatabricksCatalog:
    made = DatabricksCatalog("prod")
    made.run(
        "CREATE SCHEMA prod.shop",
        "CREATE TABLE prod.shop.customers (id BIGINT, name VARCHAR, credit DECIMAL(12,2))",
        "INSERT INTO prod.shop.customers SELECT i, 'c' || i, i FROM range(1, 301) t(i)",
        'CREATE TABLE prod.shop."order lines" (id BIGINT, customer_id BIGINT, tags VARCHAR[])',
        "INSERT INTO prod.shop.\"order lines\" SELECT i, i % 300 + 1, ['a'] FROM range(500) t(i)",
        "CREATE TABLE prod.shop.secrets (id BIGINT)",
    )
    made.forbidden.add("secrets")
    made.record("schemata", ("prod", "shop"), ("prod", "information_schema"))
    made.record(
        "tables",
        ("prod", "shop", "customers", "MANAGED", "Who buys"),
        ("prod", "shop", "order lines", "MANAGED", None),
        ("prod", "shop", "secrets", "MANAGED", None),
        ("prod", "shop", "totals", "VIEW", None),
    )
    made.record(
        "columns",
        ("shop", "customers", "id", "0", "bigint", "NO", "Who it is"),
        ("shop", "customers", "name", "1", "string", "YES", None),
        ("shop", "customers", "credit", "2", "decimal(12,2)", "YES", None),
        ("shop", "order lines", "id", "0", "bigint", "YES", None),
        ("shop", "order lines", "customer_id", "1", "bigint", "YES", None),
        ("shop", "order lines", "tags", "2", "array<string>", "YES", None),
        ("shop", "secrets", "id", "0", "bigint", "YES", None),
    )
    made.record(
        "table_constraints",
        ("shop", "customers", "shop", "customers_pk", "PRIMARY KEY"),
        ("shop", "order lines", "shop", "who", "FOREIGN KEY"),
    )
    made.record(
        "key_column_usage",
        ("shop", "customers", "shop", "customers_pk", "id", "1"),
        ("shop", "order lines", "shop", "who", "customer_id", "1"),
    )
    made.record("referential_constraints", ("shop", "who", "prod", "shop", "customers_pk"))
    monkeypatch.setattr(sql, "connect", made.connect)
    return made
