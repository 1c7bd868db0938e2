"""References between whole keys that other columns of the joined rows contradict."""

from pathlib import Path

import duckdb
import pytest

from fluid_build.modeling.techniques import build_model
from fluid_build.observations.observe import observe
from fluid_build.profiling import profile_source
from fluid_build.sources import open_source
from tests.observations.sources import observed

RACES = """
    CREATE TABLE races AS SELECT 100 + i AS race_id, 'Race ' || i AS title FROM range(40) AS t(i);
    CREATE TABLE results AS
    SELECT i AS result_id, 100 + i % 40 AS race_id, i % 7 AS points FROM range(1, 400) AS t(i)
"""


def _penalties(race: str) -> str:
    return f"""
        CREATE TABLE result_penalties AS
        SELECT i AS result_id, {race} AS race_id, i % 3 AS points FROM range(1, 60) AS t(i)
    """


def test_rows_that_refer_to_something_else_contradict_a_reference_between_keys(
    tmp_path: Path,
) -> None:
    (reference,) = observed(
        tmp_path, RACES, _penalties("100 + (i * 3 + 5) % 40")
    ).contradicted_references
    assert (reference.table, reference.to_table) == ("result_penalties", "results")
    assert reference.compared == ("race_id",)
    assert reference.agreeing < 0.1 * reference.values


def test_rows_that_refer_to_the_same_confirm_a_reference_between_keys(tmp_path: Path) -> None:
    assert not observed(tmp_path, RACES, _penalties("100 + i % 40")).contradicted_references


@pytest.mark.parametrize("technique", ["data_vault_2", "dimensional"])
def test_a_contradicted_reference_is_a_candidate_and_no_relationship(
    tmp_path: Path, technique: str
) -> None:
    database = tmp_path / "races.duckdb"
    with duckdb.connect(str(database)) as connection:
        connection.execute(RACES)
        connection.execute(_penalties("100 + (i * 3 + 5) % 40"))
    with open_source(str(database)) as source:
        profile = profile_source(source)
        model = build_model(profile, technique, observations=observe(source, profile)).conceptual
        between = {("result_penalties", "results")}
        assert between.isdisjoint((r.from_entity, r.to_entity) for r in model.relationships)
        (candidate,) = (c for c in model.candidates if c.from_entity == "result_penalties")
        assert "agree" in candidate.reason
    with duckdb.connect(str(database)) as connection:
        rows = connection.execute(candidate.evidence.sql).fetchall()
    assert len(rows) > 50


def test_a_reference_between_too_many_rows_is_not_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fluid_build.observations.contradicted_references._MOST_ROWS", 50)
    sprints = _penalties("100 + (i * 3 + 5) % 40")
    assert not observed(tmp_path, RACES, sprints).contradicted_references
