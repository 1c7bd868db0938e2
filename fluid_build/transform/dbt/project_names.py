"""The names that the dbt project gives: of itself, its database, and the attached source."""

from fluid_build.modeling.sql_names import free_identifier
from fluid_build.transform.plan.elements import TransformPlan

_DUCKDB_DATABASES = ("main", "memory", "system", "temp", "information_schema", "pg_catalog")
"""Names that DuckDB keeps for databases and schemas of its own."""


def project_name(plan: TransformPlan) -> str:
    """Return the name of the project and its profile; dbt's own packages are named ``dbt_...``."""
    return f"{plan.name}_project" if plan.name.partition("_")[0] == "dbt" else plan.name


def duckdb_database(plan: TransformPlan) -> str:
    """Return the name of the target's database."""
    return free_identifier(plan.name, _DUCKDB_DATABASES)


def duckdb_names(plan: TransformPlan) -> tuple[str, str]:
    """Return the names of the target's database and of the attached source, both unused so far."""
    builds = {build.name for build in plan.builds}
    database = duckdb_database(plan)
    return database, free_identifier("source_data", {*builds, *_DUCKDB_DATABASES, database})
