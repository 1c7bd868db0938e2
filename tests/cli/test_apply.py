"""``fluid apply`` and ``fluid rollback``: a folder is brought to its warehouse, and taken back."""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pytest

from fluid_build.contract.differences.differing import highest_version
from fluid_build.contract.read.files import read_contract
from fluid_build.evolution import applying
from fluid_build.evolution.locations import locked, opened, warehouse_location
from fluid_build.transform.dbt.running import run_dbt
from tests.cli.running import STATEMENTS, Fluid, Outcome, run
from tests.folders import artifacts_of, every_file
from tests.forges import forged
from tests.postgres import PostgresDatabase

CHANGES = (
    "UPDATE customer SET city = 'Bern' WHERE customer_id < 120",
    "DELETE FROM orders WHERE order_id < 5006",
    "INSERT INTO orders SELECT i + 6000, 107, i * 0.5 FROM generate_series(1, 10) s(i)",
)

Rows = Mapping[str, Counter[tuple[str, ...]]]


@dataclass(frozen=True)
class Applying:
    """A forged shop, what changes its source, and what its applies are called with."""

    folder: Path
    change: Callable[[Sequence[str]], None]
    warehouse: str | None
    call: Fluid
    uri: str | None = None

    def apply(self, *arguments: str) -> Outcome:
        source = ("--uri", self.uri) if self.uri else ()
        return self._called("apply", *source, "--yes", *arguments)

    def rollback(self, *arguments: str) -> Outcome:
        return self._called("rollback", *arguments)

    def rows(self) -> Rows:
        """Every row of every table but those of applies."""
        found = {}
        with opened(warehouse_location(self.folder / "dbt", self.warehouse)) as warehouse:
            for name, relation in warehouse.relations().items():
                if not relation.is_view and not name.startswith(("fluid_", "stg_")):
                    rows = warehouse.query(f"SELECT * FROM {warehouse.named(name)}")
                    found[name] = Counter(tuple(map(repr, row)) for row in rows)
        return found

    def query(self, sql: str) -> list[tuple[object, ...]]:
        """Run a statement in the warehouse; ``{}`` stands for its schema."""
        with opened(warehouse_location(self.folder / "dbt", self.warehouse)) as warehouse:
            return [tuple(row) for row in warehouse.query(sql.format(warehouse.schema))]

    def _called(self, command: str, *arguments: str) -> Outcome:
        place = ("--warehouse", self.warehouse) if self.warehouse else ()
        return self.call(command, self.folder, *place, *arguments)


def contract_version(folder: Path) -> str:
    """The version of what a folder's contract exposes."""
    return highest_version(read_contract(folder / "contract.fluid.yaml"))


def duckdb_shop(
    fluid: Fluid, place: Path, technique: str, tables: Sequence[str] = STATEMENTS
) -> Applying:
    """A shop in a DuckDB file, whose warehouse is another one."""
    source = place / "shop.duckdb"
    run(source, *tables)
    folder = forged(source, place / "model", technique)
    return Applying(folder, lambda changes: run(source, *changes), None, fluid)


def postgres_shop(
    fluid: Fluid,
    database: PostgresDatabase,
    place: Path,
    technique: str,
    tables: Sequence[str] = STATEMENTS,
) -> Applying:
    """A shop and its warehouse in one database."""
    from fluid_build.forging import forge
    from fluid_build.sources import open_source

    database.run(";".join(tables))
    with open_source(database.uri) as source:
        forge(source, technique=technique, target="postgres", out=place / "model")
    uri = database.uri
    return Applying(place / "model", lambda c: _ran(database, c), uri, fluid, uri)


def product(folder: Path) -> Mapping[str, bytes]:
    """The files of a product without its warehouse."""
    files = artifacts_of(folder)
    return {name: files[name] for name in files if not name.endswith((".duckdb", ".lock"))}


def _ran(database: PostgresDatabase, changes: Sequence[str]) -> None:
    database.run(";".join(changes))


MadeOf = Callable[[Sequence[str]], Applying]


@pytest.fixture(params=["duckdb", "postgres"])
def vault_of(request: pytest.FixtureRequest, fluid: Fluid, tmp_path: Path, dbt: None) -> MadeOf:
    """Makes a vault of tables on each engine, not applied yet."""
    if request.param == "duckdb":
        return lambda tables: duckdb_shop(fluid, tmp_path, "data_vault_2", tables)
    database = request.getfixturevalue("postgres")
    return lambda tables: postgres_shop(fluid, database, tmp_path, "data_vault_2", tables)


@pytest.fixture
def vault(vault_of: MadeOf) -> Applying:
    """A vault on each engine, not applied yet."""
    return vault_of(STATEMENTS)


SALES = (
    *STATEMENTS,
    "CREATE TABLE product (product_id INTEGER, name VARCHAR(40), price DECIMAL(8,2))",
    "CREATE TABLE sale (sale_id INTEGER, customer_id INTEGER, product_id INTEGER,"
    " sold_at TIMESTAMP, amount DECIMAL(8,2))",
    "INSERT INTO product SELECT i * 3 + 900, 'thing ' || i, i * 0.25"
    " FROM generate_series(1, 20) s(i)",
    "INSERT INTO sale SELECT i + 7000, i % 40 * 7 + 100, i % 20 * 3 + 903,"
    " TIMESTAMP '2024-01-01' + i * INTERVAL '1 hour', i * 0.5 FROM generate_series(1, 200) s(i)",
)
"""Sales of a product to a customer, which are a link in a vault."""


def test_a_business_key_that_is_missing_for_the_first_time_is_loaded_the_same_night(
    vault_of: MadeOf,
) -> None:
    """The model follows: the reference may be missing from now on, and leads to the zero key."""
    vault = vault_of(SALES)
    assert (first := vault.apply()).code == 0, first.err
    vault.change(["INSERT INTO sale VALUES (7901, NULL, 906, TIMESTAMP '2024-05-01 00:00:00', 1)"])
    planned = vault.call("plan", vault.folder)
    second = vault.apply()
    assert second.code == 0, (second.out, second.err, planned.out)
    assert vault.query(
        "SELECT c.customer_id, p.product_id FROM {0}.tl_sale AS l"
        " JOIN {0}.hub_customer AS c USING (customer_hk)"
        " JOIN {0}.hub_product AS p USING (product_hk) WHERE l.sale_id = 7901"
    ) == [(None, 906)]
    third = vault.apply()
    assert third.code == 0, (third.out, third.err)


def test_applies_keep_every_version_and_a_rollback_takes_them_out_again(vault: Applying) -> None:
    """The first makes the warehouse, the second adds, and back is what the first left, by byte."""
    first = vault.apply()
    assert first.code == 0, first.err
    assert "✓ Applied." in first.out
    assert "Kept:" not in first.out and "What changed" not in first.out
    rows, files = vault.rows(), product(vault.folder)
    assert vault.query("SELECT count(*) FROM {}.hub_customer")[0][0] in (40, 41)
    vault.change(CHANGES)
    second = json.loads(vault.apply("--json").out)
    assert second["holds"], second
    assert (second["deployment"], second["continued"]) == (2, None)
    assert second["rows_kept"] >= sum(map(Counter.total, rows.values())) - len(rows)
    loaded = vault.rows()
    assert all(not rows[name] - loaded[name] for name in rows)
    assert sum(map(Counter.total, loaded.values())) > sum(map(Counter.total, rows.values()))

    asked = vault.rollback("--to", "1")
    assert (asked.code, "--yes" in asked.err) == (2, True)
    assert vault.rows() == loaded
    back = vault.rollback("--to", "1", "--yes")
    assert back.code == 0, back.err
    assert "hub_orders: 10 rows" in back.out
    assert (vault.rows(), product(vault.folder)) == (rows, files)
    listed = json.loads(vault.rollback("--list", "--json").out)["deployments"]
    assert [each["outcome"] for each in listed] == ["done", "undone"]
    assert json.loads(vault.apply("--json").out)["deployment"] == 3
    assert {name: found.total() for name, found in vault.rows().items()} == {
        name: found.total() for name, found in loaded.items()
    }


@pytest.mark.usefixtures("dbt")
@pytest.mark.parametrize(
    ("technique", "relation"), [("data_vault_2", "sat_orders"), ("dimensional", "fct_orders")]
)
def test_numbers_that_become_words_are_loaded_where_they_were(
    fluid: Fluid, tmp_path: Path, technique: str, relation: str
) -> None:
    shop = duckdb_shop(fluid, tmp_path, technique)
    assert shop.apply().code == 0
    before = set(shop.rows())
    shop.change(
        (
            "ALTER TABLE orders ALTER COLUMN total TYPE VARCHAR USING total || ' EUR'",
            "ALTER TABLE customer ALTER COLUMN customer_id TYPE VARCHAR",
        )
    )
    done = shop.apply()
    assert done.code == 0, done.err
    assert set(shop.rows()) == before
    words = shop.query(f"SELECT DISTINCT total FROM {{}}.{relation} WHERE total LIKE '% EUR'")
    assert len(words) == 17


@pytest.mark.usefixtures("dbt")
def test_what_a_star_makes_anew_stays_until_the_next_apply(fluid: Fluid, tmp_path: Path) -> None:
    star = duckdb_shop(fluid, tmp_path, "dimensional")
    assert star.apply().code == 0
    history = star.rows()["dim_customer_history"]
    star.change(CHANGES)
    assert star.apply().code == 0
    loaded = star.rows()
    assert not history - loaded["dim_customer_history"]
    back = star.rollback("--yes")
    assert (back.code, "fct_orders" in back.out) == (0, True), back.err
    assert star.rows()["dim_customer_history"] == history
    assert star.rows()["fct_orders"] == loaded["fct_orders"]
    assert star.apply().code == 0


@pytest.mark.usefixtures("dbt")
def test_a_rollback_promises_no_rows_of_what_the_source_has_no_more(
    fluid: Fluid, tmp_path: Path
) -> None:
    """A fact of a dropped table stays as it is: no apply makes it anew."""
    star = duckdb_shop(fluid, tmp_path, "dimensional")
    assert star.apply().code == 0
    star.change(("DROP TABLE orders",))
    assert star.apply().code == 0
    star.change(("UPDATE customer SET email = 'new' WHERE customer_id = 3",))
    assert star.apply().code == 0
    rows = star.rows()["fct_orders"]
    back = star.rollback("--yes")
    assert (back.code, "fct_orders" in back.out) == (0, False), back.out
    assert star.rows()["fct_orders"] == rows


@pytest.mark.usefixtures("dbt")
def test_a_lost_version_is_red_until_it_is_accepted(
    fluid: Fluid, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was there before the first failed apply is asked for, not what it left."""
    vault = duckdb_shop(fluid, tmp_path, "data_vault_2")
    assert vault.apply().code == 0

    def careless(*arguments: object, **options: object) -> object:
        result = run_dbt(*arguments, **options)  # type: ignore[arg-type]
        vault.query("DELETE FROM {}.sat_customer WHERE city = 'Town 3'")
        return result

    with monkeypatch.context() as patch:
        patch.setattr(applying, "run_dbt", careless)
        lost = vault.apply()
    assert lost.code == 1
    assert "sat_customer: 40 rows before, 32 now" in lost.err
    again = vault.apply("--json")
    told = json.loads(again.out)
    assert (again.code, told["exit_code"], told["error"]) == (1, 1, "VersionsLostError")
    assert told["details"] == ["sat_customer: 40 rows before, 32 now"]
    listed = json.loads(vault.rollback("--list", "--json").out)["deployments"]
    assert [each["outcome"] for each in listed] == ["done", "failed", "failed"]
    assert vault.apply("--accept-lost").code == 0


@pytest.mark.usefixtures("dbt")
def test_a_failed_load_says_what_is_done_and_the_next_apply_goes_on(
    fluid: Fluid, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault = duckdb_shop(fluid, tmp_path, "data_vault_2")
    satellite = vault.folder / "dbt" / "models" / "raw_vault" / "sat_orders.sql"

    def faulty(*arguments: object, **options: object) -> object:
        satellite.write_text(satellite.read_text() + "\nnot sql")
        return run_dbt(*arguments, **options)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(applying, "run_dbt", faulty)
        failed = vault.apply()
    assert failed.code == 1
    assert "Done: the folder was forged again and the warehouse was migrated." in failed.out
    assert "Not done: loading it with dbt" in failed.out
    assert "✓" not in failed.out
    planned = fluid("plan", vault.folder)
    assert planned.code == 3, planned.out
    assert "The last deployment, 1 of " in planned.out
    assert "failed: sat_orders failed in dbt." in " ".join(planned.out.split())
    satellite.unlink()
    continued = json.loads(vault.apply("--json").out)
    assert (continued["holds"], continued["continued"]) == (True, 1)
    assert fluid("plan", vault.folder).code == 0


@pytest.mark.usefixtures("dbt")
def test_a_night_that_was_cut_off_may_be_repeated_with_its_date(
    fluid: Fluid, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault = duckdb_shop(fluid, tmp_path, "data_vault_2")

    def cut_off(*_arguments: object, **_options: object) -> object:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(applying, "run_dbt", cut_off)
        assert vault.apply("--load-date", "2024-05-02").code != 0
    assert vault.apply("--load-date", "2024-05-02").code == 0
    assert vault.apply("--load-date", "2024-05-02").code == 2


@pytest.mark.usefixtures("dbt")
def test_an_empty_delivery_is_stopped_unless_it_is_said_that_the_rows_are_gone(
    fluid: Fluid, tmp_path: Path
) -> None:
    vault = duckdb_shop(fluid, tmp_path, "data_vault_2")
    assert vault.apply().code == 0
    gone = "SELECT count(*) FROM {}.sat_orders WHERE is_deleted AND record_source <> 'ghost record'"
    contract = contract_version(vault.folder)
    vault.change(["DELETE FROM orders WHERE order_id < 5090"])
    stopped = vault.apply()
    assert stopped.code == 1
    said = " ".join(stopped.out.split())
    assert "The delivery of orders lacks 90 of the 120 keys that sat_orders holds" in said
    assert "in macro" not in said and said.count("The delivery of orders") == 1
    assert said.count("Error in model") == 0 and "--allow-loss orders" in said
    assert "Loaded: " in said and "all that isn't named below has today's rows" in said
    assert "Not loaded: orders, with " in said and "Not done" not in said
    assert "allow_loss" not in said
    assert contract_version(vault.folder) == contract
    assert vault.query(gone) == [(0,)]
    assert vault.apply("--allow-loss", "orders").code == 0
    assert vault.query(gone) == [(90,)]


@pytest.mark.usefixtures("dbt")
def test_a_stopped_table_leaves_no_other_table_without_its_hub(
    fluid: Fluid, tmp_path: Path
) -> None:
    """A customer who comes while orders are stopped, and is gone on the next day, has a hub row."""
    vault = duckdb_shop(fluid, tmp_path, "data_vault_2")
    assert vault.apply().code == 0
    vault.change(
        (
            "CREATE TABLE put_aside AS SELECT * FROM orders WHERE order_id < 5090",
            "DELETE FROM orders WHERE order_id < 5090",
            "INSERT INTO customer VALUES (999, 'guest@example.org', 'Bern')",
        )
    )
    stopped = json.loads(vault.apply("--json").out)
    assert not stopped["holds"]
    assert [node["name"] for node in stopped["dbt"]["failed"]] == ["stg_orders"]
    assert "hub_customer" not in stopped["dbt"]["skipped"]
    assert "hub_orders" in stopped["dbt"]["skipped"]
    orphans = (
        "SELECT count(*) FROM {0}.sat_customer AS s"
        " WHERE s.customer_hk NOT IN (SELECT customer_hk FROM {0}.hub_customer)"
    )
    assert vault.query(orphans) == [(0,)]
    vault.change(
        (
            "INSERT INTO orders SELECT * FROM put_aside",
            "DROP TABLE put_aside",
            "DELETE FROM customer WHERE customer_id = 999",
        )
    )
    again = vault.apply()
    assert again.code == 0, again.out + again.err
    assert vault.query(orphans) == [(0,)]


EVENTS = (
    "CREATE TABLE customer (customer_id INTEGER PRIMARY KEY, city VARCHAR, balance DECIMAL(8,2))",
    "INSERT INTO customer SELECT i + 100, 'Town ' || i % 3, (i * 37 % 100) / 4"
    " FROM generate_series(1, 40) s(i)",
    "CREATE TABLE sale (sale_id INTEGER PRIMARY KEY, customer_id INTEGER, sold_at TIMESTAMP,"
    " amount DECIMAL(8,2))",
    "INSERT INTO sale SELECT i + 5000, 101 + i % 40,"
    " TIMESTAMP '2024-01-01 08:00:00' + i * INTERVAL 5 HOUR, (i * 53 % 1000) / 10"
    " FROM generate_series(1, 300) s(i)",
    "CREATE TABLE visit (visit_id INTEGER PRIMARY KEY, visited_at TIMESTAMP, minutes INTEGER)",
    "INSERT INTO visit SELECT i + 8000,"
    " TIMESTAMP '2024-02-01 08:00:00' + i * INTERVAL 7 HOUR, 3 + i * 7 % 50"
    " FROM generate_series(1, 300) s(i)",
)
"""A star with two facts, and a snapshot of the dimension that one of them refers to."""


@pytest.mark.usefixtures("dbt")
@pytest.mark.parametrize(
    ("held", "unloaded"),
    [
        (
            "customer",
            {"fct_customer_snapshot", "fct_sale", "dim_customer", "dim_customer_history"},
        ),
        ("sale", {"fct_sale"}),
    ],
)
def test_a_stopped_table_stops_only_what_reads_it_in_a_star(
    fluid: Fluid, tmp_path: Path, held: str, unloaded: set[str]
) -> None:
    """The calendar has the days of the other tables, and those that it had of the stopped one."""
    star = duckdb_shop(fluid, tmp_path, "dimensional", EVENTS)
    assert star.apply("--load-date", "2024-06-01").code == 0
    sales = "SELECT * FROM {}.fct_sale ORDER BY sale_id"
    before = star.query(sales)
    star.change(
        (
            f"CREATE TABLE put_aside AS FROM {held}",
            f"DELETE FROM {held}",
            "INSERT INTO visit VALUES (9001, TIMESTAMP '2031-05-06 10:00:00', 12)",
        )
    )
    stopped = star.apply("--load-date", "2025-06-01")
    assert stopped.code == 1
    said = " ".join(stopped.out.split("Not loaded: ")[1].split("Why")[0].split())
    assert {*said.replace(",", " ").replace(" and ", " ").split()} == {held, "with", *unloaded}
    days = (
        "SELECT d.full_date::TEXT FROM {0}.fct_{1} AS f"
        " JOIN {0}.dim_date AS d ON d.date_key = f.{2} WHERE {3}"
    )
    visited = days.format("{0}", "visit", "visited_date_key", "f.visit_id = 9001")
    assert star.query(visited) == [("2031-05-06",)]
    assert star.query(sales) == before
    sold = days.format("{0}", "sale", "sold_date_key", "TRUE")
    assert len(star.query(sold)) == len(before)
    star.change((f"INSERT INTO {held} FROM put_aside", "DROP TABLE put_aside"))
    again = star.apply("--load-date", "2025-06-02")
    assert again.code == 0, again.out + again.err


@pytest.mark.usefixtures("dbt")
def test_a_member_whose_key_repeats_is_missing_in_the_snapshot_of_that_day(
    fluid: Fluid, tmp_path: Path
) -> None:
    """The dimension has it as it was."""
    tables = [each.replace(" PRIMARY KEY", "") for each in EVENTS]
    star = duckdb_shop(fluid, tmp_path, "dimensional", tables)
    assert star.apply("--load-date", "2024-06-01").code == 0
    star.change(("INSERT INTO customer VALUES (101, 'Town 9', 3.5)",))
    second = star.apply("--load-date", "2024-06-02")
    assert second.code == 0, second.out
    days = "SELECT count(*) FROM {}.fct_customer_snapshot GROUP BY snapshot_date ORDER BY 1"
    assert star.query(days) == [(39,), (40,)]


@pytest.mark.usefixtures("dbt")
def test_an_apply_says_what_changed_in_the_model_and_the_warehouse(
    fluid: Fluid, tmp_path: Path
) -> None:
    vault = duckdb_shop(fluid, tmp_path, "data_vault_2")
    assert vault.apply().code == 0
    vault.change(("ALTER TABLE customer ADD COLUMN segment INTEGER DEFAULT 3",))
    planned = json.loads(fluid("plan", vault.folder, "--json").out)["contract"]
    second = vault.apply()
    assert second.code == 0, second.err
    changed = second.out.split("What changed")[1].split("Loaded:")[0]
    assert "sat_customer_2 is new, with customer_hk, segment" in changed
    assert "new satellite sat_customer_2" in changed
    versions = vault.query("SELECT contract_version FROM {}.fluid_deployments ORDER BY deployment")
    assert versions == [("0.1.0",), ("0.2.0",)]
    assert (planned["version"], planned["next_version"]) == ("0.1.0", "0.2.0")
    assert "Kept: all of the" in second.out


@pytest.mark.usefixtures("dbt")
def test_an_apply_says_what_somebody_should_look_at_in_the_source(
    fluid: Fluid, tmp_path: Path
) -> None:
    """It goes on, and the next plan has no word of it."""
    star = duckdb_shop(fluid, tmp_path, "dimensional")
    assert star.apply().code == 0
    star.change(("UPDATE customer SET city = NULL",))
    (nulls,) = json.loads(fluid("plan", star.folder, "--json").out)["source"]
    second = star.apply()
    assert second.code == 0, second.out
    assert nulls["mark"] == "needs_decision"
    assert nulls["change"]["sentence"] in " ".join(second.out.split("What changed")[1].split())


@pytest.mark.usefixtures("dbt")
@pytest.mark.parametrize("technique", ["data_vault_2", "dimensional"])
def test_only_what_a_change_touches_is_built_and_no_more_is_claimed(
    fluid: Fluid, tmp_path: Path, technique: str
) -> None:
    """A table that the change doesn't touch keeps its rows of before, and is named where it's
    behind; the next apply loads everything.
    """
    shop = duckdb_shop(fluid, tmp_path, technique)
    first = shop.apply()
    assert first.code == 0, first.err
    everything = json.loads(shop.apply("--json").out)
    unchanged = shop.apply("--json", "--build", "changed")
    assert unchanged.code == 0, unchanged.err
    nothing = json.loads(unchanged.out)
    assert (nothing["holds"], nothing["dbt"]["built"]) == (True, 0), nothing

    members = "sat_customer" if technique == "data_vault_2" else "dim_customer"
    before = shop.rows()[members]
    shop.change(
        (
            "ALTER TABLE orders ADD COLUMN weight INTEGER",
            "UPDATE orders SET weight = order_id % 50",
            "INSERT INTO customer VALUES (999, 'late@example.org', 'Bern')",
        )
    )
    shown = shop.apply("--build", "changed")
    assert shown.code == 0, shown.out + shown.err
    assert "1 table with other rows by now: customer" in " ".join(shown.out.split())
    assert "The warehouse is as the source is" not in shown.out
    assert shop.rows()[members] == before
    relation = "sat_orders_2" if technique == "data_vault_2" else "fct_orders"
    assert shop.query(f"SELECT count(weight) FROM {{}}.{relation}") == [(120,)]

    later = json.loads(shop.apply("--json").out)
    assert (later["holds"], later["behind"]) == (True, [])
    assert later["dbt"]["built"] >= everything["dbt"]["built"]
    assert shop.rows()[members] != before


def test_nothing_is_changed_unasked(fluid: Fluid, tmp_path: Path) -> None:
    """The code of the folder runs, so its user says so first; the command to paste has --yes."""
    vault = duckdb_shop(fluid, tmp_path, "data_vault_2")
    files = every_file(tmp_path)
    outcome = fluid("apply", vault.folder)
    assert outcome.code == 2
    assert outcome.err.rstrip().endswith("--yes")
    assert every_file(tmp_path) == files


@pytest.mark.parametrize("arguments", [("--list",), ("--to", "1")])
def test_a_folder_does_not_choose_the_server_that_a_rollback_asks(
    fluid: Fluid, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    """Libpq would send it the user's password."""
    vault = duckdb_shop(fluid, tmp_path, "flat")
    profile = "{type: postgres, host: evil.example, user: ada, dbname: shop, schema: shop}"
    (vault.folder / "dbt" / "profiles.yml").write_text(
        f"shop: {{target: dev, outputs: {{dev: {profile}}}}}"
    )
    outcome = vault.rollback(*arguments)
    assert (outcome.code, "may only choose files" in outcome.err) == (2, True)
    assert "--warehouse 'postgresql://ada@/shop?host=evil.example'" in outcome.err


def test_one_works_at_a_time(fluid: Fluid, tmp_path: Path) -> None:
    vault = duckdb_shop(fluid, tmp_path, "data_vault_2")
    with locked(warehouse_location(vault.folder / "dbt")):
        outcome = vault.apply()
    assert (outcome.code, "at work" in outcome.err) == (2, True)


@pytest.mark.parametrize("date", ["yesterday", "2026-13-01", "2026-01-01T00:00:00+02:00", ""])
def test_a_load_date_is_a_moment_in_utc(fluid: Fluid, tmp_path: Path, date: str) -> None:
    vault = duckdb_shop(fluid, tmp_path, "flat")
    outcome = vault.apply("--load-date", date)
    assert (outcome.code, "isn't a moment in UTC" in outcome.err) == (2, True)


def test_there_is_nothing_to_go_back_to_without_a_warehouse(fluid: Fluid, tmp_path: Path) -> None:
    vault = duckdb_shop(fluid, tmp_path, "data_vault_2")
    outcome = vault.rollback("--list")
    assert (outcome.code, "doesn't exist" in outcome.err) == (2, True)
    with duckdb.connect(str(vault.folder / "dbt" / "shop.duckdb")):
        pass
    assert "Nothing was applied" in vault.rollback("--list").out
    assert "no earlier deployment" in vault.rollback("--yes").err


@pytest.mark.usefixtures("dbt")
def test_an_earlier_load_date_than_the_last_is_refused(fluid: Fluid, tmp_path: Path) -> None:
    vault = duckdb_shop(fluid, tmp_path, "data_vault_2")
    assert vault.apply("--load-date", "2024-05-02").code == 0
    assert vault.query("SELECT max(load_date)::DATE::TEXT FROM {}.hub_orders") == [("2024-05-02",)]
    outcome = vault.apply("--load-date", "2024-05-02")
    assert (outcome.code, "isn't after 2024-05-02" in outcome.err) == (2, True)


@pytest.mark.slow
@pytest.mark.usefixtures("dbt")
def test_a_link_that_loses_a_reference_goes_on_in_a_further_one(
    fluid: Fluid, tmp_path: Path
) -> None:
    """The plan says so, the night is green, the next are quiet, and a rollback takes it out."""
    vault = duckdb_shop(fluid, tmp_path, "data_vault_2", SALES)
    assert (first := vault.apply()).code == 0, first.err
    (was,) = vault.query("SELECT count(*) FROM {}.tl_sale")
    vault.change(["ALTER TABLE sale DROP COLUMN product_id"])
    planned = vault.call("plan", vault.folder)
    assert "tl_sale stays and is loaded no more" in planned.out
    assert "goes on from tl_sale" in " ".join(planned.out.split())
    assert (second := vault.apply()).code == 0, (second.out, second.err)
    assert vault.query("SELECT count(*) FROM {}.tl_sale") == [was]
    assert vault.query(
        "SELECT count(*) FROM {0}.tl_sale_2 AS l JOIN {0}.hub_customer USING (customer_hk)"
        " JOIN {0}.sat_sale_2 USING (sale_lk_2)"
    ) == [was]
    assert vault.call("plan", vault.folder).code == 0
    assert (back := vault.rollback("--to", "1", "--yes")).code == 0, back.err
    assert "tl_sale_2" in back.out


@pytest.mark.slow
@pytest.mark.usefixtures("dbt")
def test_a_version_that_a_rollback_took_back_is_not_given_again(
    fluid: Fluid, tmp_path: Path
) -> None:
    """Readers have seen it, with what the contract said then."""
    shop = duckdb_shop(fluid, tmp_path, "data_vault_2")
    assert (first := shop.apply()).code == 0, first.err
    version = contract_version(shop.folder)
    shop.change(["ALTER TABLE customer ADD COLUMN segment VARCHAR"])
    assert shop.apply().code == 0
    published = contract_version(shop.folder)
    assert shop.rollback("--to", "1", "--yes").code == 0
    assert contract_version(shop.folder) == version != published
    planned = json.loads(shop.call("plan", shop.folder, "--json").out)["contract"]
    assert shop.apply().code == 0
    assert planned["next_version"] == contract_version(shop.folder)
    assert contract_version(shop.folder) not in {version, published}


@pytest.mark.slow
@pytest.mark.usefixtures("dbt")
def test_a_fact_that_remembers_gets_a_reference_and_a_column_in_one_night(
    fluid: Fluid, tmp_path: Path
) -> None:
    """DuckDB alters no table that the same transaction has written to."""
    star = duckdb_shop(fluid, tmp_path, "dimensional", SALES)
    assert (first := star.apply()).code == 0, first.err
    star.change(["ALTER TABLE sale DROP COLUMN amount"])
    assert (second := star.apply()).code == 0, second.err
    star.change(
        [
            "CREATE TABLE region (region_id INTEGER, name VARCHAR)",
            "INSERT INTO region SELECT i + 40, 'Region ' || i FROM generate_series(1, 30) s(i)",
            "ALTER TABLE sale ADD COLUMN region_id INTEGER",
            "ALTER TABLE sale ADD COLUMN on_paper BOOLEAN",
            "UPDATE sale SET region_id = 41 + sale_id % 30, on_paper = sale_id % 2 = 0",
        ]
    )
    assert (third := star.apply()).code == 0, third.err
    assert star.query(
        "SELECT count(name), count(on_paper), count(amount)"
        " FROM {0}.fct_sale JOIN {0}.dim_region USING (region_key)"
    ) == [(200, 200, 200)]
