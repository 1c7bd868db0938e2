"""Databricks, against recorded rows of its information schema and a cursor over DuckDB."""

from decimal import Decimal
from pathlib import Path

import pytest

from fluid_build.errors import SourceError, SourceNotFoundError
from fluid_build.sources import open_source
from fluid_build.sources.base import DeclaredForeignKey
from fluid_build.sources.servers.databricks.connection import databricks_place
from tests.databricks import DatabricksCatalog
from tests.sources.databricks_shop import URI
from tests.sources.databricks_shop import catalog as catalog
from tests.sources.databricks_shop import no_profile as no_profile


def test_what_tables_declare_is_taken_over(catalog: DatabricksCatalog) -> None:
    """Keys for information, comments and types come from the information schema."""
    with open_source(URI) as source:
        tables = {table.name: table for table in source.tables}
    assert tables["customers"].primary_key == ("id",)
    assert tables["customers"].comment == "Who buys"
    assert tables["customers"].column("id").comment == "Who it is"
    assert tables["order lines"].foreign_keys == (
        DeclaredForeignKey(("customer_id",), "customers", ("id",)),
    )


def test_tags_that_this_user_may_not_read_are_left_out_with_a_note(
    catalog: DatabricksCatalog,
) -> None:
    """The tables are read without them."""
    catalog.forbidden.add("column_tags")
    with open_source(URI) as source:
        assert source.catalog is None
        assert "customers" in [table.name for table in source.tables]
        assert any(note.startswith("The tags couldn't be read") for note in source.notes)


def test_every_value_is_read_exactly(catalog: DatabricksCatalog) -> None:
    """Decimals stay decimals, and nested types are JSON."""
    with open_source(URI, nested="keep") as source:
        tables = {table.name: table for table in source.tables}
        assert tables["customers"].column("credit").type == "DECIMAL(12,2)"
        assert tables["order lines"].column("tags").type == "JSON"
        row = source.connection.execute(f"FROM {tables['customers'].relation}").fetchone()
    assert row == (1, "c1", Decimal("1.00"))


def test_a_table_without_rights_is_skipped_and_views_are_counted(
    catalog: DatabricksCatalog,
) -> None:
    """The others are read, and a note says what is left out."""
    with open_source(URI) as source:
        assert [skipped.name for skipped in source.skipped] == ["secrets"]
        assert "INSUFFICIENT_PERMISSIONS" in source.skipped[0].reason
        assert any("--views" in note for note in source.notes)


def test_the_session_says_who_asks_and_how_long_it_waits(catalog: DatabricksCatalog) -> None:
    """A token goes to the host that it was written for."""
    with open_source(URI.replace("databricks://", "databricks://token:dapi123@")):
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
    assert databricks_place(URI).token == ""


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
