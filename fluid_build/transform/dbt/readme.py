"""The project's README: how to run it, what it contains, which claims have known exceptions."""

import re
from collections.abc import Collection, Iterator, Mapping

from fluid_build.block_yaml import block_yaml
from fluid_build.markdown import code, codes, fenced, table, text
from fluid_build.modeling.logical import LogicalModel, Technique
from fluid_build.transform.dbt.constraints import NOT_ENFORCED, primary_key
from fluid_build.transform.dbt.data_tests import RelationTests
from fluid_build.transform.dbt.dialects import TargetDialect
from fluid_build.transform.dbt.erasing import erasing
from fluid_build.transform.dbt.guard_macros import ALLOWED, LEAST_KEYS, SHARE
from fluid_build.transform.dbt.large_tables import LARGE_FROM, layouts
from fluid_build.transform.dbt.loading_macros import LOAD_DATE_VARIABLE, REFRESHES
from fluid_build.transform.dbt.metricflow import METRICS_FILE
from fluid_build.transform.dbt.model_files import FOLDERS
from fluid_build.transform.dbt.promise_macros import MACRO_FILE
from fluid_build.transform.dbt.properties_yml import SOURCES_FILE
from fluid_build.transform.dbt.source_entries import SourceAccess
from fluid_build.transform.dbt.targets import TARGET_LABELS, Target, target_type
from fluid_build.transform.dbt.time_spine import FOLDER as SEMANTIC
from fluid_build.transform.dbt.unit_tests import UNIT_TESTS, VARIABLE
from fluid_build.transform.plan.elements import TransformPlan
from fluid_build.transform.plan.present_source import present_source

_ADAPTERS: Mapping[Target, str] = {
    "duckdb": "'dbt-core>=1.11,<1.12' 'dbt-duckdb>=1.11,<1.12'",
    "postgres": "'dbt-core>=1.11,<1.12' dbt-postgres",
    "snowflake": "'dbt-core>=1.11,<1.12' dbt-snowflake",
    "bigquery": "'dbt-core>=1.11,<1.12' dbt-bigquery",
    "databricks": "'dbt-core>=1.11,<1.12' dbt-databricks",
}
TECHNIQUES: Mapping[Technique, str] = {
    "flat": "one table for each entity",
    "data_vault_2": "a Data Vault 2.0",
    "dimensional": "a dimensional model",
}
_HASHES = re.compile(r"\b(?:md5|sha256)\(", re.IGNORECASE)
_OWN_HASHES = (
    "Hashes are computed from the database's own text form of numbers and times, so only compare"
    " them within this database."
)


def readme(
    plan: TransformPlan,
    model: LogicalModel,
    access: SourceAccess,
    dialect: TargetDialect,
    name: str,
    files: Mapping[str, str],
    tests: Mapping[str, RelationTests],
) -> str:
    """Return the README of a project as Markdown; ``files`` are its other files by their paths."""
    sections = (
        _introduction(plan, model, dialect, name),
        source_notes(access),
        _running(access, dialect),
        _contents(plan, files),
        _tests(plan, name, tests),
        _unit_tests(files),
        _freshness(files),
        _keys(plan, dialect.target),
        _large_tables(plan, model, dialect.target),
        _versions(plan, model),
        _LINTING,
        _loading(plan),
        _deliveries(plan),
        _changes(plan, model),
        _quarantine(plan),
        _business_vault(plan),
        _deleted(plan, model),
        erasing(plan, model),
        _snapshots(model),
        _proof(plan, model, dialect),
        *plain_sections(plan, dialect),
    )
    return "\n\n".join(section for section in sections if section) + "\n"


def _introduction(
    plan: TransformPlan, model: LogicalModel, dialect: TargetDialect, name: str
) -> str:
    return (
        f"# {name}\n\n"
        f"A dbt project for {TARGET_LABELS[dialect.target]}: {TECHNIQUES[plan.technique]} of the "
        f"{len(plan.sources)} tables of {code(model.name)}. Fluid Forge wrote it; run "
        "`fluid forge` again when the source changes."
    )


def _running(access: SourceAccess, dialect: TargetDialect) -> str:
    packages = " ".join((_ADAPTERS[dialect.target], *access.packages))
    commands = f"pip install {packages}\ndbt build"
    lines = [
        "## How to run it",
        "In this folder, which has its own `profiles.yml`:",
        fenced(commands, "sh"),
        "To run it from elsewhere, pass this folder as both the project and the profiles"
        " directory: `dbt build --project-dir DIR --profiles-dir DIR`.",
    ]
    if access.variables:
        lines += [
            "The project reads these environment variables:",
            table(
                ("variable", "purpose"),
                [(code(variable), text(what)) for variable, what in access.variables.items()],
            ),
        ]
    lines.append("If a source table is missing, the build fails.")
    return "\n\n".join(lines)


_MACROS = (
    "\n\nModels that call a macro only say what they're made of. How they are built and loaded is"
    " in `macros/`: change it there for all of them. `fluid forge` leaves a file as it is once you"
    " have changed it. To hash keys or name relations otherwise, decide the `conventions` and forge"
    " into a new folder."
)

_OSI = " `osi/` has the semantic model for other tools; dbt reads it from 1.12 on."
_METRICS = (
    f" `{METRICS_FILE}` has the semantic models and metrics, which MetricFlow queries once the"
    " models are built: `mf list metrics`, `mf query --metrics METRIC --group-by metric_time`."
    " One whose `meta` says `hidden` only serves another one. `semantic/` has the same as OSI, for"
    " other tools."
)


def _contents(plan: TransformPlan, files: Collection[str]) -> str:
    rows = []
    for layer in dict.fromkeys(build.layer for build in plan.builds):
        builds = [build for build in plan.builds if build.layer == layer]
        materializations = sorted({build.materialization for build in builds})
        tests = sum(test.severity != "info" for build in builds for test in build.tests)
        rows.append(
            (
                code(f"models/{FOLDERS[layer]}"),
                str(len(builds)),
                ", ".join(materializations),
                str(tests),
            )
        )
    calendars = [f for f in files if f.startswith(f"models/{SEMANTIC}/") and f.endswith(".sql")]
    if calendars:
        rows.append((code(f"models/{SEMANTIC}"), str(len(calendars)), "table", "0"))
    return (
        "## What it contains\n\n"
        + table(("folder", "models#", "materialized as", "tests#"), rows)
        + (
            "\n\nThe YAML file in each folder describes every model and column, with the source"
            " tables and columns that it comes from. Published models have an enforced contract."
        )
        + (_METRICS if METRICS_FILE in files else _OSI)
        + (_MACROS if "macros/hashing.sql" in files else "")
    )


def _tests(plan: TransformPlan, name: str, tests: Mapping[str, RelationTests]) -> str:
    """Return how the tests are made, and how a user changes what they tolerate."""
    own_names = [
        (build, test_name)
        for build in plan.builds
        if build.name in tests
        for test_name in tests[build.name].failing_keys()
    ]
    if not own_names:
        return ""
    (build, example), *_ = sorted(own_names, key=lambda pair: pair[0].layer == "staging")
    settings = {
        "data_tests": {name: {FOLDERS[build.layer]: {example: {"+error_if": ">10"}}}},
    }
    never_null = any(one.never_null for one in tests.values())
    return "\n\n".join(
        (
            "## Tests",
            "Keys and references to keys have a test each: dbt's `unique`, `not_null` and"
            " `relationships`, and `unique_combination_of_columns` for a key of several columns,"
            f" from {code(MACRO_FILE)}."
            + (" Keys that the load computes are `not_null` columns." if never_null else "")
            + " All else that is promised of a model is one test that fails (`…_promises`) and one"
            " that only warns (`…_expectations`). At the end dbt logs which promises are broken, in"
            " which columns, by how many rows, and what they rest on.",
            "To let every test only warn:",
            fenced("dbt build --vars '{test_severity: warn}'", "sh"),
            "To tolerate some failures of one test, name it in `dbt_project.yml`. `fluid forge`"
            " keeps such entries:",
            fenced(block_yaml(settings).rstrip(), "yaml"),
        )
    )


def _unit_tests(files: Collection[str]) -> str:
    """Return how to run the unit tests, where there are any."""
    if not any(file.endswith(UNIT_TESTS) for file in files):
        return ""
    command = fenced(f"dbt test --select test_type:unit --vars '{{{VARIABLE}: true}}'", "sh")
    return (
        f"## Unit tests\n\n`{UNIT_TESTS}` in the folders of models has unit tests of a first and a"
        " next load, for one model of each macro that loads. Run them when you have changed a"
        " macro. They need built models, from which dbt takes the types of columns, so `dbt build`"
        f" leaves them out:\n\n{command}"
    )


_LINTING = (
    "## Style\n\nThe SQL is written by the settings in `.sqlfluff`, which says why it leaves rules"
    " out. To check what you add:\n\n"
    + fenced("pip install sqlfluff sqlfluff-templater-dbt\nsqlfluff lint models", "sh")
)


def _freshness(files: Mapping[str, str]) -> str:
    """Return how dbt says that the source is stale, where something tells it."""
    if "loaded_at_field" not in files[SOURCES_FILE]:
        return ""
    return (
        "## Freshness\n\n`dbt source freshness` warns of source tables that got no new row for"
        f" longer than they usually do. {code(SOURCES_FILE)} says which column tells it, or why"
        " none does. From which age on it's an error is yours to say: `fluid forge` keeps what you"
        " write there, such as an `error_after` beside `warn_after`."
    )


def _keys(plan: TransformPlan, target: Target) -> str:
    """Return what a database does with the primary keys that it's told of."""
    builds = [build for build in plan.builds if primary_key(build, target)]
    if not builds:
        return ""
    name = TARGET_LABELS[target]
    said = (
        "## Keys in the database\n\nPrimary keys are declared where text of the source isn't part"
        " of them."
    )
    if target in NOT_ENFORCED:
        needs = " They need tables in Unity Catalog." if target == "databricks" else ""
        return (
            f"{said} {name} doesn't enforce them: they inform its optimizer and other tools, and"
            f" tests find rows that break them.{needs}"
        )
    example = next((each.name for each in builds if each.materialization == "incremental"), "")
    drop = fenced(f"ALTER TABLE {example} DROP CONSTRAINT {example}_pkey;", "sql")
    return (
        f"{said} {name} enforces them: a load with a second row of a key fails and adds nothing,"
        " also where tests only warn. dbt declares a key when it creates a table. To tolerate such"
        " rows, remove `primary_key` from the `constraints` of the model in its YAML file, which"
        " `fluid forge` then leaves out as well."
        + (f" From a history that is there already, remove it too:\n\n{drop}" if example else "")
    )


def _large_tables(plan: TransformPlan, model: LogicalModel, target: Target) -> str:
    """Return which tables are laid out for their size, and how."""
    names = tuple(layouts(plan, model, target))
    if not names:
        return ""
    how = "have an index on" if target == "postgres" else "are clustered by"
    return (
        f"## Large tables\n\nThese tables {how} the date of the event, or in a history the key and"
        f" its load, because the source had enough rows for {LARGE_FROM[target]:,} in them:"
        f" {codes(names)}. It's in the `config` of the model in its YAML file, and dbt applies it"
        " when it creates a table. On one that is already there, apply it with `ALTER TABLE`"
        " or `CREATE INDEX`."
    )


def _versions(plan: TransformPlan, model: LogicalModel) -> str:
    """Return how a model is changed that other projects read.

    A first version isn't called one: nobody reads another.
    """
    facts = {fact.name for fact in model.dimensional.facts} if model.dimensional else set()
    example = min(plan.published, key=lambda build: build.name not in facts, default=None)
    if example is None:
        return ""
    name, column = example.name, example.columns[-1].name
    entry = {
        "name": name,
        "latest_version": 2,
        "versions": [
            {
                "v": 1,
                "deprecation_date": "2030-01-31",
                "config": {"materialized": "table"},
                "data_tests": [],
                "columns": [
                    {"include": "all", "exclude": [column]},
                    {"name": f"old_{column}", "data_type": "..."},
                ],
            },
            {"v": 2, "defined_in": name, "config": {"alias": name}},
        ],
    }
    return (
        "## Versions\n\nOther projects may read every model outside the staging. Before a change"
        " that breaks them (a column that is removed, renamed or gets another type), add a model"
        f" that has the columns as they were, here {code(f'{name}_v1.sql')} with"
        f" {code(f'SELECT ... FROM {{{{ ref({name!r}, v=2) }}}}')}, and say so in the YAML file."
        " `fluid forge` keeps both, until you delete them:\n\n"
        + fenced(block_yaml({"models": [entry]}).rstrip(), "yaml")
    )


def _deleted(plan: TransformPlan, model: LogicalModel) -> str:
    """Return what becomes of members that the source deletes, where a dimension keeps them."""
    dimensions = model.dimensional.dimensions if model.dimensional is not None else ()
    names = {dimension.name for dimension in dimensions}
    if not any(build.name in names and build.next_load is not None for build in plan.builds):
        return ""
    flag = plan.column_names.is_deleted
    return (
        "## Deleted members\n\nA member that the source deletes stays in its dimension as it was"
        f" last seen, with {code(flag)} set, and facts keep referring to it. If it comes back,"
        f" {code(flag)} is cleared. Rows of facts and bridges are deleted with the source."
    )


def _snapshots(model: LogicalModel) -> str:
    """Return what snapshot facts keep, where there are any."""
    facts = model.dimensional.facts if model.dimensional is not None else ()
    names = tuple(fact.name for fact in facts if fact.snapshot_of)
    if not names:
        return ""
    return (
        "## Snapshots\n\nThese facts record what the source keeps only as it is now, one row for"
        f" each member and load day: {codes(names)}. A second load on a day replaces that day. Days"
        " that were recorded stay, also after the source deletes the member, so to erase a person's"
        " data, delete their rows there too. The source can't provide past days again: rebuilding"
        " them loses them for good. Rebuilding a dimension's history removes versions that past"
        " days refer to. The tests of their keys fail until you delete those rows, or rebuild the"
        " snapshot too."
    )


def _loading(plan: TransformPlan) -> str:
    if not any(build.materialization == "incremental" for build in plan.builds):
        return ""
    command = fenced(f"{LOAD_DATE_VARIABLE}='2025-01-31 06:00:00' dbt build", "sh")
    return (
        "## Loading\n\nIncremental models add rows: a second run on unchanged data adds none, and a"
        " second load of a day replaces that day's snapshots. The load date is when the run"
        " started, in UTC, unless you set an environment"
        f" variable:\n\n{command}\n\nThe dbt variable `load_date` does the same and comes first,"
        " but with another value dbt parses the whole project again. `--full-refresh` leaves what"
        " holds a history alone, because the source can't give it again. To start from nothing, add"
        f" `--vars '{{{REFRESHES}: true}}'`."
    )


def _deliveries(plan: TransformPlan) -> str:
    """Return what is loaded of a table that arrives in part."""
    sections = [section for section in (_whole(plan), _kept(plan)) if section]
    return "\n\n".join(("## Deliveries", *sections)) if sections else ""


def _kept(plan: TransformPlan) -> str:
    kept = [build for build in plan.builds if build.layer == "deliveries"]
    if not kept:
        return ""
    tables = codes(tuple(table for build in kept for table in build.mapped_source_tables))
    example = code(f"models/{FOLDERS['deliveries']}/{kept[0].name}.sql")
    return (
        f"Of {tables} the source has only what changed or came. Everything that it ever delivered"
        f" is in relations such as {example}, which only get rows; the staging reads what was"
        " delivered last of each key. What a delivery lacks stays, so nothing is deleted of these"
        " tables but what a delivered row says is deleted. The first delivery that the warehouse"
        " loads has to be whole."
    )


def _whole(plan: TransformPlan) -> str:
    if not any(build.guard is not None and not build.guard.is_kept for build in plan.builds):
        return ""
    return (
        "A table that arrives empty or in part would be loaded as the deletion of"
        f" the rest. So its staging fails where more than {code(SHARE)} of the keys are missing"
        " that the last load held (set it under `vars` in `dbt_project.yml`; fewer than"
        f" {LEAST_KEYS} keys may all go). What reads the table is skipped then, and everything else"
        " is loaded. If the rows really are gone:\n\n"
        + fenced(f"dbt build --vars '{ALLOWED}: [TABLE]'", "sh")
    )


def _changes(plan: TransformPlan, model: LogicalModel) -> str:
    """Return what became of what the source changed, and how a warehouse is brought along."""
    if not present_source(model).has_changed:
        return ""
    retired = tuple(build.name for build in plan.builds if build.is_retired)
    stays = (
        f" These are loaded from tables that the source no longer has, keep their rows and get"
        f" none: {codes(retired)}."
        if retired
        else ""
    )
    command = fenced("dbt run-operation migrate\ndbt build", "sh")
    return (
        "## When the source changed\n\nThe source has changed since this project first loaded it."
        " A column that it dropped stays, with what rows had: histories have null in it from then"
        " on, and it makes no new version. A column that joined a history has its value from the"
        " first load with it, and null in versions that had ended. Facts are made of the source"
        f" alone, so a dropped column is null in all of their rows.{stays} A warehouse that was"
        f" loaded before needs the statements in {code('migrations/')} once, in their order:"
        f"\n\n{command}\n\n{code('fluid_migrations')} has what ran. Without it, `dbt build` ends"
        " with a sentence that says so, before it builds anything."
    )


def _quarantine(plan: TransformPlan) -> str:
    """Return what becomes of rows that break a key, where the models rely on one."""
    if plan.quarantine is None:
        return ""
    name = code(plan.quarantine.name)
    kept = (
        " What was loaded of their keys before stays as it was, neither changed nor deleted."
        if plan.technique == "data_vault_2"
        else " Members of dimensions stay as they were before; facts have such a row again once"
        " it's repaired."
        if plan.technique == "dimensional"
        else ""
    )
    return (
        f"## Bad rows\n\nRows that lack a part of their key, or share it with other rows, stop"
        f" nothing. They go to {name}, each with its load date, its table, the rule that it breaks,"
        " its key, and the whole row as JSON. Of rows that are the same in every column, one is"
        f" loaded. Of different rows with one key, none is.{kept} The test"
        f" {code(plan.quarantine.name + '_is_empty')} warns of the rows of a load, table by table."
        "\n\nReferences only warn as well, beyond what was"
        " measured: an order may come a load before its customer, whom it finds as soon as the"
        " customer is there. To let a test fail, set its `severity` where it's declared. Build"
        f" {name} with what reads it: `dbt build --select +MODEL`."
    )


def _business_vault(plan: TransformPlan) -> str:
    names = [build.name for build in plan.builds if build.layer == "business_vault"]
    if not names:
        return ""
    folder = f"models/{FOLDERS['business_vault']}"
    command = fenced(f"dbt build --full-refresh --select path:{folder}", "sh")
    return (
        f"## Business vault\n\n{code(folder)} is derived from the raw vault. Each load that changed"
        f" something adds a snapshot to {code(names[0])} and to the other tables; `../MODEL.md` has"
        " a query for each of them. To save space, delete old snapshots from all of them: later"
        " loads don't add them again. To make every snapshot again from the raw vault:"
        f"\n\n{command}"
    )


def _proof(plan: TransformPlan, model: LogicalModel, dialect: TargetDialect) -> str:
    claim = {
        "flat": "each source table can be rebuilt row by row, with nothing missing or added",
        "data_vault_2": "each source table can be rebuilt from the vault alone, row by row,"
        " with nothing missing or added",
        "dimensional": "the rows at each grain, the sums of all measures and every reference"
        " agree with the source",
    }[plan.technique]
    if dialect.target == "duckdb":
        command, advice = "fluid verify .. --dbt", "To check what dbt builds, run"
    else:
        command = "fluid verify .."
        advice = (
            f"They were computed in DuckDB. On {TARGET_LABELS[dialect.target]}, rely on the"
            " project's own tests. To check it again in DuckDB, run"
        )
    if not any(entity.rows for entity in model.conceptual.entities):
        return (
            "## What the proof shows\n\nNothing: the source had no rows when this project was"
            f" generated. Run {code('fluid forge')} again where the rows are. It then checks that"
            f" {claim}."
        )
    return (
        f"## What the proof shows\n\n{claim[0].upper()}{claim[1:]}. `../proof.json` has the"
        f" numbers. {advice}:\n\n{fenced(command, 'sh')}"
    )


def _known(plan: TransformPlan) -> str:
    rows = [
        (code(build.name), code(test.kind), codes(test.columns), str(test.allowed))
        for build in plan.builds
        for test in build.tests
        if test.allowed and test.severity != "info"
    ]
    if not rows:
        return ""
    return (
        "## Known exceptions\n\nThese claims had exceptions in the source when this project was"
        " generated. Their tests warn if there are more.\n\n"
        + table(("model", "test", "columns", "exceptions#"), rows)
    )


def _renamed(plan: TransformPlan) -> str:
    if not plan.renamed:
        return ""
    rows = [
        (code(r.table), r.kind, code(r.source_name), code(r.name), text(r.reason))
        for r in plan.renamed
    ]
    return (
        "## Changed names\n\nAll names are in snake_case. These names have other changes too.\n\n"
        + table(("table", "kind", "name in the source", "name here", "why"), rows)
    )


def _target(plan: TransformPlan, dialect: TargetDialect) -> str:
    losses = [f"- {loss}" for loss in _losses(plan, dialect)]
    notes = [f"- {text(note)}" for note in dialect.notes]
    if dialect.target != "duckdb" and any(_HASHES.search(build.sql) for build in plan.builds):
        notes.append(f"- {_OWN_HASHES}")
    if not losses and not notes:
        return ""
    heading = f"## What is different on {TARGET_LABELS[dialect.target]}"
    return f"{heading}\n\n" + "\n".join([*losses, *notes])


def _losses(plan: TransformPlan, dialect: TargetDialect) -> Iterator[str]:
    columns: dict[str, list[str]] = {}
    for build in plan.builds:
        for column in build.columns:
            loss = target_type(column.type, dialect.target).loss
            if loss:
                columns.setdefault(loss, []).append(f"{build.name}.{column.name}")
    for loss, names in columns.items():
        yield f"{text(loss)}: {codes(tuple(names))}"


def plain_sections(plan: TransformPlan, dialect: TargetDialect) -> Iterator[str]:
    """Yield the sections that are the same whatever tool a project is written for."""
    yield _known(plan)
    yield _renamed(plan)
    yield _target(plan, dialect)


def source_notes(access: SourceAccess) -> str:
    """Return the section on how the source is read; "" where there's nothing to say."""
    if not access.notes:
        return ""
    return "## Notes on the source\n\n" + "\n".join(f"- {text(note)}" for note in access.notes)
