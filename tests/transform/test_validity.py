"""Versions hold from when the source changed a row, where its stamps say so."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.modeling.logical import Technique, Validity
from fluid_build.transform.plan.execution import FIRST_LOAD
from fluid_build.transform.plan.techniques import transform_plan
from tests.examples import dear_property
from tests.transform.databases import database, loaded, modelled
from tests.transform.test_deliveries import Warehouse

TABLES = (
    "CREATE TABLE customer (id INTEGER PRIMARY KEY, full_name VARCHAR, city VARCHAR,"
    " mail VARCHAR, updated_at TIMESTAMP)",
    *(
        f"INSERT INTO customer VALUES ({i}, 'n{i}', 'c{i % 7}', 'm{i}@x.org',"
        f" TIMESTAMP '1999-01-01' + INTERVAL '{i} HOUR')"
        for i in range(1, 41)
    ),
    "CREATE TABLE payment (id INTEGER PRIMARY KEY,"
    " customer_id INTEGER REFERENCES customer (id), paid_on DATE, amount DECIMAL(8,2))",
    *(
        f"INSERT INTO payment VALUES ({i}, {1 + i % 40}, DATE '2024-01-01' + {i % 28}, {i}.5)"
        for i in range(1, 101)
    ),
)
VALIDITY = Validity(table="customer", column="updated_at")
_TECHNIQUES: tuple[Technique, ...] = ("data_vault_2", "dimensional")
_HISTORY = {"data_vault_2": "sat_customer", "dimensional": "dim_customer_history"}
_KEY = {"data_vault_2": "customer_hk", "dimensional": "id"}


@contextmanager
def warehouse(file: Path, technique: Technique, *validities: Validity) -> Iterator[Warehouse]:
    """A warehouse that was loaded once of a DuckDB file."""
    with modelled(file, technique) as shop:
        model = shop.model.model_copy(update={"validities": validities or None})
        tables = shop.source.tables
    plan = transform_plan(model)
    with loaded(file, tables, plan) as built:
        found = Warehouse(built, model, plan)
        for table in ("payment", "customer"):
            found.change(
                f"CREATE TABLE shop.copied AS FROM shop.{table}",
                f"DROP TABLE shop.{table}",
                f"ALTER TABLE shop.copied RENAME TO {table}",
            )
        yield found


def _of_customer(shop: Warehouse, technique: Technique, number: int) -> list[tuple[object, ...]]:
    """The rows of a customer, each with its load, when it holds from, and if it's deleted."""
    hub = "JOIN model.hub_customer USING (customer_hk)" if technique == "data_vault_2" else ""
    relation = _HISTORY[technique]
    return shop.rows(
        f"SELECT h.load_date, h.applied_date, h.is_deleted FROM model.{relation} AS h {hub}"
        f" WHERE id = {number} ORDER BY h.load_date"
    )


def _day(number: int) -> datetime:
    return FIRST_LOAD + timedelta(days=number)


@pytest.mark.parametrize("technique", _TECHNIQUES)
def test_a_version_holds_from_its_stamp(tmp_path: Path, technique: Technique) -> None:
    with warehouse(database(tmp_path / "shop.db", *TABLES), technique, VALIDITY) as shop:
        changed = FIRST_LOAD + timedelta(hours=7)
        shop.change(f"UPDATE shop.customer SET city = 'x', updated_at = '{changed}' WHERE id = 3")
        shop.load()
        assert _of_customer(shop, technique, 3) == [
            (FIRST_LOAD, datetime(1999, 1, 1, 3), False),
            (_day(1), changed, False),
        ]
        assert shop.proof().holds


@pytest.mark.parametrize("technique", _TECHNIQUES)
@pytest.mark.parametrize(
    "stamp",
    [
        pytest.param("NULL", id="null"),
        pytest.param(f"TIMESTAMP '{_day(1) + timedelta(seconds=1)}'", id="later than the load"),
        pytest.param("TIMESTAMP '1999-01-01 03:00:00'", id="as it was"),
        pytest.param("TIMESTAMP '1998-12-31 00:00:00'", id="going backwards"),
    ],
)
def test_a_stamp_that_cannot_be_true_counts_for_nothing(
    tmp_path: Path, technique: Technique, stamp: str
) -> None:
    """The load dates such a version."""
    with warehouse(database(tmp_path / "shop.db", *TABLES), technique, VALIDITY) as shop:
        shop.change(f"UPDATE shop.customer SET city = 'x', updated_at = {stamp} WHERE id = 3")
        shop.load()
        assert _of_customer(shop, technique, 3)[-1] == (_day(1), _day(1), False)


@pytest.mark.parametrize("technique", _TECHNIQUES)
def test_a_deletion_is_of_the_load_and_what_comes_back_is_later(
    tmp_path: Path, technique: Technique
) -> None:
    """Nobody knows the day of a deletion; a row that comes back with its old stamp was away."""
    with warehouse(database(tmp_path / "shop.db", *TABLES), technique, VALIDITY) as shop:
        shop.change(
            "CREATE TABLE shop.away AS FROM shop.customer WHERE id = 3",
            "DELETE FROM shop.customer WHERE id = 3",
        )
        shop.load()
        shop.change("INSERT INTO shop.customer FROM shop.away")
        shop.load()
        assert _of_customer(shop, technique, 3)[1:] == [
            (_day(1), _day(1), True),
            (_day(2), _day(2), False),
        ]


@pytest.mark.parametrize("type_", ["DATE", "TIMESTAMP WITH TIME ZONE", "TIMESTAMP_NS"])
@pytest.mark.parametrize("technique", _TECHNIQUES)
def test_stamps_of_other_types_are_moments_in_utc(
    tmp_path: Path, technique: Technique, type_: str
) -> None:
    tables = tuple(each.replace("updated_at TIMESTAMP", f"updated_at {type_}") for each in TABLES)
    with warehouse(database(tmp_path / "shop.db", *tables), technique, VALIDITY) as shop:
        shop.change(
            "UPDATE shop.customer SET city = 'x', updated_at = '2000-01-01 12:00:00' WHERE id = 3"
        )
        shop.built.connection.execute("SET TimeZone = 'Asia/Tokyo'")
        shop.load()
        moment = _day(1) if type_ == "DATE" else FIRST_LOAD + timedelta(hours=12)
        started = FIRST_LOAD.replace(year=1999) + timedelta(hours=0 if type_ == "DATE" else 3)
        found = [applied for _, applied, _ in _of_customer(shop, technique, 3)]
        assert found == [started, FIRST_LOAD if type_ == "DATE" else moment]


def test_a_fact_finds_the_version_of_its_own_day(tmp_path: Path) -> None:
    """A payment of the day after the change, loaded with it, is of the customer as changed."""
    with warehouse(database(tmp_path / "shop.db", *TABLES), "dimensional", VALIDITY) as shop:
        for _ in range(3):
            shop.load()
        changed, paid = _day(3) + timedelta(hours=1), "1999-06-01"
        shop.change(
            f"UPDATE shop.customer SET city = 'x', updated_at = '{changed}' WHERE id = 3",
            f"INSERT INTO shop.payment VALUES (500, 3, '{_day(4):%Y-%m-%d}', 1), (501, 3,"
            f" '{paid}', 1)",
        )
        shop.load()
        found = shop.rows(
            "SELECT f.id, d.city FROM model.fct_payment AS f JOIN model.dim_customer AS d"
            " USING (customer_key) WHERE f.id >= 500 ORDER BY 1"
        )
        assert found == [(500, "x"), (501, "c3")]
        assert shop.rows(
            "SELECT valid_from, valid_to FROM model.dim_customer WHERE id = 3 ORDER BY 1"
        )[1] == (changed, datetime(9999, 12, 31))


@dataclass(frozen=True)
class Touch:
    """What becomes of a row between two loads: a stamp is in hours after the first load."""

    number: int
    city: int
    stamp: int | None
    is_deleted: bool


_TOUCHES = st.lists(
    st.lists(
        st.builds(
            Touch,
            number=st.integers(1, 4),
            city=st.integers(0, 2),
            stamp=st.none() | st.integers(-30, 150),
            is_deleted=st.booleans(),
        ),
        max_size=4,
    ),
    min_size=1,
    max_size=5,
)


@dear_property
@given(nights=_TOUCHES, technique=st.sampled_from(_TECHNIQUES), later=st.integers(0, 3))
def test_the_times_of_a_row_follow_each_other_whatever_its_stamps_say(
    nights: list[list[Touch]],
    technique: Technique,
    later: int,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """Each begins after the one before and by its load; what's loaded is as without stamps."""
    folder = tmp_path_factory.mktemp("nights")
    (folder / "plain").mkdir()
    with (
        warehouse(database(folder / "shop.db", *TABLES), technique, VALIDITY) as stamped,
        warehouse(database(folder / "plain" / "shop.db", *TABLES), technique) as plain,
    ):
        for number, night in enumerate(nights):
            for shop in (stamped, plain):
                shop.change(*(each for touch in night for each in _statements(touch)))
                if number != later:
                    shop.load()
        stamped.load()
        plain.load()
        relation, key = _HISTORY[technique], _KEY[technique]
        columns = [each.name for each in plain.plan.build(relation).columns]
        asked = f"SELECT {', '.join(columns)} FROM model.{relation} ORDER BY ALL"
        assert stamped.rows(asked) == plain.rows(asked)
        broken = (
            "SELECT * FROM (SELECT *, LAG(applied_date) OVER"
            f" (PARTITION BY {key} ORDER BY load_date) AS earlier FROM model.{relation})"
            " WHERE applied_date IS NULL OR applied_date > load_date OR earlier >= applied_date"
            " OR (is_deleted AND applied_date <> load_date)"
        )
        assert stamped.rows(broken) == []
        assert stamped.proof().holds
        if technique == "dimensional":
            assert stamped.rows(_GAPS) == []


_GAPS = """
SELECT * FROM (
    SELECT
        *,
        LEAD(valid_from) OVER (PARTITION BY customer_durable_key ORDER BY valid_from) AS following
    FROM model.dim_customer
)
WHERE valid_from >= valid_to OR valid_to > following OR (valid_to < following AND NOT EXISTS (
    FROM model.dim_customer_history AS h WHERE h.id = id AND h.is_deleted
    AND h.applied_date = valid_to
))
"""


def _statements(touch: Touch) -> Iterator[str]:
    yield f"DELETE FROM shop.customer WHERE id = {touch.number}"
    if not touch.is_deleted:
        hours = touch.stamp
        stamp = "NULL" if hours is None else f"'{FIRST_LOAD + timedelta(hours=hours)}'"
        yield (
            f"INSERT INTO shop.customer VALUES ({touch.number}, 'n', 'c{touch.city}', 'm', {stamp})"
        )
