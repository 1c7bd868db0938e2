"""The dbt project of a plan: every file that goes under version control, as text.

The SQL is the plan's own; here it only becomes dbt models. The project needs no dbt package, and
no text of a source can become Jinja or YAML.
"""

from collections.abc import Mapping, Sequence

from fluid_build.block_yaml import block_yaml
from fluid_build.decisions.language import Exposure, Owner
from fluid_build.errors import UsageError
from fluid_build.modeling.data_vault.elements import HashKeyStrategy
from fluid_build.modeling.logical import LogicalModel
from fluid_build.transform.dbt import guard_macros, promise_macros
from fluid_build.transform.dbt.called_models import macro_files, with_column_names
from fluid_build.transform.dbt.data_tests import RelationTests, data_tests
from fluid_build.transform.dbt.dialects import TargetDialect, dialect_of
from fluid_build.transform.dbt.exposures import exposure_files
from fluid_build.transform.dbt.freshness import NOTHING_MEASURED, Freshness
from fluid_build.transform.dbt.jinja_references import LOAD_DATE
from fluid_build.transform.dbt.large_tables import layouts
from fluid_build.transform.dbt.linting import lint_files
from fluid_build.transform.dbt.loading_macros import (
    KEEPS_HISTORY,
    LOAD_DATE_MACRO,
    STAYS_MACRO,
)
from fluid_build.transform.dbt.metricflow import METRICS_FILE, metrics_yaml
from fluid_build.transform.dbt.migration_macros import MACRO_FILE as MIGRATION_MACROS
from fluid_build.transform.dbt.migration_macros import ON_RUN_START, migration_macros
from fluid_build.transform.dbt.migrations import FOLDER as MIGRATIONS
from fluid_build.transform.dbt.migrations import further_migrations, migrations_of
from fluid_build.transform.dbt.model_files import (
    FOLDERS,
    MATERIALIZED,
    STAYS,
    materialization_config,
    model_files,
    united_models,
)
from fluid_build.transform.dbt.project_names import project_name
from fluid_build.transform.dbt.properties_yml import (
    SOURCES_FILE,
    groups,
    properties,
    source_properties,
    united_properties,
)
from fluid_build.transform.dbt.readme import readme
from fluid_build.transform.dbt.semantic_model import semantic_document, semantic_json
from fluid_build.transform.dbt.source_entries import SourceAccess
from fluid_build.transform.dbt.targets import Target, check_target
from fluid_build.transform.dbt.time_spine import time_spine
from fluid_build.transform.dbt.unit_tests import unit_test_files
from fluid_build.transform.plan.dimensional.star import HASHING
from fluid_build.transform.plan.elements import OF_THE_LOAD, Layer, TransformPlan
from fluid_build.transform.plan.present_source import present_source
from fluid_build.transform.plan.stateful import stored_columns

_GITIGNORE = """\
target/
dbt_packages/
logs/
.user.yml
__pycache__/
land/
*.duckdb
*.duckdb.wal
*.duckdb.lock
"""
NO_MIGRATIONS: Mapping[str, str] = {}
_SEVERITY = "{{ var('test_severity', 'error') }}"


def dbt_project(
    plan: TransformPlan,
    model: LogicalModel,
    *,
    target: str = "duckdb",
    access: SourceAccess,
    freshness: Mapping[str, Freshness] = NOTHING_MEASURED,
    exposures: Sequence[Exposure] = (),
    owner: Owner | None = None,
    migrations: Mapping[str, str] = NO_MIGRATIONS,
) -> dict[str, str]:
    """Return the project's files by their path, ``/`` between folders.

    ``access`` says how dbt reads the tables of the source, ``freshness`` by their names when they
    are stale, ``exposures`` what reads the models, and ``owner`` who answers for them.
    ``migrations`` are the files of migrations that the project has. Raises UsageError for an
    unknown target or a hash that it lacks, and BuildFailedError where the plan's SQL can't be put
    into its dialect.
    """
    dialect = dialect_of(check_target(target))
    if hash_strategy(model).algorithm == "sha1" and dialect.target == "postgres":
        raise UsageError(
            "PostgreSQL has no SHA-1 to hash keys with.",
            hint="Set `function` of the decision `conventions` to md5 or sha256.",
        )
    name = project_name(plan)
    tests = data_tests(plan, dialect)
    models = model_files(plan.builds, access, dialect)
    files = {
        "dbt_project.yml": block_yaml(_project(plan, model, name, dialect.target, tests)),
        "profiles.yml": access.profiles_yml,
        ".gitignore": _GITIGNORE,
        **lint_files(dialect.target),
        SOURCES_FILE: source_properties(plan, access, dialect, freshness),
        **models,
        **(
            {"models/staging/base/_base.yml": united_properties(access, united)}
            if (united := united_models(plan.builds, access))
            else {}
        ),
        "models/_groups.yml": groups(name, owner),
        **properties(plan, tests, dialect, layouts(plan, model, dialect.target)),
        **unit_test_files(plan),
        **exposure_files(exposures),
        **access.files,
    }
    if tests:
        macros = with_column_names(promise_macros.MACROS, plan.column_names)
        files[promise_macros.MACRO_FILE] = macros
    files |= macro_files(plan.builds, hash_strategy(model), plan.column_names, dialect)
    if any(LOAD_DATE in text for text in files.values()):
        files["macros/load_date.sql"] = LOAD_DATE_MACRO
    if any(f"{STAYS}()" in text for text in files.values()):
        files[f"macros/{STAYS}.sql"] = STAYS_MACRO
    if _is_guarded(plan):
        guarding = with_column_names(guard_macros.MACROS, plan.column_names)
        files[guard_macros.MACRO_FILE] = guarding
    present = present_source(model)
    if present.has_changed:
        stored = stored_columns(plan, hash_strategy(model))
        files[MIGRATION_MACROS] = with_column_names(
            migration_macros(plan, stored, present.evolution, dialect), plan.column_names
        )
        needed = migrations_of(plan, stored, present.evolution)
        files |= further_migrations(needed, migrations, dialect)
    files |= _semantic_files(plan, model, access, dialect)
    files["README.md"] = readme(plan, model, access, dialect, name, files, tests)
    return files


def hash_strategy(model: LogicalModel) -> HashKeyStrategy:
    """Return how a model's keys are hashed."""
    return model.dv2.hash_key_strategy if model.dv2 is not None else HASHING


def _semantic_files(
    plan: TransformPlan, model: LogicalModel, access: SourceAccess, dialect: TargetDialect
) -> dict[str, str]:
    if access.schema is None:
        return {}
    star = model.dimensional
    facts = [fact.name for fact in star.facts] if star is not None else []
    document = semantic_document(plan, database=access.database, schema=access.schema, facts=facts)
    if document is None:
        return {}
    spine = time_spine({build.name for build in plan.builds}, _fiscal_year_start(model))
    osi = semantic_json(document)
    metrics = metrics_yaml(plan, star, dialect) if star is not None else None
    if metrics is None:
        return {f"osi/{plan.name}.json": osi, **spine}
    # dbt 1.12 reads osi/ too, and would find each semantic model there a second time.
    return {f"semantic/{plan.name}.osi.json": osi, METRICS_FILE: metrics, **spine}


def _layer_config(plan: TransformPlan, layer: Layer, target: Target) -> dict[str, object]:
    """Return the config of a folder: other projects may read only what is published.

    dbt would refuse somebody's exposure that depends on a private staging.
    """
    config = {
        **materialization_config(MATERIALIZED[layer], target),
        "access": "protected" if layer in OF_THE_LOAD else "public",
        **(KEEPS_HISTORY if _keeps_history(plan, layer) else {}),
    }
    return {f"+{key}": value for key, value in config.items()}


def _fiscal_year_start(model: LogicalModel) -> int | None:
    dimensions = model.dimensional.dimensions if model.dimensional is not None else ()
    calendars = (dimension.calendar for dimension in dimensions if dimension.calendar is not None)
    return next((calendar.fiscal_year_start for calendar in calendars), None)


def _keeps_history(plan: TransformPlan, layer: Layer) -> bool:
    """Return whether a layer has rows that the source may no longer have.

    A business vault has none: all of it follows from the raw vault.
    """
    return layer != "business_vault" and any(
        build.next_load is not None for build in plan.builds if build.layer == layer
    )


def _is_guarded(plan: TransformPlan) -> bool:
    return any(build.guard is not None for build in plan.builds)


def _project(
    plan: TransformPlan,
    model: LogicalModel,
    name: str,
    target: Target,
    tests: Mapping[str, RelationTests],
) -> dict[str, object]:
    has_changed = present_source(model).has_changed
    layers = dict.fromkeys(build.layer for build in plan.builds)
    return {
        "name": name,
        "version": "1.0.0",
        "config-version": 2,
        "profile": name,
        "require-dbt-version": [">=1.11.0", "<2.0.0"],
        "model-paths": ["models"],
        "macro-paths": ["macros", *([MIGRATIONS] if has_changed else [])],
        "clean-targets": ["target", "dbt_packages", "logs"],
        "flags": {"send_anonymous_usage_stats": False},
        **({"vars": {name: guard_macros.VARIABLES}} if _is_guarded(plan) else {}),
        **({"on-run-start": [ON_RUN_START]} if has_changed else {}),
        **({"on-run-end": [promise_macros.ON_RUN_END]} if tests else {}),
        "models": {
            name: {
                "+group": name,
                **{FOLDERS[layer]: _layer_config(plan, layer, target) for layer in layers},
            }
        },
        **({"data_tests": {name: {"+severity": _SEVERITY}}} if tests else {}),
    }
