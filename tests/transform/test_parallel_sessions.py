"""Small queries that run side by side: the same results, order and errors as one by one."""

from collections.abc import Iterator
from functools import partial

import duckdb
import pytest

from fluid_build.transform.plan.elements import Build, Check, PlanColumn
from fluid_build.transform.plan.execution import waves
from fluid_build.transform.plan.parallel_sessions import ROW_GROUP, in_sessions, small
from fluid_build.transform.proof.figure_checks import prove_figures
from fluid_build.transform.proof.hidden_columns import HiddenColumns


@pytest.fixture
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection with two threads, another database in use and another time zone."""
    with duckdb.connect(config={"threads": 2}) as opened:
        opened.execute('ATTACH \':memory:\' AS "for""ged"')
        opened.execute('USE "for""ged"')
        opened.execute("SET TimeZone = 'Asia/Tokyo'")
        opened.execute("SET VARIABLE load_date = TIMESTAMP '2024-05-06 07:08:09'")
        yield opened


def _ask(connection: duckdb.DuckDBPyConnection, query: str) -> object:
    return connection.execute(query).fetchall()


def _threads(connection: duckdb.DuckDBPyConnection) -> object:
    return _ask(connection, "SELECT current_setting('threads')")


def test_results_come_in_the_order_of_the_work(connection: duckdb.DuckDBPyConnection) -> None:
    """A slow first query doesn't let others overtake it."""
    queries = ["SELECT sum(i) FROM range(3000000) AS t(i)", *(f"SELECT {n}" for n in range(20))]
    work = [partial(_ask, query=query) for query in queries]
    assert list(in_sessions(connection, work)) == [_ask(connection, query) for query in queries]


def test_a_session_reads_sql_as_the_connection_does(connection: duckdb.DuckDBPyConnection) -> None:
    """The same database, time zone and load date."""
    query = (
        "SELECT current_database(), current_setting('TimeZone'), getvariable('load_date'),"
        " CAST(TIMESTAMPTZ '2024-01-01 00:00:00+00' AS VARCHAR)"
    )
    work = [partial(_ask, query=query)] * 3
    assert list(in_sessions(connection, work)) == [_ask(connection, query)] * 3


def test_what_a_session_makes_is_there_for_the_connection(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    """Relations made side by side are all there afterwards."""
    work = [partial(_ask, query=f"CREATE TABLE t{n} AS SELECT {n} AS n") for n in range(20)]
    list(in_sessions(connection, work))
    assert _ask(connection, "SELECT t0.n, t19.n FROM t0, t19") == [(0, 19)]


def test_the_first_error_is_raised_and_the_threads_are_as_before(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    """Of two broken queries it is always the first that is heard of."""
    queries = ["SELECT 1", "SELECT first_wrong", "SELECT second_wrong"]
    before = _threads(connection)
    with pytest.raises(duckdb.BinderException, match="first_wrong"):
        list(in_sessions(connection, [partial(_ask, query=query) for query in queries]))
    assert _threads(connection) == before


def test_relations_of_more_than_a_task_are_not_small(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    """Nor is one that can't be read."""
    connection.execute(f"CREATE TABLE fits AS FROM range({ROW_GROUP})")
    connection.execute(f"CREATE TABLE larger AS FROM range({ROW_GROUP + 1})")
    assert small(connection, ["fits", "larger"]) == {"fits"}
    assert small(connection, ["fits", "missing"]) == frozenset()


def test_a_build_is_in_a_later_wave_than_what_it_refers_to() -> None:
    """Builds of one wave don't refer to each other."""
    builds = [
        _build("a"),
        _build("b", "a"),
        _build("c"),
        _build("d", "b", "c"),
        _build("e", "a"),
    ]
    found = [[build.name for build in wave] for wave in waves(builds)]
    assert found == [["a", "c"], ["b", "e"], ["d"]]


def test_figures_are_the_same_together_as_alone() -> None:
    """Values, types and nulls; a query that two checks share is asked once."""
    checks = [
        _check("1", "1"),
        _check("1", "2"),
        _check("0.1::DOUBLE + 0.2::DOUBLE", "0.3::DOUBLE"),
        _check("NULL::INTEGER", "NULL::INTEGER"),
        _check("1.50::DECIMAL(9,2)", "1.5::DECIMAL(9,1)"),
        _check("'a'", "'b'"),
    ]
    hidden = HiddenColumns()
    with duckdb.connect() as connection:
        together = prove_figures(connection, checks, hidden)
        assert together == tuple(
            proof for one in checks for proof in prove_figures(connection, [one], hidden)
        )
    assert [one.holds for one in together] == [True, False, True, True, True, False]


def test_one_bad_figure_among_many_is_the_error_that_is_raised() -> None:
    """The others can be read, so the error is of the one that can't."""
    hidden = HiddenColumns()
    with duckdb.connect() as connection:
        with pytest.raises(duckdb.CatalogException, match="nowhere"):
            prove_figures(connection, [_check("1", "1"), _check("1", "1 FROM nowhere")], hidden)
        with pytest.raises(duckdb.InvalidInputException, match="one figure, but returned 0"):
            prove_figures(connection, [_check("1", "1"), _check("1", "1 WHERE false")], hidden)
        with pytest.raises(duckdb.InvalidInputException, match="one figure, but returned 2"):
            prove_figures(connection, [_check("1", "1 FROM range(3)")], hidden)


def _check(expected: str, actual: str) -> Check:
    return Check(
        name="c",
        kind="rows",
        table="t",
        expected=f"SELECT {expected}",
        actual=f"SELECT {actual}",
        differing="",
    )


def _build(name: str, *referred: str) -> Build:
    return Build(
        name=name,
        layer="staging",
        materialization="view",
        title=name,
        sql="SELECT 1 AS n",
        ref_models=referred,
        columns=(PlanColumn(name="n", type="INTEGER", contract_type="integer"),),
        mapped_source_tables=(),
        source_columns=(),
        reason="",
    )
