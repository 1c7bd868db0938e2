"""A person is erased from a dimension and its history, as the project's README says."""

import re
from pathlib import Path

import pytest

from fluid_build.modeling.element import SourceColumn
from fluid_build.modeling.evolution import Evolution
from fluid_build.transform.dbt.erasing import erasing
from fluid_build.transform.dbt.project import dbt_project
from fluid_build.transform.plan.techniques import transform_plan
from tests.transform.databases import database, modelled
from tests.transform.dbt.projects import duckdb_access
from tests.transform.dimensional.stars import Star, star, without_history

_PEOPLE = (
    "CREATE TABLE customer (id INTEGER PRIMARY KEY, last_name VARCHAR NOT NULL, email VARCHAR,"
    " date_of_birth DATE, postal_code VARCHAR, segment VARCHAR)",
    "INSERT INTO customer SELECT i, 'Miller' || i, 'ann' || i || '@example.org',"
    " DATE '1970-01-01' + CAST(i * 97 AS INTEGER), 'AB' || (10 + i % 9) || ' 4ZZ',"
    " 'segment ' || (i % 4) FROM range(1, 61) t(i)",
    "INSERT INTO customer VALUES (61, 'Smith', NULL, NULL, NULL, 'segment 1')",
    "CREATE TABLE sale (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customer(id),"
    " sold_at TIMESTAMP, paid DECIMAL(9, 2))",
    "INSERT INTO sale SELECT i, 1 + i % 60, TIMESTAMP '2024-01-01' + INTERVAL (i) HOUR, i * 1.5"
    " FROM range(1, 301) r(i)",
)
_PERSONAL = ("last_name", "email", "date_of_birth", "postal_code")
_AT_THE_SOURCE = {
    "deleted": (
        "DELETE FROM shop.sale WHERE customer_id = 7",
        "DELETE FROM shop.customer WHERE id = 7",
    ),
    "overwritten": (
        "UPDATE shop.customer SET last_name = 'erased', email = NULL, date_of_birth = NULL,"
        " postal_code = NULL WHERE id = 7",
    ),
}


def erase(loaded: Star, path: Path, person: int) -> None:
    """Run what the README of the project says."""
    access = duckdb_access(loaded.plan, path / "shop.duckdb")
    readme = dbt_project(loaded.plan, loaded.model, access=access)["README.md"]
    section = readme.partition("## Erasing a person")[2].partition("\n## ")[0]
    sql = "".join(re.findall(r"```sql\n(.*?)```", section, re.DOTALL))
    written = re.sub(r"(UPDATE|DELETE FROM) ", r"\1 model.", sql).replace("...", str(person))
    for statement in written.split(";"):
        loaded.change(statement)


@pytest.mark.parametrize("at_the_source", _AT_THE_SOURCE.values(), ids=_AT_THE_SOURCE)
@pytest.mark.parametrize("has_history", [True, False])
def test_who_was_erased_is_nowhere_and_stays_away(
    tmp_path: Path, at_the_source: tuple[str, ...], *, has_history: bool
) -> None:
    """Facts keep leading to the member, and neither a test nor the proof takes it for a fault."""
    adjust = (lambda model: model) if has_history else without_history
    with star(tmp_path, _PEOPLE, adjust=adjust) as loaded:
        loaded.change("UPDATE shop.customer SET postal_code = 'ZZ99 1AA' WHERE id = 7")
        loaded.load()
        loaded.change(*at_the_source)
        loaded.load()
        erase(loaded, tmp_path, 7)
        assert _said(loaded) <= {None, "Unknown"}
        for _ in range(2):
            loaded.load()
            assert _said(loaded) <= {None, "Unknown", "erased"}
            assert loaded.failures() == []
        assert loaded.load() == {}
        members = loaded.rows(
            "SELECT count(*) FROM model.fct_sale LEFT JOIN model.dim_customer USING (customer_key)"
            " WHERE dim_customer.customer_key IS NULL"
        )
        assert members == [(0,)]


def test_who_was_in_quarantine_is_erased_from_there(tmp_path: Path) -> None:
    """A row that broke a key is there as it arrived, with all that it says of a person."""
    unchecked = [
        re.sub(" PRIMARY KEY| REFERENCES customer", "", statement).replace("(id)", "")
        for statement in _PEOPLE
    ]
    with star(tmp_path, unchecked) as loaded:
        loaded.change(
            "INSERT INTO shop.customer SELECT * REPLACE ('Other' AS last_name) FROM shop.customer"
            " WHERE id IN (7, 8)"
        )
        loaded.load()
        loaded.change("DELETE FROM shop.customer WHERE id = 7 OR last_name = 'Other'")
        loaded.load()
        erase(loaded, tmp_path, 7)
        people = loaded.rows(
            "SELECT DISTINCT CAST(source_row AS JSON) ->> 'id' FROM model.quarantine"
        )
        assert people == [("8",)]


def test_a_fact_that_keeps_a_dropped_personal_column_is_named(tmp_path: Path) -> None:
    """No load overwrites it. Whatever the source still has is overwritten there."""
    tables = [
        statement.replace("paid DECIMAL(9, 2)", "paid DECIMAL(9, 2), email VARCHAR").replace(
            "i * 1.5 FROM", "i * 1.5, 'ann' || i || '@example.org' FROM"
        )
        for statement in _PEOPLE
    ]
    with modelled(database(tmp_path / "shop.duckdb", *tables), "dimensional") as shop:
        model = shop.model
    assert "UPDATE fct_sale" not in erasing(transform_plan(model), model)
    dropped = Evolution(retired_columns=(SourceColumn(table="sale", column="email"),))
    model = model.model_copy(update={"evolution": dropped})
    readme = erasing(transform_plan(model), model)
    assert "no longer has: `fct_sale` (`email`)" in " ".join(readme.split())
    assert "UPDATE fct_sale\nSET\n    email = NULL\nWHERE id = ...;" in readme


def test_the_others_keep_their_history(tmp_path: Path) -> None:
    with star(tmp_path, _PEOPLE) as loaded:
        loaded.change("UPDATE shop.customer SET postal_code = 'ZZ99 1AA'")
        loaded.load()
        loaded.change(
            "DELETE FROM shop.sale WHERE customer_id = 7", "DELETE FROM shop.customer WHERE id = 7"
        )
        loaded.load()
        others = "FROM model.{} WHERE id <> 7 ORDER BY ALL"
        tables = ("dim_customer", "dim_customer_history")
        before = [loaded.rows(others.format(table)) for table in tables]
        erase(loaded, tmp_path, 7)
        loaded.load()
        assert [loaded.rows(others.format(table)) for table in tables] == before


def _said(loaded: Star) -> set[object]:
    """What is still said of the person, in any version."""
    tables = {"dim_customer", "dim_customer_history"} & {one.name for one in loaded.plan.builds}
    found: set[object] = set()
    for table in tables:
        there = {name for (name, *_) in loaded.rows(f"DESCRIBE model.{table}")}
        for column in there & {*_PERSONAL}:
            found |= {
                value
                for (value,) in loaded.rows(f"SELECT {column} FROM model.{table} WHERE id = 7")
            }
    return found
