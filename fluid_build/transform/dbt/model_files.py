"""The model files: one of SQL for each build."""

from collections.abc import Mapping

from fluid_build.modeling.sql_names import free_identifier
from fluid_build.transform.dbt.called_models import call_text
from fluid_build.transform.dbt.dialects import TargetDialect
from fluid_build.transform.dbt.jinja_references import with_references
from fluid_build.transform.dbt.source_entries import SourceAccess
from fluid_build.transform.dbt.targets import Target
from fluid_build.transform.plan.elements import Build, Layer, Materialization
from fluid_build.transform.plan.sql_layout import within_width

FOLDERS: Mapping[Layer, str] = {
    "staging": "staging",
    "flat": "flat",
    "raw_vault": "raw_vault",
    "business_vault": "business_vault",
    "mart": "marts",
}
MATERIALIZED: Mapping[Layer, Materialization] = {
    "staging": "view",
    "flat": "table",
    "raw_vault": "incremental",
    "business_vault": "incremental",
    "mart": "table",
}
"""How a folder's models are materialized where a file has no config of its own."""

_STRATEGIES: Mapping[Target, str] = {"bigquery": "merge"}
"""BigQuery has no append; a merge without a key only inserts."""

STAYS = "is_there_already"
"""The macro by which a table checks whether it exists, so that some of its rows stay."""
_AGAIN: Mapping[Materialization, str] = {
    "incremental": "{%- if is_incremental() %}",
    "table": f"{{%- if {STAYS}() %}}",
}


def model_files(
    builds: tuple[Build, ...], access: SourceAccess, dialect: TargetDialect
) -> dict[str, str]:
    """Return the model of each build by its path, and those that put a source together."""
    models = united_models(builds, access)
    united = {
        f"models/staging/base/{models[id_]}.sql": with_references(
            dialect.query(query),
            own="",
            source=access.name,
            backslashes=dialect.backslashes,
        )
        + "\n"
        for id_, query in access.united.items()
    }
    return united | {
        f"models/{FOLDERS[build.layer]}/{build.name}.sql": _model(build, access, models, dialect)
        for build in builds
    }


def united_models(builds: tuple[Build, ...], access: SourceAccess) -> dict[str, str]:
    """Return the names of the models that put a source together, by the plan's source."""
    taken = {build.name for build in builds}
    return {id_: free_identifier(f"base_{id_}", taken) for id_ in access.united}


def materialization_config(materialized: Materialization, target: Target) -> dict[str, str]:
    """Return the dbt config of a materialization; an incremental model only gets rows added."""
    config: dict[str, str] = {"materialized": materialized}
    if materialized == "incremental":
        config["incremental_strategy"] = _STRATEGIES.get(target, "append")
        config["on_schema_change"] = "fail"
    return config


def _model(
    build: Build, access: SourceAccess, models: Mapping[str, str], dialect: TargetDialect
) -> str:
    head = ""
    if build.materialization != MATERIALIZED[build.layer]:
        config = materialization_config(build.materialization, dialect.target)
        settings = ", ".join(f"{key}='{value}'" for key, value in config.items())
        head = f"{{{{ config({settings}) }}}}\n\n"
    return f"{head}{_body(build, access, models, dialect)}\n"


def _body(
    build: Build, access: SourceAccess, models: Mapping[str, str], dialect: TargetDialect
) -> str:
    def with_jinja(sql: str) -> str:
        text = with_references(
            sql,
            own=build.name,
            source=access.name,
            backslashes=dialect.backslashes,
            models=models,
        )
        return within_width(text, backslashes=dialect.backslashes)

    if build.call is not None:
        return call_text(build.call, dialect)
    first_load = with_jinja(dialect.query(build.sql))
    if build.incremental is None:
        return first_load
    if_exists = _AGAIN[build.materialization]
    if dialect.target == "duckdb":
        opening = with_jinja(build.opening) or first_load
        clause = f"{opening}\n{if_exists}\n{with_jinja(build.incremental)}\n{{%- endif %}}"
        return f"{clause}{first_load.removeprefix(opening)}"
    next_load = with_jinja(dialect.query(build.next_sql))
    if next_load.startswith(f"{first_load}\n"):
        return f"{first_load}\n{if_exists}{next_load[len(first_load) :]}\n{{%- endif %}}"
    return f"{if_exists}\n{next_load}\n{{%- else %}}\n{first_load}\n{{%- endif %}}"
