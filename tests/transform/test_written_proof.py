"""The files of a proof: what they are called, what is in them, and that they can be run."""

from pathlib import Path

import duckdb
import pytest

from fluid_build.modeling.techniques import TECHNIQUES
from fluid_build.transform.plan.elements import Check, Rebuild
from fluid_build.transform.plan.execution import built
from fluid_build.transform.plan.techniques import transform_plan
from fluid_build.transform.proof import written_proof
from fluid_build.transform.proof.proof import prove
from fluid_build.transform.proof.written_proof import query_files
from tests.transform.databases import database, modelled

_HOSTILE = 'a"; DROP TABLE x; --\n*/ SELECT 1;\r\u2028'


def _only(text: str) -> str:
    """The one statement of a file, whose comments the database has left out."""
    (statement,) = duckdb.extract_statements(text)
    assert statement.type == duckdb.StatementType.SELECT
    return statement.query


def test_a_forge_writes_the_figures_and_a_query_a_table(tmp_path: Path) -> None:
    """Files are named by the tables' ids, which are legal file names whatever a table is called."""
    path = database(tmp_path / "a.duckdb", 'CREATE TABLE "../My Table" AS SELECT 1 AS id')
    with modelled(path) as one, built(one.source, transform_plan(one.model)) as result:
        files = written_proof.proof_files(prove(result, one.model), one.model, result.plan)
    assert sorted(files) == ["proof.json", "proof/my_table.sql"]


@pytest.mark.parametrize("technique", sorted(set(TECHNIQUES) - {"dimensional"}))
def test_a_rebuild_runs_on_the_database_that_was_built(tmp_path: Path, technique: str) -> None:
    """The file runs as it is on the database, and returns the table."""
    path = database(
        tmp_path / "a.duckdb",
        'CREATE TABLE "Kunde" AS SELECT i AS "Id", \'model.kunde\' || i AS "model.kunde"'
        " FROM range(5) AS t(i)",
    )
    with modelled(path, technique) as one:
        (text,) = query_files(one.model, transform_plan(one.model)).values()
        with built(one.source, transform_plan(one.model)) as result:
            result.connection.execute("USE forged.model")
            found = result.connection.execute(_only(text))
            assert [column[0] for column in found.description or ()] == ["Id", "model.kunde"]
            assert (4, "model.kunde4") in found.fetchall()
            result.connection.execute("USE forged")


def test_a_hostile_name_stays_in_its_comment(tmp_path: Path) -> None:
    """Line breaks and ends of comments in the names of tables and columns run nothing."""
    quoted = _HOSTILE.replace('"', '""')
    path = database(
        tmp_path / "a.duckdb", f'CREATE TABLE "{quoted}" AS SELECT \'1.50\' AS "{quoted}", 1 AS b'
    )
    with modelled(path) as one:
        (text,) = query_files(one.model, transform_plan(one.model)).values()
    _only(text)
    assert "DROP TABLE x; --\\u000a*/" in text.splitlines()[0]
    assert all(line.isprintable() for line in text.split("SELECT")[0].splitlines())


def test_checks_are_one_statement_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Expected and actual stand side by side, each with what it is about."""
    check = Check(
        name="total\nof",
        kind="sum",
        table="a",
        expected="SELECT sum(id) FROM source.a",
        actual="SELECT sum(id) FROM model.fct_a",
        reason="Every amount; nothing\nelse.",
    )
    path = database(tmp_path / "a.duckdb", "CREATE TABLE a AS SELECT 1 AS id")
    with modelled(path) as one:
        monkeypatch.setattr(written_proof, "rebuilds", lambda _: ())
        monkeypatch.setattr(written_proof, "checks", lambda _: (check, check))
        (text,) = query_files(one.model, transform_plan(one.model)).values()
    assert len(duckdb.extract_statements(text)) == 2
    assert "-- sum: total\\u000aof\n-- Every amount; nothing\\u000aelse.\n" in text
    assert "FROM source.a" in text
    assert "FROM fct_a" in text


def test_only_relations_lose_their_schema(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A string, a quoted name or a comment that holds the same words is left alone."""
    rebuild = Rebuild(
        table="a",
        source="a",
        sql="SELECT 'model.x''' AS \"model.y\", t.id -- model.z\nFROM model.w AS t",
        original="SELECT 1",
    )
    path = database(tmp_path / "a.duckdb", "CREATE TABLE a AS SELECT 1 AS id")
    with modelled(path) as one:
        monkeypatch.setattr(written_proof, "rebuilds", lambda _: (rebuild,))
        (text,) = query_files(one.model, transform_plan(one.model)).values()
    assert text.endswith("SELECT 'model.x''' AS \"model.y\", t.id -- model.z\nFROM w AS t;\n")
