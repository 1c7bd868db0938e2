"""Real databases and official schemas, which are next to the repository and not in it."""

from pathlib import Path

import pytest

SHARED = Path(__file__).parents[2] / "shared"
CORPUS = SHARED / "corpus"
"""A folder a database: ``data/`` in Parquet, ``schema.sql`` for some, ``truth.json``."""
FLUID_SCHEMA = SHARED / "schemas" / "fluid-schema-0.7.2.json"
OSI_SCHEMA = SHARED / "schemas" / "osi-0.1.1.json"

needs_shared = pytest.mark.needs_shared


def on_databases(some: str, *, thorough: str = "") -> pytest.MarkDecorator:
    """Run a test on databases of the corpus, by ``name``: some always, more in test-all."""
    return pytest.mark.parametrize(
        "name",
        [
            *(pytest.param(name, marks=needs_shared) for name in some.split()),
            *(
                pytest.param(name, marks=(needs_shared, pytest.mark.thorough))
                for name in thorough.split()
            ),
        ],
    )
