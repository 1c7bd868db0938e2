"""The YAML next to the models: what each model and column is, its origin, and its tests.

Properties: https://docs.getdbt.com/reference/configs-and-properties.
"""

from collections.abc import Mapping

from fluid_build.block_yaml import block_yaml
from fluid_build.decisions.language import Owner
from fluid_build.text import listed
from fluid_build.transform.dbt.constraints import key_constraint
from fluid_build.transform.dbt.data_tests import Entry, RelationTests
from fluid_build.transform.dbt.dialects import TargetDialect
from fluid_build.transform.dbt.freshness import Freshness
from fluid_build.transform.dbt.jinja import literal_document
from fluid_build.transform.dbt.model_files import FOLDERS
from fluid_build.transform.dbt.source_entries import SourceAccess, SourceEntry
from fluid_build.transform.plan.elements import Build, PlanColumn, PlanSource, TransformPlan

_Tests = Mapping[str, RelationTests]
SOURCES_FILE = "models/staging/_sources.yml"


def properties(
    plan: TransformPlan,
    tests: _Tests,
    dialect: TargetDialect,
    layouts: Mapping[str, Mapping[str, object]],
) -> dict[str, str]:
    """Return the properties of the models, one file for each folder of them.

    ``layouts`` are the configs of large tables, by the build's name.
    """
    by_folder: dict[str, list[Build]] = {}
    for build in plan.builds:
        by_folder.setdefault(FOLDERS[build.layer], []).append(build)
    return {
        f"models/{folder}/_{folder}.yml": yaml_file(
            {
                "models": [
                    _model(build, tests, dialect, layouts.get(build.name, {})) for build in builds
                ]
            }
        )
        for folder, builds in by_folder.items()
    }


def source_properties(
    plan: TransformPlan,
    access: SourceAccess,
    dialect: TargetDialect,
    freshness: Mapping[str, Freshness],
) -> str:
    """Return the file that says where the source tables are, and when each of them is stale.

    ``freshness`` is by the table's name; nothing is said of a table that it lacks.
    """
    blocks: dict[tuple[str | None, str], list[SourceEntry]] = {}
    for entry in access.entries:
        blocks.setdefault((entry.database, entry.schema), []).append(entry)
    tables = {source.id: source for source in plan.sources}
    return yaml_file(
        {
            "sources": [
                _source(access.names[place], place, entries, tables, dialect, freshness)
                for place, entries in blocks.items()
            ]
        }
    )


def united_properties(access: SourceAccess, models: Mapping[str, str]) -> str:
    """Return the properties of the models that put a source together, by the plan's source."""
    parts = {
        id_: [entry.table for entry in access.entries if entry.part_of == id_] for id_ in models
    }
    entries = [
        {
            "name": name,
            "description": f"The rows of {listed(parts[id_])}, one table for each period.",
        }
        for id_, name in models.items()
    ]
    return yaml_file({"models": entries})


def groups(name: str, owner: Owner | None) -> str:
    """Return the file of the group that all models are in, which says who answers for them."""
    description = f"The models of {name}."
    if owner is None:
        description += " Put the name of who answers for them here, or decide the owner."
    team = owner.team if owner is not None else "unassigned"
    contact = filled({"name": team, "email": owner.email if owner is not None else None})
    return yaml_file({"groups": [{"name": name, "owner": contact, "description": description}]})


def yaml_file(document: Mapping[str, object]) -> str:
    """Return a properties file; nothing in it is Jinja but what was marked as such."""
    text = block_yaml({"version": 2, **document})
    if "{" not in text and "\\" not in text:
        # Without a brace, or a character that YAML escapes with a backslash, nothing can be Jinja.
        return text
    literal = literal_document(document)
    return block_yaml({"version": 2, **literal})  # type: ignore[dict-item]


def _model(
    build: Build, tests: _Tests, dialect: TargetDialect, layout: Mapping[str, object]
) -> Entry:
    is_enforced = build.layer != "staging" and not _is_top_level_only(build, dialect)
    own = tests.get(build.name, RelationTests())
    meta = filled(
        {
            "title": build.title,
            "key": list(build.key),
            "pii": True if any(column.pii for column in build.columns) else None,
            "source_tables": list(build.mapped_source_tables),
        }
    )
    return filled(
        {
            "name": build.name,
            "description": _sentences(build.description, build.reason),
            "config": filled(
                {
                    "contract": {"enforced": True} if is_enforced else None,
                    **layout,
                    "meta": meta,
                }
            ),
            "constraints": key_constraint(build, dialect.target) if is_enforced else None,
            "data_tests": own.of_relation,
            "columns": [_column(column, own, dialect) for column in build.columns],
        }
    )


def _is_top_level_only(build: Build, dialect: TargetDialect) -> bool:
    """Return whether a query can't be put into another one, as dbt does to enforce a contract.

    BigQuery runs a recursive query only at the top level of a statement.
    """
    return dialect.target == "bigquery" and build.sql.startswith("WITH RECURSIVE")


def _column(column: PlanColumn, own: RelationTests, dialect: TargetDialect) -> Entry:
    meta = filled(
        {
            "semantic_type": column.semantic_type,
            "pii": True if column.pii else None,
            "source_columns": [f"{c.table}.{c.column}" for c in column.source_columns],
        }
    )
    tags = [*column.tags, *(["pii"] if column.pii else [])]
    return filled(
        {
            "name": column.name,
            "description": column.description or column.reason,
            "data_type": dialect.type(column.type),
            "config": filled({"tags": tags, "meta": meta}),
            "constraints": [{"type": "not_null"}] if column.name in own.never_null else None,
            "data_tests": own.of_columns.get(column.name),
        }
    )


def _source(
    name: str,
    place: tuple[str | None, str],
    entries: list[SourceEntry],
    tables: Mapping[str, PlanSource],
    dialect: TargetDialect,
    freshness: Mapping[str, Freshness],
) -> Entry:
    database, schema = place
    return filled(
        {
            "name": name,
            "description": f"The tables that {name} is made of, as they are.",
            "database": database,
            "schema": schema,
            "quoting": {"database": True, "schema": True, "identifier": True},
            "tables": [
                _source_table(entry, tables.get(entry.id), dialect, freshness.get(entry.table))
                for entry in entries
            ],
        }
    )


def _source_table(
    entry: SourceEntry,
    table: PlanSource | None,
    dialect: TargetDialect,
    freshness: Freshness | None,
) -> Entry:
    """Return a table of the source; the plan knows the columns of whole ones only."""
    columns = table.columns if table is not None else ()
    return filled(
        {
            "name": entry.id,
            "identifier": entry.identifier,
            "description": _sentences(f"The source table {entry.table}.", entry.note),
            "config": _source_config(entry, freshness, dialect),
            "columns": [
                {"name": name, "data_type": dialect.type(type_), "quote": True}
                for name, type_ in columns
            ],
        }
    )


def _source_config(
    entry: SourceEntry, freshness: Freshness | None, dialect: TargetDialect
) -> Entry:
    if freshness is None:
        return filled({"meta": dict(entry.meta)})
    config: Entry = {"meta": {**entry.meta, "freshness": freshness.reason}}
    warn_after = {"count": freshness.days, "period": "day"}
    config = {"freshness": {"warn_after": warn_after} if freshness.days else None, **config}
    if not freshness.loaded_at:
        return config
    loaded_at = dialect.query(f"SELECT {freshness.loaded_at}").removeprefix("SELECT").strip()
    return {"loaded_at_field": loaded_at, **config}


def _sentences(*texts: str) -> str:
    return " ".join(text.strip() for text in texts if text.strip())


def filled(entry: Mapping[str, object]) -> Entry:
    """Return the entry without empty values."""
    return {key: value for key, value in entry.items() if value not in (None, "", [], {})}
