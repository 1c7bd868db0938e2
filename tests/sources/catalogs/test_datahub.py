"""DataHub over GraphQL: datasets become tables with owners, domains, tags and lineage."""

from collections.abc import Iterator

import pytest

from fluid_build.errors import EmptySourceError, SourceUnreachableError, SourceUnreadableError
from fluid_build.sources import open_source
from fluid_build.sources.declarations.catalog_facts import CatalogOwner
from tests.sources.catalogs.api_server import Answer, Api, serving
from tests.sources.catalogs.datahub_api import TOKEN, datahub


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Api]:
    with serving(datahub) as api:
        monkeypatch.setenv("DATAHUB_GMS_URL", f"http://{api.host}")
        monkeypatch.setenv("DATAHUB_GMS_TOKEN", TOKEN)
        yield api


def test_datasets_become_tables_with_keys_and_comments(server: Api) -> None:
    with open_source("datahub://") as source:
        customers, orders = source.tables
        assert (customers.name, orders.name) == ("customers", "orders")
        assert (customers.primary_key, orders.primary_key) == (("id",), ("order_id",))
        (reference,) = orders.foreign_keys
        assert (reference.to_table, reference.to_columns) == ("customers", ("id",))
        assert orders.comment == "Every order of the shop"
        assert customers.column("mailbox").comment == "Where to write"
        assert orders.column("customer_id").comment == "Who ordered"


def test_nested_fields_belong_to_their_column(server: Api) -> None:
    with open_source("datahub://") as source:
        orders = source.tables[1]
        assert [column.name for column in orders.columns] == [
            "order_id",
            "customer_id",
            "place",
            "weight",
        ]
        assert orders.column("place").type == "JSON"


def test_an_unknown_native_type_falls_back_to_datahubs_own(server: Api) -> None:
    with open_source("datahub://") as source:
        assert source.tables[1].column("weight").type == "DOUBLE"


def test_owners_domains_tags_terms_and_lineage_are_taken_over(server: Api) -> None:
    with open_source("datahub://") as source:
        assert source.catalog is not None
        facts = source.catalog.facts
    assert facts.declared_owner == CatalogOwner("Order desk", "o@x.org")
    assert facts.declared_domain == "Sales"
    assert facts.tables["orders"].tags == ("gold", "Order")
    assert facts.tables["orders"].upstream == ("kafka:raw.orders",)
    assert facts.tables["customers"].column_tags == {"mailbox": ("PII",)}


def test_a_platform_narrows_the_datasets_down(server: Api) -> None:
    with pytest.raises(EmptySourceError):
        open_source(f"datahub://{server.host}/snowflake")
    asked = server.requests[-1].body["variables"]["input"]["orFilters"]
    assert "urn:li:dataPlatform:snowflake" in str(asked)


def test_an_error_in_an_answer_is_an_error_of_the_source() -> None:
    """GraphQL reports errors in an answer whose status is fine."""
    broken = {"errors": [{"message": "Index is gone"}]}
    with (
        serving(lambda _: Answer(broken)) as api,
        pytest.raises(SourceUnreadableError, match="Index is gone"),
    ):
        open_source(f"datahub://{api.host}")
    refusal = {"errors": [{"message": "Not allowed", "extensions": {"code": 403}}], "data": None}
    with (
        serving(lambda _: Answer(refusal)) as api,
        pytest.raises(SourceUnreachableError, match="refused the login"),
    ):
        open_source(f"datahub://{api.host}")
