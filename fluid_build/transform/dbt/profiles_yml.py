"""``profiles.yml``: where the models are built, and what dbt has to attach to read the source.

No secret is ever in it. The variables are those that each database's own tools know; dbt keeps the
value of one that begins with ``DBT_ENV_SECRET`` out of its logs.
Fields: https://docs.getdbt.com/docs/core/connect-data-platform/about-core-connections.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from fluid_build.block_yaml import block_yaml
from fluid_build.sources.engine.extensions import Extension
from fluid_build.transform.dbt.extension_plugin import PLUGIN_FOLDER, plugin_modules
from fluid_build.transform.dbt.jinja import Jinja, literal_document
from fluid_build.transform.dbt.portable_paths import database_file, in_project, variable
from fluid_build.transform.dbt.targets import Target

DUCKDB_SCHEMA = "main"
_THREADS = 4


@dataclass(frozen=True, slots=True)
class Attached:
    """A database that dbt-duckdb attaches, read-only, under an alias."""

    path: Jinja
    alias: str
    scanner: Extension | None = None


@dataclass(frozen=True, slots=True)
class Profile:
    """A profile as YAML, and the environment variables that it reads, each with what it is for."""

    text: str
    variables: Mapping[str, str] = field(default_factory=dict)


def duckdb_profile(
    name: str,
    database: str,
    attached: Sequence[Attached],
    extensions: Sequence[Extension],
    further_plugins: Sequence[str] = (),
) -> Profile:
    """Return the profile of a project that builds in ``<database>.duckdb`` in its own folder.

    ``extensions`` are those that its sources need, ``further_plugins`` other modules of the
    project.
    """
    output: dict[str, object] = {
        "type": "duckdb",
        "path": database_file(f"{database}.duckdb"),
        "schema": DUCKDB_SCHEMA,
        "threads": min([_THREADS, *(each.threads for each in extensions if each.threads)]),
        "settings": duckdb_settings(extensions),
    }
    modules = [*plugin_modules(extensions), *further_plugins]
    if modules:
        output["module_paths"] = [in_project(PLUGIN_FOLDER)]
        output["plugins"] = [{"module": module} for module in modules]
    if attached:
        output["attach"] = [_attachment(each) for each in attached]
    return Profile(_yaml(name, output))


def duckdb_settings(extensions: Sequence[Extension]) -> dict[str, str]:
    """Return the settings of DuckDB: those of every project, and of the extensions it loads."""
    own = {name: value for each in extensions for name, value in each.settings.items()}
    return {"TimeZone": "UTC", **own}


def _attachment(attached: Attached) -> Mapping[str, object]:
    type_ = {} if attached.scanner is None else {"type": attached.scanner.database_type}
    return {"path": attached.path, "alias": attached.alias, **type_, "read_only": True}


def warehouse_profile(
    name: str, target: Target, schema: str, *, database: str | None = None
) -> Profile:
    """Return the profile of a project that builds in a warehouse, in that schema of it.

    ``database`` is the database, project or catalog that the source is in.
    """
    fields, variables = warehouse_login(target, database)
    place = "dataset" if target == "bigquery" else "schema"
    output = {"type": target, **fields, place: schema, "threads": _THREADS}
    return Profile(_yaml(name, output), variables)


def warehouse_login(
    target: Target, database: str | None
) -> tuple[Mapping[str, object], Mapping[str, str]]:
    """Return the fields of a profile by which a warehouse is reached, and their variables."""
    fields, variables = _WAREHOUSES[target]
    if database is None:
        return fields, variables
    name_of_field, name_of_variable, noun = _DATABASES[target]
    return (
        {**fields, name_of_field: variable(name_of_variable, database)},
        {**variables, name_of_variable: f"The {noun}; the source's own if not set."},
    )


def _yaml(name: str, output: Mapping[str, object]) -> str:
    document = literal_document({name: {"target": "dev", "outputs": {"dev": output}}})
    return block_yaml(document)  # type: ignore[arg-type]


_DATABASES: Mapping[Target, tuple[str, str, str]] = {
    "postgres": ("dbname", "PGDATABASE", "database"),
    "snowflake": ("database", "SNOWFLAKE_DATABASE", "database of the models"),
    "bigquery": ("project", "GOOGLE_CLOUD_PROJECT", "project of the models"),
    "databricks": ("catalog", "DATABRICKS_CATALOG", "catalog of the models"),
}
"""The field of a profile that names the database, its variable, and what it is called."""

_PASSWORD = "DBT_ENV_SECRET_PASSWORD"
_TOKEN = "DBT_ENV_SECRET_TOKEN"
_WAREHOUSES: Mapping[Target, tuple[Mapping[str, object], Mapping[str, str]]] = {
    "postgres": (
        {
            "host": variable("PGHOST", "localhost"),
            "port": Jinja("{{ env_var('PGPORT', '5432') | as_number }}"),
            "user": variable("PGUSER", "postgres"),
            # libpq takes an empty one for none, and looks in ~/.pgpass.
            "password": variable("PGPASSWORD", ""),
            "dbname": variable("PGDATABASE", "postgres"),
        },
        {
            "PGHOST": "The server; localhost if not set.",
            "PGPORT": "Its port; 5432 if not set.",
            "PGUSER": "The user; postgres if not set.",
            "PGPASSWORD": "The password; without it, ~/.pgpass is used.",
            "PGDATABASE": "The database; postgres if not set.",
        },
    ),
    "snowflake": (
        {
            "account": variable("SNOWFLAKE_ACCOUNT"),
            "user": variable("SNOWFLAKE_USER"),
            "password": variable(_PASSWORD),
            "role": variable("SNOWFLAKE_ROLE"),
            "warehouse": variable("SNOWFLAKE_WAREHOUSE"),
            "database": variable("SNOWFLAKE_DATABASE"),
        },
        {
            "SNOWFLAKE_ACCOUNT": "The account.",
            "SNOWFLAKE_USER": "The user.",
            _PASSWORD: "The user's password.",
            "SNOWFLAKE_ROLE": "The role.",
            "SNOWFLAKE_WAREHOUSE": "The virtual warehouse.",
            "SNOWFLAKE_DATABASE": "The database of the source and of the models.",
        },
    ),
    "bigquery": (
        {
            "method": "oauth",
            "project": variable("GOOGLE_CLOUD_PROJECT"),
            "location": variable("BIGQUERY_LOCATION", "US"),
        },
        {
            "GOOGLE_CLOUD_PROJECT": "The project; log in with: gcloud auth application-default"
            " login.",
            "BIGQUERY_LOCATION": "The location of the datasets; US if not set.",
        },
    ),
    "databricks": (
        {
            "host": variable("DATABRICKS_HOST"),
            "http_path": variable("DATABRICKS_HTTP_PATH"),
            "token": variable(_TOKEN),
            "catalog": variable("DATABRICKS_CATALOG", "main"),
        },
        {
            "DATABRICKS_HOST": "The workspace, without https://.",
            "DATABRICKS_HTTP_PATH": "The path of the SQL warehouse.",
            _TOKEN: "An access token.",
            "DATABRICKS_CATALOG": "The catalog of the source and of the models; main if not set.",
        },
    ),
}
