"""Decisions about a source without rows: declared, not proven, and little is left to a model."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from fluid_build.decisions.language import Author, SetKey
from tests.decisions.shop import Shop, open_shop
from tests.decisions.test_references import refers

DDL = """
CREATE TABLE sales.orders (id INT PRIMARY KEY, code VARCHAR(10), item INT, place INT);
CREATE TABLE sales.places (id INT PRIMARY KEY, code VARCHAR(10));
CREATE TABLE hr.places (id INT PRIMARY KEY);
"""


@pytest.fixture(scope="module")
def structure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    path: Path = tmp_path_factory.mktemp("ddl") / "structure.sql"
    path.write_text(DDL, encoding="utf-8")
    with open_shop(path) as opened:
        yield opened


def test_a_table_is_found_without_its_schema(structure: Shop) -> None:
    verdict = structure.verdict(SetKey(table="Orders", columns=("code",)))
    assert verdict.decision == SetKey(table="sales.orders", columns=("code",))
    assert (verdict.status, verdict.message) == ("accepted", "There are no rows to check it on.")


def test_a_name_that_means_two_tables_is_refused(structure: Shop) -> None:
    verdict = structure.verdict(SetKey(table="places", columns=("id",)))
    assert verdict.message == "`places` means several tables: `hr.places`, `sales.places`."


def test_a_model_cant_replace_a_declared_key_unchecked(structure: Shop) -> None:
    verdict = structure.verdict(SetKey(table="sales.orders", columns=("code",), by="model"))
    assert verdict.status == "refused"


@pytest.mark.parametrize(
    ("by", "key", "status"),
    [("person", "code", "accepted"), ("model", "code", "refused"), ("model", "id", "accepted")],
)
def test_a_model_refers_only_to_declared_keys(
    structure: Shop, by: Author, key: str, status: str
) -> None:
    column = "place" if key == "id" else "code"
    decision = refers("orders." + column, "x." + key, by=by).model_copy(
        update={"to_table": "sales.places"}
    )
    assert structure.verdict(decision).status == status
