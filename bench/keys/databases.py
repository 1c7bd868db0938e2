"""Databases with documented keys: a folder each, with ``data/*.parquet`` and ``truth.json``."""

import json
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import duckdb

from bench.keys.naming import Names
from fluid_build.profiling import profile_source
from fluid_build.profiling.choose.calibration import CALIBRATION, Calibration
from fluid_build.profiling.profile import Profile
from fluid_build.profiling.weights import DEFAULT_WEIGHTS, Weights
from fluid_build.sources import open_source
from fluid_build.sources.sql import literal, quote


@dataclass(frozen=True)
class Database:
    """A folder with a database, and its documented keys."""

    folder: Path
    truth: dict

    @property
    def name(self) -> str:
        return self.truth["name"]


def read_databases(corpora: Iterable[Path]) -> list[Database]:
    """Return the databases of several folders, in the order of their names in each."""
    paths = (path for corpus in corpora for path in sorted(corpus.glob("*/truth.json")))
    return [Database(path.parent, json.loads(path.read_text(encoding="utf-8"))) for path in paths]


def profile_database(
    folder: Path,
    truth: dict,
    names: Names,
    weights: Weights = DEFAULT_WEIGHTS,
    calibration: Calibration = CALIBRATION,
) -> Profile:
    """Profile a database without its constraints, with every name as ``names`` has it."""
    # Files whose names begin with an underscore are hidden; tables of such a name are not.
    if names.plain and not any(table.startswith("_") for table in truth["tables"]):
        with open_source(str(folder / "data")) as source:
            return profile_source(source, weights=weights, calibration=calibration)
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "renamed.duckdb"
        with duckdb.connect(str(path)) as connection:
            for table, described in truth["tables"].items():
                columns = ", ".join(
                    f"{quote(column)} AS {quote(names.column(table, column))}"
                    for column in described["columns"]
                )
                connection.execute(
                    f"CREATE TABLE {quote(names.table(table))} AS SELECT {columns}"
                    f" FROM read_parquet({literal(str(folder / 'data' / f'{table}.parquet'))})"
                )
        with open_source(f"duckdb:///{path}") as source:
            return profile_source(source, weights=weights, calibration=calibration)
