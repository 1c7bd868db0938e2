"""What a query of a model may read, even if a stranger wrote the model."""

import pytest

from fluid_build.transform.plan.confinement import check_confined
from fluid_build.transform.plan.elements import Build, PlanSource, TransformPlan

PLAN = TransformPlan(
    name="shop",
    technique="flat",
    sources=(PlanSource(id="orders", table="Orders", columns=(("Id", "INTEGER"),)),),
    builds=(
        Build(
            name="parquet",
            layer="flat",
            materialization="table",
            title="Orders",
            sql="SELECT 1",
            columns=(),
            mapped_source_tables=(),
            source_columns=(),
            reason="",
        ),
    ),
)


@pytest.mark.parametrize(
    "sql",
    [
        'SELECT "Id" FROM source.orders',
        "SELECT * FROM (SELECT 1 FROM model.parquet) AS one CROSS JOIN UNNEST(range(3)) AS t (n)",
        "WITH one AS (SELECT 1 AS n UNION ALL SELECT 2) SELECT n FROM one EXCEPT SELECT 3",
        "SELECT '-- read_text(''/etc/hosts'')' AS \"FROM x.csv\" /* FROM y.csv */ -- FROM z.csv",
    ],
)
def test_a_query_on_the_plans_relations_is_confined(sql: str) -> None:
    """Relations of the plan, CTEs, spread out values and any text are all a query needs."""
    check_confined([sql], PLAN)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM read_text('/etc/hosts')",
        "SELECT (SELECT COUNT(*) FROM glob('/*')) FROM source.orders",
        "SELECT * FROM '/etc/hosts.csv'",
        'SELECT * FROM "model.parquet"',
        'SELECT (WITH "a.csv" AS (SELECT 1) SELECT 1) AS n, * FROM "a.csv"',
        "SELECT 1 FROM source.orders WHERE EXISTS (SELECT 1 FROM main.orders)",
        "SELECT 1 FROM other.source.orders",
        "SELECT 1 FROM source.customers",
        "SELECT * FROM query('SELECT 1')",
        "SELECT * FROM (DESCRIBE source.orders)",
        "SELECT 1; SELECT 2",
        "DROP TABLE source.orders",
        "COPY (SELECT 1) TO 'out.csv'",
        "",
    ],
)
def test_a_query_on_anything_else_is_refused(sql: str) -> None:
    """Files, functions that read, other relations and other statements have no place in a plan."""
    with pytest.raises(ValueError, match=r"a build (isn't|reads)"):
        check_confined(["SELECT 1", sql], PLAN)
