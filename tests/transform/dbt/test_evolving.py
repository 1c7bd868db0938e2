"""Real loads of three days, between which the source changes: nothing that was known is lost."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from fluid_build.modeling.data_vault.elements import DataVaultModel
from fluid_build.modeling.evolution import Evolution, RenamedColumn
from fluid_build.modeling.logical import LogicalModel
from tests.transform.dbt.evolving import (
    Life,
    Warehouse,
    columns,
    duckdb_warehouse,
    in_raw,
    model_of,
    postgres_warehouse,
)

pytestmark = pytest.mark.usefixtures("dbt")


def _tables(score: str = "INTEGER", price: str = "DECIMAL(8,2)", more: str = "") -> tuple[str, ...]:
    """The source, with what its columns came to be; ``more`` are columns that joined customers."""
    return (
        "CREATE TABLE city (id INTEGER PRIMARY KEY, name VARCHAR(40), mayor VARCHAR(40))",
        "CREATE TABLE region (code VARCHAR(9) PRIMARY KEY, title VARCHAR(40), size INTEGER,"
        " founded DATE, head VARCHAR(40))",
        "CREATE TABLE customer (id INTEGER PRIMARY KEY, name VARCHAR(40),"
        f" city_id INTEGER REFERENCES city (id), score {score}, price {price}, old VARCHAR(40),"
        f" balance DOUBLE PRECISION{more})",
        "CREATE TABLE orders (id INTEGER PRIMARY KEY,"
        " customer_id INTEGER REFERENCES customer (id), ordered DATE, paid DECIMAL(8,2))",
    )


def _rows(*, fresh: bool = False) -> tuple[str, ...]:
    return (
        *(f"INSERT INTO city VALUES ({i}, 'c{i}', 'm{i}')" for i in range(1, 6)),
        *(
            f"INSERT INTO region VALUES ('r{i}', 't{i}', {i * 7}, DATE '1990-01-0{i}', 'h{i}')"
            for i in range(1, 9)
        ),
        *(
            f"INSERT INTO customer VALUES ({i}, 'n{i}', {1 + i % 5}, {i * 7 % 11},"
            f" {i}.25, 'o{i % 3}', {i}.5{_fresh(i) if fresh else ''})"
            for i in range(1, 31)
        ),
        *(
            f"INSERT INTO orders VALUES ({i}, {1 + i % 30}, DATE '2024-01-{1 + i % 28:02}', {i}.5)"
            for i in range(1, 60)
        ),
    )


def _fresh(number: int) -> str:
    return ", NULL" if number == 9 else f", 'f{number}'"


_CHANGES = (
    "ALTER TABLE raw.customer ADD COLUMN fresh VARCHAR(40)",
    "UPDATE raw.customer SET fresh = 'f' || id WHERE id <> 9",
    "ALTER TABLE raw.customer DROP COLUMN old",
    "ALTER TABLE raw.customer ALTER COLUMN score TYPE BIGINT",
    "ALTER TABLE raw.customer ALTER COLUMN price TYPE DECIMAL(12,4)",
    "ALTER TABLE raw.orders RENAME COLUMN paid TO amount",
    "DROP TABLE raw.region",
)
_ROWS_OF_DAY_3 = (
    "UPDATE raw.customer SET name = 'other' WHERE id = 1",
    "UPDATE raw.customer SET price = 7.1234 WHERE id = 2",
    "DELETE FROM raw.orders WHERE customer_id = 3",
    "DELETE FROM raw.customer WHERE id = 3",
)
_ROWS_OF_DAY_4 = (
    "ALTER TABLE raw.customer ALTER COLUMN score TYPE VARCHAR(40)",
    "UPDATE raw.customer SET score = 'high' WHERE id = 4",
    "UPDATE raw.customer SET fresh = 'first value' WHERE id = 9",
    "INSERT INTO raw.customer (id, name, city_id, score, price, balance, fresh)"
    " VALUES (3, 'n3', 4, '10', 3.25, 3.5, 'f3')",
)
_CHANGED = Evolution(
    retired_tables=("region",),
    retired_columns=columns("customer", "old"),
    added_columns=columns("customer", "fresh"),
    retyped_columns=columns("customer", "score", "price"),
    renamed_columns=(RenamedColumn(table="orders", column="paid", now="amount"),),
)

_OF_ORDERS = ("customer_id", "ordered", "paid")

_REMEMBER = {
    "data_vault_2": {"ref_city", "hub_region", "sat_customer", "sat_region", "lnk_orders_customer"},
    "dimensional": {"dim_customer_history", "fct_customer_snapshot"},
}
_REFUSALS = {
    technique: (
        f"The warehouse has no {behind} as this project writes since the source changed:"
        " run `fluid apply` or `dbt run-operation migrate`, then build again."
    )
    for technique, behind in {
        "data_vault_2": "sat_customer.score and 1 more",
        "dimensional": "dim_customer_history.score and 5 more",
    }.items()
}
_ADDED_ON_DAY_3 = {
    # Two customers changed and one is gone with two orders; the new satellite begins.
    "data_vault_2": {
        "sat_customer": 3,
        "sat_customer_2": 29,
        "sat_customer_state": 1,
        "sat_orders": 2,
        "eff_sat_orders_customer": 2,
    },
    "dimensional": {"dim_customer_history": 3},
}
_ADDED_ON_DAY_4 = {
    # One customer changed, one got the first value of the new column, and one is back.
    "data_vault_2": {"sat_customer": 2, "sat_customer_2": 2, "sat_customer_state": 1},
    "dimensional": {"dim_customer_history": 3},
}
_FACTS: dict[str, dict[str, list[tuple[object, ...]]]] = {
    "data_vault_2": {
        "SELECT COUNT(*) FROM main.sat_customer"
        " WHERE load_date > TIMESTAMP '2024-01-02' AND NOT is_deleted AND old IS NOT NULL": [(0,)],
        "SELECT COUNT(*) FROM main.sat_customer WHERE is_deleted AND old = 'o0'": [(1,)],
        "SELECT COUNT(*), MAX(load_date) < TIMESTAMP '2024-01-02' FROM main.sat_region"
        " WHERE NOT is_deleted": [(8, True)],
        "SELECT CAST(s.price AS VARCHAR), s.score FROM main.sat_customer AS s"
        " JOIN main.hub_customer AS h ON h.customer_hk = s.customer_hk"
        " WHERE h.id IN (2, 4) ORDER BY h.id, s.load_date": [
            ("2.2500", "3"),
            ("7.1234", "3"),
            ("4.2500", "6"),
            ("4.2500", "high"),
        ],
    },
    "dimensional": {
        # A version that had ended shows nothing in a column that came later.
        "SELECT name, fresh, old FROM main.dim_customer WHERE id = 5 ORDER BY valid_from": [
            ("n5", None, "o2"),
            ("new", "f5", "o2"),
        ],
        "SELECT fresh, old FROM main.dim_customer WHERE id = 9 ORDER BY valid_from": [
            (None, "o0"),
            ("first value", None),
        ],
        "SELECT CAST(price AS VARCHAR), score, old FROM main.dim_customer"
        " WHERE id IN (2, 4) ORDER BY id, valid_from": [
            ("2.2500", "3", "o2"),
            ("7.1234", "3", None),
            ("4.2500", "6", "o1"),
            ("4.2500", "high", None),
        ],
        "SELECT COUNT(*) FROM main.dim_region WHERE NOT is_deleted": [(9,)],
        "SELECT COUNT(*), CAST(SUM(paid) AS VARCHAR) FROM main.fct_orders": [(57, "1764.50")],
    },
}


@pytest.fixture(params=["duckdb", "postgres"])
def warehouse(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Warehouse]:
    """An empty one of each kind."""
    if request.param == "duckdb":
        yield duckdb_warehouse(tmp_path)
    else:
        yield postgres_warehouse(request.getfixturevalue("postgres"))


@pytest.mark.parametrize("technique", ["data_vault_2", "dimensional"])
def test_what_was_known_stays_when_the_source_changes(
    warehouse: Warehouse, tmp_path: Path, technique: str
) -> None:
    """A column more, one less, wider ones, one renamed, and a table less; no full refresh."""
    warehouse.run("CREATE SCHEMA raw", *map(in_raw, (*_tables(), *_rows())))
    life = Life(warehouse, tmp_path / "dbt")
    life.become(model_of(tmp_path / "first", (*_tables(), *_rows()), technique))
    life.build(1)
    warehouse.run("UPDATE raw.customer SET name = 'new' WHERE id = 5")
    life.build(2)
    first = life.known()
    assert set(first) >= _REMEMBER[technique]

    life.change(*_CHANGES, *_ROWS_OF_DAY_3)
    life.become(_evolved(tmp_path / "second", technique, "BIGINT"))
    assert life.refusal() == _REFUSALS[technique]
    life.migrate()
    life.build(3)
    assert life.known(first, before=3) == first
    assert life.added(3) == _ADDED_ON_DAY_3[technique]

    life.change(*_ROWS_OF_DAY_4)
    second = life.known()
    life.become(_evolved(tmp_path / "third", technique, "VARCHAR"))
    life.migrate()
    life.build(4)
    assert life.known(second, before=4) == second
    assert life.added(4) == _ADDED_ON_DAY_4[technique]
    for query, rows in _FACTS[technique].items():
        assert warehouse.execute(query) == rows, query


def test_a_fact_keeps_what_its_rows_had(warehouse: Warehouse, tmp_path: Path) -> None:
    """In columns that the source drops, and the keys made of them; nothing warns of it."""
    source = (*_tables(), *_rows())
    warehouse.run("CREATE SCHEMA raw", *map(in_raw, source))
    life = Life(warehouse, tmp_path / "dbt")
    life.become(model_of(tmp_path / "first", source, "dimensional"))
    life.build(1)
    facts = (
        "SELECT f.id, CAST(f.paid AS VARCHAR), c.name, f.ordered_date_key FROM main.fct_orders AS f"
        " JOIN main.dim_customer AS c ON c.customer_key = f.customer_key"
        " WHERE f.id IN (1, 99) ORDER BY f.id"
    )
    (first,) = warehouse.execute(facts)
    assert first == (1, "1.50", "n2", 20240102)

    life.change(
        *(f"ALTER TABLE raw.orders DROP COLUMN {name}" for name in _OF_ORDERS),
        "INSERT INTO raw.orders VALUES (99)",
    )
    gone = Evolution(retired_columns=columns("orders", *_OF_ORDERS))
    life.become(model_of(tmp_path / "second", source, "dimensional", gone))
    for day in (2, 3):
        life.build(day)
        assert warehouse.execute(facts) == [first, (99, None, "Unknown", -1)]


def _evolved(folder: Path, technique: str, score: str) -> LogicalModel:
    tables = _tables(score, "DECIMAL(12,4)", ", fresh VARCHAR(40)")
    rows = _rows(fresh=True)
    if score == "VARCHAR":
        rows += ("UPDATE customer SET score = 'high' WHERE id = 4",)
    model = model_of(folder, (*tables, *rows), technique, _CHANGED)
    if model.dv2 is None:
        return model
    return model.model_copy(update={"dv2": _with_a_new_satellite(model.dv2)})


def _with_a_new_satellite(vault: DataVaultModel) -> DataVaultModel:
    """Columns that joined a table are in a satellite of their own."""
    satellites = []
    for satellite in vault.satellites:
        if "fresh" not in satellite.columns:
            satellites.append(satellite)
            continue
        kept = tuple(name for name in satellite.columns if name != "fresh")
        of_new = tuple(c for c in satellite.source_columns if c.column == "fresh")
        satellites += [
            satellite.model_copy(update={"columns": kept}),
            satellite.model_copy(
                update={
                    "name": f"{satellite.name}_2",
                    "columns": ("fresh",),
                    "source_columns": of_new,
                }
            ),
        ]
    return vault.model_copy(update={"satellites": tuple(satellites)})
