"""How a place is put into the project's files so that dbt, Jinja and DuckDB take it for itself."""

from collections.abc import Mapping, Sequence

from fluid_build.modeling.sql_names import free_identifier
from fluid_build.transform.dbt.jinja import Jinja, literally
from fluid_build.transform.plan.plan import TransformPlan

SCHEMA_VARIABLE = "source_schema"
_TAKEN_BY_DUCKDB = ("main", "memory", "system", "temp", "information_schema", "pg_catalog")


def duckdb_names(plan: TransformPlan) -> tuple[str, str]:
    """The target's database, and the alias of an attached source: names of nothing else."""
    builds = {build.name for build in plan.builds}
    database = duckdb_database(plan)
    return database, free_identifier("source_data", {*builds, *_TAKEN_BY_DUCKDB, database})


def duckdb_database(plan: TransformPlan) -> str:
    """The name of the target's database."""
    return free_identifier(plan.name, _TAKEN_BY_DUCKDB)


def external(pieces: Sequence[str]) -> Mapping[str, str]:
    """SQL that dbt-duckdb puts where the source is read; its own placeholders are kept out."""
    template = is_template("".join(p for p in pieces if not isinstance(p, Jinja)))
    text = "".join(
        piece
        if isinstance(piece, Jinja)
        else literally(piece.replace("$", "$$") if template else piece)
        for piece in pieces
    )
    meta = {"external_location": Jinja(text)}
    # In its usual template a brace opens a placeholder, and two of them open Jinja's.
    return {**meta, "formatter": "template"} if template else meta


def is_template(sql: str) -> bool:
    """Whether dbt-duckdb would find a placeholder in it, were it not told to look for others."""
    return any(mark in sql for mark in "{}$")


def inside_quotes(name: str) -> str:
    """A name as it stands between double quotes."""
    # dbt puts quotes around a name and leaves those in it as they are.
    return name.replace('"', '""')


def schema_variable(default: str) -> Jinja:
    """The schema that the source was loaded into."""
    return Jinja(f"{{{{ var('{SCHEMA_VARIABLE}', '{default}') }}}}")
