"""Business keys that are looked up in another table, whatever order the tables are built in."""

from pathlib import Path

import pytest

from fluid_build.transform.plan.execution import built
from fluid_build.transform.plan.techniques import transform_plan
from fluid_build.transform.proof.proof import prove
from tests.transform.databases import database, modelled

TEAMS = (
    "CREATE TABLE player (id INTEGER PRIMARY KEY, code VARCHAR NOT NULL UNIQUE, team_id INTEGER)",
    "CREATE TABLE team (id INTEGER PRIMARY KEY, code VARCHAR NOT NULL UNIQUE, captain_id INTEGER)",
    "INSERT INTO player SELECT i + 700, 'LIC-' || (i * 37 + 1000), i % 12 + 30"
    " FROM range(60) AS t(i)",
    "INSERT INTO team SELECT i + 30, 'T-' || (i * 11 + 100), i * 4 + 700 FROM range(12) AS t(i)",
)
STAFF = (
    "CREATE TABLE staff (id INTEGER PRIMARY KEY, code VARCHAR NOT NULL UNIQUE, manager_id INTEGER)",
    "INSERT INTO staff SELECT i + 10, 'B-' || (i * 37 + 1000), CASE WHEN i > 0 THEN i // 3 + 10 END"
    " FROM range(60) AS t(i)",
)


@pytest.mark.parametrize("statements", [TEAMS, STAFF], ids=["each other", "itself"])
def test_tables_that_look_each_other_up_are_loaded_and_come_back(
    tmp_path: Path, statements: tuple[str, ...]
) -> None:
    """Each build is after those that it reads, and no row is lost."""
    with modelled(database(tmp_path / "teams.duckdb", *statements), "data_vault_2") as one:
        plan = transform_plan(one.model)
        assert any("lookup_1" in build.sql for build in plan.builds)
        before: set[str] = set()
        for build in plan.builds:
            assert before.issuperset(build.ref_models)
            before.add(build.name)
        with built(one.source, plan) as result:
            assert prove(result, one.model).verdict == "proven"
