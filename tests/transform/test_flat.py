"""The flat plan: what it builds, how it runs, and that nothing gets lost on the way."""

from datetime import datetime
from pathlib import Path

import duckdb
import pytest
from hypothesis import given

from fluid_build.errors import BuildFailedError, ScratchFullError, SourceChangedError
from fluid_build.modeling.sql_names import RESERVED, TECHNICAL
from fluid_build.modeling.techniques import build_model
from fluid_build.profiling.profile import Profile
from fluid_build.sources import open_source
from fluid_build.sources.sql import quote
from fluid_build.transform.plan.elements import TransformPlan
from fluid_build.transform.plan.execution import built
from fluid_build.transform.plan.techniques import rebuilds, transform_plan
from fluid_build.transform.proof.proof import prove
from tests.modeling.profiles import column, profile, profiles, table
from tests.transform.databases import EVERY_TYPE, database, modelled


def differing(connection: duckdb.DuckDBPyConnection, one: str, other: str) -> int:
    """How many rows of one query the other has not."""
    row = connection.execute(f"SELECT count(*) FROM ({one} EXCEPT ALL ({other}))").fetchone()
    assert row is not None
    return int(row[0])


def run(path: Path, plan: TransformPlan) -> None:
    """Run a plan on the source of that path."""
    with open_source(path) as source, built(source, plan):
        pass


def test_every_type_comes_back_as_it_was(tmp_path: Path) -> None:
    """A table of all types is built with the planned types, and given back to the last bit."""
    path = database(tmp_path / "types.duckdb", EVERY_TYPE)
    with modelled(path) as shop:
        plan = transform_plan(shop.model)
        with built(shop.source, plan) as result:
            (rebuild,) = rebuilds(shop.model)
            # Trailing zeros and blanks are no part of a number's value.
            by_value = {column.name: column.type for column in rebuild.by_value}
            assert by_value == {"price": "DOUBLE", "padded": "BIGINT"}
            columns = result.connection.sql(rebuild.original).columns
            assert result.connection.sql(rebuild.sql).columns == columns
            exact = ", ".join(quote(name) for name in columns if name not in by_value)
            original, again = (
                f"SELECT {exact} FROM ({sql})" for sql in (rebuild.original, rebuild.sql)
            )
            assert differing(result.connection, original, again) == 0
            assert differing(result.connection, again, original) == 0
            types = [result.connection.sql(sql).types for sql in (original, again)]
            assert types[0] == types[1]
            assert prove(result, shop.model).verdict == "proven"


def test_text_that_holds_dates_is_built_as_dates(tmp_path: Path) -> None:
    """The built column has the type of its values, and the plan says so."""
    path = database(tmp_path / "types.duckdb", EVERY_TYPE)
    with modelled(path) as shop:
        plan = transform_plan(shop.model)
        table_ = plan.build("all_types")
        assert (table_.column("iso").type, table_.column("day").type) == ("DATE", "DATE")
        with built(shop.source, plan) as result:
            first = result.connection.execute("SELECT min(iso), min(day) FROM model.all_types")
            assert [str(value) for value in first.fetchone() or ()] == ["2020-01-01", "2020-02-01"]


def test_a_second_load_changes_nothing(tmp_path: Path) -> None:
    """Tables are rebuilt: two runs give the same as one."""
    path = database(tmp_path / "a.duckdb", "CREATE TABLE t AS SELECT i AS id FROM range(9) r(i)")
    with modelled(path) as shop, built(shop.source, transform_plan(shop.model)) as result:
        result.load(datetime(2000, 1, 2))
        assert result.rows("model.t") == 9


def test_the_source_is_left_as_it_was(tmp_path: Path) -> None:
    """After the block neither schema is on the connection, and another plan can be run."""
    path = database(tmp_path / "a.duckdb", "CREATE TABLE t AS SELECT 1 AS id")
    with modelled(path) as shop:
        plan = transform_plan(shop.model)
        for _ in range(2):
            with built(shop.source, plan) as result:
                assert result.rows("source.t") == 1
        with pytest.raises(duckdb.CatalogException):
            shop.source.connection.execute("FROM model.t")


@given(profiles())
def test_names_are_legal_and_apart_whatever_the_source_calls_things(measured: Profile) -> None:
    """No two builds and no two columns of one share a name, and none needs quotes anywhere."""
    plan = transform_plan(build_model(measured))
    names = [build.name for build in plan.builds]
    assert len(set(names)) == len(names)
    for build in plan.builds:
        columns = [column.name for column in build.columns]
        assert len(set(columns)) == len(columns)
        for name in (build.name, *columns):
            assert name.isascii() and name == name.lower() and len(name) <= 63
            assert not name[0].isdigit() and name.replace("_", "a").isalnum()
            assert name not in RESERVED
            assert name not in TECHNICAL or build.layer == "quarantine"
    written = plan.model_dump_json()
    assert TransformPlan.model_validate_json(written).model_dump_json() == written


def test_a_changed_name_is_reported_with_its_reason() -> None:
    """Reserved words and clashes are renamed, always the same way, and both are reported."""
    plan = transform_plan(
        build_model(profile(table("order", column("OrderId"), column("order_id"), column("End"))))
    )
    told = {(r.source_name, r.name) for r in plan.renamed}
    clash = next(r for r in plan.renamed if r.source_name == "OrderId")
    assert {("order", "order_"), ("End", "end_"), ("OrderId", clash.name)} == told
    assert clash.name.startswith("order_id_") and "snake_case" in clash.reason


def test_a_table_called_like_a_staging_view_gets_one_of_its_own(tmp_path: Path) -> None:
    """``stg_a`` of the source and the staging of ``a`` are two relations."""
    path = database(
        tmp_path / "a.duckdb",
        "CREATE TABLE a AS SELECT 1 AS x",
        "CREATE TABLE stg_a AS SELECT 2 AS y",
    )
    with modelled(path) as shop, built(shop.source, transform_plan(shop.model)) as result:
        read = result.connection.execute("SELECT (FROM model.a), (FROM model.stg_a)").fetchone()
        assert read == (1, 2)


def test_a_table_that_is_gone_is_named(tmp_path: Path) -> None:
    """The plan of yesterday on the source of today says what is missing."""
    path = database(
        tmp_path / "a.duckdb", "CREATE TABLE a AS SELECT 1 AS x", "CREATE TABLE b AS SELECT 1 AS x"
    )
    with modelled(path) as shop:
        plan = transform_plan(shop.model)
    database(path, "DROP TABLE b", "ALTER TABLE a RENAME x TO z")
    with pytest.raises(SourceChangedError, match="'a' no longer has the column 'x'"):
        run(path, plan)
    database(path, "DROP TABLE a", "CREATE TABLE c AS SELECT 1 AS z")
    with pytest.raises(SourceChangedError, match="no longer has the table 'a'"):
        run(path, plan)


def test_a_relation_that_differs_from_the_plan_is_refused(tmp_path: Path) -> None:
    """What is promised of names and types is compared with what DuckDB made."""
    path = database(tmp_path / "a.duckdb", "CREATE TABLE a AS SELECT 1 AS x")
    with modelled(path) as shop:
        plan = transform_plan(shop.model)
        wrong = plan.builds[-1].model_copy(update={"sql": "SELECT x + 0.5 AS x FROM model.stg_a"})
        plan = plan.model_copy(update={"builds": (*plan.builds[:-1], wrong)})
    with pytest.raises(BuildFailedError, match="x INTEGER was planned"):
        run(path, plan)


def test_a_value_that_no_longer_fits_fails_the_build_and_is_not_dropped(tmp_path: Path) -> None:
    """Text that was a date and is none today stops the build."""
    path = database(
        tmp_path / "a.duckdb",
        "CREATE TABLE a AS SELECT i AS id, '2020-01-0' || (1 + i % 9) AS day FROM range(50) r(i)",
    )
    with modelled(path) as shop:
        plan = transform_plan(shop.model)
    database(path, "INSERT INTO a VALUES (99, 'unknown')")
    with pytest.raises(BuildFailedError, match="failed to build"):
        run(path, plan)


@pytest.mark.parametrize(
    ("bound", "named"),
    [
        ("temp_directory = ''", "FLUID_MEMORY_LIMIT"),
        ("max_temp_directory_size = '1MB'", "--scratch"),
    ],
)
def test_want_of_memory_or_disk_is_no_bug_to_report(tmp_path: Path, bound: str, named: str) -> None:
    """A build that finds no room says what gives it some; a bound on spilled data is a disk."""
    path = database(
        tmp_path / "a.duckdb",
        "CREATE TABLE a AS SELECT i AS id, repeat('x', 200) || i AS note FROM range(200000) r(i)",
    )
    with modelled(path) as shop:
        plan = transform_plan(shop.model)
    with open_source(str(path)) as source:
        source.connection.execute("SET memory_limit = '12MB'")
        source.connection.execute(f"SET {bound}")
        with pytest.raises(BuildFailedError) as raised, built(source, plan):
            pass
    assert named in str(raised.value.hint)
    assert isinstance(raised.value, ScratchFullError) == (named == "--scratch")


def test_orphans_that_were_measured_are_allowed_and_no_more(tmp_path: Path) -> None:
    """A reference with known orphans becomes a warning that starts after them."""
    path = database(
        tmp_path / "a.duckdb",
        "CREATE TABLE customer AS SELECT i + 1 AS customer_id, 'n' || i AS n FROM range(200) r(i)",
        "CREATE TABLE orders AS SELECT i + 1 AS order_id, CASE WHEN i < 3 THEN 900 + i ELSE"
        " i % 200 + 1 END AS customer_id FROM range(800) r(i)",
    )
    with modelled(path) as shop:
        tests = transform_plan(shop.model).build("orders").tests
    (reference,) = (test for test in tests if test.kind == "relationships")
    assert (reference.severity, reference.allowed) == ("warn", 3)
    assert (reference.to_model, reference.to_columns) == ("customer", ("customer_id",))
