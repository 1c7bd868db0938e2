"""Where the wheels have DuckDB's extensions: nothing is downloaded at run time.

https://duckdb.org/docs/stable/extensions/overview
"""

import importlib.util
from pathlib import Path

import duckdb

from fluid_build import extras
from fluid_build.errors import SourceError
from fluid_build.sources.engine.extensions import Extension


def install_command(extension: Extension) -> str:
    """Return the command that installs an extension."""
    if extension.extra:
        return extras.install_command(extension.extra)
    return f"pip install {extension.wheel}=={duckdb.__version__}"


def extension_file(extension: Extension) -> Path:
    """Return an extension's file in its wheel.

    Raises SourceError where the wheel is missing or made for another version of DuckDB.
    """
    spec = importlib.util.find_spec(extension.wheel.replace("-", "_"))
    if spec is None or not spec.submodule_search_locations:
        raise SourceError(
            f"This source needs DuckDB's extension {extension.name}, which isn't installed.",
            hint="Install it:",
            command=install_command(extension),
        )
    folder = Path(next(iter(spec.submodule_search_locations))) / "extensions"
    file = folder / f"v{duckdb.__version__}/{extension.name}.duckdb_extension"
    if not file.is_file():
        raise SourceError(
            f"The installed extension {extension.name} wasn't made for DuckDB"
            f" {duckdb.__version__}.",
            hint="Install the matching one:",
            command=install_command(extension),
        )
    return file
