"""What a warehouse is changed by before a changed project loads it, in each database's words."""

import re
from pathlib import Path

import jinja2
import pytest
import sqlglot

from fluid_build.modeling.evolution import Evolution
from fluid_build.modeling.techniques import build_model
from fluid_build.profiling import profile_source
from fluid_build.sources import open_source
from fluid_build.transform.dbt.dialects import dialect_of
from fluid_build.transform.dbt.migrations import (
    Migration,
    created_table,
    migration_file,
    migrations_of,
    recorded,
    shown_type,
    statements,
)
from fluid_build.transform.dbt.project import dbt_project
from fluid_build.transform.dbt.targets import TARGETS, Target
from fluid_build.transform.plan.dimensional.star import HASHING
from fluid_build.transform.plan.elements import Filling
from fluid_build.transform.plan.stateful import stored_columns
from fluid_build.transform.plan.techniques import transform_plan
from tests.transform.databases import database
from tests.transform.dbt.projects import schema_access
from tests.transform.dbt.test_called_models import assert_rendered
from tests.transform.test_changed_sources import (
    SHOP,
    changed,
    column,
    load,
    rows,
    shop,
    sizes,
)

ADDED = Migration(kind="add_column", relation="dim", column="floor", type="INTEGER")
KEY = Migration(kind="add_column", relation="pit", column="x_hk", type="VARCHAR", before="'000'")
WIDER = Migration(kind="widen_column", relation="sat", column="paid", type="DECIMAL(12,4)")
RETIRED = Migration(kind="retire_column", relation="sat", column="old")
GONE = Migration(kind="retire_relation", relation="sat")
CHANGES = Evolution(
    retired_tables=("visit",),
    retired_columns=(column("customer", "old"),),
    added_columns=(column("customer", "score"),),
    retyped_columns=(column("customer", "name"),),
)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("migration", [ADDED, KEY, WIDER, RETIRED, GONE], ids=lambda m: m.kind)
def test_each_database_can_read_its_statements(target: Target, migration: Migration) -> None:
    """And those that record them."""
    dialect = dialect_of(target)
    said = statements(migration, "s.rel", dialect)
    moment = "2024-01-01 00:00:00"
    said += (created_table("s.seen", dialect),)
    said += (recorded("s.seen", "0001_x", migration, moment, dialect, is_new=True),)
    for statement in said:
        (tree,) = sqlglot.parse(statement, read=target, error_level=sqlglot.ErrorLevel.RAISE)
        assert tree is not None and "s." in tree.sql(target)


@pytest.mark.parametrize(
    ("target", "migration", "expected"),
    [
        ("duckdb", ADDED, "ALTER TABLE s.r ADD COLUMN IF NOT EXISTS floor INTEGER"),
        ("bigquery", ADDED, "ALTER TABLE s.r ADD COLUMN IF NOT EXISTS floor INT64"),
        ("databricks", ADDED, "ALTER TABLE s.r ADD COLUMNS (floor INT)"),
        (
            "postgres",
            WIDER,
            "ALTER TABLE s.r ALTER COLUMN paid TYPE DECIMAL(12, 4)"
            " USING CAST(paid AS DECIMAL(12, 4))",
        ),
        (
            "bigquery",
            WIDER,
            "CREATE OR REPLACE TABLE s.r AS SELECT * REPLACE (CAST(paid AS NUMERIC) AS paid)"
            " FROM s.r",
        ),
    ],
)
def test_a_column_is_added_and_widened_in_place(
    target: Target, migration: Migration, expected: str
) -> None:
    """Where the database can't, its table is made again with the same rows."""
    assert statements(migration, "s.r", dialect_of(target)) == (expected,)


def test_rows_of_earlier_loads_lead_to_nothing_by_a_new_key() -> None:
    """A point-in-time table finds the ghost record of a satellite that wasn't there."""
    assert statements(KEY, "s.pit", dialect_of("duckdb")) == (
        "ALTER TABLE s.pit ADD COLUMN IF NOT EXISTS x_hk VARCHAR",
        "UPDATE s.pit SET x_hk = '000' WHERE x_hk IS NULL",
    )


def test_a_file_of_migrations_is_readable_sql() -> None:
    """It's a macro, a step for each change, which does nothing where it was done before."""
    path, text = migration_file(3, "dim", [ADDED, WIDER], dialect_of("duckdb"))
    assert path == "migrations/0003_dim.sql"
    assert text.splitlines()[1:] == [
        "{% macro migration_0003(steps, seen) %}",
        "{% call(relation) migration_step(steps, seen, '0003_dim', 'dim', 'floor', adds=true) %}",
        "ALTER TABLE {{ relation }} ADD COLUMN IF NOT EXISTS floor INTEGER",
        "{% endcall %}",
        "{% call(relation) migration_step(steps, seen, '0003_dim', 'sat', 'paid') %}",
        "ALTER TABLE {{ relation }} ALTER COLUMN paid TYPE DECIMAL(12,4)",
        "{% endcall %}",
        "{% endmacro %}",
    ]


@pytest.mark.parametrize("technique", ["data_vault_2", "dimensional"])
@pytest.mark.parametrize("target", TARGETS)
def test_a_changed_project_renders_to_the_sql_of_its_plan(
    tmp_path: Path, technique: str, target: Target
) -> None:
    """What was proven is what is built; a table that is gone is no longer read."""
    with open_source(database(tmp_path / "shop.duckdb", *SHOP)) as source:
        model = build_model(profile_source(source), technique)
    model = model.model_copy(update={"evolution": CHANGES})
    plan = transform_plan(model)
    for again in (False, True):
        assert assert_rendered(plan, model, target, again)
    files = dbt_project(plan, model, target=target, access=schema_access(plan, "raw", {}))
    assert "on-run-start" in files["dbt_project.yml"]
    assert "visit" not in files["models/staging/_sources.yml"]


def test_the_migrations_of_a_model_follow_from_how_it_changed(tmp_path: Path) -> None:
    """Of relations that remember, and of columns that have the values that changed."""
    with open_source(database(tmp_path / "shop.duckdb", *SHOP)) as source:
        model = build_model(profile_source(source), "dimensional")
    model = model.model_copy(update={"evolution": CHANGES})
    plan = transform_plan(model)
    found = migrations_of(plan, stored_columns(plan, HASHING), CHANGES)
    assert {(one.kind, one.relation, one.column) for one in found} >= {
        ("add_column", "dim_customer_history", "score"),
        ("widen_column", "dim_customer_history", "name"),
        ("retire_column", "dim_customer_history", "old"),
        ("add_column", "dim_customer", "score"),
        ("widen_column", "dim_customer", "name"),
    }
    assert [one for one in found if one.kind == "retire_relation"]


@pytest.mark.parametrize(
    ("type_", "target", "shown"),
    [
        ("DECIMAL(12,4)", "duckdb", "decimal(12,4)"),
        ("DECIMAL(12, 4)", "postgres", "numeric(12,4)"),
        ("INT", "postgres", "integer"),
        ("TIMESTAMP", "postgres", "timestampwithouttimezone"),
        ("INT64", "bigquery", ""),
    ],
)
def test_a_type_is_compared_as_the_catalog_shows_it(type_: str, target: Target, shown: str) -> None:
    """Without spaces, in lower case; nothing is compared where the catalog isn't known."""
    assert shown_type(type_, target) == shown


def test_open_versions_take_the_values_of_a_column_that_joined_them(tmp_path: Path) -> None:
    """So the first load after the migration adds no version, and one that had ended is null."""
    with shop(tmp_path, "dimensional") as (model, built):
        load(built, model, 1, "UPDATE shop.customer SET name = 'other' WHERE id = 1")
        for relation in ("dim_customer_history", "dim_customer"):
            built.connection.execute(f"ALTER TABLE model.{relation} DROP COLUMN score")
            built.connection.execute(f"ALTER TABLE model.{relation} ADD COLUMN score INTEGER")
        before = sizes(built)
        after = changed(model, added_columns=(column("customer", "score"),))
        plan = transform_plan(after)
        filling = plan.build("dim_customer_history").filling
        assert filling == Filling(rows="stg_customer", keys=("id",), columns=("score",))
        files = dbt_project(plan, after, access=schema_access(plan, "raw", {}))
        rendered = _fill(files["macros/migrations.sql"], "model.dim_customer_history", filling)
        built.connection.execute(rendered)
        load(built, after, 2)
        grown = {name: sizes(built)[name] - before[name] for name in before}
        assert {name for name, rows_ in grown.items() if rows_} <= {"fct_customer_snapshot"}
        assert rows(
            built, "SELECT name, score FROM model.dim_customer WHERE id = 1 ORDER BY valid_from"
        ) == [("n1", None), ("other", 7)]


def _fill(macros: str, this: str, filling: Filling) -> str:
    """The statement with which a load fills the columns of a history."""
    wanted = re.findall(
        r"\{% macro (?:fill_added_columns|equal_keys)\(.*?\{%- endmacro %\}", macros, re.DOTALL
    )
    template = jinja2.Environment().from_string(
        "".join(wanted),
        {"this": this, "is_incremental": lambda: True, "unfilled_columns": list},
    )
    return str(
        template.module.fill_added_columns(  # type: ignore[attr-defined]
            f"model.{filling.rows}", list(filling.keys), list(filling.columns)
        )
    )


@pytest.mark.parametrize("target", TARGETS)
def test_each_database_can_read_how_versions_are_filled(tmp_path: Path, target: Target) -> None:
    """By an update from another relation, or by a merge where there's none."""
    with open_source(database(tmp_path / "shop.duckdb", *SHOP)) as source:
        model = build_model(profile_source(source), "dimensional")
    model = model.model_copy(update={"evolution": CHANGES})
    plan = transform_plan(model)
    files = dbt_project(plan, model, target=target, access=schema_access(plan, "raw", {}))
    filling = Filling(rows="stg", keys=("id",), columns=("floor", "score"))
    text = _fill(files["macros/migrations.sql"], "s.history", filling)
    (tree,) = sqlglot.parse(text, read=target, error_level=sqlglot.ErrorLevel.RAISE)
    merges = target in ("snowflake", "bigquery", "databricks")
    assert isinstance(tree, sqlglot.exp.Merge if merges else sqlglot.exp.Update)
