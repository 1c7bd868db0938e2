"""Small DuckDB databases to observe."""

from pathlib import Path

import duckdb

from fluid_build.observations.observe import Observations, observe
from fluid_build.profiling import profile_source
from fluid_build.sources import open_source


def observed(folder: Path, *statements: str) -> Observations:
    """Return what is observed of a database that these statements make."""
    folder.mkdir(exist_ok=True)
    database = folder / "source.duckdb"
    with duckdb.connect(str(database)) as connection:
        for statement in statements:
            connection.execute(statement)
    with open_source(str(database)) as source:
        return observe(source, profile_source(source))
