"""Tables of which a source has only what changed or came are loaded as if it had them all."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.modeling.logical import LogicalModel, PartialDelivery, Technique
from fluid_build.sources import open_source
from fluid_build.transform.plan.elements import TransformPlan
from fluid_build.transform.plan.execution import FIRST_LOAD, Built
from fluid_build.transform.plan.techniques import transform_plan
from fluid_build.transform.proof.building import build_and_prove
from fluid_build.transform.proof.proof import Proof, prove
from tests.examples import dear_property
from tests.transform.databases import database, loaded, modelled

TABLES = (
    "CREATE TABLE city (code VARCHAR PRIMARY KEY, name VARCHAR, mayor VARCHAR)",
    'CREATE TABLE customer (id INTEGER PRIMARY KEY, "Full Name" VARCHAR,'
    " city_code VARCHAR REFERENCES city (code))",
    "CREATE TABLE payment (id INTEGER PRIMARY KEY,"
    " customer_id INTEGER REFERENCES customer (id), paid_on DATE, amount DECIMAL(8,2))",
    *(f"INSERT INTO city VALUES ('c{i}', 'n{i}', 'm{i}')" for i in range(1, 9)),
    *(f"INSERT INTO customer VALUES ({i}, 'n{i}', 'c{1 + i % 8}')" for i in range(1, 31)),
    *(
        f"INSERT INTO payment VALUES ({i}, {1 + i % 30}, DATE '2024-01-{1 + i % 28:02}', {i}.5)"
        for i in range(1, 61)
    ),
)
DELIVERIES = (
    PartialDelivery(table="city", kind="delta"),
    PartialDelivery(table="customer", kind="delta"),
    PartialDelivery(table="payment", kind="append"),
)
_KEYS = {"payment": "id", "customer": "id", "city": "code"}
_TECHNIQUES: tuple[Technique, ...] = ("flat", "data_vault_2", "dimensional")


@dataclass
class Warehouse:
    """What a plan loaded of a source, which is open for changes as ``shop``."""

    built: Built
    model: LogicalModel
    plan: TransformPlan
    day: datetime = FIRST_LOAD

    def change(self, *statements: str) -> None:
        """Change the source."""
        for statement in statements:
            self.built.connection.execute(statement)

    def load(self) -> None:
        """Load once more, a day later."""
        self.day += timedelta(days=1)
        self.built.load(self.day)

    def rows(self, sql: str) -> list[tuple[object, ...]]:
        """The rows of a query."""
        return self.built.connection.execute(sql).fetchall()

    def published(self) -> dict[str, list[tuple[object, ...]]]:
        """How many rows each relation has that the model is for, and the sum of their hashes."""
        return {
            build.name: self.rows(
                f"SELECT count(*), sum(CAST(hash(r) AS HUGEINT)) FROM model.{build.name} AS r"
            )
            for build in self.plan.published
        }

    def sizes(self) -> dict[str, int]:
        """How many rows each relation has that remembers."""
        return {build.name: self.built.rows(f"model.{build.name}") for build in self.plan.lasting}

    def proof(self) -> Proof:
        """The comparison with the source."""
        return prove(self.built, self.model)


@contextmanager
def warehouse(
    file: Path, technique: Technique, *deliveries: PartialDelivery
) -> Iterator[Warehouse]:
    """A warehouse that was loaded once of a DuckDB file."""
    with modelled(file, technique) as shop:
        model = shop.model.model_copy(update={"deliveries": deliveries or None})
        tables = shop.source.tables
    plan = transform_plan(model)
    with loaded(file, tables, plan) as built:
        found = Warehouse(built, model, plan)
        # A delivery is a file or a table of its own, in which nobody checks a key.
        for table in _KEYS:
            found.change(
                f"CREATE TABLE shop.copied AS FROM shop.{table}",
                f"DROP TABLE shop.{table}",
                f"ALTER TABLE shop.copied RENAME TO {table}",
            )
        yield found


@pytest.mark.parametrize("technique", _TECHNIQUES)
def test_what_a_delta_lacks_stays(tmp_path: Path, technique: Technique) -> None:
    """One customer is delivered and nothing else: everybody is still there, and nobody deleted."""
    file = database(tmp_path / "shop.db", *TABLES)
    with warehouse(file, technique, *DELIVERIES) as shop:
        before = shop.published()
        shop.change(
            "DELETE FROM shop.city",
            "DELETE FROM shop.payment",
            "DELETE FROM shop.customer WHERE id <> 3",
        )
        shop.load()
        assert shop.published() == before
        proof = shop.proof()
        assert proof.holds, proof
        assert {table.table: table.kept for table in proof.tables} == {
            "city": 8,
            "customer": 29,
            "payment": 60,
        }


@dataclass(frozen=True)
class Night:
    """What happens between two loads, and which rows are delivered without a change."""

    renamed: frozenset[int]
    moved: frozenset[int]
    new_customers: int
    mayors: frozenset[int]
    new_payments: tuple[int, ...]
    again: frozenset[int]

    def statements(self, number: int) -> Iterator[str]:
        """The changes of the whole tables."""
        for each in self.renamed:
            yield f"UPDATE shop.customer SET \"Full Name\" = 'x{number}' WHERE id = {each}"
        for each in self.moved:
            yield f"UPDATE shop.customer SET city_code = 'c{1 + number % 8}' WHERE id = {each}"
        for each in range(self.new_customers):
            identity = 1000 * number + each
            yield f"INSERT INTO shop.customer VALUES ({identity}, 'new', 'c{1 + each}')"
        for each in self.mayors:
            yield f"UPDATE shop.city SET mayor = 'y{number}' WHERE code = 'c{each}'"
        for place, customer in enumerate(self.new_payments):
            identity = 1000 * number + place
            yield (
                f"INSERT INTO shop.payment VALUES ({identity}, {customer}, DATE '2024-02-01', 1.5)"
            )


_CUSTOMERS = st.frozensets(st.integers(1, 30), max_size=3)
NIGHTS = st.lists(
    st.builds(
        Night,
        renamed=_CUSTOMERS,
        moved=_CUSTOMERS,
        new_customers=st.integers(0, 2),
        mayors=st.frozensets(st.integers(1, 8), max_size=2),
        new_payments=st.lists(st.integers(1, 30), max_size=3).map(tuple),
        again=st.frozensets(st.integers(1, 12), max_size=4),
    ),
    min_size=1,
    max_size=3,
)


@dear_property
@given(nights=NIGHTS, technique=st.sampled_from(_TECHNIQUES))
def test_a_warehouse_of_deltas_is_the_warehouse_of_whole_deliveries(
    nights: list[Night], technique: Technique, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Beside it, a warehouse gets all rows of every night. Rows come without a change too."""
    folder = tmp_path_factory.mktemp("nights")
    whole_file = database(folder / "whole.db", *TABLES)
    part_file = database(folder / "part.db", *TABLES)
    with (
        warehouse(whole_file, technique) as whole,
        warehouse(part_file, technique, *DELIVERIES) as part,
    ):
        for number, night in enumerate(nights, start=1):
            before = {table: whole.rows(f"FROM shop.{table}") for table in _KEYS}
            whole.change(*night.statements(number))
            for table in _KEYS:
                rows = whole.rows(f"FROM shop.{table}")
                arriving = [
                    row
                    for place, row in enumerate(rows, start=1)
                    if row not in before[table] or place in night.again
                ]
                part.change(f"DELETE FROM shop.{table}")
                places = ", ".join("?" for _ in rows[0])
                for row in arriving:
                    part.built.connection.execute(
                        f"INSERT INTO shop.{table} VALUES ({places})", row
                    )
            whole.load()
            part.load()
            assert part.published() == whole.published()
            assert part.proof().holds
            known = part.sizes()
            whole.load()
            part.load()
            assert part.sizes() == known


def test_a_row_that_came_back_as_it_was_is_added_again(tmp_path: Path) -> None:
    """What the delivery says last counts, however often a row changes back."""
    file = database(tmp_path / "shop.db", *TABLES)
    with warehouse(file, "flat", *DELIVERIES) as shop:
        for name in ("x", "n3", "x", "x"):
            shop.change(
                "DELETE FROM shop.customer",
                f"INSERT INTO shop.customer VALUES (3, '{name}', 'c4')",
            )
            shop.load()
            assert shop.rows("SELECT full_name FROM model.customer WHERE id = 3") == [(name,)]
        kept = "SELECT full_name FROM model.kept_customer WHERE id = 3 ORDER BY load_date"
        assert shop.rows(kept) == [("n3",), ("x",), ("n3",), ("x",)]


def test_rows_without_a_key_are_kept_and_replace_nothing(tmp_path: Path) -> None:
    """Each is in quarantine with every load, and the same one is there once."""
    file = database(tmp_path / "shop.db", *TABLES)
    with warehouse(file, "flat", *DELIVERIES) as shop:
        for name in ("a", "b", "b"):
            shop.change(
                "DELETE FROM shop.customer",
                f"INSERT INTO shop.customer VALUES (NULL, '{name}', 'c1'), (3, 'new', 'c1')",
            )
            shop.load()
        assert _set_apart(shop) == ["a", "b"]
        assert shop.rows("SELECT count(*) FROM model.stg_customer WHERE id IS NULL") == [(0,)]
        assert shop.rows("SELECT count(*) FROM model.stg_customer WHERE id = 3") == [(1,)]


def _set_apart(shop: Warehouse) -> list[object]:
    """The names of the customers that the last load has set apart."""
    names = shop.rows(
        "SELECT CAST(source_row AS JSON) ->> 'Full Name' FROM model.quarantine"
        " WHERE load_date = (SELECT max(load_date) FROM model.quarantine) ORDER BY 1"
    )
    return [name for (name,) in names]


def test_a_repeated_key_is_seen_until_its_rows_are_delivered_alone(tmp_path: Path) -> None:
    """Both rows are in quarantine until a delivery has one row of the key."""
    file = database(tmp_path / "shop.db", *TABLES)
    with warehouse(file, "flat", *DELIVERIES) as shop:
        shop.change("DELETE FROM shop.customer WHERE id <> 3")
        shop.change("INSERT INTO shop.customer VALUES (3, 'twin', 'c1')")
        rows = "SELECT full_name FROM model.stg_customer WHERE id = 3 ORDER BY 1"
        for _ in range(2):
            shop.load()
            assert (_set_apart(shop), shop.rows(rows)) == (["n3", "twin"], [])
        shop.change("DELETE FROM shop.customer WHERE \"Full Name\" = 'twin'")
        shop.load()
        assert shop.rows(rows) == [("n3",)]


def test_an_appended_row_never_changes(tmp_path: Path) -> None:
    """A row of a known key that says something else isn't taken, and the proof says so."""
    file = database(tmp_path / "shop.db", *TABLES)
    with warehouse(file, "dimensional", *DELIVERIES) as shop:
        shop.change(
            "DELETE FROM shop.payment WHERE id > 2",
            "UPDATE shop.payment SET amount = 0 WHERE id = 1",
        )
        shop.load()
        assert shop.rows("SELECT amount FROM model.fct_payment WHERE id = 1") != [(0,)]
        (payment,) = (table for table in shop.proof().tables if table.table == "payment")
        assert payment.missing == 1
        assert payment.kept == 59


@pytest.mark.parametrize("technique", _TECHNIQUES)
def test_todays_part_alone_loses_nothing(tmp_path: Path, technique: Technique) -> None:
    """What refers to rows of earlier deliveries can't be compared, and isn't called lost."""
    with modelled(database(tmp_path / "whole.db", *TABLES), technique) as shop:
        model = shop.model.model_copy(update={"deliveries": DELIVERIES})
    today = database(
        tmp_path / "today.db",
        *(re.sub(r" REFERENCES \w+ \(\w+\)", "", each) for each in TABLES),
        "DELETE FROM city",
        "DELETE FROM customer WHERE id > 3",
        "DELETE FROM payment WHERE id < 50",
    )
    with open_source(today) as source:
        proof = build_and_prove(source, transform_plan(model), model)
    assert proof.verdict in {"proven", "not proven"}, proof
    if proof.verdict == "not proven":
        assert "rows refer to rows of earlier deliveries" in proof.reason
