"""How a dbt project on DuckDB reads the tables of each of its sources, and all of it together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from fluid_build.sources.engine.extensions import Extension
from fluid_build.transform.dbt.extension_plugin import PLUGIN_FOLDER, packages, plugins
from fluid_build.transform.dbt.login_plugin import LOGIN_MODULE, StoreLogin, login_plugin
from fluid_build.transform.dbt.profiles_yml import (
    DUCKDB_SCHEMA,
    Attached,
    duckdb_profile,
    duckdb_settings,
)
from fluid_build.transform.dbt.project_names import duckdb_database, project_name
from fluid_build.transform.dbt.source_entries import SourceAccess, SourceEntry, TableCopy
from fluid_build.transform.plan.elements import TransformPlan


@dataclass(frozen=True, slots=True)
class Reading:
    """How the tables of one source are read: from a database that's attached, or from files.

    ``extensions`` are what DuckDB needs for that, besides the scanner of an attached database, and
    ``login`` is the object store that the files are in.
    ``copies`` still have to be written; ``notes`` and ``variables`` are as in ``SourceAccess``.
    """

    entries: tuple[SourceEntry, ...]
    attached: Attached | None = None
    extensions: tuple[Extension, ...] = ()
    login: StoreLogin | None = None
    copies: tuple[TableCopy, ...] = ()
    notes: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)


def duckdb_access(plan: TransformPlan, readings: Sequence[Reading]) -> SourceAccess:
    """Return the access of a project that builds in a DuckDB file of its own."""
    database = duckdb_database(plan)
    attached = [reading.attached for reading in readings if reading.attached is not None]
    scanners = (each.scanner for each in attached if each.scanner is not None)
    others = chain.from_iterable(reading.extensions for reading in readings)
    extensions = tuple(dict.fromkeys(chain(scanners, others)))
    logins = [reading.login for reading in readings if reading.login is not None]
    files = dict(plugins(extensions))
    if logins:
        files[f"{PLUGIN_FOLDER}/{LOGIN_MODULE}.py"] = login_plugin(logins)
    profile = duckdb_profile(
        project_name(plan), database, attached, extensions, [LOGIN_MODULE] if logins else []
    )
    variables = chain.from_iterable(reading.variables.items() for reading in readings)
    return SourceAccess(
        name=plan.name,
        entries=tuple(chain.from_iterable(reading.entries for reading in readings)),
        profiles_yml=profile.text,
        files=files,
        copies=tuple(chain.from_iterable(reading.copies for reading in readings)),
        notes=tuple(dict.fromkeys(chain.from_iterable(reading.notes for reading in readings))),
        database=database,
        schema=DUCKDB_SCHEMA,
        variables=dict(variables),
        packages=packages(extensions),
        attached=tuple(attached),
        settings=duckdb_settings(extensions),
        logs_in=bool(logins),
    )
