"""The generated calendar: ISO weeks, the fiscal year, and the names of months and days."""

import re
from datetime import date
from pathlib import Path

import pytest
import sqlglot

from fluid_build.modeling.dimensional.calendars.settings import calendar_settings
from fluid_build.modeling.logical import LogicalModel, model_json
from fluid_build.transform.dbt.dialects import dialect_of
from fluid_build.transform.dbt.targets import check_target
from fluid_build.transform.dbt.time_spine import time_spine
from fluid_build.transform.plan.techniques import transform_plan
from tests.transform.dbt.projects import TARGETS
from tests.transform.dimensional.stars import star

# Years of 52 and of 53 ISO weeks, leap years, and a year that starts on each day of the week.
SALES = (
    "CREATE TABLE sale (id INTEGER PRIMARY KEY, sold DATE, amount DECIMAL(9, 2))",
    "INSERT INTO sale SELECT i, DATE '1998-06-01' + i * INTERVAL 1 YEAR, i FROM range(30) r(i)",
)


def test_iso_weeks_are_those_of_the_standard(tmp_path: Path) -> None:
    with star(tmp_path, SALES) as found:
        rows = found.rows(
            "SELECT full_date, iso_year, iso_week, week_start_date FROM model.dim_date"
            " WHERE full_date IS NOT NULL"
        )
    assert len(rows) > 30 * 365
    for day, *week, monday in rows:
        assert isinstance(day, date)
        assert week == list(day.isocalendar()[:2])
        assert monday == date.fromisocalendar(*day.isocalendar()[:2], 1)


@pytest.mark.parametrize("start", range(1, 13))
def test_a_fiscal_year_is_named_after_the_year_in_which_it_ends(tmp_path: Path, start: int) -> None:
    sales = (SALES[0], "INSERT INTO sale VALUES (1, '2024-02-29', 1), (2, '2025-03-01', 2)")
    with star(tmp_path, sales, calendar=calendar_settings(str(start))) as found:
        rows = found.rows(
            "SELECT full_date, fiscal_year, fiscal_quarter, fiscal_period FROM model.dim_date"
            " WHERE full_date IS NOT NULL ORDER BY ALL"
        )
        assert found.failures() == []
    for day, year, quarter, period in rows:
        assert isinstance(day, date) and isinstance(year, int) and isinstance(period, int)
        # The last month of the fiscal year, counted from the day, is in the year of its name.
        end = day.year * 12 + day.month - 1 + (12 - period)
        assert end // 12 == year
        assert (day.month - start) % 12 == period - 1
        assert quarter == (period - 1) // 3 + 1


def test_names_are_in_the_language_of_the_locale(tmp_path: Path) -> None:
    with star(tmp_path, SALES, calendar=calendar_settings(locale="de")) as found:
        names = found.rows(
            "SELECT month_name, day_name FROM model.dim_date WHERE full_date = DATE '2024-03-02'"
        )
        assert names == [("März", "Samstag")]
        assert found.failures() == []


def test_settings_are_in_the_model_and_nowhere_else(tmp_path: Path) -> None:
    with star(tmp_path, SALES, calendar=calendar_settings("7", "de")) as found:
        read_back = LogicalModel.model_validate_json(model_json(found.model))
        assert transform_plan(read_back) == found.plan


def test_a_quote_in_a_name_stays_text(tmp_path: Path) -> None:
    settings = calendar_settings().model_copy(update={"month_names": ("a' || 'b",) * 12})
    with star(tmp_path, SALES, calendar=settings) as found:
        assert found.rows("SELECT DISTINCT month_name FROM model.dim_date WHERE date_key > 0") == [
            ("a' || 'b",)
        ]


def test_a_wide_fact_has_the_fiscal_year_of_each_date(tmp_path: Path) -> None:
    with star(tmp_path, SALES, variant="wide", calendar=calendar_settings("7")) as found:
        rows = found.rows(
            "SELECT sold_date_fiscal_year, sold_date_fiscal_period FROM model.fct_sale WHERE id = 0"
        )
        assert rows == [(1998, 12)]
        assert found.failures() == []


@pytest.mark.parametrize("target", TARGETS)
def test_the_calendar_is_written_for_every_target(tmp_path: Path, target: str) -> None:
    """No function that counts weeks is used, because targets count them differently."""
    with star(tmp_path, SALES, calendar=calendar_settings("7", "de")) as found:
        (calendar,) = (build for build in found.plan.builds if build.name == "dim_date")
    sql = dialect_of(check_target(target)).query(calendar.sql)
    tree = sqlglot.parse_one(sql, read=target)
    assert {"iso_week", "fiscal_year", "fiscal_period"} <= {s.alias for s in tree.selects}
    assert not re.search(r"\bWEEK(OFYEAR)?\s*\(|ISOWEEK|WEEKISO|\(\s*WEEK\b", sql)
    assert "'März'" in sql


def test_metrics_can_be_grouped_by_fiscal_year() -> None:
    files = time_spine((), 7)
    assert "custom_granularities" in files["models/semantic/_semantic.yml"]
    sql = files["models/semantic/time_spine_daily.sql"]
    assert "EXTRACT(MONTH FROM date_day) >= 7" in sql
    assert "fiscal_year" not in "".join(time_spine(()).values())
