"""Snapshot facts of levels that the source overwrites."""

import pytest

from fluid_build.modeling.dimensional.elements import DimensionalModel
from tests.modeling.sources import changed_column, dimension, fact, source, star

SALE = "sale *id, sold date, amount decimal, person_id/40 > person, town_id/9 > town"


def model_of(columns: str, more: str = SALE) -> DimensionalModel:
    town = "town *id, name text, region text, mayor text"
    return star(source(f"{town}\nperson *id, name text, {columns}\n{more}"))


def snapshots(model: DimensionalModel) -> list[str]:
    return [fact.name for fact in model.facts if fact.snapshot_of]


def test_a_snapshot_has_a_row_for_each_member_and_day() -> None:
    model = model_of("salary decimal, town_id/9 > town")
    snapshot = fact(model, "fct_person_snapshot")
    assert (snapshot.snapshot_of, snapshot.fact_type) == ("dim_person", "periodic_snapshot")
    assert snapshot.grain == "One row for each person and day of loading: id."
    assert snapshot.grain_columns == ("id", "snapshot_date")
    assert [(m.name, m.additivity) for m in snapshot.measures] == [("salary", "semi-additive")]
    assert [(r.key, r.columns) for r in snapshot.dimensions] == [
        ("person_key", ("id",)),
        ("town_key", ("town_id",)),
        ("snapshot_date_key", ()),
    ]
    assert snapshot.reason == "person shows salary without a date, so each load records it."


def test_a_snapshot_of_people_says_that_it_keeps_what_the_source_erases() -> None:
    model = model_of("first_name text, last_name text, salary decimal")
    assert fact(model, "fct_person_snapshot").reason == (
        "person shows salary without a date, so each load records it. It keeps what a person had on"
        " each day, also after the source has erased it."
    )


@pytest.mark.parametrize(("is_personal", "names"), [(False, ["fct_person_snapshot"]), (True, [])])
def test_a_column_marked_personal_isnt_recorded(is_personal: bool, names: list[str]) -> None:
    town = "town *id, name text, mayor text"
    measured = source(f"{town}\nperson *id, name text, balance decimal, a text\n{SALE}")
    assert snapshots(star(changed_column(measured, "person", "balance", pii=is_personal))) == names


def test_what_a_snapshot_records_is_overwritten_in_the_dimension() -> None:
    person = dimension(model_of("salary decimal, grade text"), "dim_person")
    types = {attribute.name: attribute.scd_type for attribute in person.attributes}
    assert types == {"id": 0, "name": 2, "salary": 1, "grade": 2}


def test_a_dimension_without_facts_has_history_where_it_has_a_snapshot() -> None:
    """Employees alone are no mere lookup."""
    model = model_of("balance decimal, grade text", "sale *id, sold date, amount decimal")
    assert snapshots(model) == ["fct_person_snapshot"]
    assert dimension(model, "dim_person").history
    assert "dim_date" in {dimension.name for dimension in model.dimensions}


@pytest.mark.parametrize(
    ("column", "is_recorded"),
    [
        ("salary decimal", True),
        ("balance decimal", True),
        ("credit_limit decimal", True),
        ("quantity_in_stock/90 1-900", True),
        ("max_salary decimal", False),
        ("desired_stock/90 1-900", False),
        ("speed_limit/90 1-900", False),
        ("population/90 1-900", False),
        ("ytd_sales decimal", False),
        ("price decimal", False),
        ("stock_price decimal", False),
        ("balance decimal/1", False),
        ("account_balance_id/90", False),
    ],
)
def test_only_levels_that_events_change_are_recorded(column: str, is_recorded: bool) -> None:
    assert bool(snapshots(model_of(f"{column}, a text"))) == is_recorded


@pytest.mark.parametrize(
    ("history", "is_recorded"),
    [
        ("salary_history *id, from_date date, amount decimal, person_id/40 > person", False),
        ("pay *id, from_date date, salary decimal, person_id/40 > person", False),
        ("pay *id, note text, salary decimal, person_id/40 > person", True),
        ("pay *id, salary decimal, amount decimal, person_id/40 > person, town_id/9 > town", True),
        ("bonus *id, from_date date, amount decimal, person_id/40 > person", True),
    ],
)
def test_a_level_with_a_history_in_the_source_isnt_recorded_again(
    history: str, is_recorded: bool
) -> None:
    model = model_of("salary decimal, a text", f"{SALE}\n{history}")
    assert bool(snapshots(model)) == is_recorded


def test_wide_facts_leave_snapshots_as_they_are() -> None:
    sale = SALE.replace(", town_id/9 > town", "")
    measured = source(f"person *id, name text, salary decimal, a text\n{sale}")
    snapshot = fact(star(measured, "wide"), "fct_person_snapshot")
    assert not any(reference.carried for reference in snapshot.dimensions)


def _with_states(key: str) -> DimensionalModel:
    town = "town *id, name text, region text, mayor text"
    person = "person *id, name text, birthplace text"
    return star(source(f"{town}\n{person}\nstate {key}, balance decimal\n{SALE}"))


def test_a_stamp_in_the_key_is_the_day_of_a_snapshot() -> None:
    """Beside the key, it only says when the balance was last written."""
    key = "*person_id/40 > person, *updated_at timestamp/5"
    state = fact(_with_states(key), "fct_state")
    assert state.fact_type == "periodic_snapshot"
    assert state.grain_columns == ("person_id", "updated_at")
    assert state.dated_by is not None and "updated_at is the only date" in state.dated_by.reason
    beside = _with_states("*person_id > person, updated_at timestamp/5")
    assert "fct_state" not in {fact.name for fact in beside.facts}
