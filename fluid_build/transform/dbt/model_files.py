"""The model files: one of SQL for each build."""

import re
from collections.abc import Collection, Mapping

from fluid_build.modeling.sql_names import free_identifier
from fluid_build.transform.dbt.called_models import (
    argument_text,
    call_text,
    expression,
    prepared_call,
)
from fluid_build.transform.dbt.dialects import TargetDialect
from fluid_build.transform.dbt.guard_macros import check_of
from fluid_build.transform.dbt.jinja_references import with_references
from fluid_build.transform.dbt.migration_macros import fill_hooks
from fluid_build.transform.dbt.source_entries import SourceAccess
from fluid_build.transform.dbt.targets import Target
from fluid_build.transform.plan.elements import Build, Layer, Materialization
from fluid_build.transform.plan.quarantine import in_place
from fluid_build.transform.plan.sql_layout import LINE_WIDTH, within_width

FOLDERS: Mapping[Layer, str] = {
    "deliveries": "deliveries",
    "quarantine": "quarantine",
    "staging": "staging",
    "flat": "flat",
    "raw_vault": "raw_vault",
    "business_vault": "business_vault",
    "mart": "marts",
}
MATERIALIZED: Mapping[Layer, Materialization] = {
    "deliveries": "incremental",
    "quarantine": "incremental",
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
    parts = access.references
    sources = {**parts, **{id_: f"ref('{name}')" for id_, name in models.items()}}
    long = {
        parts[entry.id]
        for entry in access.entries
        if len(entry.meta.get("external_location", "")) > LINE_WIDTH // 2
    }
    united = {
        f"models/staging/base/{models[id_]}.sql": within_width(
            with_references(
                dialect.query(query), own="", sources=parts, backslashes=dialect.backslashes
            ),
            backslashes=dialect.backslashes,
        )
        + "\n"
        for id_, query in access.united.items()
    }
    return united | {
        f"models/{FOLDERS[build.layer]}/{build.name}.sql": _model(build, sources, long, dialect)
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
    build: Build, sources: Mapping[str, str], long: Collection[str], dialect: TargetDialect
) -> str:
    settings: list[str] = []
    if build.materialization != MATERIALIZED[build.layer]:
        config = materialization_config(build.materialization, dialect.target)
        settings = [f"{key}='{value}'" for key, value in config.items()]
    hooks = _hooks(build, dialect)
    head = ""
    if hooks:
        lines = [*(f"    {setting}," for setting in settings), *hooks]
        head = "{{ config(\n" + "\n".join(lines) + "\n) }}\n\n"
    elif settings:
        head = f"{{{{ config({', '.join(settings)}) }}}}\n\n"
    return f"{head}{_body(build, sources, long, dialect)}\n"


def _hooks(build: Build, dialect: TargetDialect) -> list[str]:
    """Return what is done before a load and after it.

    Before, rows of earlier loads are changed; after a staging, its rows are compared with them.
    """
    if build.guard is not None:
        check = check_of(build.guard, dialect)
        return [argument_text("    post_hook=", check, dialect, ends=",")]
    if build.filling is not None:
        return [f"    {fill_hooks(build.filling)},"]
    if build.replaced:
        return [argument_text("    pre_hook=", _replacing(build, dialect), dialect, ends=",")]
    return []


def _replacing(build: Build, dialect: TargetDialect) -> str:
    """Return what takes out the rows of the period that is loaded, in the same transaction."""
    condition = with_references(
        expression(build.replaced, dialect),
        own=build.name,
        sources={},
        backslashes=dialect.backslashes,
    )
    delete = f"DELETE FROM {{{{ this }}}} WHERE {condition}"
    return f"{{% if is_incremental() %}}{delete}{{% endif %}}"


def _accepted(sql: str, long: Collection[str]) -> str:
    """Return SQL in which sqlfluff accepts the lines that sources' own long queries are put into.

    dbt has such a query in the source's properties, where it's a single line.
    """
    for source in long:
        reads = f"{{{{ {source} }}}}"
        sql = re.sub(rf"{re.escape(reads)}$", f"{reads}  -- noqa: LT05", sql, flags=re.MULTILINE)
    return sql


def _body(
    build: Build, sources: Mapping[str, str], long: Collection[str], dialect: TargetDialect
) -> str:
    def with_jinja(sql: str) -> str:
        text = with_references(
            sql,
            own=build.name,
            sources=sources,
            backslashes=dialect.backslashes,
        )
        return _accepted(within_width(text, backslashes=dialect.backslashes), long)

    if build.call is None:
        first_load = with_jinja(dialect.query(build.sql))
    else:
        settings, call = prepared_call(
            build.call, sources, lambda sql: with_jinja(dialect.query(sql))
        )
        first_load = settings + call_text(call, dialect)
        if build.outline:
            outline = with_jinja(dialect.query(build.outline))
            return settings + in_place(outline, call_text(call, dialect))
        if not build.is_retired:
            return first_load
    if build.next_load is None or build.next_load == build.sql:
        return first_load
    if_exists = _AGAIN[build.materialization]
    next_load = with_jinja(dialect.query(build.next_load))
    opening, clause, closing = _added(first_load, next_load)
    if clause:
        return f"{opening}\n{if_exists}\n{clause}\n{{%- endif %}}{closing}"
    return f"{if_exists}\n{next_load}\n{{%- else %}}\n{first_load}\n{{%- endif %}}"


def _added(first_load: str, next_load: str) -> tuple[str, str, str]:
    """Return the lines that a query has more than another, after which and before which.

    The lines are "" where it differs in other ways.
    """
    lines = first_load.split("\n")
    pairs = enumerate(zip(lines, next_load.split("\n"), strict=False))
    same = next((number for number, (line, other) in pairs if line != other), len(lines))
    opening = "\n".join(lines[:same])
    closing = first_load.removeprefix(opening)
    is_added = next_load.startswith(f"{opening}\n") and next_load.endswith(closing)
    # A line break in a text or a quoted name is no place for a condition.
    if not is_added or opening.count("'") % 2 or opening.count('"') % 2:
        return "", "", ""
    return opening, next_load[len(opening) + 1 : len(next_load) - len(closing)], closing
