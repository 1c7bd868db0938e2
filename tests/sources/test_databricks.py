"""Databricks, against recorded rows of its information schema and a cursor over DuckDB."""

from decimal import Decimal
from pathlib import Path

import pytest
from databricks import sql

from fluid_build.errors import SourceError, SourceNotFoundError
from fluid_build.profiling.profiler import profile_source
from fluid_build.sources import open_source
from fluid_build.sources.base import DeclaredForeignKey, SampledRows
from fluid_build.sources.declarations.catalog_facts import CatalogOwner
from fluid_build.sources.servers.databricks.connection import databricks_place
from tests.databricks import DatabricksCatalog

_URI = "databricks://dbc-1.cloud.databricks.com/prod/shop?http_path=/sql/1.0/warehouses/a1"


@pytest.fixture(autouse=True)
def _no_profile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_what_tables_declare_is_taken_over(catalog: DatabricksCatalog) -> None:
    """Keys for information, comments and types come from the information schema."""
    with open_source(_URI) as source:
        tables = {table.name: table for table in source.tables}
    assert tables["customers"].primary_key == ("id",)
    assert tables["customers"].comment == "Who buys"
    assert tables["customers"].column("id").comment == "Who it is"
    assert tables["order lines"].foreign_keys == (
        DeclaredForeignKey(("customer_id",), "customers", ("id",)),
    )


def test_a_tag_reaches_the_profile(catalog: DatabricksCatalog) -> None:
    """Tags name an owner, and a column tagged as personal keeps none of its values."""
    catalog.record(
        "table_tags",
        ("prod", "shop", "customers", "data_owner", "crm-team"),
        ("prod", "shop", "customers", "gold", ""),
        ("prod", "shop", "secrets", "gold", ""),
    )
    catalog.record("column_tags", ("prod", "shop", "customers", "credit", "pii", "true"))
    with open_source(_URI) as source:
        profile = profile_source(source)
    assert profile.catalog is not None
    facts = profile.catalog.tables["customers"]
    assert (profile.catalog.catalog, facts.address) == ("Databricks", "prod.shop.customers")
    assert facts.tags == ("data_owner:crm-team", "gold")
    assert facts.owners == (CatalogOwner("crm-team"),)
    assert "secrets" not in profile.catalog.tables
    credit = profile.table("customers").column("credit")
    assert (credit.pii, credit.min, credit.top_values) == (True, None, ())


def test_the_parts_of_a_tagged_column_have_its_tags(catalog: DatabricksCatalog) -> None:
    """A list is a table of its own, whose values are as personal as the list."""
    catalog.record("column_tags", ("prod", "shop", "order lines", "tags", "pii", ""))
    with open_source(_URI) as source:
        profile = profile_source(source)
    (child,) = [table for table in profile.tables if table.name.startswith("order lines__")]
    personal = {column.name for column in child.columns if column.pii}
    assert personal == {"value"}


def test_tags_that_this_user_may_not_read_are_left_out_with_a_note(
    catalog: DatabricksCatalog,
) -> None:
    """The tables are read without them."""
    catalog.forbidden.add("column_tags")
    with open_source(_URI) as source:
        assert source.catalog is None
        assert "customers" in [table.name for table in source.tables]
        assert any(note.startswith("The tags couldn't be read") for note in source.notes)


def test_every_value_is_read_exactly(catalog: DatabricksCatalog) -> None:
    """Decimals stay decimals, and nested types are JSON."""
    with open_source(_URI, nested="keep") as source:
        tables = {table.name: table for table in source.tables}
        assert tables["customers"].column("credit").type == "DECIMAL(12,2)"
        assert tables["order lines"].column("tags").type == "JSON"
        row = source.connection.execute(f"FROM {tables['customers'].relation}").fetchone()
    assert row == (1, "c1", Decimal("1.00"))


def test_a_table_without_rights_is_skipped_and_views_are_counted(
    catalog: DatabricksCatalog,
) -> None:
    """The others are read, and a note says what is left out."""
    with open_source(_URI) as source:
        assert [skipped.name for skipped in source.skipped] == ["secrets"]
        assert "INSUFFICIENT_PERMISSIONS" in source.skipped[0].reason
        assert any("--views" in note for note in source.notes)


def test_the_first_rows_are_a_sample_whose_keys_are_looked_up(catalog: DatabricksCatalog) -> None:
    """The warehouse is asked for the customers that the sample lacks."""
    with open_source(_URI, sample=100) as source:
        profile = profile_source(source)
        customers = next(table for table in source.tables if table.name == "customers")
    assert customers.sampled == SampledRows(100)
    reference = next(key for key in profile.foreign_keys if key.from_columns == ("customer_id",))
    assert (reference.evidence.orphans, reference.evidence.is_measured) == (0, True)
    assert reference.evidence.sample is not None


def test_the_session_says_who_asks_and_how_long_it_waits(catalog: DatabricksCatalog) -> None:
    """A token goes to the host that it was written for."""
    with open_source(_URI.replace("databricks://", "databricks://token:dapi123@")):
        pass
    assert catalog.arguments["server_hostname"] == "dbc-1.cloud.databricks.com"
    assert catalog.arguments["access_token"] == "dapi123"
    assert catalog.arguments["user_agent_entry"] == "fluid-forge"
    assert catalog.arguments["session_configuration"]["STATEMENT_TIMEOUT"] == "3600"


def test_a_profile_fills_in_what_the_uri_leaves_out(tmp_path: Path) -> None:
    """Host, token and warehouse come from the file of Databricks' own tools."""
    (tmp_path / "databrickscfg").write_text(
        "[dev]\nhost = https://dbc-2.cloud.databricks.com/\ntoken = dapi456\nwarehouse_id = b2\n"
    )
    place = databricks_place("databricks://dev/prod")
    assert (place.host, place.token) == ("dbc-2.cloud.databricks.com", "dapi456")
    assert place.http_path == "/sql/1.0/warehouses/b2"


def test_a_token_of_the_environment_isnt_sent_to_another_host(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A stranger's folder could name their own host."""
    monkeypatch.setenv("DATABRICKS_HOST", "dbc-2.cloud.databricks.com")
    monkeypatch.setenv("DATABRICKS_TOKEN", "dapi456")
    assert databricks_place(_URI).token == ""


def test_an_unknown_profile_is_named(tmp_path: Path) -> None:
    """The nearest one is suggested."""
    (tmp_path / "databrickscfg").write_text("[staging]\nhost = h\n")
    with pytest.raises(SourceNotFoundError) as refused:
        databricks_place("databricks://stagin/prod")
    assert "staging" in str(refused.value.hint)


def test_a_catalog_has_to_be_named() -> None:
    """There's no default one to read."""
    with pytest.raises(SourceError, match="catalog"):
        databricks_place("databricks://dbc-1.cloud.databricks.com?http_path=/sql/1.0/warehouses/a")
