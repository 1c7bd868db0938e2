"""Each kind of warehouse as a fixture: tests that ask for it run on both."""

from pathlib import Path

import pytest

from fluid_build.evolution.warehouse import Location
from tests.evolution.warehouses import ENGINES, duckdb_location, postgres_location


@pytest.fixture(params=ENGINES)
def location(request: pytest.FixtureRequest, tmp_path: Path) -> Location:
    """An empty warehouse."""
    if request.param == "duckdb":
        return duckdb_location(tmp_path)
    return postgres_location(request.getfixturevalue("postgres"))
