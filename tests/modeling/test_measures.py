"""Measures are numbers that may be added up or averaged; codes, keys and dates are not."""

import pytest

from fluid_build.modeling.measures import holds_names, is_code, measure_role
from tests.modeling.profiles import column


def role(name: str, type_: str = "BIGINT", **facts: object) -> str | None:
    found = measure_role(column(name, type_, **facts), set())
    return found and f"{found.aggregation} {found.additivity}"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("TotalAmount", "sum additive"),
        ("qty_sold", "sum additive"),
        ("num_passengers", "sum additive"),
        ("UnitPrice", "avg non-additive"),
        ("max_speed", "avg non-additive"),
        ("units_in_stock", "avg semi-additive"),
        ("quantity_on_hand", "avg semi-additive"),
        ("extended_price", "sum additive"),
        ("unitprice", "avg non-additive"),
        ("orderqty", "sum additive"),
        ("taxtype", None),
        ("start_date", None),
        ("invoice_number", None),
        ("OrderYear", None),
        ("month_opened", None),
        ("zip", None),
        ("line_no", None),
    ],
)
def test_the_name_tells_what_a_number_is(name: str, expected: str | None) -> None:
    """Quantities add up, values for one unit and states don't, codes are no measure."""
    assert role(name, "DECIMAL(10,2)", distinct=30, min="5", max="9000") == expected


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ({"distinct": 30, "min": "5", "max": "900"}, "sum additive"),
        ({"distinct": 2, "min": "0", "max": "1"}, None),
        ({"distinct": 100, "min": "1", "max": "100"}, None),
        ({"distinct": 100, "min": "17", "max": "9000000"}, "sum additive"),
        ({"distinct": 0, "nulls": 100}, None),
        ({"distinct": 30, "semantic_type": "year"}, None),
        ({"distinct": 30, "pii": True}, None),
    ],
    ids=["plain", "flag", "row number", "sparse", "empty", "year", "personal"],
)
def test_the_values_have_a_veto(facts: dict[str, object], expected: str | None) -> None:
    """A flag, a running number, a year or personal data is no measure, whatever its name."""
    assert role("visits", **facts) == expected


def test_digits_in_text_are_no_measure_unless_the_name_says_so() -> None:
    """Whole numbers that are stored as text are mostly codes."""
    facts: dict[str, object] = {"measured_type": "BIGINT", "distinct": 30, "min": "5", "max": "9"}
    assert role("extension", "VARCHAR", **facts) is None
    assert role("quantity", "VARCHAR", **facts) == "sum additive"


def test_fractions_between_nought_and_one_are_averaged() -> None:
    """A share does not add up."""
    assert role("tax", "DOUBLE", min="0.05", max="0.2") == "avg non-additive"


@pytest.mark.parametrize(
    ("name", "type_", "high", "expected"),
    [
        ("royalty", "INTEGER", "24", "avg non-additive"),
        ("royaltyper", "INTEGER", "100", "avg non-additive"),
        ("vat", "INTEGER", "19", "avg non-additive"),
        ("royalty", "INTEGER", "90000", "sum additive"),
        ("royalty", "DECIMAL(8,2)", "90.50", "sum additive"),
        ("tax_amount", "INTEGER", "90", "sum additive"),
        ("growth_factor", "DOUBLE", "7", "avg non-additive"),
        ("miles_per_gallon", "DOUBLE", "70", "avg non-additive"),
    ],
)
def test_per_cents_of_money_are_averaged_and_amounts_added_up(
    name: str, type_: str, high: str, expected: str
) -> None:
    """Whole numbers up to a hundred under a name that may mean either are per cents."""
    assert role(name, type_, distinct=9, min="5", max=high) == expected


def test_key_columns_are_no_measures() -> None:
    """What identifies or refers is not counted with."""
    assert measure_role(column("amount", distinct=9), {"amount"}) is None


def test_codes_and_names_are_told_by_their_last_word() -> None:
    """A status is a code, a product name is open, the name of a day is not."""
    assert is_code("order_status")
    assert is_code("IsActive")
    assert not is_code("status_date")
    assert holds_names("ProductName")
    assert not holds_names("day_name")
