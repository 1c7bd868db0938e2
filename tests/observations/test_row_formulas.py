"""Columns that are the product or the sum of two others of the same row."""

from pathlib import Path

import duckdb
import pytest

from fluid_build.observations.observe import observe
from fluid_build.observations.row_formulas import RowFormula
from fluid_build.profiling import profile_source
from fluid_build.sources import open_source
from tests.observations.sources import observed

_LINES = """
CREATE TABLE line AS
SELECT i AS id, 2 + i % 7 AS qty, CAST(3 + (i * 37 % 101) / 4.0 AS DECIMAL(8,2)) AS price,
  {columns}
FROM range(200) AS t(i)
"""


def _formulas(folder: Path, columns: str) -> list[RowFormula]:
    database = folder / "lines.duckdb"
    with duckdb.connect(str(database)) as connection:
        connection.execute(_LINES.format(columns=columns))
    with open_source(str(database)) as source:
        return list(observe(source, profile_source(source)).row_formulas)


def test_a_total_is_a_quantity_times_a_price(tmp_path: Path) -> None:
    (formula,) = _formulas(tmp_path, "qty * price AS total")
    assert (formula.result, formula.operation) == ("total", "product")
    assert formula.operands == ("qty", "price")
    assert (formula.rows, formula.matches) == (200, 200)


def test_a_total_may_be_less_a_discount(tmp_path: Path) -> None:
    """The share is recognised where some rows have one and others none."""
    (formula,) = _formulas(
        tmp_path,
        """
        CAST((i % 3) * 0.1 AS DECIMAL(4,2)) AS reduction,
        round(qty * price * (1 - reduction), 2) AS total
        """,
    )
    assert (formula.result, formula.operands) == ("total", ("qty", "price"))
    assert formula.discount == "reduction"


def test_a_sum_of_two_columns_is_recognised(tmp_path: Path) -> None:
    found = _formulas(
        tmp_path, "CAST(1 + i % 11 AS DECIMAL(8,2)) AS tax, CAST(price + tax AS DOUBLE) AS gross"
    )
    assert [(f.result, f.operation, f.operands) for f in found] == [
        ("gross", "sum", ("price", "tax"))
    ]


def test_a_formula_that_a_few_rows_break_still_holds(tmp_path: Path) -> None:
    """Up to one row in a hundred may have been corrected by hand."""
    broken = "qty * price + CAST(i = 199 AS INTEGER) * 5 AS total"
    (formula,) = _formulas(tmp_path, broken)
    assert (formula.rows, formula.matches) == (200, 199)


def test_a_formula_that_many_rows_break_is_none(tmp_path: Path) -> None:
    assert _formulas(tmp_path, "qty * price + CAST(i % 20 = 19 AS INTEGER) * 5 AS total") == []


def test_operands_that_are_zero_or_one_show_nothing(tmp_path: Path) -> None:
    """Where every quantity is one, the total is the price, and no product."""
    assert _formulas(tmp_path, "1 + i // 195 AS units, units * price AS total") == []


@pytest.mark.parametrize("direction", ["ASC", "DESC"])
def test_the_order_in_which_rows_are_stored_changes_nothing(tmp_path: Path, direction: str) -> None:
    """The three rows that break the formula are the first or the last."""
    statement = f"""
        CREATE TABLE line AS
        SELECT i AS id, 2 + i % 7 AS qty, CAST(3 + (i * 37 % 101) / 4.0 AS DECIMAL(8, 2)) AS price,
          qty * price + CAST(i < 3 AS INTEGER) * 5 AS total
        FROM range(1000) AS t(i) ORDER BY i {direction}
    """
    (formula,) = observed(tmp_path, statement).row_formulas
    assert (formula.result, formula.rows, formula.matches) == ("total", 1000, 997)
