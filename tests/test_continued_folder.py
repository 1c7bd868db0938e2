"""A forge into a folder that has a model continues it, by what its design.json says."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import fluid_build
from fluid_build.errors import FluidError, SourceUnreadableError, UsageError
from fluid_build.modeling.evolution import Evolution
from tests.modeling.evolved import SHOP, run

MANY_REGIONS = ("INSERT INTO regions SELECT 'R' || i, 'Region ' || i FROM range(3000) t(i)",)


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    database = tmp_path / "shop.duckdb"
    run(database, SHOP)
    return database


def contents(folder: Path) -> dict[str, bytes]:
    """The files of a folder but for its page, which shows times."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != "report.html"
    }


def test_an_unchanged_source_leaves_every_byte(shop: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    fluid_build.forge(str(shop), technique="dv2", out=out)
    first = contents(out)
    fluid_build.forge(str(shop), technique="dv2", out=out)
    assert contents(out) == first


def test_the_next_forge_after_a_change_leaves_every_byte(shop: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    fluid_build.forge(str(shop), technique="dimensional", out=out)
    run(shop, ["ALTER TABLE customers ADD COLUMN segment VARCHAR", *MANY_REGIONS])
    changed = fluid_build.forge(str(shop), technique="dimensional", out=out)
    assert changed.proof.verdict == "proven"
    first = contents(out)
    fluid_build.forge(str(shop), technique="dimensional", out=out)
    assert contents(out) == first


def test_an_element_is_designed_anew_where_that_is_asked_for(shop: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    fluid_build.forge(str(shop), technique="dv2", out=out)
    run(shop, MANY_REGIONS)
    kept = fluid_build.forge(str(shop), technique="dv2", out=out)
    assert "ref_regions" in {build.name for build in kept.plan.builds}
    assert any("--redesign regions" in note for note in kept.notes)
    anew = fluid_build.forge(str(shop), technique="dv2", out=out, redesign=["ref_regions"])
    names = {build.name for build in anew.plan.builds}
    assert "hub_regions" in names
    assert "ref_regions" not in names
    assert anew.model.evolution == Evolution(redesigned_tables=("regions",))


def test_a_dimension_without_versions_isn_t_designed_anew_with_them(tmp_path: Path) -> None:
    """Its members would have other keys than those that the warehouse holds."""
    database, out = tmp_path / "tools.duckdb", tmp_path / "out"
    tools = "SELECT i + 10 AS tool_id, 'Tool ' || i AS name, 'Maker ' || i % 4 AS maker,"
    run(
        database,
        [*SHOP, f"CREATE TABLE tool AS {tools} 'Shelf ' || i % 9 AS shelf FROM range(60) t(i)"],
    )
    fluid_build.forge(str(database), technique="dimensional", out=out)
    loans = "SELECT i AS loan_id, i % 60 + 10 AS tool_id, DATE '2024-01-01' + i::INT AS lent_on"
    run(database, [f"CREATE TABLE loan AS {loans}, i * 0.5 AS fee FROM range(400) t(i)"])
    kept = fluid_build.forge(str(database), technique="dimensional", out=out)
    assert kept.model.dimensional is not None
    assert kept.model.dimensional.dimension("dim_tool").history == ""
    with pytest.raises(UsageError, match="dim_tool would have other rows"):
        fluid_build.forge(str(database), technique="dimensional", out=out, redesign=["tool"])


def test_a_table_that_changed_since_it_was_loaded_isn_t_designed_anew(
    shop: Path, tmp_path: Path
) -> None:
    """Its rows were hashed with other columns, so that each would seem to have changed."""
    out = tmp_path / "out"
    fluid_build.forge(str(shop), technique="dimensional", out=out)
    run(shop, ["ALTER TABLE customers ADD COLUMN segment VARCHAR"])
    fluid_build.forge(str(shop), technique="dimensional", out=out)
    before = contents(out)
    with pytest.raises(UsageError, match="changed customers since it was first loaded"):
        fluid_build.forge(str(shop), technique="dimensional", out=out, redesign=["dim_customers"])
    assert contents(out) == before


def test_everything_is_designed_anew_where_that_is_asked_for(shop: Path, tmp_path: Path) -> None:
    out, fresh = tmp_path / "out", tmp_path / "fresh"
    fluid_build.forge(str(shop), technique="dv2", out=out)
    run(shop, [*MANY_REGIONS, "ALTER TABLE customers ADD COLUMN segment VARCHAR"])
    fluid_build.forge(str(shop), technique="dv2", out=out, redesign=["all"])
    fluid_build.forge(str(shop), technique="dv2", out=fresh)
    versioned = {"contract.fluid.yaml", "dbt/.generated.json", "forge.json"}
    anew, first = contents(out), contents(fresh)
    # Readers of the folder's contract see a new version of it, whatever it was made of.
    assert {name for name in anew if anew[name] != first.get(name)} == versioned
    assert anew.keys() == first.keys()


@pytest.mark.parametrize("technique", ["flat", "dv2", "dimensional"])
def test_a_column_that_has_another_name_now_keeps_its_own(
    shop: Path, tmp_path: Path, technique: str
) -> None:
    out = tmp_path / "out"
    first = fluid_build.forge(str(shop), technique=technique, out=out)
    run(shop, ["ALTER TABLE customers RENAME COLUMN company TO company_name"])
    renamed = {
        "decision": "renamed",
        "table": "customers",
        "column": "company_name",
        "was": "company",
    }
    later = fluid_build.forge(str(shop), technique=technique, out=out, decisions=[renamed])
    assert later.proof.verdict == "proven"
    columns = {build.name: [c.name for c in build.columns] for build in first.plan.published}
    assert columns == {
        build.name: [c.name for c in build.columns] for build in later.plan.published
    }


def test_what_refers_to_a_table_that_is_gone_is_built(shop: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    fluid_build.forge(str(shop), technique="dimensional", out=out)
    run(shop, ["DROP TABLE products"])
    later = fluid_build.forge(str(shop), technique="dimensional", out=out)
    assert later.proof.verdict == "proven"
    assert "dim_products" in {build.name for build in later.plan.published}


def test_an_unknown_element_is_refused(shop: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    fluid_build.forge(str(shop), technique="dv2", out=out)
    with pytest.raises(UsageError, match="hub_custmers"):
        fluid_build.forge(str(shop), technique="dv2", out=out, redesign=["hub_custmers"])


def test_values_that_a_person_calls_personal_leave_the_design(shop: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    fluid_build.forge(str(shop), out=out)
    assert '"sent"' in (out / "design.json").read_text()
    decision = {
        "decision": "personal_data",
        "table": "orders",
        "column": "status",
        "is_personal": True,
    }
    fluid_build.forge(str(shop), out=out, decisions=[decision])
    assert '"sent"' not in (out / "design.json").read_text()


Damage = Callable[[dict[str, object]], object]


def _table(design: dict[str, object]) -> dict[str, object]:
    profile = design["profile"]
    assert isinstance(profile, dict)
    table = profile["tables"][0]
    assert isinstance(table, dict)
    return table


DAMAGES: dict[str, Damage] = {
    "no profile": lambda design: design.pop("profile"),
    "an unknown field": lambda design: design.update(more=1),
    "a key that isn't there": lambda design: _table(design).update(primary_key=["nothing"]),
    "a type that is SQL": lambda design: _table(design)["columns"][0].update(  # type: ignore[index]
        measured_type="INTEGER); DROP TABLE x; --"
    ),
    "an arrival that isn't there": lambda design: design.update(arrivals=[{"tables": ["x"]}]),
    "two tables of one name": lambda design: design["profile"]["tables"].append(  # type: ignore[index]
        _table(design)
    ),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_design_says_what_to_do(shop: Path, tmp_path: Path, damage: str) -> None:
    out = tmp_path / "out"
    fluid_build.forge(str(shop), technique="dv2", out=out)
    path = out / "design.json"
    design = json.loads(path.read_text())
    DAMAGES[damage](design)
    path.write_text(json.dumps(design))
    before = contents(out)
    with pytest.raises(FluidError) as raised:
        fluid_build.forge(str(shop), technique="dv2", out=out)
    assert isinstance(raised.value, SourceUnreadableError)
    assert "--redesign all" in (raised.value.hint or "")
    assert contents(out) == before


def test_queries_of_a_design_are_not_run(shop: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    fluid_build.forge(str(shop), technique="dv2", out=out)
    path = out / "design.json"
    assert '"sql"' not in path.read_text()
    design = json.loads(path.read_text())
    table = _table(design)
    table["place"] = "(SELECT 1); DROP TABLE customers; --"
    path.write_text(json.dumps(design))
    forged = fluid_build.forge(str(shop), technique="dv2", out=out)
    assert forged.proof.verdict == "proven"
    assert "DROP TABLE" not in (out / "model.json").read_text()
