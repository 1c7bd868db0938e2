"""The sqlmesh project of a plan: every file that goes under version control, as text."""

from collections.abc import Mapping, Sequence

from fluid_build.block_yaml import block_yaml
from fluid_build.modeling.logical import LogicalModel
from fluid_build.transform.dbt.dialects import TargetDialect, dialect_of
from fluid_build.transform.dbt.model_files import united_models
from fluid_build.transform.dbt.source_entries import SourceAccess
from fluid_build.transform.dbt.targets import check_target
from fluid_build.transform.plan.elements import TransformPlan
from fluid_build.transform.sqlmesh.audits import Audits, audit_files, plan_audits
from fluid_build.transform.sqlmesh.models import (
    HAS_LOADS,
    Names,
    as_query,
    model_path,
    model_text,
    reads_itself,
    sql_text,
    united_text,
)
from fluid_build.transform.sqlmesh.readme import readme
from fluid_build.transform.sqlmesh.sources import (
    check_buildable,
    check_readable,
    connection,
    external_models,
    rendered_yaml,
    source_tables,
)
from fluid_build.transform.sqlmesh.versions import with_kept_versions

_GITIGNORE = """\
.cache/
logs/
__pycache__/
land/
*.duckdb
*.duckdb.wal
"""


def sqlmesh_project(
    plan: TransformPlan, model: LogicalModel, *, target: str = "duckdb", access: SourceAccess
) -> dict[str, str]:
    """Return the project's files by their path, ``/`` between folders.

    Raises UsageError for a target or a source that a sqlmesh project can't have, and
    BuildFailedError where the plan's SQL can't be translated to the target's dialect.
    """
    dialect = dialect_of(check_target(target))
    check_buildable(dialect.target)
    check_readable(access)
    assert access.schema is not None, "each of these targets has a schema of its own"
    united = united_models(plan.builds, access)
    whole = {id_: f"{access.schema}.{name}" for id_, name in united.items()}
    names = Names(access.schema, source_tables(access) | whole)
    kept = with_kept_versions(plan)
    builds, audits = kept.plan.builds, plan_audits(kept.plan)
    files = {"config.yaml": rendered_yaml(_config(plan, access, dialect)), ".gitignore": _GITIGNORE}
    if tables := external_models(plan, access):
        files["external_models.yaml"] = _external_yaml(tables)
    for id_, query in access.united.items():
        text = united_text(united[id_], query, names, dialect)
        files[f"models/staging/base/{united[id_]}.sql"] = text
    for build in builds:
        kind = kept.kinds.get(build.name, "")
        files[model_path(build)] = model_text(build, audits, names, dialect, kind=kind)
    files |= audit_files(audits.written, _translated(audits, names, dialect))
    if any(map(reads_itself, builds)):
        files |= {"macros/__init__.py": "", "macros/has_loads.py": HAS_LOADS}
    files["README.md"] = readme(model, access, dialect, kept, audits, files["config.yaml"])
    return files


def _config(plan: TransformPlan, access: SourceAccess, dialect: TargetDialect) -> dict[str, object]:
    gateway = dialect.target
    # sqlmesh adds to a model's name, and PostgreSQL has room for 63 characters.
    short = {} if gateway == "duckdb" else {"physical_table_naming_convention": "hash_md5"}
    return {
        "gateways": {gateway: {"connection": connection(plan, access, gateway)}},
        "default_gateway": gateway,
        "model_defaults": {
            "dialect": gateway,
            "cron": "@daily",
            # The SQL runs as it was proven, and isn't rewritten first.
            "optimize_query": False,
        },
        **short,
    }


def _external_yaml(tables: Sequence[Mapping[str, object]]) -> str:
    """Return the file of external models, which is a list and no mapping."""
    return block_yaml({"models": tables}).removeprefix("models:\n")


def _translated(audits: Audits, names: Names, dialect: TargetDialect) -> dict[str, str]:
    """Return the SQL of each audit by its name; its model reads itself as ``@this_model``."""
    return {
        audit.name: as_query(
            sql_text(dialect.query(audit.sql), names, own=relation, itself="@this_model")
        )
        for relation, written in audits.written.items()
        for audit in written
    }
