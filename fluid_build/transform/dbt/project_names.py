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


def attached_database(plan: TransformPlan, source: str = "") -> str:
    """Return the name that the source is attached under, or that one of several sources is."""
    used = {*(build.name for build in plan.builds), *_DUCKDB_DATABASES, duckdb_database(plan)}
    return free_identifier(f"{source}_data" if source else "source_data", used)
