"""The targets: their types, their SQL, and that each can read what is written for it."""

import configparser
from pathlib import Path

import pytest
import sqlglot
from sqlglot import exp

from fluid_build.errors import UsageError
from fluid_build.transform.dbt.dialects import dialect_of
from fluid_build.transform.dbt.linting import lint_files
from fluid_build.transform.dbt.project import dbt_project
from fluid_build.transform.dbt.targets import check_target, target_type
from fluid_build.transform.plan.techniques import transform_plan
from tests.shared import CORPUS, needs_shared
from tests.transform.databases import EVERY_TYPE, Modelled, database, modelled
from tests.transform.dbt.projects import TARGETS, compiled_models, compiled_tests, schema_access


def queries(shop: Modelled, target: str) -> dict[str, str]:
    """Every query of a project for a target, by its file."""
    plan = transform_plan(shop.model)
    access = schema_access(plan, "raw", {"type": target})
    files = dbt_project(plan, shop.model, target=target, access=access)
    return {f"test {name}": sql for name, sql in compiled_tests(files)} | {
        f"{name} {again}": sql
        for again in (False, True)
        for name, sql in compiled_models(files, again=again)
    }


@needs_shared
@pytest.mark.parametrize(
    ("name", "technique"),
    [
        ("broker", "flat"),
        ("jaffle_shop", "data_vault_2"),
        ("chinook", "dimensional"),
        *(
            pytest.param(*case, marks=pytest.mark.thorough)
            for case in (
                ("adventureworks_lt", "flat"),
                ("pubs", "data_vault_2"),
                ("northwind", "dimensional"),
            )
        ),
    ],
)
def test_each_target_can_read_what_is_written_for_it(name: str, technique: str) -> None:
    """Every model and test of a corpus database parses in its target's dialect."""
    with modelled(CORPUS / name / "data", technique) as shop:
        for target in TARGETS:
            for file, sql in queries(shop, target).items():
                tree = sqlglot.parse_one(sql, read=target)
                assert isinstance(tree, exp.Query), (target, file)
                assert not list(tree.find_all(exp.Command)), (target, file)


@pytest.mark.parametrize("target", TARGETS)
def test_a_column_of_every_type_is_written_for_each_target(tmp_path: Path, target: str) -> None:
    """Types that a target lacks become ones that it has, in the SQL as in the contract."""
    path = database(tmp_path / "types.duckdb", EVERY_TYPE)
    with modelled(path) as shop:
        staging = next(
            sql
            for name, sql in queries(shop, target).items()
            if name.startswith("models/staging/stg_all_types")
        )
        plan = transform_plan(shop.model)
    tree = sqlglot.parse_one(staging, read=target)
    dialect = dialect_of(check_target(target))
    arrived = next(each for each in tree.find_all(exp.Select) if each.find(exp.Cast) is not None)
    while not isinstance(arrived.selects[0].unalias(), exp.Cast):
        arrived = next(
            each
            for each in arrived.find_all(exp.Select)
            if isinstance(each.selects[0].unalias(), exp.Cast)
        )
    casts = [select.this for select in arrived.selects]
    assert all(isinstance(cast, exp.Cast) for cast in casts)
    written = [cast.to.sql(dialect=target) for cast in casts]
    assert written == [dialect.type(column.type) for column in plan.build("stg_all_types").columns]
    for unknown in ("HUGEINT", "INT128", "UBIGINT", "STRUCT", "ENUM", "UNION", "TIMESTAMP_NS"):
        assert unknown not in " ".join(written)


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("postgres", "ENCODE(SHA256(CONVERT_TO(a, 'UTF8')), 'hex')"),
        ("snowflake", "SHA2(a, 256)"),
        ("bigquery", "TO_HEX(SHA256(a))"),
        ("databricks", "SHA2(a, 256)"),
    ],
)
def test_a_hash_is_lower_case_hex_of_the_text_on_each_target(target: str, expected: str) -> None:
    """SHA-256 gives the same 64 characters everywhere."""
    sql = dialect_of(check_target(target)).query("SELECT sha256(a) AS h")
    assert " ".join(sql.split()) == f"SELECT {expected} AS h"


def test_what_a_hash_is_made_of_is_translated_as_well() -> None:
    """A type and a function inside a hash are in the target's words too."""
    query = "SELECT sha256(concat_ws('|', CAST(a AS UBIGINT), b)) AS h"
    sql = dialect_of("bigquery").query(query)
    joined = "ARRAY_TO_STRING([CAST(a AS BIGNUMERIC), b], '|')"
    assert " ".join(sql.split()) == f"SELECT TO_HEX(SHA256({joined})) AS h"


def test_md5_is_hex_on_bigquery() -> None:
    """BigQuery's own MD5 gives bytes."""
    sql = dialect_of("bigquery").query("SELECT md5(a) AS h")
    assert " ".join(sql.split()) == "SELECT TO_HEX(MD5(a)) AS h"


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("postgres", "CAST(GETVARIABLE('load_date') AS TIMESTAMP)"),
        ("snowflake", "CAST(GETVARIABLE('load_date') AS TIMESTAMPNTZ)"),
        ("bigquery", "CAST(getvariable('load_date') AS DATETIME)"),
        ("databricks", "CAST(GETVARIABLE('load_date') AS TIMESTAMP_NTZ)"),
    ],
)
def test_a_time_without_a_zone_has_none_on_any_target(target: str, expected: str) -> None:
    """DuckDB's TIMESTAMP is a wall clock, and what a target calls so may be a moment."""
    sql = dialect_of(check_target(target)).query(
        "SELECT CAST(getvariable('load_date') AS TIMESTAMP) AS t"
    )
    assert " ".join(sql.split()) == f"SELECT {expected} AS t"


@pytest.mark.parametrize(
    ("target", "sql", "expected"),
    [
        ("bigquery", "date_trunc('week', d)", "DATE_TRUNC(d, ISOWEEK)"),
        ("bigquery", "date_trunc('year', d)", "DATE_TRUNC(d, YEAR)"),
        ("bigquery", "dayofweek(d)", "( EXTRACT(DAYOFWEEK FROM d) - 1 )"),
        ("databricks", "dayofweek(d)", "( DAYOFWEEK(d) - 1 )"),
        ("databricks", "isodow(d)", "( WEEKDAY(d) + 1 )"),
        ("postgres", "isodow(d)", "EXTRACT(ISODOW FROM d)"),
        ("postgres", "quarter(d)", "EXTRACT(QUARTER FROM d)"),
        ("snowflake", "week(d)", "DATE_PART(WEEKISO, d)"),
    ],
)
def test_parts_of_a_date_are_counted_as_duckdb_does(target: str, sql: str, expected: str) -> None:
    """Weeks begin on Monday and days of the week are counted alike, whatever a target's habit."""
    written = dialect_of(check_target(target)).query(f"SELECT {sql} AS part")
    assert " ".join(written.split()) == f"SELECT {expected} AS part"


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("postgres", "CONCAT_WS('|', a, b)"),
        ("snowflake", "ARRAY_TO_STRING(ARRAY_CONSTRUCT_COMPACT(a, b), '|')"),
        ("bigquery", "ARRAY_TO_STRING([a, b], '|')"),
        ("databricks", "CONCAT_WS('|', a, b)"),
    ],
)
def test_joined_text_leaves_nulls_out_on_each_target(target: str, expected: str) -> None:
    """A null is neither an empty part nor makes the whole null."""
    sql = dialect_of(check_target(target)).query("SELECT concat_ws('|', a, b) AS j")
    assert " ".join(sql.split()) == f"SELECT {expected} AS j"


@pytest.mark.parametrize(
    ("duckdb_type", "target", "name", "lossy"),
    [
        ("HUGEINT", "postgres", "DECIMAL(39, 0)", False),
        ("HUGEINT", "snowflake", "DECIMAL(38, 0)", True),
        ("DECIMAL(10,2)", "bigquery", "NUMERIC", False),
        ("DECIMAL(38,10)", "bigquery", "BIGNUMERIC", False),
        ("DECIMAL(18,3)", "databricks", "DECIMAL(18, 3)", False),
        ("VARCHAR[]", "postgres", "JSONB", True),
        ("STRUCT(a INTEGER)", "snowflake", "VARIANT", True),
        ("ENUM('a', 'b')", "bigquery", "STRING", False),
        ("TIME", "databricks", "STRING", True),
        ("BIT", "bigquery", "STRING", True),
        ("STRUCT(a INTEGER)", "duckdb", "STRUCT(a INTEGER)", False),
    ],
)
def test_a_type_becomes_the_nearest_and_says_what_is_lost(
    duckdb_type: str, target: str, name: str, lossy: bool
) -> None:
    """Where a target lacks a type, a sensible one is used and the loss is reported."""
    found = target_type(duckdb_type, check_target(target))
    assert (found.name, bool(found.loss)) == (name, lossy)


def test_the_readme_lists_losses(tmp_path: Path) -> None:
    """The README lists the columns that are stored differently than at the source."""
    path = database(tmp_path / "types.duckdb", EVERY_TYPE)
    with modelled(path) as shop:
        plan = transform_plan(shop.model)
        access = schema_access(plan, "raw", {"type": "snowflake"})
        files = dbt_project(plan, shop.model, target="snowflake", access=access)
    assert "## What is different on Snowflake" in files["README.md"]
    assert "`all_types.li`" in files["README.md"]


def test_an_unknown_target_is_refused_with_the_known_ones() -> None:
    """The error names what was asked for, what is meant perhaps, and what there is."""
    with pytest.raises(UsageError, match="Unknown target 'postgre'") as refused:
        check_target("postgre")
    assert refused.value.hint is not None
    assert "Did you mean 'postgres'?" in refused.value.hint
    assert "bigquery, databricks, duckdb, postgres, snowflake" in refused.value.hint


@pytest.mark.parametrize(("name", "target"), [("PostgreSQL", "postgres"), (" bq ", "bigquery")])
def test_usual_other_names_of_a_target_are_taken(name: str, target: str) -> None:
    """People write the same database in several ways."""
    assert check_target(name) == target


def test_duckdb_needs_no_translation() -> None:
    """The plan's own dialect is written as it is."""
    sql = "SELECT  1 -- as it is"
    assert dialect_of("duckdb").query(sql) is sql


@pytest.mark.parametrize("target", ["duckdb", *TARGETS])
def test_the_settings_of_sqlfluff_name_the_targets_dialect(target: str) -> None:
    """So that a reviewer's linter reads the SQL as it is written for that database."""
    settings = configparser.ConfigParser()
    settings.read_string(lint_files(check_target(target))[".sqlfluff"])
    assert settings["sqlfluff"]["dialect"] == target
    assert settings["sqlfluff"]["max_line_length"] == "100"
