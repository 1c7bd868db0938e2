"""The DDL of real databases, held against what they are known to declare."""

import json
from typing import Any

import pytest

from fluid_build.sources.base import Source
from fluid_build.sources.sql_text.ddl import open_ddl
from tests.shared import CORPUS, needs_shared

DATABASES = (
    "adventureworks adventureworks_dw broker car_dealership chinook department_store derm_treatment"
    " northwind oracle_co pubs sakila sql_murder_mystery tpcds world"
).split()

pytestmark = needs_shared


@pytest.fixture(params=DATABASES)
def database(request: pytest.FixtureRequest) -> tuple[Source, dict[str, Any]]:
    folder = CORPUS / str(request.param)
    truth: dict[str, Any] = json.loads((folder / "truth.json").read_text(encoding="utf-8"))
    source = open_ddl(folder / "schema.sql")
    request.addfinalizer(source.close)
    return source, truth


def _bare(name: str) -> str:
    return name.split(".")[-1].lower()


def _lower(names: Any) -> tuple[str, ...]:
    return tuple(str(name).lower() for name in names)


def test_declared_keys_are_all_found(database: tuple[Source, dict[str, Any]]) -> None:
    """Every primary key and every declared foreign key is found, its columns in order."""
    source, truth = database
    tables = {_bare(table.name): table for table in source.tables}
    found = {
        (name, _lower(key.columns), _bare(key.to_table), _lower(key.to_columns))
        for name, table in tables.items()
        for key in table.foreign_keys
    }
    for name, known in truth["tables"].items():
        if name.lower() in tables and known["primary_key"]:
            table = tables[name.lower()]
            assert _lower(table.primary_key) == _lower(known["primary_key"]), name
    for key in truth["foreign_keys"]:
        if key["kind"] == "declared":
            assert (
                key["from_table"].lower(),
                _lower(key["from_columns"]),
                key["to_table"].lower(),
                _lower(key["to_columns"]),
            ) in found


def test_columns_are_those_of_the_data(database: tuple[Source, dict[str, Any]]) -> None:
    """Each table has the columns that its data has, in their order."""
    source, truth = database
    known = {name.lower(): _lower(table["columns"]) for name, table in truth["tables"].items()}
    for table in source.tables:
        if _bare(table.name) in known:
            assert _lower(column.name for column in table.columns) == known[_bare(table.name)]


def test_nothing_is_left_unread(database: tuple[Source, dict[str, Any]]) -> None:
    """No statement of these files is beyond reading."""
    source, _ = database
    assert source.skipped == ()
    assert not [note for note in source.notes if "not be read" in note or "in part" in note]
