"""How the project finds DuckDB's scanners for its sources without a network.

DuckDB would download it when such a database is attached. A wheel has it as well, and dbt-duckdb
lets a project run its own code on each new connection. So the project looks for the wheel at run
time, and no path of a machine is written into it.
"""

from collections.abc import Mapping, Sequence

import duckdb

from fluid_build.sources.kinds import Scanner

PLUGIN_FOLDER = "plugins"
_MODULE = "fluid_scanner"

_PLUGIN = '''\
"""Loads DuckDB's {scanner} scanner from its wheel, where that is installed, without a network."""

import importlib.util
from pathlib import Path

import duckdb
from dbt.adapters.duckdb.plugins import BasePlugin
from dbt_common.exceptions import DbtRuntimeError

WHEEL = "duckdb-extension-{scanner}-scanner"


class Plugin(BasePlugin):
    """Named in profiles.yml; dbt-duckdb calls it before it attaches the source."""

    def configure_connection(self, conn):
        """Load the scanner into a new connection."""
        try:
            conn.execute(f"LOAD {{in_wheel() or '{scanner}'}}")
        except duckdb.Error as error:
            raise DbtRuntimeError(
                "DuckDB's {scanner} scanner is missing, and the source can't be read without it. "
                f"Install it: pip install {{WHEEL}}=={{duckdb.__version__}}"
                f" (or once, with a network: INSTALL {scanner} in DuckDB). {{error}}"
            ) from error


def in_wheel():
    """The scanner's file in its wheel as an SQL string; None where that is not installed."""
    spec = importlib.util.find_spec(WHEEL.replace("-", "_"))
    for folder in (spec.submodule_search_locations or []) if spec else []:
        name = f"v{{duckdb.__version__}}/{scanner}_scanner.duckdb_extension"
        file = Path(folder, "extensions", name)
        if file.is_file():
            return "'" + str(file).replace("'", "''") + "'"
    return None
'''


def packages(scanners: Sequence[Scanner]) -> tuple[str, ...]:
    """Return the wheels of scanners, and the DuckDB that they were made for."""
    version = duckdb.__version__
    wheels = tuple(f"{scanner.wheel}=={version}" for scanner in scanners)
    return (f"duckdb=={version}", *wheels) if wheels else ()


def plugin_modules(scanners: Sequence[Scanner]) -> Mapping[str, Scanner]:
    """Return the modules of the project that load scanners, by their names."""
    if len(scanners) == 1:
        return {_MODULE: scanners[0]}
    return {f"{_MODULE}_{scanner.name}": scanner for scanner in scanners}


def plugins(scanners: Sequence[Scanner]) -> Mapping[str, str]:
    """Return the Python files of the project that load scanners, by their path in the project."""
    return {
        f"{PLUGIN_FOLDER}/{module}.py": _PLUGIN.format(scanner=scanner.name)
        for module, scanner in plugin_modules(scanners).items()
    }
