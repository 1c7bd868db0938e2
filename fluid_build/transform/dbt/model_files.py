"""The model files: one of SQL for each build."""

from collections.abc import Mapping

from fluid_build.transform.dbt.dialects import TargetDialect
from fluid_build.transform.dbt.jinja_references import with_references
from fluid_build.transform.dbt.targets import Target
from fluid_build.transform.plan.elements import Build, Layer, Materialization

FOLDERS: Mapping[Layer, str] = {
    "staging": "staging",
    "flat": "flat",
    "raw_vault": "raw_vault",
    "mart": "marts",
}
MATERIALIZED: Mapping[Layer, Materialization] = {
    "staging": "view",
    "flat": "table",
    "raw_vault": "incremental",
    "mart": "table",
}
"""How a folder's models are made where a file does not say otherwise."""

_STRATEGIES: Mapping[Target, str] = {"bigquery": "merge"}
"""BigQuery knows no append; a merge without a key inserts and nothing else."""

STAYS = "is_there_already"
"""The macro by which a table asks whether it was made before, so that some of its rows stay."""
_AGAIN: Mapping[Materialization, str] = {
    "incremental": "{%- if is_incremental() %}",
    "table": f"{{%- if {STAYS}() %}}",
}


def model_files(builds: tuple[Build, ...], source: str, dialect: TargetDialect) -> dict[str, str]:
    """The model of each build by its path; ``source`` is the name of the dbt source."""
    return {
        f"models/{FOLDERS[build.layer]}/{build.name}.sql": _model(build, source, dialect)
        for build in builds
    }


def materialization_config(materialized: Materialization, target: Target) -> dict[str, str]:
    """How dbt is told to make a model; an incremental one only ever gets rows added."""
    config: dict[str, str] = {"materialized": materialized}
    if materialized == "incremental":
        config["incremental_strategy"] = _STRATEGIES.get(target, "append")
        config["on_schema_change"] = "fail"
    return config


def _model(build: Build, source: str, dialect: TargetDialect) -> str:
    head = ""
    if build.materialization != MATERIALIZED[build.layer]:
        config = materialization_config(build.materialization, dialect.target)
        written = ", ".join(f"{key}='{value}'" for key, value in config.items())
        head = f"{{{{ config({written}) }}}}\n\n"
    return f"{head}{_body(build, source, dialect)}\n"


def _body(build: Build, source: str, dialect: TargetDialect) -> str:
    def written(sql: str) -> str:
        return with_references(sql, own=build.name, source=source, backslashes=dialect.backslashes)

    first = written(dialect.query(build.sql))
    if build.incremental is None:
        return first
    again_if = _AGAIN[build.materialization]
    if dialect.target == "duckdb":
        return f"{first}\n{again_if}\n{written(build.incremental)}\n{{%- endif %}}"
    again = written(dialect.query(f"{build.sql}\n{build.incremental}"))
    if again.startswith(f"{first}\n"):
        return f"{first}\n{again_if}{again[len(first) :]}\n{{%- endif %}}"
    return f"{again_if}\n{again}\n{{%- else %}}\n{first}\n{{%- endif %}}"
