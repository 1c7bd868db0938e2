"""BigQuery and Dataplex, on what their APIs answer."""

from collections.abc import Iterator

import pytest

from fluid_build.errors import SourceNotFoundError, SourceUnreachableError, UsageError
from fluid_build.sources import open_source
from fluid_build.sources.declarations.catalog_facts import CatalogOwner
from tests.sources.catalogs.api_server import Api, serving
from tests.sources.catalogs.google_api import PROJECT, TOKEN, bigquery, dataplex


@pytest.fixture
def warehouse(monkeypatch: pytest.MonkeyPatch) -> Iterator[Api]:
    with serving(bigquery) as api:
        monkeypatch.setenv("BIGQUERY_EMULATOR_HOST", f"http://{api.host}")
        yield api


@pytest.fixture
def catalog(monkeypatch: pytest.MonkeyPatch) -> Iterator[Api]:
    with serving(dataplex) as api:
        monkeypatch.setenv("FLUID_CREDENTIAL_GCP_ENDPOINT", f"http://{api.host}")
        monkeypatch.setenv("FLUID_CREDENTIAL_GCP_TOKEN", TOKEN)
        yield api


def test_bigquery_gives_tables_with_keys_labels_and_policy_tags(warehouse: Api) -> None:
    with open_source(f"bigquery-catalog://{PROJECT}/shop") as source:
        customers, orders = source.tables
        assert orders.comment == "Every order"
        assert [(column.name, column.type) for column in orders.columns] == [
            ("order_id", "BIGINT"),
            ("customer_id", "BIGINT"),
            ("lines", "STRUCT(sku VARCHAR)[]"),
        ]
        assert (orders.primary_key, customers.primary_key) == (("order_id",), ("customer_id",))
        assert [key.to_table for key in orders.foreign_keys] == ["customers"]
        assert source.catalog is not None
        facts = source.catalog.facts
    assert facts.declared_owner == CatalogOwner("order-desk")
    assert facts.declared_domain == "sales"
    assert facts.tables["orders"].tags == ("tier:gold",)
    assert facts.tables["customers"].column_tags == {"mailbox": ("policy-tag:pii",)}


def test_an_unknown_dataset_is_not_found(warehouse: Api) -> None:
    with pytest.raises(SourceNotFoundError, match="BigQuery doesn't have that"):
        open_source(f"bigquery-catalog://{PROJECT}/nothing")


def test_dataplex_gives_the_tables_of_an_entry_group(catalog: Api) -> None:
    with open_source(f"dataplex://{PROJECT}/eu?login=gcp") as source:
        (orders,) = source.tables
        assert (source.name, orders.name, orders.comment) == ("shop", "orders", "Every order")
        assert [(column.name, column.type) for column in orders.columns] == [
            ("order_id", "BIGINT"),
            ("amount", "DECIMAL(38,9)"),
            ("lines", "STRUCT(sku VARCHAR)[]"),
        ]
        assert orders.columns[0].nullable is False
        assert source.catalog is not None
        facts = source.catalog.facts
    assert facts.declared_owner == CatalogOwner("Order desk", "o@x.org")
    assert facts.declared_domain == "Sales"
    assert facts.tables["orders"].tags == ("tier:gold", "governance")
    assert facts.tables["orders"].column_tags == {"amount": ("pii",)}
    assert facts.tables["orders"].upstream == ("kafka:orders",)


def test_dataplex_refuses_another_token(catalog: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLUID_CREDENTIAL_GCP_TOKEN", "ya29.another")
    with pytest.raises(SourceUnreachableError, match="Invalid credentials"):
        open_source(f"dataplex://{PROJECT}/eu?login=gcp")


def test_dataplex_needs_a_location() -> None:
    with pytest.raises(UsageError, match="a project and a location"):
        open_source(f"dataplex://{PROJECT}")
