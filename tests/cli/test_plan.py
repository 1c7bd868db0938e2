"""``fluid plan``: what an apply would change, on a screen and as a file, with nothing written."""

import json
from pathlib import Path

import pytest

from fluid_build.evolution.locations import warehouse_location
from fluid_build.sources.schemas import DEPLOYMENTS
from tests.cli.running import Fluid, run
from tests.folders import artifacts_of
from tests.forges import forged

SHOP = (
    "CREATE TABLE customer (id INTEGER PRIMARY KEY, code VARCHAR(9), city VARCHAR(20))",
    "CREATE TABLE sale (id INTEGER PRIMARY KEY, customer INTEGER NOT NULL, paid DECIMAL(9, 2))",
    "INSERT INTO customer SELECT i, 'c' || i, 'Town ' || i % 5 FROM generate_series(1, 20) s(i)",
    "INSERT INTO sale SELECT i, 1 + i % 20, i * 1.5 FROM generate_series(1, 60) s(i)",
)
SECOND_DAY = (
    "ALTER TABLE customer ADD COLUMN nick VARCHAR",
    "UPDATE customer SET nick = 'n' || id",
    "ALTER TABLE customer DROP COLUMN city",
    "CREATE TABLE branch (id INTEGER PRIMARY KEY, name VARCHAR)",
    "INSERT INTO branch VALUES (1, 'North'), (2, 'South')",
)
NOTHING = (
    "Nothing to do: the source, the model and the warehouse agree. `fluid apply` only loads rows.\n"
)


@pytest.fixture
def star(tmp_path: Path) -> Path:
    """A star of the shop, which was never applied."""
    run(tmp_path / "shop.duckdb", *SHOP)
    return forged(tmp_path / "shop.duckdb", tmp_path / "model", "dimensional")


def loaded(star: Path) -> None:
    """Make the relations of the star as a load leaves them, without their rows."""
    from fluid_build.verification import read_folder

    location = warehouse_location(star / "dbt")
    statements = [f"CREATE SCHEMA IF NOT EXISTS {location.schema}"]
    for build in read_folder(star).plan.published:
        columns = ", ".join(f"{column.name} {column.type}" for column in build.columns)
        statements.append(f"CREATE TABLE {location.schema}.{build.name} ({columns})")
    run(Path(location.place), *statements)


def test_an_empty_warehouse_gets_everything(fluid: Fluid, star: Path) -> None:
    """There need not be one yet, and none is made."""
    before = artifacts_of(star)
    outcome = fluid("plan", star)
    assert outcome.code == 3, outcome.err
    assert "everything is created: 3 relations · safe" in outcome.out
    assert artifacts_of(star) == before


def test_an_unchanged_folder_has_nothing_to_do(fluid: Fluid, star: Path) -> None:
    """Rows that came in the meantime are no change."""
    loaded(star)
    run(star.parent / "shop.duckdb", "INSERT INTO sale VALUES (61, 1, 9.50)")
    outcome = fluid("plan", star)
    assert (outcome.code, outcome.out) == (0, NOTHING)


@pytest.mark.parametrize("reason", ["", "sat_sale failed in dbt"])
def test_an_apply_that_failed_is_told_until_one_has_gone_through(
    fluid: Fluid, star: Path, reason: str
) -> None:
    """A table of an earlier version has no reason."""
    loaded(star)
    warehouse = star / "dbt" / "shop.duckdb"
    place = f"{warehouse_location(star / 'dbt').schema}.{DEPLOYMENTS}"
    deployment = "1, TIMESTAMP '2024-05-01 00:00:00', TIMESTAMP '2024-05-01 00:00:00', 'failed'"
    run(
        warehouse,
        f"CREATE TABLE {place} (deployment BIGINT, load_date TIMESTAMP, started_at TIMESTAMP,"
        " outcome TEXT, contract_version TEXT, finished_at TIMESTAMP, model_digest TEXT,"
        " source_digest TEXT, relations TEXT, kept TEXT, folder BLOB)",
        f"INSERT INTO {place} (deployment, load_date, started_at, outcome) VALUES ({deployment})",
    )
    if reason:
        run(warehouse, f"ALTER TABLE {place} ADD COLUMN reason TEXT DEFAULT '{reason}'")
    failed = fluid("plan", star)
    assert failed.code == 3, failed.out
    said = "The last deployment, 1 of 2024-05-01 00:00:00, failed"
    assert (f"{said}: {reason}." if reason else f"{said}.") in failed.out
    run(warehouse, f"UPDATE {place} SET outcome = 'undone'")
    assert fluid("plan", star).code == 0


def test_a_changed_source_is_told_in_four_groups_on_one_screen(fluid: Fluid, star: Path) -> None:
    """A column that came, one that went, and a table that came."""
    loaded(star)
    run(star.parent / "shop.duckdb", *SECOND_DAY)
    before = artifacts_of(star)
    outcome = fluid("plan", star)
    assert outcome.code == 3, outcome.err
    assert len(outcome.out.splitlines()) <= 40
    assert (
        "\n".join(outcome.out.splitlines()[1:])
        .strip()
        .startswith(
            "The source  3 changes\n"
            "  branch is a new table with 2 rows · safe\n"
            "  customer no longer has the column city · safe\n"
            "  customer has a new column nick (VARCHAR) · safe\n"
            "\n"
            "The model  4 changes\n"
            "  dim_customer_history gets nick\n"
            "  dim_customer gets nick\n"
            "  dim_branch is new, with branch_key, id, name\n"
            "  customer.city stays in the model and is loaded no more\n"
            "\n"
            "The contract  0.1.0 → 1.0.0\n"
        )
    )
    assert "  add column dim_customer_history.nick (VARCHAR) · safe\n" in outcome.out
    assert "  create dim_branch · safe\n" in outcome.out
    assert artifacts_of(star) == before


def test_a_table_that_lost_its_rows_needs_a_decision(fluid: Fluid, star: Path) -> None:
    """The screen says why, and the exit code tells a script to stop."""
    loaded(star)
    run(star.parent / "shop.duckdb", "DELETE FROM sale WHERE id > 20")
    outcome = fluid("plan", star)
    assert outcome.code == 4, outcome.err
    assert "sale lost 40 of its 60 rows, 67% · needs a decision" in outcome.out
    assert "load stops such a table" in outcome.out
    assert f"apply {star} --allow-loss sale\n" in outcome.out


def test_a_plan_in_a_file_is_refused_once_it_is_outdated(
    fluid: Fluid, star: Path, tmp_path: Path
) -> None:
    """Nothing is applied then, and nothing is written."""
    loaded(star)
    run(star.parent / "shop.duckdb", *SECOND_DAY)
    file = tmp_path / "tonight.json"
    assert fluid("plan", star, "--out", file).code == 3
    assert json.loads(file.read_text())["source"][0]["change"]["kind"] == "table_added"
    run(star.parent / "shop.duckdb", "DROP TABLE branch")
    before = artifacts_of(star)
    outcome = fluid("apply", star, "--plan", file, "--yes", "--json")
    told = json.loads(outcome.out)
    assert (outcome.code, told["error"], told["details"]) == (
        2,
        "PlanOutdatedError",
        ["the source"],
    )
    assert "The plan isn't true any more: the source changed since it was made" in outcome.err
    after = artifacts_of(star)
    assert {name for name in after if after[name] != before.get(name)} == {"dbt/shop.duckdb.lock"}


def test_the_document_has_the_outcome_and_all_entries(fluid: Fluid, star: Path) -> None:
    """For programs."""
    loaded(star)
    document = json.loads(fluid("plan", star, "--json").out)
    assert document["outcome"] == "nothing"
    assert document["warehouse"] == []
    assert document["states"].keys() == {"folder", "source", "warehouse"}


def test_an_undecided_name_stops_an_apply_with_both_answers(fluid: Fluid, star: Path) -> None:
    """Loaded as another column, the two couldn't be joined any more."""
    loaded(star)
    run(star.parent / "shop.duckdb", "ALTER TABLE customer RENAME COLUMN city TO town")
    before = artifacts_of(star)
    outcome = fluid("apply", star, "--yes")
    assert (outcome.code, outcome.out) == (4, "")
    assert "which may be called town" in outcome.err and "nobody has decided" in outcome.err
    answers = [line.strip() for line in outcome.err.splitlines() if "fluid decide" in line]
    assert [answer.partition(" renamed ")[2] for answer in answers] == [
        "customer.city town",
        "--not customer.city town",
    ]
    after = artifacts_of(star)
    assert {name for name in after if after[name] != before.get(name)} == {"dbt/shop.duckdb.lock"}
    told = json.loads(fluid("apply", star, "--yes", "--json").out)
    assert (told["error"], told["exit_code"], len(told["commands"])) == ("UndecidedError", 4, 2)
    assert len(told["details"]) == 1


@pytest.mark.parametrize("answer", [(), ("--not",)])
def test_either_answer_settles_a_name(fluid: Fluid, star: Path, answer: tuple[str, ...]) -> None:
    """The plan asks no more."""
    loaded(star)
    run(star.parent / "shop.duckdb", "ALTER TABLE customer RENAME COLUMN city TO town")
    assert fluid("plan", star).code == 4
    assert fluid("decide", star, "renamed", "customer.city", "town", *answer).code == 0
    outcome = fluid("plan", star)
    assert outcome.code == 3, outcome.out + outcome.err
    said = "no longer has the column city" if answer else "is called town now, as somebody decided"
    assert said in outcome.out


@pytest.mark.parametrize("answer", [(), ("--not",)])
def test_whether_a_column_is_personal_is_asked_until_somebody_says_it(
    fluid: Fluid, star: Path, answer: tuple[str, ...]
) -> None:
    """A forge goes on without the answer, and it's open all the same."""
    loaded(star)
    run(star.parent / "shop.duckdb", "UPDATE customer SET city = 'c' || id || '@example.org'")
    forged(star.parent / "shop.duckdb", star, "dimensional")
    planned = fluid("plan", star)
    assert planned.code == 4, planned.out
    assert "customer.city holds personal data now" in planned.out
    questions = json.loads(fluid("review", star, "--json").out)["questions"]
    assert "Is customer.city personal data?" in [each["question"] for each in questions]
    assert fluid("decide", star, "personal-data", "customer.city", *answer).code == 0
    assert "customer.city holds personal data" not in fluid("plan", star).out
    questions = json.loads(fluid("review", star, "--json").out)["questions"]
    assert "Is customer.city personal data?" not in [each["question"] for each in questions]


def test_the_command_that_a_plan_ends_with_has_its_places(
    fluid: Fluid, star: Path, tmp_path: Path
) -> None:
    """It works as it's printed."""
    source, warehouse = star.parent / "shop.duckdb", tmp_path / "other.duckdb"
    places = ("--uri", source, "--warehouse", warehouse)
    outcome = fluid("plan", star, *places, "--out", tmp_path / "p.json")
    assert outcome.code == 3, outcome.err
    command = outcome.out.splitlines()[-1].strip()
    assert command.endswith(
        f"apply {star} --uri {source} --warehouse {warehouse} --plan {tmp_path / 'p.json'}"
    )


def test_a_flat_model_follows_what_its_source_drops(fluid: Fluid, tmp_path: Path) -> None:
    """It has no history: the plan says what goes, whom that breaks, and the forge does it."""
    run(tmp_path / "shop.duckdb", *SHOP)
    flat = forged(tmp_path / "shop.duckdb", tmp_path / "model")
    loaded(flat)
    run(tmp_path / "shop.duckdb", "ALTER TABLE customer DROP COLUMN city")
    outcome = fluid("plan", flat)
    assert outcome.code == 4, outcome.out + outcome.err
    assert "drop customer.city: its values are only here · destroys something" in outcome.out
    assert "The contract  0.1.0 → 1.0.0" in outcome.out
    assert "column city of customer is removed" in outcome.out
    forged(tmp_path / "shop.duckdb", flat)
    assert "city" not in (flat / "plan.json").read_text()
    assert fluid("verify", flat).code == 0
    run(tmp_path / "shop.duckdb", "ALTER TABLE customer ADD COLUMN town VARCHAR", "DROP TABLE sale")
    forged(tmp_path / "shop.duckdb", flat)
    assert not (flat / "dbt" / "models" / "sale.sql").exists()
    assert fluid("verify", flat).code == 0


def test_a_decision_about_a_folder_with_a_warehouse_is_followed_by_an_apply(
    fluid: Fluid, star: Path
) -> None:
    """Without one, a forge follows it."""
    decide = ("decide", star, "domain", "Sales", "--json")
    assert "forge data-model" in json.loads(fluid(*decide).out)["next"]
    loaded(star)
    assert json.loads(fluid(*decide).out)["next"].endswith(f"apply {star}")
