"""A closed domain is short, confirmed by many rows, and no key, name or personal data."""

import pytest

from fluid_build.modeling.entities import accepted_values
from fluid_build.profiling.profile import ColumnProfile
from tests.modeling.profiles import column, values


def category(name: str = "colour", type_: str = "VARCHAR", **facts: object) -> ColumnProfile:
    """A column of two values in a hundred rows."""
    usual: dict[str, object] = {"distinct": 2, "top_values": values(red=60, blue=40)}
    return column(name, type_, **(usual | facts))


def many(number: int, each: int) -> dict[str, object]:
    """Facts of a column of so many values, each in so many rows."""
    counted = values(**{f"v{n:02}": each for n in range(number)})
    return {"rows": number * each, "distinct": number, "top_values": counted}


def test_the_values_of_a_domain_are_sorted() -> None:
    assert accepted_values(category(), set()) == ("blue", "red")


@pytest.mark.parametrize(
    "facts",
    [
        {"pii": True},
        {"semantic_type": "city"},
        {"distinct_exact": False},
        {"sample": 50},
        {"distinct": 3},
        {"top_values": values(red=60, blue=39)},
        {"top_values": values(red=99, blue=1)},
        {"distinct": 1, "top_values": values(red=100)},
        {"top_values": values(**{"r" * 65: 60, "blue": 40})},
        {"nulls": 51, "top_values": values(red=29, blue=20)},
    ],
    ids=[
        "personal", "open meaning", "estimated", "sampled", "a value unknown", "a row unknown",
        "a value seen once", "one value", "long text", "few filled rows",
    ],
)  # fmt: skip
def test_what_may_bring_new_values_has_no_domain(facts: dict[str, object]) -> None:
    assert accepted_values(category(**facts), set()) is None


@pytest.mark.parametrize("meaning", ["gender", "boolean", "salutation"])
def test_some_meanings_are_closed(meaning: str) -> None:
    assert accepted_values(category(semantic_type=meaning), set()) is not None


def test_a_key_or_reference_has_its_domain_in_a_table() -> None:
    assert accepted_values(category(), {"colour"}) is None


@pytest.mark.parametrize(
    ("number", "each", "closed"), [(25, 10, True), (26, 10, False), (25, 9, False), (5, 10, True)]
)
def test_each_value_needs_ten_rows_on_average_and_25_are_the_most(
    number: int, each: int, closed: bool
) -> None:
    assert (accepted_values(category(**many(number, each)), set()) is not None) == closed


@pytest.mark.parametrize("name", ["product_name", "Remark_Text", "title"])
def test_names_and_text_stay_open(name: str) -> None:
    assert accepted_values(category(name), set()) is None


@pytest.mark.parametrize("name", ["day_name", "month_name"])
def test_names_in_a_calendar_are_closed(name: str) -> None:
    assert accepted_values(category(name), set()) is not None


@pytest.mark.parametrize(
    ("name", "counts", "closed"),
    [
        ("anything", {"0": 60, "1": 40}, True),
        ("status", {"1": 60, "4": 40}, True),
        ("status", {"1": 60, "5": 40}, False),
        ("visits", {"1": 60, "2": 40}, False),
        ("status", {"1": 60, "x": 40}, False),
    ],
)
def test_whole_numbers_are_a_domain_as_flags_or_as_dense_codes(
    name: str, counts: dict[str, int], closed: bool
) -> None:
    result = accepted_values(category(name, "BIGINT", top_values=values(**counts)), set())
    assert (result is not None) == closed


@pytest.mark.parametrize(("number", "closed"), [(10, True), (11, False)])
def test_a_domain_of_numbers_is_shorter(number: int, closed: bool) -> None:
    counted = values(**{str(n): 10 for n in range(number)})
    facts = {"rows": number * 10, "distinct": number, "top_values": counted}
    result = accepted_values(category("status", "BIGINT", **facts), set())
    assert (result is not None) == closed


@pytest.mark.parametrize("type_", ["DOUBLE", "DATE", "TIMESTAMP", "VARCHAR[]"])
def test_other_types_have_no_domain(type_: str) -> None:
    assert accepted_values(category(type_=type_), set()) is None
