"""Where the warehouse of a folder is: as its dbt profile says, or as its user does.

The profile is read as dbt reads it, with the variables of the environment, so that a team's own
edits to it count. It's a stranger's text: it's rendered in a sandbox, and only what it says of the
connection is used.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import yaml

from fluid_build.errors import UsageError, WarehouseError
from fluid_build.evolution.duckdb_warehouse import locked_duckdb, open_duckdb
from fluid_build.evolution.postgres_warehouse import locked_postgres, open_postgres
from fluid_build.evolution.warehouse import Location, Lock, Warehouse
from fluid_build.extras import needs_extra
from fluid_build.secrets import redact
from fluid_build.sources.addresses.kinds import DUCKDB, POSTGRES
from fluid_build.sources.uri import locate
from fluid_build.transform.dbt.portable_paths import DATABASE_VARIABLE
from fluid_build.transform.dbt.profiles_yml import DUCKDB_SCHEMA
from fluid_build.transform.proof.manifest import read_text

_PROFILE = "profiles.yml"
_MOST_BYTES = 1024 * 1024
"""Far more than a profile takes, which has a few lines for each place that a project is built."""
_ENDINGS = (".duckdb", ".ddb", ".db")
"""Of a DuckDB file that the first apply makes."""
_OF_LIBPQ = ("sslmode", "sslcert", "sslkey", "sslrootcert", "connect_timeout")
"""Fields of a dbt profile that are parameters of a connection, and called as these are."""
_VARIABLES = {
    "host": "PGHOST",
    "port": "PGPORT",
    "user": "PGUSER",
    "password": "PGPASSWORD",
    "dbname": "PGDATABASE",
}
"""The variables that our profiles take the parts of a connection from."""


def warehouse_location(project: Path, place: str | None = None) -> Location:
    """Return the warehouse that a dbt project builds in, or the one at a URI or path.

    Raises UsageError for an engine that isn't DuckDB or PostgreSQL, and where the project wouldn't
    build in ``place``; WarehouseError for a profile that can't be read.
    """
    environment = {} if place is None else _environment(place)
    location = _of_profile(project, environment)
    if place is not None and not _is_same(location, place):
        raise UsageError(
            f"{project / _PROFILE} doesn't take its database from the environment, so dbt wouldn't"
            f" build in {redact(place)}.",
            hint="Leave --warehouse out, or run `fluid forge` again to get the profile back.",
        )
    return location


@contextmanager
def opened(location: Location, *, read_only: bool = False) -> Iterator[Warehouse]:
    """Open a warehouse for as long as the block lasts."""
    if location.engine == "postgres":
        with open_postgres(location.place, location.schema) as database:
            yield database
        return
    with open_duckdb(Path(location.place), location.schema, read_only=read_only) as file:
        yield file


def locked(location: Location) -> AbstractContextManager[Lock]:
    """Hold the lock of a warehouse for as long as the block lasts, or raise WarehouseBusyError."""
    if location.engine == "postgres":
        return locked_postgres(location.place, location.schema)
    return locked_duckdb(Path(location.place))


def _environment(place: str) -> Mapping[str, str]:
    if Path(place).suffix in _ENDINGS and not Path(place).exists():
        return {DATABASE_VARIABLE: str(Path(place).absolute())}
    address = locate(place)
    if address.kind is DUCKDB:
        return {DATABASE_VARIABLE: str(Path(address.place).absolute())}
    if address.kind is not POSTGRES:
        raise UsageError(
            f"A warehouse is a DuckDB file or a PostgreSQL database, and {redact(place)} is"
            f" {address.kind.phrase}.",
            hint="Pass the database that dbt builds in.",
        )
    with needs_extra("postgres", "A warehouse in PostgreSQL"):
        from psycopg import ProgrammingError
        from psycopg.conninfo import conninfo_to_dict
    try:
        parts = conninfo_to_dict(address.place)
    except ProgrammingError:
        raise UsageError(
            "--warehouse has a connection string that PostgreSQL can't read.",
            hint="Write it as postgresql://user@host/database.",
        ) from None
    return {_VARIABLES[name]: str(parts[name]) for name in _VARIABLES if parts.get(name)}


def _is_same(location: Location, place: str) -> bool:
    """Return whether a profile leads to a place, with whatever password."""
    wanted, found = _environment(place), _environment(location.place)
    return wanted.keys() <= found.keys() | {_VARIABLES["password"]} and all(
        found[name] == value for name, value in wanted.items() if name != _VARIABLES["password"]
    )


def _of_profile(project: Path, environment: Mapping[str, str]) -> Location:
    path = project / _PROFILE
    output = _output(path, _document(path), {**os.environ, **environment}, project)
    type_ = output.get("type")
    if type_ == "duckdb":
        file = _absolute(str(output.get("path", "")), project)
        used = {DATABASE_VARIABLE: file} if DATABASE_VARIABLE in environment else {}
        return Location("duckdb", file, str(output.get("schema") or DUCKDB_SCHEMA), used)
    if type_ == "postgres":
        return _postgres(output, environment)
    raise UsageError(
        f"The dbt project in {project.parent} builds in {type_}, and only DuckDB and PostgreSQL"
        " can be applied to.",
        hint="Run `dbt build` there yourself, or forge with --target duckdb or postgres.",
    )


def _postgres(output: Mapping[str, Any], environment: Mapping[str, str]) -> Location:
    aliases = {"password": "pass", "dbname": "database"}
    parts = {
        name: str(value)
        for name in _VARIABLES
        if (value := output.get(name) or output.get(aliases.get(name, "")))
    }
    used = {
        variable: value
        for name, variable in _VARIABLES.items()
        if variable in environment and (value := parts.get(name)) is not None
    }
    parameters = {name: str(output[name]) for name in _OF_LIBPQ if output.get(name)}
    query = {key: parts[key] for key in ("host", "port") if key in parts} | parameters
    login = ":".join(_escaped(parts[key]) for key in ("user", "password") if key in parts)
    uri = f"postgresql://{login}{'@' if login else ''}/{_escaped(parts.get('dbname', ''))}"
    if query:
        uri += "?" + "&".join(f"{name}={_escaped(value)}" for name, value in query.items())
    return Location("postgres", uri, str(output.get("schema") or "public"), used)


def _document(path: Path) -> Mapping[str, Any]:
    try:
        document = yaml.safe_load(read_text(path, _MOST_BYTES))
    except yaml.YAMLError:
        document = None
    if not isinstance(document, dict):
        raise _unreadable(path, "it isn't YAML with a profile")
    return document


def _output(
    path: Path, document: Mapping[str, Any], environment: Mapping[str, str], project: Path
) -> Mapping[str, Any]:
    """Return the fields of the profile's target, rendered."""
    profiles = [value for key, value in document.items() if key != "config"]
    profile = profiles[0] if len(profiles) == 1 else None
    if not isinstance(profile, dict) or not isinstance(profile.get("outputs"), dict):
        raise _unreadable(path, "it doesn't have exactly one profile with outputs")
    target = _rendered(profile.get("target", "default"), environment, project, path)
    output = profile["outputs"].get(target)
    if not isinstance(output, dict):
        raise _unreadable(path, f"it has no output {target}")
    return {
        str(name): _rendered(value, environment, project, path)
        for name, value in output.items()
        if not isinstance(value, dict | list)
    }


def _rendered(value: object, environment: Mapping[str, str], project: Path, path: Path) -> object:
    if not isinstance(value, str) or "{" not in value:
        return value
    # Most commands read no profile, and don't wait for this import.
    from jinja2 import StrictUndefined, TemplateError
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    def env_var(name: str, default: str | None = None) -> str:
        found = environment.get(name, default)
        if found is None:
            raise _unreadable(path, f"the environment variable {name} isn't set")
        return found

    template = ImmutableSandboxedEnvironment(undefined=StrictUndefined)
    template.filters.update(as_number=str, as_text=str, as_native=str, as_bool=str)
    flags = {"PROFILES_DIR": str(project.absolute())}
    try:
        return template.from_string(value).render(env_var=env_var, flags=flags)
    except (TemplateError, TypeError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise _unreadable(path, f"{redact(reason)}") from None


def _absolute(path: str, project: Path) -> str:
    # dbt runs in the project's folder, so a relative path starts there.
    return os.path.normpath(project.absolute() / Path(path).expanduser())


def _escaped(text: str) -> str:
    return quote(text, safe="")


def _unreadable(path: Path, why: str) -> WarehouseError:
    return WarehouseError(
        f"{path} doesn't say where the warehouse is: {why}.",
        hint="Set what it asks for, or pass the warehouse with --warehouse.",
    )
