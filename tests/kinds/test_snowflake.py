"""Snowflake, profiled with its tags, and with a sample of its rows."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from fluid_build.profiling.profiler import profile_source
from fluid_build.sources import open_source
from fluid_build.sources.base import SampledRows
from fluid_build.sources.servers.warehouse_client import WarehouseClient
from tests.snowflake import SnowflakeDatabase
from tests.sources.snowflake_shop import shop as shop


def test_a_tag_reaches_the_profile(
    shop: SnowflakeDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The stand-in has no tags, so their rows are recorded."""
    answer = WarehouseClient.query
    place = {"object_schema": "PUBLIC", "object_name": "CUSTOMERS"}
    tags = [
        {**place, "column_name": None, "tag_name": "DOMAIN", "tag_value": "sales"},
        {**place, "column_name": "NAME", "tag_name": "PRIVACY_CATEGORY", "tag_value": "IDENTIFIER"},
    ]

    def query(client: WarehouseClient[Any], sql: str) -> Sequence[Mapping[str, object]]:
        if "account_usage.tag_references" in sql:
            assert f"object_database = '{shop.name}'" in sql
            return tags
        return answer(client, sql)

    monkeypatch.setattr(WarehouseClient, "query", query)
    with open_source(shop.uri) as source:
        profile = profile_source(source)
        assert not any("tags" in note for note in source.notes)
    assert profile.catalog is not None
    facts = profile.catalog.tables["CUSTOMERS"]
    assert (facts.tags, facts.domain) == (("DOMAIN:sales",), "sales")
    name = profile.table("CUSTOMERS").column("NAME")
    assert (name.pii, name.min, name.top_values) == (True, None, ())


def test_keys_of_a_sampled_table_are_looked_up(shop: SnowflakeDatabase) -> None:
    """A value that isn't in the sample of the parent is no orphan if Snowflake has it."""
    rows = ", ".join(f"({number}, 'c{number}')" for number in range(10, 610))
    shop.run(f"INSERT INTO customers (id, name) VALUES {rows}")
    shop.run("CREATE TABLE orders (id INT PRIMARY KEY, customer_id INT)")
    orders = ", ".join(f"({number}, {number % 600 + 10})" for number in range(900))
    shop.run(f"INSERT INTO orders VALUES {orders}")
    with open_source(shop.uri, sample=200) as source:
        sampled = {table.name: table.sampled for table in source.tables}
        profile = profile_source(source)
    assert sampled["ORDERS"] == SampledRows(200, 900)
    (reference,) = [key for key in profile.foreign_keys if key.from_table == "ORDERS"]
    assert (reference.evidence.orphans, reference.evidence.is_measured) == (0, True)
