"""Columns that several references share come back, whichever of the references a row lacks."""

from pathlib import Path

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.transform.plan.execution import built
from fluid_build.transform.plan.techniques import transform_plan
from fluid_build.transform.proof.proof import Proof, prove
from tests.transform.databases import database, modelled

SCHEMA = (
    "CREATE TABLE tournament (tid VARCHAR PRIMARY KEY, title VARCHAR)",
    "CREATE TABLE stage (tid VARCHAR, sid INTEGER, stage_name VARCHAR, PRIMARY KEY (sid, tid))",
    "CREATE TABLE pool (tid VARCHAR, gid INTEGER, pool_name VARCHAR, PRIMARY KEY (gid, tid))",
    "INSERT INTO tournament SELECT 'T' || i, 'title ' || i FROM range(6) t(i)",
    "INSERT INTO stage SELECT 'T' || i, j, 'stage ' || i || j FROM range(6) t(i), range(4) s(j)",
    "INSERT INTO pool SELECT 'T' || i, j, 'group ' || i || j FROM range(6) t(i), range(4) s(j)",
)

numbers = st.none() | st.integers(0, 3)
rows = st.lists(st.tuples(st.none() | st.integers(0, 5), numbers, numbers), min_size=3, max_size=25)


def loaded(
    path: Path,
    drawn: list[tuple[int | None, ...]],
    references: tuple[str, ...],
    *,
    key: str = "game_id INTEGER PRIMARY KEY",
) -> Path:
    """A database whose matches refer to parts of a tournament, and may refer to itself too."""
    path.unlink(missing_ok=True)
    declared = {
        "tournament": "FOREIGN KEY (tid) REFERENCES tournament (tid)",
        "stage": "FOREIGN KEY (sid, tid) REFERENCES stage (sid, tid)",
        "group": "FOREIGN KEY (gid, tid) REFERENCES pool (gid, tid)",
    }
    constraints = ", ".join(declared[name] for name in references)
    database(
        path,
        *SCHEMA,
        f"CREATE TABLE game ({key}, tid VARCHAR, sid INTEGER, gid INTEGER, score INTEGER,"
        f" {constraints})",
    )
    with duckdb.connect(str(path)) as connection:
        for number, (tournament, stage, group) in enumerate(drawn):
            tid = None if tournament is None else f"T{tournament}"
            connection.execute(
                "INSERT INTO game VALUES (?, ?, ?, ?, ?)", [number, tid, stage, group, number * 7]
            )
    return path


def proven(path: Path) -> Proof:
    with modelled(path, "data_vault_2") as cup:
        plan = transform_plan(cup.model)
        with built(cup.source, plan) as database_:
            return prove(database_, cup.model)


@pytest.mark.parametrize(
    "references",
    [("stage", "group"), ("group", "stage", "tournament"), ("tournament", "stage"), ("stage",)],
)
@given(drawn=rows)
def test_a_shared_column_of_optional_references_is_rebuilt(
    tmp_path_factory: pytest.TempPathFactory,
    references: tuple[str, ...],
    drawn: list[tuple[int | None, ...]],
) -> None:
    """A row may have a stage and no group, or neither: its tournament isn't lost."""
    path = loaded(tmp_path_factory.mktemp("games") / "cup.duckdb", drawn, references)
    proof = proven(path)
    assert proof.verdict == "proven", proof.reason


@given(drawn=rows)
def test_a_shared_column_of_rows_without_a_key_is_rebuilt(
    tmp_path_factory: pytest.TempPathFactory, drawn: list[tuple[int | None, ...]]
) -> None:
    """Such rows are all in one link, with every reference that they may have."""
    path = tmp_path_factory.mktemp("games") / "cup.duckdb"
    references = ("stage", "group", "tournament")
    loaded(path, [*drawn, *drawn], references, key="game_id INTEGER")
    with duckdb.connect(str(path)) as connection:
        connection.execute("UPDATE game SET game_id = 7, score = 1")
    proof = proven(path)
    assert proof.verdict == "proven", proof.reason
