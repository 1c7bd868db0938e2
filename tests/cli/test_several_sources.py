"""Several sources on one vault, from the command to the files and back."""

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import pytest

from fluid_build.transform.dbt.running import run_dbt
from tests.cli.running import Fluid
from tests.cli.several_sources import CRM_SKUS, SHOP_PEOPLE, crm, email, shop
from tests.postgres import PostgresDatabase

FROM_SOURCE = ("forge", "data-model", "from-source")


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with ``crm.db`` and the folder ``shop``; tests don't change it."""
    folder = tmp_path_factory.mktemp("several")
    crm(folder / "crm.db")
    shop(folder / "shop")
    return folder


@pytest.fixture
def both(sources: Path, tmp_path: Path) -> Path:
    """Return a folder of a test's own with both sources."""
    shutil.copytree(sources, tmp_path / "both")
    return tmp_path / "both"


def forge_both(fluid: Fluid, folder: Path, *options: str) -> Path:
    """Forge both sources of a folder into ``out``, and return that."""
    out = folder / "out"
    outcome = fluid(
        *FROM_SOURCE, "--uri", folder / "crm.db", "--uri", folder / "shop",
        "--technique", "dv2", "-o", out, *options,
    )  # fmt: skip
    assert outcome.code == 0, outcome.err + outcome.out
    assert "✓ Proven" in outcome.out
    return out


def test_every_table_of_each_source_is_rebuilt(fluid: Fluid, both: Path) -> None:
    out = forge_both(fluid, both)
    proof = json.loads((out / "proof.json").read_text())
    rebuilt = {table["table"]: table["rebuilt"] for table in proof["tables"]}
    assert rebuilt == {
        "crm.customers": 160,
        "crm.products": 120,
        "crm.tickets": 300,
        "shop.customers": 140,
        "shop.order_lines": 500,
        "shop.orders": 250,
        "shop.products": 120,
    }


def test_the_folder_is_verified_with_both_sources_and_with_one_that_moved(
    fluid: Fluid, both: Path
) -> None:
    out = forge_both(fluid, both)
    assert fluid("verify", out).code == 0
    (both / "crm.db").rename(both / "customers.db")
    lost = fluid("verify", out)
    assert lost.code == 2
    assert "--uri" in lost.err
    assert fluid("verify", out, "--uri", f"crm={both / 'customers.db'}").code == 0


def test_a_uri_that_names_no_source_of_the_folder_is_refused(fluid: Fluid, both: Path) -> None:
    out = forge_both(fluid, both)
    outcome = fluid("verify", out, "--uri", both / "crm.db")
    assert outcome.code == 2
    assert "crm and shop" in outcome.err


@pytest.mark.usefixtures("dbt")
def test_dbt_builds_the_vault_of_both_sources(fluid: Fluid, both: Path) -> None:
    out = forge_both(fluid, both)
    outcome = fluid("verify", out, "--dbt", "--trust")
    assert outcome.code == 0, outcome.out + outcome.err


def test_sources_are_named_by_the_user_or_else_after_their_files(fluid: Fluid, both: Path) -> None:
    outcome = fluid(
        *FROM_SOURCE, "--uri", f"sales={both / 'crm.db'}", "--uri", both / "crm.db",
        "--technique", "dv2", "-o", both / "out",
    )  # fmt: skip
    assert outcome.code == 0, outcome.err
    manifest = json.loads((both / "out" / "forge.json").read_text())
    assert list(manifest["source"]["parts"]) == ["sales", "crm"]


@pytest.mark.parametrize("technique", ["flat", "dimensional"])
def test_a_technique_for_one_source_says_what_several_sources_need(
    fluid: Fluid, both: Path, technique: str
) -> None:
    outcome = fluid(
        *FROM_SOURCE, "--uri", both / "crm.db", "--uri", both / "shop", "--technique", technique,
        "-o", both / "out",
    )  # fmt: skip
    assert outcome.code == 2
    assert "Data Vault only" in outcome.err
    assert not (both / "out").exists()


def test_two_sources_of_one_name_are_refused(fluid: Fluid, both: Path) -> None:
    outcome = fluid(
        *FROM_SOURCE, "--uri", f"a={both / 'crm.db'}", "--uri", f"a={both / 'shop'}",
        "--technique", "dv2", "-o", both / "out",
    )  # fmt: skip
    assert outcome.code == 2
    assert "Two sources are called a" in outcome.err


def test_a_source_that_is_given_twice_without_names_is_refused(fluid: Fluid, both: Path) -> None:
    outcome = fluid(
        *FROM_SOURCE, "--uri", both / "crm.db", "--uri", both / "crm.db",
        "--technique", "dv2", "-o", both / "out",
    )  # fmt: skip
    assert outcome.code == 2
    assert "crm.db is given twice" in outcome.err


def vault_of(out: Path) -> dict[str, Any]:
    vault: dict[str, Any] = json.loads((out / "model.json").read_text())["dv2"]
    return vault


def by_name(elements: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {element["name"]: element for element in elements}


def test_a_business_key_that_both_sources_have_makes_one_hub(fluid: Fluid, both: Path) -> None:
    vault = vault_of(forge_both(fluid, both))
    hub = by_name(vault["hubs"])["hub_products"]
    assert hub["business_key_columns"] == ["sku"]
    assert {"crm.products", "shop.products"} <= set(hub["mapped_source_tables"])
    (match,) = hub["key_matches"]
    assert (match["keys"], match["other_keys"], match["shared"]) == (120, 120, 80)
    assert match["sql"].startswith('SELECT COUNT(*) AS shared_keys FROM "crm"."products"')
    parents = {satellite["name"]: satellite["parent"] for satellite in vault["satellites"]}
    assert parents["sat_products_crm"] == parents["sat_products_shop"] == "hub_products"


def test_numbers_that_agree_by_accident_make_no_common_hub(fluid: Fluid, both: Path) -> None:
    hubs = by_name(vault_of(forge_both(fluid, both))["hubs"])
    assert {"hub_customers_crm", "hub_customers_shop"} <= hubs.keys()
    assert "email agrees in 0 of 140 rows" in hubs["hub_customers_crm"]["reason"]


def test_an_attribute_that_both_sources_know_makes_a_same_as_link(fluid: Fluid, both: Path) -> None:
    (link,) = (
        each
        for each in vault_of(forge_both(fluid, both))["links"]
        if each["link_type"] == "same-as"
    )
    assert [hub["hub"] for hub in link["hubs"]] == ["hub_customers_shop", "hub_customers_crm"]
    assert (link["key_match"]["column"], link["key_match"]["shared"]) == ("email", 60)


@pytest.mark.usefixtures("dbt")
def test_the_next_load_adds_what_is_new_in_either_source(fluid: Fluid, both: Path) -> None:
    out = forge_both(fluid, both)
    warehouse = out / "dbt" / "crm_shop.duckdb"
    assert run_dbt(out / "dbt").ok
    assert counts(warehouse) == {"crm.products": 120, "shop.products": 40, "same": 60}
    with closing(sqlite3.connect(both / "crm.db")) as database:
        database.execute("INSERT INTO products VALUES (900, 'ZZ-1', 'New in one')")
        database.execute("INSERT INTO customers VALUES (900, 'N', ?, 'A')", [email(SHOP_PEOPLE[0])])
        database.commit()
    with (both / "shop" / "products.csv").open("a") as file:
        file.write("ZZ-2,New in the other,3\n")
    assert fluid("verify", out, "--warehouse", warehouse).code == 1
    assert run_dbt(out / "dbt").ok
    assert counts(warehouse) == {"crm.products": 121, "shop.products": 41, "same": 61}
    assert fluid("verify", out, "--warehouse", warehouse).code == 0


@pytest.mark.usefixtures("dbt")
def test_the_query_on_a_shared_hub_has_what_any_source_has(fluid: Fluid, both: Path) -> None:
    """A key that only the second source has, or still has, is in the result."""
    out = forge_both(fluid, both, "--business-vault")
    warehouse = out / "dbt" / "crm_shop.duckdb"
    assert run_dbt(out / "dbt").ok
    tables = vault_of(out)["business_vault"]["point_in_time_tables"]
    (products,) = (table for table in tables if table["hub"] == "hub_products")
    assert rows_of(warehouse, products) == [160, 160]
    with closing(sqlite3.connect(both / "crm.db")) as database:
        # Half of these are in the shop as well.
        database.execute("PRAGMA foreign_keys = OFF")
        database.execute("DELETE FROM tickets WHERE product_id BETWEEN 1 AND 80")
        database.execute("DELETE FROM products WHERE product_id BETWEEN 1 AND 80")
        database.commit()
    project = out / "dbt" / "dbt_project.yml"
    project.write_text(project.read_text().replace("largest_loss: 0.2", "largest_loss: 1"))
    assert run_dbt(out / "dbt").ok
    assert rows_of(warehouse, products) == [120, 120]


def rows_of(warehouse: Path, table: dict[str, Any]) -> list[int]:
    """Return how many distinct rows the query on a table has, and the one on the raw vault."""
    with duckdb.connect(str(warehouse), read_only=True) as connection:
        return [
            len(set(connection.execute(table[query]).fetchall()))
            for query in ("query", "raw_query")
        ]


def counts(warehouse: Path) -> dict[str, int]:
    """Return the products by the source that they were first loaded from, and the same-as rows."""
    with duckdb.connect(str(warehouse), read_only=True) as connection:
        rows = connection.execute(
            "SELECT record_source, count(*) FROM hub_products WHERE sku IS NOT NULL GROUP BY ALL"
            " UNION ALL SELECT 'same', count(*) FROM sal_customers ORDER BY 1"
        ).fetchall()
    return {str(name): int(count) for name, count in rows}


@pytest.mark.usefixtures("dbt")
def test_a_server_and_a_file_make_one_vault(
    fluid: Fluid, both: Path, postgres: PostgresDatabase
) -> None:
    rows = ", ".join(f"('{sku}', {place})" for place, sku in enumerate(CRM_SKUS[20:]))
    postgres.run(
        "CREATE TABLE items (sku TEXT PRIMARY KEY, shelf INTEGER NOT NULL);"
        f"INSERT INTO items VALUES {rows}"
    )
    out = both / "out"
    outcome = fluid(
        *FROM_SOURCE, "--uri", both / "crm.db", "--uri", f"stock={postgres.uri}",
        "--technique", "dv2", "-o", out,
    )  # fmt: skip
    assert outcome.code == 0, outcome.err + outcome.out
    assert "--uri 'stock=postgresql://postgres@" in outcome.out
    parents = {s["name"]: s["parent"] for s in vault_of(out)["satellites"]}
    assert parents["sat_items_stock"] == parents["sat_products_crm"] == "hub_products"
    proven = fluid("verify", out, "--uri", f"stock={postgres.uri}", "--dbt", "--trust")
    assert proven.code == 0, proven.out + proven.err
