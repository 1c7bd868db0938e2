"""Data Mesh Manager: products are schemas, and the tables are those of their contracts."""

from collections.abc import Iterator

import pytest

from fluid_build.errors import SourceUnreachableError, UsageError
from fluid_build.sources import open_source
from fluid_build.sources.declarations.catalog_facts import CatalogOwner
from tests.sources.catalogs.api_server import Api, serving
from tests.sources.catalogs.mesh_api import KEY, mesh


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Api]:
    with serving(mesh) as api:
        monkeypatch.setenv("FLUID_CREDENTIAL_MESH_HOST", api.host)
        monkeypatch.setenv("FLUID_CREDENTIAL_MESH_API_KEY", KEY)
        yield api


def test_a_products_contract_gives_tables_types_and_keys(server: Api) -> None:
    with open_source("datamesh-manager:///orders?login=mesh") as source:
        assert source.name == "Orders"
        customers, orders = source.tables
        assert (customers.name, orders.name) == ("customers", "orders")
        assert [(column.name, column.type) for column in orders.columns] == [
            ("order_id", "BIGINT"),
            ("customer_id", "BIGINT"),
            ("amount", "DECIMAL(10,2)"),
            ("placed", "TIMESTAMP WITH TIME ZONE"),
            ("place", "STRUCT(city VARCHAR)"),
        ]
        assert (orders.primary_key, customers.primary_key) == (("order_id",), ("customer_id",))
        assert [key.to_table for key in orders.foreign_keys] == ["customers"]


def test_contracts_of_both_standards_are_read(server: Api) -> None:
    with open_source("datamesh-manager://?login=mesh") as source:
        names = [table.name for table in source.tables]
        assert names == ["orders.customers", "orders.orders", "people.tbl_person"]
        person = source.tables[2]
        assert [(column.name, column.type) for column in person.columns] == [
            ("id", "BIGINT"),
            ("born", "DATE"),
            ("names", "VARCHAR[]"),
        ]
        assert person.primary_key == ("id",)


def test_a_contract_that_is_gone_is_skipped_with_its_name(server: Api) -> None:
    with open_source("datamesh-manager://?login=mesh") as source:
        assert [skipped.name for skipped in source.skipped] == ["people.gone"]


def test_teams_domains_tags_and_sources_are_taken_over(server: Api) -> None:
    with open_source("datamesh-manager:///orders?login=mesh") as source:
        assert source.catalog is not None
        facts = source.catalog.facts
    assert facts.declared_owner == CatalogOwner("Order desk", "o@x.org")
    assert facts.declared_domain == "sales"
    assert facts.tables["orders"].tags == ("gold",)
    assert facts.tables["orders"].upstream == ("webshop",)
    assert facts.tables["customers"].column_tags == {"mailbox": ("pii",)}


def test_a_team_is_asked_for_once(server: Api) -> None:
    open_source("datamesh-manager:///orders?login=mesh").close()
    assert server.paths.count("/api/teams/order-desk") == 1


def test_a_wrong_key_is_refused(server: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLUID_CREDENTIAL_MESH_API_KEY", "dmm_wrong")
    with pytest.raises(SourceUnreachableError, match=r"HTTP 403\): Unknown key"):
        open_source("datamesh-manager://?login=mesh")


def test_a_credential_that_nobody_knows_says_how_to_store_it() -> None:
    with pytest.raises(UsageError, match="no credential nobody") as unknown:
        open_source("datamesh-manager://?login=nobody")
    assert "fluid credentials set nobody api_key" in str(unknown.value.hint)
