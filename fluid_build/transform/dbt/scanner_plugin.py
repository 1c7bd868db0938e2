"""How the project finds DuckDB's scanner for its source without a network.

DuckDB would download it when such a database is attached. A wheel has it as well, and dbt-duckdb
lets a project run its own code on each new connection. So the project looks for the wheel at run
time, and no path of a machine is written into it.
"""

import duckdb

from fluid_build.sources.kinds import Scanner

PLUGIN_FOLDER = "plugins"
PLUGIN_MODULE = "fluid_scanner"
PLUGIN_FILE = f"{PLUGIN_FOLDER}/{PLUGIN_MODULE}.py"

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


def packages(scanner: Scanner) -> tuple[str, ...]:
    """Return the wheel of a scanner, and the DuckDB that it was made for."""
    version = duckdb.__version__
    return (f"duckdb=={version}", f"{scanner.wheel}=={version}")


def plugin(scanner: Scanner) -> str:
    """Return the Python file of the project that loads a scanner."""
    return _PLUGIN.format(scanner=scanner.name)
