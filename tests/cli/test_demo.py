"""``fluid demo``: the road from nothing to a contract, on a database of its own."""

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from fluid_build.cli.interrupts import Interrupts
from fluid_build.cli.main import run
from fluid_build.pipeline.evaluation.truth import shop_truth
from tests.cli.running import Fluid, Outcome
from tests.folders import artifacts_of

TRUE_KEYS = {name: list(table.primary_key or ()) for name, table in shop_truth().tables.items()}
TRUE_RELATIONSHIPS = {
    f"{key.from_table}.{key.from_columns[0]}": f"{key.to_table}.{key.to_columns[0]}"
    for key in shop_truth().foreign_keys
}
"""What the generator means, and never writes down in the database."""


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Outcome, Path]:
    """One run of the demo: what it said, and where."""
    folder = tmp_path_factory.mktemp("demo") / "shop"
    capture = pytest.MonkeyPatch()
    out = folder.parent / "stdout"
    with capture.context() as patch, out.open("w") as stdout:
        patch.setattr("sys.stdout", stdout)
        patch.setenv("FLUID_HOME", str(folder.parent / "home"))
        code = run(["demo", "-o", str(folder)], Interrupts())
    return Outcome(code, out.read_text(), ""), folder


def profile_of(folder: Path) -> dict[str, list[dict[str, object]]]:
    profile: dict[str, list[dict[str, object]]] = json.loads((folder / "profile.json").read_text())
    return profile


def test_the_demo_does_all_that_it_promises(demo: tuple[Outcome, Path]) -> None:
    """Database, profile, model, contract, dbt project and proof, with the exit code for done."""
    outcome, folder = demo
    assert outcome.code == 0
    assert "✓ Proven." in outcome.out
    assert (folder / "dbt" / "dbt_project.yml").is_file()


def test_the_demo_finds_every_key(demo: tuple[Outcome, Path]) -> None:
    """No key is declared, and each table's true one is found, the composite one as well."""
    _, folder = demo
    found = {table["name"]: table["primary_key"] for table in profile_of(folder)["tables"]}
    assert found == TRUE_KEYS


def test_the_demo_finds_every_relationship_and_no_other(
    demo: tuple[Outcome, Path],
) -> None:
    """Unkind names, two roles, a self-reference, orphans: all found, nothing made up."""
    _, folder = demo
    found = {
        f"{key['from_table']}.{key['from_columns'][0]}": f"{key['to_table']}.{key['to_columns'][0]}"
        for key in profile_of(folder)["foreign_keys"]
        if not key["implied"]
    }
    assert found == TRUE_RELATIONSHIPS


def test_the_demo_shows_what_is_dirty_where_the_files_are_and_what_to_type_next(
    demo: tuple[Outcome, Path],
) -> None:
    """A newcomer sees the orphans, the files, and a next command."""
    outcome, folder = demo
    output = " ".join(outcome.out.split())
    assert "3 with orphans" in output
    assert "order_lines.prod_id: 287 of 76,432 rows (0.4%) have no match in products" in output
    assert "customers.registered: Stored as text, but every value is a DATE." in output
    for name in ("MODEL.md", "contract.fluid.yaml", "model.json", "profile.json", "shop.db"):
        assert (folder / name).is_file()
    assert "fluid verify" in output
    assert "Critic" in output


def test_the_demo_is_a_run_like_any_other(
    demo: tuple[Outcome, Path], fluid: Fluid, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`fluid runs` lists it, with its folder."""
    _, folder = demo
    monkeypatch.setenv("FLUID_HOME", str(folder.parent / "home"))
    (run,) = json.loads(fluid("runs", "list", "--json").out)["runs"]
    assert run["state"] == "finished"


def test_the_demo_may_be_run_again(demo: tuple[Outcome, Path], fluid: Fluid) -> None:
    """The second run replaces the files of the first, byte for byte the same."""
    _, folder = demo
    before = artifacts_of(folder)
    assert fluid("demo", "-o", folder).code == 0
    assert artifacts_of(folder) == before


def test_the_demo_gives_the_files_of_a_forge(
    demo: tuple[Outcome, Path], fluid: Fluid, tmp_path: Path
) -> None:
    """Forging the same database by hand changes no byte."""
    _, folder = demo
    again = tmp_path / "shop"
    again.mkdir()
    shutil.copy(folder / "shop.db", again)
    forge = ("forge", "data-model", "from-source", "--uri", again / "shop.db", "-o", again)
    assert fluid(*forge, "--deterministic").code == 0
    assert artifacts_of(again) == artifacts_of(folder)


def test_no_personal_value_is_in_any_file(demo: tuple[Outcome, Path]) -> None:
    """Mail addresses and numbers of people stay in the database."""
    outcome, folder = demo
    with closing(sqlite3.connect(folder / "shop.db")) as database:
        people = database.execute("SELECT email, phone FROM customers LIMIT 200")
        cards = database.execute("SELECT card_number FROM payments WHERE card_number > '' LIMIT 99")
        personal = {value for row in (*people, *cards) for value in row if value}
    for name in ("MODEL.md", "contract.fluid.yaml", "model.json", "profile.json"):
        text = (folder / name).read_text(encoding="utf-8") + outcome.out
        assert not [value for value in personal if value in text]
