"""Unity Catalog over its API: what the open-source server and Databricks say becomes a source."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from fluid_build.errors import (
    EmptySourceError,
    SourceNotFoundError,
    SourceUnreachableError,
    UsageError,
)
from fluid_build.sources import open_source
from fluid_build.sources.declarations.catalog_facts import CatalogOwner
from tests.sources.catalogs.api_server import Api, serving
from tests.sources.catalogs.unity_api import (
    PRINCIPAL,
    PRINCIPAL_SECRET,
    TOKEN,
    databricks,
    open_source_server,
)


@pytest.fixture
def server() -> Iterator[Api]:
    with serving(open_source_server) as api:
        yield api


@pytest.fixture
def workspace(monkeypatch: pytest.MonkeyPatch) -> Iterator[Api]:
    with serving(databricks) as api:
        monkeypatch.setenv("FLUID_CREDENTIAL_LAKE_HOST", api.host)
        monkeypatch.setenv("FLUID_CREDENTIAL_LAKE_TOKEN", TOKEN)
        yield api


def test_the_tables_of_a_schema_are_read_page_by_page(server: Api) -> None:
    with open_source(f"unity://{server.host}/shop/sales") as source:
        assert [table.name for table in source.tables] == ["customers", "orders"]
        assert source.has_data is False
        orders = source.tables[1]
        assert orders.comment == "Every order"
        assert [(c.name, c.type, c.nullable) for c in orders.columns] == [
            ("order_id", "BIGINT", False),
            ("customer_id", "BIGINT", True),
            ("lines", "STRUCT(sku VARCHAR, amount DECIMAL(10,2))[]", True),
            ("placed", "TIMESTAMP WITH TIME ZONE", True),
        ]
        assert orders.columns[0].comment == "Its number"


def test_all_schemas_are_read_where_the_address_names_none(server: Api) -> None:
    with open_source(f"unity://{server.host}") as source:
        assert [table.name for table in source.tables] == ["customers", "orders"]


def test_what_the_open_source_server_lacks_is_noted_and_asked_once(server: Api) -> None:
    with open_source(f"unity://{server.host}/shop/sales") as source:
        assert "This server doesn't answer questions about tags." in source.notes
        assert "This server doesn't answer questions about lineage." in source.notes


def test_owners_and_domains_come_from_fields_and_properties(server: Api) -> None:
    with open_source(f"unity://{server.host}/shop/sales") as source:
        assert source.catalog is not None
        facts = source.catalog.facts
    assert facts.owner == CatalogOwner("Orders")
    assert facts.tables["orders"].domain == "Sales"
    assert facts.tables["orders"].address == "shop.sales.orders"


def test_databricks_adds_keys_tags_and_lineage(workspace: Api) -> None:
    with open_source("unity:///shop/sales?login=lake") as source:
        orders = source.tables[1]
        assert orders.primary_key == ("order_id",)
        (reference,) = orders.foreign_keys
        assert (reference.columns, reference.to_table) == (("customer_id",), "customers")
        assert source.catalog is not None
        facts = source.catalog.facts.tables["orders"]
    assert facts.tags == ("tier:gold",)
    assert facts.upstream == ("shop.landing.orders_raw",)


def test_views_are_left_out_with_a_note_and_read_when_asked_for(server: Api) -> None:
    with open_source(f"unity://{server.host}/shop/sales") as source:
        assert "1 view left out; --views reads them." in source.notes
    with open_source(f"unity://{server.host}/shop/sales", views=True) as source:
        assert "best_customers" in [table.name for table in source.tables]


def test_globs_choose_schemas_and_tables(server: Api) -> None:
    address = f"unity://{server.host}/shop"
    with open_source(address, schemas=["SAL*"], exclude=["cust*"]) as source:
        assert [table.name for table in source.tables] == ["orders"]
    with pytest.raises(EmptySourceError, match="shows no table there"):
        open_source(address, schemas=["nothing*"])


def test_a_refused_token_is_an_error_without_the_token(
    workspace: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = "a-token-that-is-wrong"
    monkeypatch.setenv("FLUID_CREDENTIAL_LAKE_TOKEN", wrong)
    with pytest.raises(SourceUnreachableError) as refusal:
        open_source("unity:///shop/sales?login=lake")
    assert "refused the credential lake (HTTP 401)" in refusal.value.message
    assert wrong not in f"{refusal.value.message} {refusal.value.hint}"
    assert workspace.requests[0].headers["authorization"] == f"Bearer {wrong}"


def test_a_service_principal_gets_a_token_of_its_own(
    workspace: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FLUID_CREDENTIAL_LAKE_TOKEN")
    monkeypatch.setenv("FLUID_CREDENTIAL_LAKE_CLIENT_ID", PRINCIPAL)
    monkeypatch.setenv("FLUID_CREDENTIAL_LAKE_CLIENT_SECRET", PRINCIPAL_SECRET)
    with open_source("unity:///shop/sales?login=lake") as source:
        assert len(source.tables) == 2
    monkeypatch.setenv("FLUID_CREDENTIAL_LAKE_CLIENT_SECRET", "another-secret")
    with pytest.raises(SourceUnreachableError, match="refused") as refusal:
        open_source("unity:///shop/sales?login=lake")
    assert "another-secret" not in str(refusal.value)


def test_a_profile_of_databricks_is_a_credential(
    workspace: Api, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABRICKS_CONFIG_FILE", str(tmp_path / "databrickscfg"))
    (tmp_path / "databrickscfg").write_text(
        f"[team]\nhost = http://{workspace.host}\ntoken = {TOKEN}\n"
    )
    with open_source("unity:///shop/sales?login=team") as source:
        assert len(source.tables) == 2
    with pytest.raises(UsageError, match="no credential other"):
        open_source("unity:///shop/sales?login=other")


def test_a_credential_goes_to_no_other_host(workspace: Api) -> None:
    with pytest.raises(UsageError, match="is for"):
        open_source("unity://other.example.com/shop/sales?login=lake")
    assert workspace.requests == []


def test_an_unknown_catalog_says_what_to_check(server: Api) -> None:
    with pytest.raises(SourceNotFoundError, match="There's no such thing"):
        open_source(f"unity://{server.host}/nothing/sales")
