"""What a fact holds: its own measures and dimensions, and those of its header."""

import pytest

from fluid_build.modeling.dimensional.elements import DimensionReference, Fact, FactDate
from tests.modeling.profiles import reference
from tests.modeling.sources import changed_column, fact, source, star

SHOP = """
    customer *id, name text
    product  *id, name text
    orders   *id, customer_id/9 > customer, ordered date, shipped date?, freight decimal
    line     *order_id > orders, *line_no/5, product_id/9 > product, quantity/9 1-900
"""


def fact_of(schema: str, name: str) -> Fact:
    return fact(star(source(schema)), name)


def references(result: Fact) -> dict[str, DimensionReference]:
    return {reference.key: reference for reference in result.dimensions}


def reasons(result: Fact) -> dict[str, str]:
    return {attribute.name: attribute.reason for attribute in result.attributes}


def test_a_fact_has_its_own_measures_alone() -> None:
    assert [measure.name for measure in fact_of(SHOP, "fct_line").measures] == ["quantity"]
    assert [measure.name for measure in fact_of(SHOP, "fct_orders").measures] == ["freight"]


def test_a_measure_says_how_and_why_it_is_aggregated() -> None:
    (measure,) = fact_of(SHOP, "fct_orders").measures
    assert (measure.aggregation, measure.additivity) == ("sum", "additive")
    assert measure.reason == "Additive: 'freight' adds up along every dimension."


def test_the_grain_is_the_key_in_words_and_columns() -> None:
    result = fact_of(SHOP, "fct_line")
    assert result.grain == "One row for each line: order_id, line_no."
    assert result.grain_columns == ("order_id", "line_no")


def test_without_a_key_the_grain_is_the_row() -> None:
    result = fact_of("log message text, level/4", "fct_log")
    assert result.grain == "One row for each row of log, which has no key."
    assert result.grain_columns == ()
    assert [c.column for c in result.source_columns] == ["message", "level"]


def test_a_key_of_which_a_part_became_a_date_is_still_the_grain() -> None:
    result = fact_of("rate *shop_no, *day date, amount decimal", "fct_rate")
    assert result.grain_columns == ("shop_no", "day_key")


def test_a_line_takes_the_dimensions_and_dates_of_its_header() -> None:
    result = references(fact_of(SHOP, "fct_line"))
    assert {key: reference.source for key, reference in result.items()} == {
        "product_key": "",
        "customer_key": "orders",
        "ordered_date_key": "orders",
        "shipped_date_key": "orders",
    }
    assert result["customer_key"].reason == "Inherited from orders: each row belongs to one there."


def test_a_dimension_that_the_line_has_itself_isnt_taken_from_the_header() -> None:
    result = fact_of(SHOP.replace("*line_no/5,", "*line_no/5, customer_id > customer,"), "fct_line")
    assert references(result)["customer_key"].source == ""
    assert [reference.dimension for reference in result.dimensions].count("dim_customer") == 1


def test_a_reference_of_the_header_is_optional_if_the_header_may_be_missing() -> None:
    schema = f"{SHOP}\npayment *id, order_id? > orders, amount decimal, paid date"
    assert references(fact_of(schema, "fct_payment"))["customer_key"].optional
    assert not references(fact_of(SHOP, "fct_line"))["customer_key"].optional


def test_dimensions_are_taken_over_two_headers_and_not_three() -> None:
    schema = """
        customer *id, name text
        a *id, a_day date, amount decimal, customer_id > customer
        b *id, b_day date, amount decimal, a_id > a
        c *id, c_day date, amount decimal, b_id > b
        d *id, d_day date, amount decimal, c_id > c
    """
    assert "customer_key" in references(fact_of(schema, "fct_c"))
    assert "customer_key" not in references(fact_of(schema, "fct_d"))


def test_events_that_refer_to_each_other_take_over_in_one_direction() -> None:
    schema = """
        sale   *id, sold date, amount decimal, refund_id? > refund
        refund *id, refunded date, worth decimal, sale_id > sale
    """
    model = star(source(schema))
    assert {join.entity for join in fact(model, "fct_sale").joins} == {"refund"}
    assert fact(model, "fct_refund").joins == ()


@pytest.mark.parametrize(
    ("orphans", "null", "optional"), [(0, "", False), (1, "", True), (0, "?", True)]
)
def test_a_reference_is_optional_where_it_may_lead_nowhere(
    orphans: int, null: str, optional: bool
) -> None:
    key = reference("sale", "product_id", "product", "id", orphans, nulls=10 if null else 0)
    schema = f"product *id, name text\nsale *id, sold date, amount decimal, product_id{null}"
    result = fact(star(source(schema, key)), "fct_sale")
    assert references(result)["product_key"].optional == optional


def test_two_references_to_one_dimension_have_roles() -> None:
    schema = """
        customer *id, name text
        orders   *id, ordered date, amount decimal, buyer_id > customer, payer_id > customer
    """
    result = references(fact_of(schema, "fct_orders"))
    assert {"buyer_customer_key", "payer_customer_key"} <= result.keys()
    assert result["payer_customer_key"].role == "payer"


@pytest.mark.parametrize(
    ("columns", "roles"),
    [
        ("ordered date, paid_at timestamp", ["ordered_date", "paid_date"]),
        ("ordered date, created_at timestamp", ["ordered_date"]),
        ("created_at timestamp", ["created_date"]),
    ],
)
def test_each_date_of_the_event_refers_to_the_calendar(columns: str, roles: list[str]) -> None:
    result = fact_of(f"orders *id, amount decimal, {columns}", "fct_orders")
    assert [
        reference.role for reference in result.dimensions if reference.dimension == "dim_date"
    ] == roles


def test_a_day_is_in_the_calendar_alone_and_a_moment_in_the_fact_too() -> None:
    result = fact_of("orders *id, amount decimal, ordered date, paid_at timestamp", "fct_orders")
    assert reasons(result) == {
        "id": "It identifies the event: a degenerate dimension.",
        "paid_at": "The full timestamp; a date key would hold only the day.",
    }


def test_a_fact_with_a_calendar_of_the_source_has_no_other() -> None:
    schema = """
        days *id, day date, year/2, month/12, week/52
        sale *id, amount decimal, day_id > days, booked date
    """
    result = fact_of(schema, "fct_sale")
    assert [reference.dimension for reference in result.dimensions] == ["dim_days"]


def test_a_number_of_the_event_or_its_header_is_a_degenerate_dimension() -> None:
    schema = SHOP.replace("freight decimal", "freight decimal, tracking_no text, remark text")
    assert fact_of(schema, "fct_orders").degenerate_dimensions == ("id", "tracking_no")
    assert fact_of(schema, "fct_line").degenerate_dimensions == ("order_id", "line_no")


def test_every_attribute_of_a_fact_says_why_it_is_there() -> None:
    result = reasons(
        fact_of(SHOP.replace("product_id/9 >", "remark text, product_id/9 >"), "fct_line")
    )
    assert result == {
        "order_id": "It identifies the event: a degenerate dimension.",
        "line_no": "It identifies the event: a degenerate dimension.",
        "remark": "It describes this event alone.",
        "product_id": "The original foreign key, kept so that orphaned values aren't lost.",
    }


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ("ordered date", FactDate(attribute="ordered")),
        ("due_date date, ordered date", FactDate(attribute="ordered")),
        ("paid date?, ordered date", FactDate(attribute="ordered")),
        ("due_date date", FactDate(attribute="due_date")),
        ("note text", None),
    ],
)
def test_an_event_is_dated_by_what_happened_in_every_row(
    columns: str, expected: FactDate | None
) -> None:
    assert fact_of(f"orders *id, amount decimal, {columns}", "fct_orders").dated_by == expected


def test_a_line_without_a_date_is_dated_by_its_header() -> None:
    assert fact_of(SHOP, "fct_line").dated_by == FactDate(source="orders", attribute="ordered")


def test_a_fact_says_why_it_is_one_and_of_which_type() -> None:
    assert fact_of(SHOP, "fct_line").reason == (
        "No table refers to it. It has a measure (quantity) and refers to orders and product."
        " Each row is one event with its measures."
    )


TYPES = """
    store   *id, name text
    product *id, name text
"""


@pytest.mark.parametrize(
    ("columns", "fact_type", "reason"),
    [
        ("*id, sold date, amount decimal", "transaction", "one event with its measures"),
        ("*id, sold date, store_id > store", "factless", "It has no measures"),
        ("*id, a date, b date, c date, amount decimal", "accumulating_snapshot", "3 milestones"),
        (
            "*id, ordered date, shipped date?, amount decimal",
            "accumulating_snapshot",
            "2 milestones; shipped is filled in once it's reached",
        ),
        (
            "*store_id > store, *product_id > product, price decimal",
            "periodic_snapshot",
            "Each row is a state without a date",
        ),
        (
            "*id, store_id > store, units_in_stock/50 1-900",
            "periodic_snapshot",
            "Each row is a state without a date",
        ),
    ],
)
def test_the_type_of_a_fact(columns: str, fact_type: str, reason: str) -> None:
    result = fact_of(f"{TYPES} event {columns}", "fct_event")
    assert result.fact_type == fact_type
    assert reason in result.reason


@pytest.mark.parametrize(
    ("members", "days", "fact_type"),
    [(10, 10, "periodic_snapshot"), (50, 10, "periodic_snapshot"), (51, 10, "transaction"),
     (2, 50, "periodic_snapshot"), (2, 51, "transaction")],
)  # fmt: skip
def test_a_snapshot_measures_many_members_on_many_days(
    members: int, days: int, fact_type: str
) -> None:
    """Of all pairs of a member and a day a fifth has a row, and each day has two rows."""
    measured = source(f"{TYPES} level *store_id > store, *day date, amount decimal")
    measured = changed_column(measured, "level", "store_id", distinct=members)
    measured = changed_column(measured, "level", "day", distinct=days)
    assert fact(star(measured), "fct_level").fact_type == fact_type


@pytest.mark.parametrize(("nulls", "fact_type"), [(5, "accumulating_snapshot"), (4, "transaction")])
def test_a_milestone_is_still_open_in_one_of_two_hundred_rows(nulls: int, fact_type: str) -> None:
    measured = source("event *id, a date, b date, amount decimal", rows=1000)
    measured = changed_column(measured, "event", "b", nulls=nulls)
    assert fact(star(measured), "fct_event").fact_type == fact_type
