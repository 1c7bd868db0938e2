"""Snowflake's own catalog, on a server that answers as Snowflake does."""

from typing import TYPE_CHECKING

import pytest

from fluid_build.errors import UsageError
from fluid_build.sources import open_source

if TYPE_CHECKING:
    from tests.snowflake import SnowflakeDatabase


@pytest.fixture
def shop(snowflake: "SnowflakeDatabase", monkeypatch: pytest.MonkeyPatch) -> "SnowflakeDatabase":
    for name, value in snowflake.environment.items():
        monkeypatch.delenv(name, raising=False)
        field = name.removeprefix("SNOWFLAKE_")
        monkeypatch.setenv(f"FLUID_CREDENTIAL_SF_PROD_{field}", value)
    snowflake.run(
        "CREATE TABLE customers (id INTEGER PRIMARY KEY, mailbox VARCHAR COMMENT 'Where to write')",
        "CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER"
        " REFERENCES customers (id), amount NUMBER(10, 2))",
        "COMMENT ON TABLE orders IS 'Every order'",
    )
    return snowflake


def test_tables_have_their_types_keys_and_comments(shop: "SnowflakeDatabase") -> None:
    with open_source(f"snowflake-catalog:///{shop.name}?login=sf-prod") as source:
        customers, orders = source.tables
        assert source.has_data is False
        assert (customers.name, orders.name) == ("CUSTOMERS", "ORDERS")
        assert [(column.name, column.type) for column in orders.columns] == [
            ("ID", "HUGEINT"),
            ("CUSTOMER_ID", "HUGEINT"),
            ("AMOUNT", "DECIMAL(10,2)"),
        ]
        assert (customers.primary_key, orders.primary_key) == (("ID",), ("ID",))
        assert orders.comment == "Every order"


def test_what_the_role_may_not_see_is_noted(shop: "SnowflakeDatabase") -> None:
    with open_source(f"snowflake-catalog:///{shop.name}?login=sf-prod") as source:
        notes = " ".join(source.notes)
    assert "The tags couldn't be read" in notes
    assert "The lineage couldn't be read" in notes


def test_a_credential_of_another_account_is_refused(shop: "SnowflakeDatabase") -> None:
    with pytest.raises(UsageError, match="is for"):
        open_source(f"snowflake-catalog://another/{shop.name}?login=sf-prod")


def test_an_unknown_way_to_log_in_lists_the_known_ones(
    shop: "SnowflakeDatabase", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FLUID_CREDENTIAL_SF_PROD_AUTH_METHOD", "magic")
    with pytest.raises(UsageError, match="unknown auth_method") as unknown:
        open_source(f"snowflake-catalog:///{shop.name}?login=sf-prod")
    assert "key_pair" in str(unknown.value.hint)
