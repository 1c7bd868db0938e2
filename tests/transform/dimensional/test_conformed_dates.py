"""Dates that conform to the source's own calendar, where it has every day of them."""

from pathlib import Path

import pytest

from tests.transform.dimensional.stars import fact, star

LAST_DAY = "DATE '2025-01-01'"
CALENDAR = (
    "CREATE TABLE fiscal_period (period_id INTEGER PRIMARY KEY, period_name VARCHAR)",
    "INSERT INTO fiscal_period SELECT y * 100 + m, 'P' || m FROM range(2023, 2025) a(y),"
    " range(1, 13) b(m)",
    "CREATE TABLE business_calendar (day_no INTEGER PRIMARY KEY, cal_date DATE UNIQUE,"
    " year_no INTEGER, month_no INTEGER, week_no INTEGER, day_name VARCHAR,"
    " period_id INTEGER REFERENCES fiscal_period (period_id))",
    "INSERT INTO business_calendar SELECT datediff('day', DATE '2022-12-31', d), d, year(d),"
    " month(d), week(d), dayname(d), year(d) * 100 + month(d)"
    f" FROM range(DATE '2023-01-01', {LAST_DAY}, INTERVAL 1 DAY) t(d)",
)
DELIVERIES = (
    "CREATE TABLE depot (depot_id INTEGER PRIMARY KEY, depot_name VARCHAR)",
    "INSERT INTO depot SELECT i, 'Depot ' || i FROM range(1, 21) t(i)",
    "CREATE TABLE delivery (delivery_id INTEGER PRIMARY KEY,"
    " depot_id INTEGER REFERENCES depot (depot_id), ordered_on DATE NOT NULL,"
    " delivered_at TIMESTAMP, pallets INTEGER)",
    "INSERT INTO delivery SELECT i, 1 + i % 20, DATE '2023-01-05' + (i * 13 % 600)::INT,"
    " CASE WHEN i % 5 THEN DATE '2023-01-05' + (i * 13 % 600 + i % 9)::INT"
    " + INTERVAL (i % 24) HOUR END, 1 + i % 11 FROM range(1, 801) t(i)",
)


def calendars(path: Path, *statements: str) -> dict[str, str]:
    """By role, the calendar that the deliveries refer to; all of it is proven."""
    with star(path, (*CALENDAR, *DELIVERIES, *statements)) as found:
        assert found.failures() == []
        dates = {d.name for d in found.star.dimensions if d.dimension_type == "date"}
        references = fact(found.star, "fct_delivery").dimensions
    return {r.role: r.dimension for r in references if r.dimension in dates}


def test_dates_conform_to_a_calendar_that_has_every_day_of_them(tmp_path: Path) -> None:
    """By their values, without a reference; a moment by its day, and nothing is generated."""
    assert calendars(tmp_path) == {
        "ordered_date": "dim_business_calendar",
        "delivered_date": "dim_business_calendar",
    }


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE delivery SET delivered_at = '2025-01-01 08:00:00' WHERE delivery_id = 7",
        "UPDATE delivery SET delivered_at = '2022-12-31 08:00:00' WHERE delivery_id = 7",
    ],
)
def test_a_date_outside_of_the_calendar_keeps_the_generated_one(
    tmp_path: Path, change: str
) -> None:
    assert calendars(tmp_path, change) == {
        "ordered_date": "dim_business_calendar",
        "delivered_date": "dim_date",
    }


def test_a_calendar_with_a_gap_has_not_every_day(tmp_path: Path) -> None:
    assert set(calendars(tmp_path, "DELETE FROM business_calendar WHERE day_no = 40").values()) == {
        "dim_date"
    }


def test_figures_by_a_conformed_date_are_those_of_the_source(tmp_path: Path) -> None:
    """Also by what the calendar refers to; deliveries that are under way have no day."""
    with star(tmp_path, (*CALENDAR, *DELIVERIES)) as found:
        ours = found.rows(
            "SELECT c.fiscal_period_name, sum(pallets) FROM model.fct_delivery f"
            " JOIN model.dim_business_calendar c"
            " ON f.delivered_date_key = c.business_calendar_key GROUP BY ALL ORDER BY ALL"
        )
        by_hand = found.rows(
            "SELECT p.period_name, sum(pallets) FROM shop.delivery d"
            " LEFT JOIN shop.business_calendar c ON d.delivered_at::DATE = c.cal_date"
            " LEFT JOIN shop.fiscal_period p USING (period_id) GROUP BY ALL ORDER BY ALL"
        )
    assert ours == by_hand
    assert len(ours) == 13


def test_a_key_of_the_calendar_and_its_own_date_are_one_role(tmp_path: Path) -> None:
    """``ordered_on`` says again which day ``ordered_day_no`` leads to."""
    roles = calendars(
        tmp_path,
        "ALTER TABLE delivery ADD COLUMN ordered_day_no INTEGER",
        "UPDATE delivery SET ordered_day_no = datediff('day', DATE '2022-12-31', ordered_on)",
    )
    assert roles == {"ordered": "dim_business_calendar", "delivered_date": "dim_business_calendar"}
