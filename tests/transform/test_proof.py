"""The proof: a model that keeps everything is proven, and every loss is caught and shown."""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.errors import BuildFailedError
from fluid_build.modeling.techniques import TECHNIQUES
from fluid_build.transform.plan import execution, parallel_sessions, parts
from fluid_build.transform.plan.elements import Build, Check, PlanSource, Rebuild, TransformPlan
from fluid_build.transform.plan.execution import built
from fluid_build.transform.plan.techniques import transform_plan
from fluid_build.transform.proof import building
from fluid_build.transform.proof import proof as proof_of
from fluid_build.transform.proof.building import build_and_prove
from fluid_build.transform.proof.figure_checks import prove_figures
from fluid_build.transform.proof.hidden_columns import HiddenColumns
from fluid_build.transform.proof.proof import (
    Claims,
    Proof,
    compare,
    prove,
    prove_stored,
    table_proofs,
)
from fluid_build.transform.proof.written_proof import proof_json
from tests.transform.databases import EVERY_TYPE, Modelled, database, modelled

SHOP = (
    "CREATE TABLE customer (customer_id INTEGER PRIMARY KEY, email VARCHAR, city VARCHAR)",
    "CREATE TABLE orders (order_id INTEGER PRIMARY KEY, customer_id INTEGER, total DECIMAL(8,2),"
    " placed DATE)",
    "INSERT INTO customer SELECT i * 7 + 100, 'someone' || i || '@example.org', 'Town ' || (i % 5)"
    " FROM range(30) AS t(i)",
    "INSERT INTO orders SELECT i + 5000, (i * 11 % 30) * 7 + 100, i % 17 + 0.5,"
    " DATE '2024-01-01' + CAST(i % 50 AS INTEGER) FROM range(90) AS t(i)",
)


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """Customers and their orders."""
    return database(tmp_path / "shop.duckdb", *SHOP)


def proven(shop: Modelled, plan: TransformPlan | None = None) -> Proof:
    """The proof of a model, whose plan may have been tampered with."""
    with built(shop.source, plan or transform_plan(shop.model)) as result:
        return prove(result, shop.model)


@pytest.mark.parametrize("technique", TECHNIQUES)
def test_large_tables_are_built_and_proven_in_turn(
    shop: Path, technique: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What nothing reads any more is dropped, and the figures are those of all of it at once."""
    with modelled(shop, technique) as one:
        plan = transform_plan(one.model)
        at_once = build_and_prove(one.source, plan, one.model)
        _call_all_large(monkeypatch)
        in_turn = build_and_prove(one.source, plan, one.model)
        exact = build_and_prove(one.source, plan, one.model, exact=True)
    assert exact == at_once
    by_rows = {table.table for table in at_once.tables if table.compared == "rows"}
    assert {table.table for table in in_turn.tables if table.compared == "sums"} == by_rows
    same = [table.model_copy(update={"compared": None}) for table in in_turn.tables]
    assert same == [table.model_copy(update={"compared": None}) for table in at_once.tables]


@pytest.mark.parametrize("technique", TECHNIQUES)
def test_no_more_than_one_comparison_reads_is_there(
    shop: Path, technique: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When a table is compared, no relation is there that neither it nor a later part reads."""
    _call_all_large(monkeypatch)
    there: list[set[str]] = []

    def compared(connection: duckdb.DuckDBPyConnection, *args: Any, **more: Any) -> Any:
        rows = connection.execute(
            "SELECT table_name FROM duckdb_tables() WHERE schema_name='model'"
        )
        there.append({name for (name,) in rows.fetchall() if not name.startswith("quarantine")})
        return table_proofs(connection, *args, **more)

    monkeypatch.setattr(building, "table_proofs", compared)
    with modelled(shop, technique) as one:
        plan = transform_plan(one.model)
        assert build_and_prove(one.source, plan, one.model).verdict == "proven"
    assert len(there[-1]) < len(plan.published)


def _call_all_large(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (building, proof_of, execution):
        monkeypatch.setattr(module, "ROW_GROUP", 0)
    monkeypatch.setattr(parts, "FEW_CELLS", 0)


def tampered(plan: TransformPlan, name: str, change: Callable[[Build], str]) -> TransformPlan:
    """The plan with other SQL for one build, which is made a table so that it stays as it is."""
    builds = tuple(
        build.model_copy(update={"sql": change(build), "materialization": "table"})
        if build.name == name
        else build
        for build in plan.builds
    )
    return plan.model_copy(update={"builds": builds})


def _without_a_row(build: Build) -> str:
    keys = ", ".join(column.name for column in build.columns)
    names = ", ".join(column.name for column in build.columns)
    return (
        f"SELECT {names} FROM (SELECT *, row_number() OVER (ORDER BY {keys}) AS number_"
        f" FROM ({build.sql})) WHERE number_ <> 2"
    )


def _with_rows_twice(build: Build) -> str:
    return f"({build.sql}) UNION ALL ({build.sql})"


@pytest.mark.parametrize("technique", sorted(TECHNIQUES))
def test_a_model_that_keeps_everything_is_proven(shop: Path, technique: str) -> None:
    """Both tables hold, and every row of the source was looked at."""
    with modelled(shop, technique) as one:
        proof = proven(one)
    assert (proof.verdict, [table.verdict for table in proof.tables]) == (
        "proven",
        ["proven", "proven"],
    )
    assert [(table.table, table.rows) for table in proof.tables] == [
        ("customer", 30),
        ("orders", 90),
    ]


@pytest.mark.parametrize(
    ("technique", "change"),
    [
        (technique, change)
        for technique in sorted(TECHNIQUES)
        for change in (_without_a_row, _with_rows_twice)
        # A vault that reads a row twice keeps it once, so that nothing is lost.
        if (technique, change) != ("data_vault_2", _with_rows_twice)
    ],
)
@pytest.mark.parametrize("table", ["customer", "orders"])
def test_a_row_that_staging_loses_or_doubles_is_caught(
    shop: Path, technique: str, table: str, change: Callable[[Build], str]
) -> None:
    """Whatever is built on a staging that is not the source is not the source either."""
    with modelled(shop, technique) as one:
        plan = transform_plan(one.model)
        proof = proven(one, tampered(plan, f"stg_{table}", change))
    assert proof.verdict == "lost"
    assert table in {found.table for found in proof.tables if found.verdict == "lost"}


@pytest.mark.parametrize("technique", sorted(TECHNIQUES))
def test_an_altered_measure_is_caught(shop: Path, technique: str) -> None:
    """One amount that is a cent off does not pass."""
    with modelled(shop, technique) as one:
        plan = transform_plan(one.model)

        def change(build: Build) -> str:
            return (
                "SELECT * REPLACE (CAST(total + CASE WHEN order_id = 5003 THEN 0.01"
                f" ELSE 0 END AS DECIMAL(8,2)) AS total) FROM ({build.sql})"
            )

        proof = proven(one, tampered(plan, "stg_orders", change))
    assert proof.verdict == "lost"


@pytest.mark.parametrize("technique", sorted(set(TECHNIQUES) - {"dimensional"}))
def test_an_altered_text_is_caught_and_shown(shop: Path, technique: str) -> None:
    """The row is shown as it was and as it came back, with the column in which it differs."""
    with modelled(shop, technique) as one:
        plan = transform_plan(one.model)

        def change(build: Build) -> str:
            return (
                "SELECT * REPLACE (CASE WHEN customer_id = 107 THEN 'town 1' ELSE city END"
                f" AS city) FROM ({build.sql})"
            )

        proof = proven(one, tampered(plan, "stg_customer", change))
    customer = proof.tables[0]
    assert (customer.missing, customer.unexpected) == (1, 1)
    assert [(row.side, row.values["city"], row.differs) for row in customer.differing] == [
        ("missing", "Town 1", ("city",)),
        ("unexpected", "town 1", ("city",)),
    ]


@pytest.mark.parametrize("technique", sorted(TECHNIQUES))
@pytest.mark.parametrize("change", [_without_a_row, _with_rows_twice])
def test_every_published_relation_counts(
    shop: Path, technique: str, change: Callable[[Build], str]
) -> None:
    """A row that any one relation of the model loses or doubles is noticed."""
    with modelled(shop, technique) as one:
        plan = transform_plan(one.model)
        for build in plan.published:
            if change is _with_rows_twice and build.next_load is not None:
                continue  # Of a history only the latest state is read, and that once.
            proof = proven(one, tampered(plan, build.name, change))
            assert proof.verdict == "lost", build.name


def test_no_personal_value_is_shown(shop: Path) -> None:
    """A mail address that changed is counted and not shown."""
    with modelled(shop, "flat") as one:
        plan = transform_plan(one.model)

        def change(build: Build) -> str:
            return f"SELECT customer_id, upper(email) AS email, city FROM ({build.sql})"

        proof = proven(one, tampered(plan, "customer", change))
    assert len(proof.tables[0].differing) == 10
    assert {row.values["email"] for row in proof.tables[0].differing} == {"***"}
    assert "example" not in proof_json(proof).lower()


def test_long_values_are_clipped(tmp_path: Path) -> None:
    """A value of a thousand letters does not fill the proof."""
    path = database(
        tmp_path / "a.duckdb",
        "CREATE TABLE a (id INTEGER, t VARCHAR)",
        "INSERT INTO a VALUES (1, repeat('x', 1000))",
    )
    with modelled(path, "flat") as one:
        plan = tampered(transform_plan(one.model), "a", lambda b: f"{b.sql} WHERE false")
        proof = proven(one, plan)
    assert proof.tables[0].differing[0].values["t"] == "x" * 79 + "…"


def test_types_count(tmp_path: Path) -> None:
    """A table whose values came back with another type is lost, and the column is named."""
    path = database(
        tmp_path / "a.duckdb", "CREATE TABLE a (id INTEGER)", "INSERT INTO a VALUES (1), (2)"
    )
    with modelled(path, "flat") as one:
        plan = transform_plan(one.model)
        with built(one.source, plan) as result:
            rebuild = Rebuild(
                table="a",
                source="a",
                sql="SELECT CAST(id AS BIGINT) AS id FROM model.a",
                original="SELECT id FROM source.a",
            )
            proof = compare(result.connection, plan, Claims(rebuilds=(rebuild,)))
    table = proof.tables[0]
    assert (proof.verdict, table.types_equal, table.missing) == ("lost", False, 0)
    assert [(d.column, d.source, d.rebuilt) for d in table.type_differences] == [
        ("id", "INTEGER", "BIGINT")
    ]


def test_a_comparison_that_reads_less_than_the_source_proves_nothing(shop: Path) -> None:
    """Both sides may be equal and both lack a row or a column of the source."""
    with modelled(shop, "flat") as one:
        plan = transform_plan(one.model)
        with built(one.source, plan) as result:
            rows = Rebuild(
                table="customer",
                source="customer",
                sql="SELECT * FROM model.customer LIMIT 29",
                original="SELECT * FROM source.customer LIMIT 29",
            )
            columns = Rebuild(
                table="orders",
                source="orders",
                sql="SELECT order_id FROM model.orders",
                original="SELECT order_id FROM source.orders",
            )
            proof = compare(result.connection, plan, Claims(rebuilds=(rows, columns)))
    assert [table.verdict for table in proof.tables] == ["lost", "lost"]
    assert proof.tables[0].missing == 1
    assert {d.column for d in proof.tables[1].type_differences} == {
        "customer_id",
        "total",
        "placed",
    }


def test_an_empty_table_is_compared_and_proves_nothing_by_itself(tmp_path: Path) -> None:
    """Nothing equals nothing: that is said, and never called proven."""
    path = database(tmp_path / "a.duckdb", "CREATE TABLE a (id INTEGER, name VARCHAR)")
    with modelled(path, "flat") as one:
        proof = proven(one)
    assert (proof.verdict, proof.tables[0].verdict) == ("not proven", "empty")
    assert proof.tables[0].rebuilt == 0
    assert "no table has any rows" in proof.reason


def test_rows_that_appear_in_an_empty_table_are_caught(tmp_path: Path) -> None:
    """An empty table that came back with a row did not come back."""
    path = database(tmp_path / "a.duckdb", "CREATE TABLE a (id INTEGER)")
    with modelled(path, "flat") as one:
        plan = tampered(transform_plan(one.model), "a", lambda _: "SELECT 1 AS id")
        proof = proven(one, plan)
    assert (proof.verdict, proof.tables[0].unexpected) == ("lost", 1)


def test_a_table_that_nothing_speaks_of_is_not_proven(shop: Path) -> None:
    """One table compared and the other not is no proof of the whole."""
    with modelled(shop, "flat") as one:
        plan = transform_plan(one.model)
        with built(one.source, plan) as result:
            nothing = compare(result.connection, plan, Claims())
    assert nothing.verdict == "not proven"
    assert {table.verdict for table in nothing.tables} == {"not compared"}


def test_a_rebuild_that_cannot_run_is_an_error(shop: Path) -> None:
    """A broken query is no loss and no proof: it says whose it is."""
    with modelled(shop, "flat") as one:
        plan = transform_plan(one.model)
        broken = Rebuild(
            table="orders", source="orders", sql="SELECT x FROM model.nowhere", original="SELECT 1"
        )
        with (
            built(one.source, plan) as result,
            pytest.raises(BuildFailedError, match="'orders'"),
        ):
            compare(result.connection, plan, Claims(rebuilds=(broken,)))


@pytest.mark.parametrize("technique", sorted(set(TECHNIQUES) - {"dimensional"}))
def test_every_type_is_proven(tmp_path: Path, technique: str) -> None:
    """A table with a column of each type comes back, its types included."""
    path = database(tmp_path / "types.duckdb", EVERY_TYPE)
    with modelled(path, technique) as one:
        proof = proven(one)
    assert (proof.verdict, proof.tables[0].types_equal) == ("proven", True)


@pytest.mark.parametrize("technique", sorted(TECHNIQUES))
def test_large_tables_are_proven_as_small_ones_are(
    shop: Path, technique: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether tables are built and compared side by side or one by one changes no figure."""
    with modelled(shop, technique) as one:
        side_by_side = proven(one)
        monkeypatch.setattr(parallel_sessions, "ROW_GROUP", 0)
        assert proven(one) == side_by_side


@pytest.mark.parametrize("technique", sorted(TECHNIQUES))
def test_the_same_source_gives_the_same_bytes(shop: Path, technique: str) -> None:
    """Nothing of the run is in the proof: no time, no place, no order of threads."""
    texts = []
    for _ in range(2):
        with modelled(shop, technique) as one:
            texts.append(proof_json(proven(one)))
    assert texts[0] == texts[1]
    assert str(shop.parent) not in texts[0]
    assert json.loads(texts[0])["verdict"] == "proven"


_PLAN = TransformPlan(
    name="a",
    technique="flat",
    sources=(PlanSource(id="a", table="A", columns=(("i", "INTEGER"), ("t", "VARCHAR"))),),
    builds=(),
)
_REBUILD = Rebuild(
    table="A", source="a", sql="SELECT i, t FROM model.a", original="SELECT i, t FROM source.a"
)
_Rows = list[tuple[int | None, str | None]]
_rows = st.lists(
    st.tuples(st.none() | st.integers(0, 2), st.none() | st.sampled_from(["", "a", "A"])),
    max_size=6,
)


@contextmanager
def _two_tables() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        for schema in ("source", "model"):
            connection.execute(f"CREATE SCHEMA {schema}")
            connection.execute(f"CREATE TABLE {schema}.a (i INTEGER, t VARCHAR)")
        yield connection


@given(
    ours=_rows,
    change=st.sampled_from(["none", "drop", "double", "alter", "shuffle"]),
    data=st.data(),
)
def test_lost_is_said_just_where_the_rows_differ(
    ours: _Rows, change: str, data: st.DataObject
) -> None:
    """For any table and any change of its rows the verdict follows from the two multisets."""
    theirs = list(ours)
    if theirs and change in {"drop", "double", "alter"}:
        at = data.draw(st.integers(0, len(theirs) - 1))
        new = {"drop": [], "double": [theirs[at]] * 2, "alter": [data.draw(_rows.filter(bool))[0]]}
        theirs[at : at + 1] = new[change]
    theirs = data.draw(st.permutations(theirs))
    with _two_tables() as connection:
        for schema, rows in (("source", ours), ("model", theirs)):
            if rows:
                connection.executemany(f"INSERT INTO {schema}.a VALUES (?, ?)", rows)
        proof = compare(connection, _PLAN, Claims(rebuilds=(_REBUILD,)))
    same = Counter(ours) == Counter(theirs)
    assert (proof.verdict == "lost") == (not same)
    assert (proof.verdict == "proven") == (same and bool(ours))


def _figure(expected: str, actual: str, differing: str = "") -> Check:
    return Check(
        name="a",
        kind="sum",
        table="A",
        expected=f"SELECT {expected}",
        actual=f"SELECT {actual}",
        differing=differing,
    )


@pytest.mark.parametrize(
    ("expected", "actual", "holds"),
    [
        ("1::BIGINT", "1::HUGEINT", True),
        ("1.50::DECIMAL(10,2)", "1.5::DECIMAL(38,4)", True),
        ("1.50::DECIMAL(10,2)", "1.51::DECIMAL(10,2)", False),
        ("NULL::INTEGER", "NULL::BIGINT", True),
        ("NULL::INTEGER", "0", False),
        ("0.1::DOUBLE + 0.2::DOUBLE", "0.3::DOUBLE", True),
        ("1e15::DOUBLE", "1e15::DOUBLE + 1e7", False),
        ("'nan'::DOUBLE", "'nan'::DOUBLE", True),
        ("'nan'::DOUBLE", "0.0::DOUBLE", False),
        ("'a'", "'A'", False),
        ("99999999999999999999::HUGEINT", "99999999999999999998::HUGEINT", False),
    ],
)
def test_figures_agree_where_their_values_do(expected: str, actual: str, holds: bool) -> None:
    """Exact numbers are compared exactly, floats within what adding them in any order may do."""
    with duckdb.connect() as connection:
        (found,) = prove_figures(connection, [_figure(expected, actual)], HiddenColumns())
    assert found.holds is holds


def test_a_check_must_give_one_figure() -> None:
    """A query that gives no row has checked nothing."""
    with duckdb.connect() as connection, pytest.raises(duckdb.Error, match="one figure"):
        prove_figures(connection, [_figure("1 WHERE false", "1")], HiddenColumns())


def test_a_failed_check_shows_only_columns_that_are_known_to_be_harmless() -> None:
    """Personal columns are masked, and so is what has a name that nobody knows."""
    check = _figure("1", "2", "SELECT 'x@y.z' AS email, 'Bonn' AS City, 'x@y.z' AS alias")
    with duckdb.connect() as connection:
        (found,) = prove_figures(connection, [check], HiddenColumns(shown=frozenset({"city"})))
    assert found.differing == ({"email": "***", "City": "Bonn", "alias": "***"},)


@pytest.mark.parametrize(("day", "is_refused"), [("294247-01-10", False), ("294247-01-11", True)])
def test_a_date_that_no_timestamp_holds_is_refused_by_name(
    tmp_path: Path, day: str, is_refused: bool
) -> None:
    """The column is named, with what to do: a calendar can't have the date's week."""
    file = database(
        tmp_path / "far.duckdb", *SHOP, f"UPDATE orders SET placed = '{day}' WHERE order_id = 5007"
    )
    with modelled(file, "dimensional") as found:
        try:
            plan = transform_plan(found.model)
            proof = build_and_prove(found.source, plan, found.model)
        except BuildFailedError as error:
            assert is_refused
            assert "The column 'placed' of 'orders' has 1 date outside" in str(error)
        else:
            assert (is_refused, proof.verdict) == (False, "proven")


def test_a_database_that_keeps_one_of_two_equal_zeros_is_proven_with_a_note(
    tmp_path: Path,
) -> None:
    """The sign alone differs; another number is still lost."""
    file = database(
        tmp_path / "zeros.duckdb",
        "CREATE TABLE reading (id INTEGER PRIMARY KEY, value DOUBLE)",
        "INSERT INTO reading SELECT i, i FROM range(20) r(i)",
    )
    with modelled(file) as found, built(found.source, transform_plan(found.model)) as outcome:
        # DuckDB doesn't write a value over an equal one.
        for value in ("0.5", "-0.0"):
            outcome.connection.execute(f"UPDATE model.reading SET value = '{value}' WHERE id = 0")
        assert prove(outcome, found.model).verdict == "lost"
        proof = prove_stored(outcome, found.model)
        assert (proof.verdict, "In reading, the database has 0.0" in proof.reason) == (
            "proven",
            True,
        )
        outcome.connection.execute("UPDATE model.reading SET value = 0.5 WHERE id = 5")
        proof = prove_stored(outcome, found.model)
        assert (proof.verdict, proof.tables[0].missing) == ("lost", 1)


@pytest.mark.parametrize("technique", sorted(TECHNIQUES))
@pytest.mark.parametrize(
    ("type_", "values"),
    [
        ("VARCHAR COLLATE NOCASE", "('a'), ('A'), ('b'), ('ä'), ('Ä')"),
        ("INTERVAL", "('1 day'), ('24 hours'), ('2 days')"),
    ],
    ids=["collation", "interval"],
)
def test_keys_that_the_database_calls_equal_are_counted_apart(
    tmp_path: Path, technique: str, type_: str, values: str
) -> None:
    statements = (f"CREATE TABLE t (code {type_})", f"INSERT INTO t VALUES {values}")
    with modelled(database(tmp_path / "t.duckdb", *statements), technique) as made:
        assert proven(made).verdict == "proven"
