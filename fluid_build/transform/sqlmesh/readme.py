"""The README of a sqlmesh project: how to run it, what it contains, what sqlmesh does otherwise."""

from collections.abc import Iterator

from fluid_build.markdown import code, codes, fenced, table, text
from fluid_build.modeling.logical import LogicalModel
from fluid_build.transform.dbt.dialects import TargetDialect
from fluid_build.transform.dbt.model_files import FOLDERS
from fluid_build.transform.dbt.readme import TECHNIQUES, plain_sections, source_notes
from fluid_build.transform.dbt.source_entries import SourceAccess
from fluid_build.transform.dbt.targets import TARGET_LABELS
from fluid_build.transform.plan.elements import Build, TransformPlan
from fluid_build.transform.sqlmesh.audits import Audits
from fluid_build.transform.sqlmesh.models import OWNER, kind_name, reads_itself
from fluid_build.transform.sqlmesh.versions import KeptVersions

_PACKAGES = {"duckdb": "sqlmesh", "postgres": "'sqlmesh[postgres]'"}


def readme(
    model: LogicalModel,
    access: SourceAccess,
    dialect: TargetDialect,
    kept: KeptVersions,
    audits: Audits,
    config: str,
) -> str:
    """Return the README of a project as Markdown; ``config`` is its ``config.yaml``."""
    plan = kept.plan
    sections = (
        f"# {plan.name}\n\nA sqlmesh project for {TARGET_LABELS[dialect.target]}:"
        f" {TECHNIQUES[plan.technique]} of the {len(plan.sources)} tables of {code(model.name)}."
        " Fluid Forge wrote it; run `fluid forge` again when the source changes.",
        source_notes(access),
        _running(access, dialect, config),
        _contents(kept, audits),
        _loading(kept),
        _otherwise(plan),
        *plain_sections(plan, dialect),
    )
    return "\n\n".join(section for section in sections if section) + "\n"


def _running(access: SourceAccess, dialect: TargetDialect, config: str) -> str:
    commands = (
        f"pip install {_PACKAGES[dialect.target]}\n"
        "sqlmesh plan --auto-apply  # the first load, and after a change of a model\n"
        "sqlmesh run                # the next loads, one a day\n"
        "sqlmesh audit              # check again what is there"
    )
    lines = [
        "## How to run it",
        "In this folder, where relative paths begin, and in an environment of sqlmesh's own: it"
        " asks for one version of sqlglot.",
        fenced(commands, "sh"),
    ]
    variables = [(name, what) for name, what in access.variables.items() if name in config]
    if variables:
        lines += [
            "`config.yaml` reads these environment variables, so that no secret is in it:",
            table(("variable", "purpose"), [(code(name), text(what)) for name, what in variables]),
        ]
    scanners = sorted({each.scanner.name for each in access.attached if each.scanner is not None})
    if scanners:
        lines.append(
            f"DuckDB downloads {codes(tuple(scanners))}, by which it reads the source, when it"
            " first needs it. Without a network, install it once with `INSTALL` in DuckDB."
        )
    return "\n\n".join(lines)


def _contents(kept: KeptVersions, audits: Audits) -> str:
    rows = []
    for layer in dict.fromkeys(build.layer for build in kept.plan.builds):
        builds = [build for build in kept.plan.builds if build.layer == layer]
        kinds = sorted({kind_name(build, kept.kinds) for build in builds})
        count = sum(len(audits.calls.get(build.name, ())) for build in builds)
        rows.append(
            (code(f"models/{FOLDERS[layer]}"), str(len(builds)), codes(tuple(kinds)), str(count))
        )
    return (
        "## What it contains\n\n"
        + table(("folder", "models#", "kinds", "audits#"), rows)
        + "\n\nEach model says what it and its columns are, what identifies a row, and which audits"
        " must hold; those that sqlmesh doesn't have are in `audits/` by their names. A promise"
        f" that the source is known to break warns and stops nothing. Models belong to {OWNER}:"
        " put the name of who answers for them there."
    )


def _loading(kept: KeptVersions) -> str:
    builds = kept.plan.builds
    if not any(map(reads_itself, builds)):
        return ""
    remarks = [
        "The load date is the execution time of a run, in UTC. A model is loaded once a day"
        " (`cron` in `config.yaml`), and `sqlmesh run` does nothing before a day is over. To load"
        " as of another moment:",
        fenced("sqlmesh plan --run --auto-apply --execution-time '2025-01-31 06:00:00'", "sh"),
        *_remarks_on_kinds(kept),
        "All of these are forward-only, and a restatement leaves them alone: a change of a model"
        " goes on with the rows that it has, because the source can't give them again.",
    ]
    return "\n\n".join(("## Loading", *remarks))


def _remarks_on_kinds(kept: KeptVersions) -> Iterator[str]:
    names: dict[str, list[str]] = {}
    for build in kept.plan.builds:
        names.setdefault(kind_name(build, kept.kinds), []).append(build.name)
    if "INCREMENTAL_UNMANAGED" in names:
        yield (
            "`INCREMENTAL_UNMANAGED`: rows are only added. A query selects what is new by reading"
            " the model's own rows; `@has_loads()` leaves those out in a first load, which sqlmesh"
            " may repeat."
        )
    if "INCREMENTAL_BY_UNIQUE_KEY" in names:
        yield (
            "`INCREMENTAL_BY_UNIQUE_KEY`: members that the source deleted stay, as they were last"
            " seen, with `is_deleted` set; days that a snapshot recorded stay too."
        )
    if "SCD_TYPE_2_BY_COLUMN" in names:
        yield (
            "`SCD_TYPE_2_BY_COLUMN`: sqlmesh keeps the versions, and ends one when its member is"
            " gone. A view shows them as the history that dimensions are made of, with a row for"
            " each version and one for each deletion."
        )


def _otherwise(plan: TransformPlan) -> str:
    """Return what the dbt project of the same model does, and this one doesn't."""
    remarks = [
        "Past days can't be loaded later: the source has only what is there now.",
        "Audits run once the rows are written. One that blocks stops the models after it, and in"
        " `sqlmesh run` its own rows stay in place.",
        "There's no semantic model, and types aren't enforced beyond the tables' own.",
        "`fluid verify` proves the model, but `--dbt` and `--warehouse` read what dbt builds: use"
        " `sqlmesh audit` for what sqlmesh has built.",
        "A changed file is kept whole by the next forge, not entry by entry.",
    ]
    if any(_keeps_days(build) for build in plan.builds):
        remarks.append(
            "A second load on the same day leaves members in the day's snapshot that were deleted"
            " since the first; dbt makes the day again."
        )
    if any(map(reads_itself, plan.builds)):
        remarks.append(
            "To erase a person, delete the rows from the tables below the views:"
            " `sqlmesh table_name MODEL` names them."
        )
    return "## What sqlmesh does otherwise than dbt\n\n" + "\n".join(f"- {one}" for one in remarks)


def _keeps_days(build: Build) -> bool:
    return reads_itself(build) and "snapshot_date" in build.key and build.layer == "mart"
