"""Which variant is built, the calendar, and what a wide fact carries."""

import pytest

from fluid_build.errors import UsageError
from fluid_build.modeling.dimensional.star_layout import check_variant
from tests.modeling.sources import changed, dimension, fact, source, star

SHOP = """
    region   *id, region_name text
    customer *id, name text, region_id > region
    sale     *id, sold date, amount decimal, customer_id > customer
"""


@pytest.mark.parametrize(
    ("schema", "variant", "reason"),
    [
        ("sale *id, sold date, amount decimal", "wide", "The only table is already wide"),
        (SHOP, "star", "One fact (fct_sale) with its dimensions."),
        ("colour *id, colour_name text\nsize *id, size_name text", "star", "No table records"),
        (f"{SHOP}\nvisit *id, visited date, customer_id > customer", "galaxy",
         "2 facts share conformed dimensions (dim_customer)."),
        ("a *id, sold date, amount decimal\nb *id, paid date, amount decimal", "star",
         "2 facts, each with its own dimensions."),
    ],
)  # fmt: skip
def test_the_variant_follows_the_source(schema: str, variant: str, reason: str) -> None:
    model = star(source(schema))
    assert model.variant == variant
    assert reason in model.variant_reason


def test_up_to_three_shared_dimensions_are_named() -> None:
    shared = [f"d{n}" for n in range(4)]
    lookups = "\n".join(f"{name} *id, {name}_name text" for name in shared)
    columns = ", ".join(f"{name}_id > {name}" for name in shared)
    events = "\n".join(f"{name} *id, {name}_day date, {columns}" for name in ("sale", "visit"))
    assert star(source(f"{lookups}\n{events}")).variant_reason == (
        "2 facts share conformed dimensions (dim_d0, dim_d1, dim_d2)."
    )


@pytest.mark.parametrize(("rows", "variant"), [(10_000_000, "snowflake"), (9_999_999, "star")])
def test_lookups_of_very_many_members_arent_copied(rows: int, variant: str) -> None:
    model = star(changed(source(SHOP), "customer", rows=rows))
    assert model.variant == variant
    if variant == "snowflake":
        assert model.variant_reason == (
            "customer has 10,000,000 rows: too many to copy its lookups into each."
        )


def test_a_requested_variant_is_built_and_the_suggested_one_named() -> None:
    model = star(source(SHOP), "snowflake")
    assert model.variant == "snowflake"
    assert model.variant_reason.startswith(
        "You requested this variant; for this source, the default would be star: One fact"
    )
    assert "dim_region" in {dimension.name for dimension in model.dimensions}


def test_a_requested_variant_that_is_suggested_too_needs_no_remark() -> None:
    assert not star(source(SHOP), "star").variant_reason.startswith("Requested")


@pytest.mark.parametrize(
    ("name", "variant"), [("Wide", "wide"), (" star ", "star"), ("flat", "wide")]
)
def test_a_variant_goes_by_its_name_in_any_case_and_by_its_former_one(
    name: str, variant: str
) -> None:
    assert check_variant(name) == variant


def test_an_unknown_variant_is_refused() -> None:
    with pytest.raises(UsageError) as caught:
        check_variant("galxy")
    assert caught.value.hint == (
        "Did you mean 'galaxy'? Known variants: star, snowflake, galaxy, wide."
    )


def test_the_calendar_lists_the_dates_it_is_made_of() -> None:
    model = star(source(f"{SHOP}\nvisit *id, visited date, customer_id > customer"))
    result = dimension(model, "dim_date")
    assert [(c.table, c.column) for c in result.source_columns] == [
        ("sale", "sold"),
        ("visit", "visited"),
    ]
    assert (result.surrogate_key, result.natural_key_columns) == ("date_key", ("full_date",))
    assert (result.conformed, result.roles) == (True, ("sold_date", "visited_date"))


def test_without_dates_there_is_no_calendar() -> None:
    model = star(
        source("customer *id, name text\nsale *id, amount decimal, customer_id > customer")
    )
    assert [dimension.name for dimension in model.dimensions] == ["dim_customer"]


def test_the_calendar_gives_way_to_a_table_that_is_called_so() -> None:
    model = star(source("date *id, date_name text\nsale *id, sold date, amount decimal, d > date"))
    assert {dimension.name for dimension in model.dimensions} == {"dim_date", "dim_date_2"}
    assert dimension(model, "dim_date_2").entity_name == ""


def test_a_wide_fact_carries_what_it_doesnt_have_itself() -> None:
    result = fact(star(source(SHOP), "wide"), "fct_sale")
    carried = {reference.key: dict(reference.carried) for reference in result.dimensions}
    assert carried["customer_key"] == {
        "name": "customer_name",
        "region_id": "customer_region_id",
        "region_name": "customer_region_name",
    }
    assert carried["sold_date_key"] == {
        "full_date": "sold_date_full_date",
        "year_number": "sold_date_year_number",
        "month_number": "sold_date_month_number",
    }


def test_other_variants_carry_nothing() -> None:
    for variant in ("star", "snowflake", "galaxy"):
        result = fact(star(source(SHOP), variant), "fct_sale")
        assert all(reference.carried == () for reference in result.dimensions)
