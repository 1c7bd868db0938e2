"""What a warehouse is changed by before a changed project loads it, in each database's words."""

from pathlib import Path

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
from fluid_build.transform.plan.stateful import stored_columns
from fluid_build.transform.plan.techniques import transform_plan
from tests.transform.databases import database
from tests.transform.dbt.projects import schema_access
from tests.transform.dbt.test_called_models import assert_rendered
from tests.transform.test_changed_sources import SHOP, column

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
