"""Dimensions of an event's own columns: its flags, and what repeats together."""

import pytest

from tests.modeling.sources import dimension, fact, source, star

SALE = "sale *id, sold date, amount decimal"


def derived(columns: str, rows: int = 100) -> dict[str, tuple[str, ...]]:
    """The dimensions of an event's own columns, with those columns."""
    model = star(source(f"{SALE}, {columns}", rows=rows))
    return {
        dimension.name: dimension.natural_key_columns
        for dimension in model.dimensions
        if dimension.name != "dim_date"
    }


def test_several_flags_make_one_junk_dimension() -> None:
    model = star(source(f"{SALE}, is_gift boolean/2, channel text/4"))
    result = dimension(model, "dim_sale_flags")
    assert (result.dimension_type, result.natural_key_columns, result.surrogate_key) == (
        "junk",
        ("is_gift", "channel"),
        "sale_flags_key",
    )
    assert result.reason == (
        "A junk dimension of the flags is_gift, channel of sale: one key instead of them."
    )
    (reference,) = [
        item for item in fact(model, "fct_sale").dimensions if item.dimension != "dim_date"
    ]
    assert (reference.columns, reference.to_columns) == (("is_gift", "channel"),) * 2


def test_flags_in_a_junk_dimension_leave_the_fact() -> None:
    model = star(source(f"{SALE}, is_gift boolean/2, channel text/4"))
    assert [attribute.name for attribute in fact(model, "fct_sale").attributes] == ["id"]


def test_a_single_flag_stays_in_the_fact() -> None:
    assert derived("is_gift boolean/2, note text") == {}


def test_flags_are_taken_as_long_as_their_combinations_are_few() -> None:
    """20 x 20 x 25 is 10,000 combinations, and one flag more would make 200,000."""
    flags = "size_code text/20, hue_code text/20, kind_code text/25, shop_code text/20"
    assert derived(flags, rows=1000) == {
        "dim_sale_flags": ("size_code", "hue_code", "kind_code"),
    }


def test_a_null_is_a_value_of_a_flag() -> None:
    """21 x 21 x 21 is within 10,000 combinations, and with a null each it's beyond."""
    flags = "size_code text/21, hue_code text/21, kind_code text/21"
    assert derived(flags, rows=1050)["dim_sale_flags"] == ("size_code", "hue_code", "kind_code")
    with_nulls = flags.replace("text", "text?")
    assert derived(with_nulls, rows=1060)["dim_sale_flags"] == ("size_code", "hue_code")


ADDRESS = "ship_street text/40, ship_town text/20, ship_zone text/5"
SMALL_ADDRESS = "ship_street text/20, ship_town text/10, ship_zone text/5"


@pytest.mark.parametrize(
    ("columns", "rows", "expected"),
    [
        (f"{ADDRESS}, note text", 100, ("ship_street", "ship_town", "ship_zone")),
        (f"{SMALL_ADDRESS}, note text", 50, ("ship_street", "ship_town", "ship_zone")),
        (f"{SMALL_ADDRESS}, note text", 49, None),
        (f"{ADDRESS}, note text".replace("/40", "/51"), 100, None),
        ("ship_street text/40, ship_town text/20, note text", 100, None),
        (f"{ADDRESS}, ship_no text/9, note text", 100, ("ship_street", "ship_town", "ship_zone")),
    ],
    ids=["repeats", "enough rows", "few rows", "seldom repeats", "two columns", "a number"],
)
def test_columns_under_one_word_that_repeat_are_a_dimension(
    columns: str, rows: int, expected: tuple[str, ...] | None
) -> None:
    result = derived(columns, rows=rows)
    assert result.get("dim_ship_details") == expected


def test_a_word_that_all_columns_begin_with_is_the_tables_own() -> None:
    model = star(source(f"sale *id, amount decimal, {ADDRESS}"))
    assert model.dimensions == ()


def test_columns_that_are_parts_of_an_address_are_called_one() -> None:
    measured = source(f"{SALE}, {ADDRESS}, note text")
    columns = tuple(
        column.model_copy(update={"semantic_type": "city"})
        if column.name == "ship_town"
        else column
        for column in measured.table("sale").columns
    )
    table = measured.table("sale").model_copy(update={"columns": columns})
    model = star(measured.model_copy(update={"tables": (table,)}))
    result = dimension(model, "dim_ship_address")
    assert result.dimension_type == "standard"
    assert "are named alike, so they're read as one object" in result.reason


def test_measures_keys_and_references_stay_out() -> None:
    schema = f"""
        customer *id, name text
        {SALE}, rank/5 1-5, customer_id > customer, is_gift boolean/2, channel text/4
    """
    result = dimension(star(source(schema)), "dim_sale_flags")
    assert result.natural_key_columns == ("is_gift", "channel")
