"""What the tests of agents share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from fluid_build.copilot.store.backends.sqlite import SqliteBackend


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteBackend]:
    """A store in ``store.db``, which other processes of a test may open as well."""
    backend = SqliteBackend(tmp_path / "store.db")
    yield backend
    backend.close()
