"""Queries that can't be right fail a test, where a forge would go without the observation."""

import duckdb
import pytest

from fluid_build.observations import observed_tables

_FAULTS_OF_QUERIES = (duckdb.BinderException, duckdb.CatalogException, duckdb.ParserException)


@pytest.fixture(autouse=True)
def _raise_faults_of_queries(monkeypatch: pytest.MonkeyPatch) -> None:
    # A forge goes on: the types of an unseen database may have no such function.
    errors = (*observed_tables._ENVIRONMENT_ERRORS, *_FAULTS_OF_QUERIES)
    monkeypatch.setattr(observed_tables, "_ENVIRONMENT_ERRORS", errors)
