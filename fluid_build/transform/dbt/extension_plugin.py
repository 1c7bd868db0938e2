"""How the project finds the DuckDB extensions that its sources need without a network.

DuckDB would download one when such a source is read. A wheel has it as well, and dbt-duckdb
lets a project run its own code on each new connection. So the project looks for the wheel at run
time, and no path of a machine is written into it.
"""

from collections.abc import Mapping, Sequence

import duckdb

from fluid_build.sources.engine.extensions import Extension

PLUGIN_FOLDER = "plugins"
_MODULE = "fluid_extension"

_PLUGIN = '''\
"""Loads DuckDB's extension {extension} from its wheel, without a network."""

import importlib.util
from pathlib import Path

import duckdb
from dbt.adapters.duckdb.plugins import BasePlugin
from dbt_common.exceptions import DbtRuntimeError

WHEEL = "{wheel}"


class Plugin(BasePlugin):
    """Named in profiles.yml; dbt-duckdb calls it before it attaches or reads the source."""

    def configure_connection(self, conn):
        """Load the extension into a new connection."""
        try:
            conn.execute(f"LOAD {{in_wheel() or '{extension}'}}")
        except duckdb.Error as error:
            raise DbtRuntimeError(
                "DuckDB's extension {extension} is missing, and the source can't be read without"
                f" it. Install it: pip install {{WHEEL}}=={{duckdb.__version__}}"
                f" (or once, with a network: INSTALL {extension} in DuckDB). {{error}}"
            ) from error


def in_wheel():
    """The extension's file in its wheel as an SQL string; None where that is not installed."""
    spec = importlib.util.find_spec(WHEEL.replace("-", "_"))
    for folder in (spec.submodule_search_locations or []) if spec else []:
        name = f"v{{duckdb.__version__}}/{extension}.duckdb_extension"
        file = Path(folder, "extensions", name)
        if file.is_file():
            return "'" + str(file).replace("'", "''") + "'"
    return None
'''


def packages(extensions: Sequence[Extension]) -> tuple[str, ...]:
    """Return the wheels of extensions, and the DuckDB that they were made for."""
    version = duckdb.__version__
    wheels = tuple(f"{extension.wheel}=={version}" for extension in extensions)
    return (f"duckdb=={version}", *wheels) if wheels else ()


def plugin_modules(extensions: Sequence[Extension]) -> Mapping[str, Extension]:
    """Return the modules of the project that load extensions, by their names."""
    if len(extensions) == 1:
        return {_MODULE: extensions[0]}
    return {f"{_MODULE}_{extension.name}": extension for extension in extensions}


def plugins(extensions: Sequence[Extension]) -> Mapping[str, str]:
    """Return the Python files of the project that load extensions, by their path in the project."""
    return {
        f"{PLUGIN_FOLDER}/{module}.py": _PLUGIN.format(
            extension=extension.name, wheel=extension.wheel
        )
        for module, extension in plugin_modules(extensions).items()
    }
