"""Measures are numbers that may be added up or averaged; codes, keys and dates are not."""

import pytest

from fluid_build.modeling.measures import holds_names, is_category_name, measure_role
from tests.modeling.profiles import column


def role(name: str, type_: str = "BIGINT", **facts: object) -> str | None:
    result = measure_role(column(name, type_, **facts), set())
    return result and f"{result.aggregation} {result.additivity}"


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
        ("royalty", "INTEGER", "100", "avg non-additive"),
        ("royalty", "INTEGER", "101", "sum additive"),
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
    assert is_category_name("order_status")
    assert is_category_name("IsActive")
    assert not is_category_name("status_date")
    assert holds_names("ProductName")
    assert not holds_names("day_name")


@pytest.mark.parametrize(
    ("rows", "distinct", "high", "expected"),
    [
        (20, 19, "150", None),
        (20, 18, "150", "sum additive"),
        (19, 19, "150", "sum additive"),
        (20, 20, "201", "sum additive"),
        (20, 20, "200", None),
    ],
    ids=["near-unique", "repeats", "few rows", "sparse", "dense"],
)
def test_a_numbering_is_near_unique_and_dense(
    rows: int, distinct: int, high: str, expected: str | None
) -> None:
    """Assigned numbers are close together; measured ones aren't."""
    assert role("visits", rows=rows, distinct=distinct, min="1", max=high) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("lineamount", "sum additive"),
        ("discountpct", "avg non-additive"),
        ("percentage", "avg non-additive"),
        ("orderstatus", None),
        ("fxrate", "avg non-additive"),
        ("prate", "sum additive"),
        ("day_count", "sum additive"),
        ("id_checksum", None),
        ("unit_price_total", "sum additive"),
        ("price_rate_total", "avg non-additive"),
    ],
)
def test_words_are_read_also_where_they_are_written_together(
    name: str, expected: str | None
) -> None:
    assert role(name, distinct=30, min="5", max="9000") == expected


@pytest.mark.parametrize("type_", ["VARCHAR", "DATE", "BOOLEAN", "UUID", "VARCHAR[]"])
def test_only_numbers_are_measures(type_: str) -> None:
    assert role("amount", type_, distinct=30) is None


@pytest.mark.parametrize(("meaning", "expected"), [("money", "sum"), ("percentage", "avg"),
                                                   ("latitude", None)])  # fmt: skip
def test_the_meaning_of_values_comes_before_their_name(meaning: str, expected: str | None) -> None:
    result = measure_role(
        column("amount", "DOUBLE", distinct=30, min="5", max="90", semantic_type=meaning), set()
    )
    assert (result.aggregation if result else None) == expected


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("amount", "a number, but not a key, code or date"),
        ("unit_price", "a sum of 'price' values is meaningless"),
        ("stock", "'stock' is a level: it can be summed across everything except time"),
    ],
)
def test_a_measure_says_why_it_adds_up_or_not(name: str, reason: str) -> None:
    result = measure_role(column(name, "DECIMAL(9,2)", distinct=30, min="5", max="900"), set())
    assert result is not None
    assert result.reason == reason
