"""What a fact holds: its own measures and dimensions, and those of its header."""

import pytest

from fluid_build.errors import UsageError
from fluid_build.modeling.dimensional.elements import DimensionReference, Fact, FactDate
from fluid_build.observations.aggregates import Aggregate
from fluid_build.observations.date_orders import DateOrder
from fluid_build.observations.observe import Observations
from fluid_build.observations.row_identities import RowIdentity
from fluid_build.observations.same_moment import SameMoment, TwinMoment
from tests.modeling.profiles import reference
from tests.modeling.sources import changed, changed_column, fact, source, star

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
    assert measure.reason == "Additive: 'freight' adds up."


def test_the_grain_is_the_key_in_words_and_columns() -> None:
    result = fact_of(SHOP, "fct_line")
    assert result.grain == "One row for each line: order_id, line_no."
    assert result.grain_columns == ("order_id", "line_no")


def test_what_a_numbered_row_relates_is_its_grain_too() -> None:
    schema = """
        race   *race_id, title text, held date
        driver *driver_id, forename text, surname text
        result *result_id, race_id/90 > race, driver_id/40 > driver, points decimal
    """
    keys = (("result_id",), ("race_id", "driver_id"))
    measured = changed(source(schema, rows=500), "result", candidate_keys=keys)
    assert fact(star(measured), "fct_result").grain == (
        "One row for each result: result_id. No two rows have the same race_id and driver_id."
    )


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
    assert result["customer_key"].reason == "Inherited from orders, by the reference to it."


def test_a_dimension_that_the_line_has_itself_isnt_taken_from_the_header() -> None:
    result = fact_of(SHOP.replace("*line_no/5,", "*line_no/5, customer_id > customer,"), "fct_line")
    assert references(result)["customer_key"].source == ""
    assert [reference.dimension for reference in result.dimensions].count("dim_customer") == 1


STATED = SHOP.replace("freight decimal", "freight decimal, order_number text, status text/4")


def header_columns(result: Fact) -> dict[str, str]:
    """The columns that are of a join, with the join that each is of."""
    return {each.name: each.source for each in result.attributes if each.source}


def test_a_line_has_the_number_and_the_status_of_its_header() -> None:
    line = fact_of(STATED, "fct_line")
    assert header_columns(line) == {"order_number": "orders", "order_status": "orders"}
    assert set(header_columns(line)) <= set(line.degenerate_dimensions)
    assert reasons(line)["order_status"] == "Inherited from orders, by the reference to it."


@pytest.mark.parametrize(
    "columns",
    ["status text/4, delivery_status text/4", "status text/4, is_gift boolean/2", "remark text"],
)
def test_a_line_has_no_status_that_isnt_the_only_one_of_its_header(columns: str) -> None:
    """Several are told apart in the header's flags, or in the header alone."""
    schema = SHOP.replace("freight decimal", f"freight decimal, {columns}")
    assert header_columns(fact_of(schema, "fct_line")) == {}


def test_a_number_of_something_else_is_no_number_of_the_header() -> None:
    schema = SHOP.replace("freight decimal", "freight decimal, invoice_no text, tracking_no text")
    assert header_columns(fact_of(schema, "fct_line")) == {}


def test_a_line_joins_a_header_for_its_status_alone() -> None:
    schema = """
        customer *id, name text
        orders   *id, customer_id/9 > customer, ordered date, freight decimal, status text/4
        charge   *id, order_id > orders, customer_id > customer, charged date, amount decimal
    """
    charge = fact_of(schema, "fct_charge")
    assert header_columns(charge) == {"order_status": "orders"}


def test_a_header_is_an_event_though_a_column_says_which_user_wrote_it() -> None:
    """A name that a few values share names nothing that is looked up."""
    schema = """
        customer *id, name text
        orders   *order_no, customer_id/40 > customer, date date, user_name text/3
        line     *order_no > orders, *line_no/5, quantity/9 1-900
        claim    *id, order_no/60 > orders, opened date, amount decimal
    """
    for name in ("fct_line", "fct_claim"):
        assert {"customer_key", "order_date_key"} <= references(fact_of(schema, name)).keys()


def test_a_header_that_names_something_else_hands_on_what_it_refers_to() -> None:
    """The name of whom an order is sent to is nearly unique, and the order is still no thing."""
    schema = """
        customer *id, name text
        orders   *order_no, customer_id/40 > customer, order_date date, recipient_name text
        line     *order_no > orders, *line_no/5, quantity/9 1-900
    """
    line = references(fact_of(schema, "fct_line"))
    assert {"order_key", "customer_key", "order_date_key"} <= line.keys()


def test_what_has_a_title_hands_on_its_date_alone() -> None:
    """A goal is of a match, and in the stadium that the match's dimension names."""
    schema = """
        stadium *id, name text
        match   *id, match_name text, match_date date, stadium_id/9 > stadium
        goal    *match_id/60 > match, *goal_no/9, distance decimal
    """
    assert references(fact_of(schema, "fct_goal")).keys() == {"match_key", "match_date_key"}


PARCELS = """
    customer *id, name text
    orders   *order_no, ordered date, customer_id/9 > customer, freight decimal
    parcel   *order_no > orders, *parcel_no/5, packed date, weight decimal
    scan     *id, order_no/60 > orders, parcel_no/5, scanned timestamp, minutes decimal
"""


def test_a_header_that_is_reached_by_two_ways_is_taken_over_once() -> None:
    """The order of a scan is the order of its parcel."""
    both = reference("scan", "order_no parcel_no", "parcel", "order_no parcel_no")
    scan = fact(star(source(PARCELS, both)), "fct_scan")
    assert [r.key for r in scan.dimensions if r.dimension == "dim_customer"] == ["customer_key"]
    assert [join.entity for join in scan.joins].count("orders") == 1


def test_the_roles_of_one_dimension_say_which_is_which() -> None:
    schema = """
        party    *id, name text
        invoice  *id, issued date, amount decimal, bill_to_id/9 > party
        vessel   *id, built date, owner_id/9 > party, tons decimal
        charge   *id, invoice_id/40 > invoice, vessel_id/40 > vessel, fee decimal
    """
    charge = fact_of(schema, "fct_charge")
    keys = {r.key for r in charge.dimensions if r.dimension == "dim_party"}
    assert keys == {"bill_to_party_key", "owner_party_key"}


def test_the_roles_of_days_alone_get_their_tables_name() -> None:
    """A warehouse that goods left from says so, and needs no more."""
    schema = """
        warehouse *id, name text
        shipment  *id, shipped date, from/9 > warehouse, to/9 > warehouse, weight decimal
        scan      *id, shipment_id/60 > shipment, scanned date, minutes decimal
    """
    scan = references(fact_of(schema, "fct_scan"))
    assert {"from_warehouse_key", "to_warehouse_key"} <= scan.keys()


def test_the_plain_date_of_one_of_several_days_says_whose_it_is() -> None:
    schema = SHOP.replace("ordered date", "date date")
    assert {"order_date_key", "shipped_date_key"} <= references(
        fact_of(schema, "fct_orders")
    ).keys()
    assert {"order_date_key", "shipped_date_key"} <= references(fact_of(schema, "fct_line")).keys()


def test_the_only_date_of_an_event_needs_no_other_name() -> None:
    assert "date_key" in references(fact_of("sale *id, date date, amount decimal", "fct_sale"))


def test_when_a_header_began_says_that_it_is_the_headers() -> None:
    schema = """
        plan         *id, name text
        subscription *id, valid_from date, plan_id/9 > plan, amount decimal
        invoice      *id, issued date, subscription_id/60 > subscription, total decimal
    """
    invoice = references(fact_of(schema, "fct_invoice"))
    assert {"issued_date_key", "subscription_valid_from_date_key"} <= invoice.keys()


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
    assert fact_of(schema, "fct_line").degenerate_dimensions == (
        *("order_id", "line_no"),
        "order_tracking_no",
    )


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
        ("ordered date", "ordered"),
        ("due_date date, ordered date", "ordered"),
        ("paid date?, ordered date", "ordered"),
        ("due_date date", "due_date"),
        ("created_at timestamp, ordered date", "ordered"),
        ("created_at timestamp", "created_at"),
        ("note text", None),
    ],
)
def test_an_event_is_dated_by_what_happened_in_every_row(
    columns: str, expected: str | None
) -> None:
    dated_by = fact_of(f"orders *id, amount decimal, {columns}", "fct_orders").dated_by
    assert (dated_by.attribute if dated_by else None) == expected


def test_a_line_without_a_date_is_dated_by_its_header() -> None:
    assert fact_of(SHOP, "fct_line").dated_by == FactDate(
        source="orders",
        attribute="ordered",
        reason=("The date of the header orders, since no date of the row is read as an event's."),
    )


def test_the_date_of_an_event_says_which_others_it_could_be() -> None:
    dated_by = fact_of(SHOP, "fct_orders").dated_by
    assert dated_by is not None
    assert dated_by.reason == "Every row has ordered, but not shipped."
    assert dated_by.alternatives == ("shipped",)


CALENDAR = """
    days  *id, day date, year/2, month/12, week/52
    promo *id, name text, started date
    sale  *id, amount decimal, due_day_id > days, sold_day_id > days, promo_id > promo
"""


def test_the_day_in_a_calendar_of_the_source_is_the_date_of_the_event() -> None:
    """A planned day gives way, and when a promotion started is no date of the sale."""
    sale = fact_of(CALENDAR, "fct_sale")
    assert sale.dated_by is not None
    (join,) = sale.joins
    assert (join.entity, join.relationship) == ("days", "sale_sold_day_id_to_days")
    assert (sale.dated_by.source, sale.dated_by.attribute) == (join.name, "day")
    assert sale.dated_by.alternatives == ("due_day_id",)


def test_a_line_is_dated_by_the_calendar_of_its_header() -> None:
    line = fact_of(f"{CALENDAR}\nline *id, sale_id/40 > sale, quantity/9 1-900", "fct_line")
    assert line.dated_by is not None
    assert line.dated_by.attribute == "day"
    assert [(join.entity, join.parent) for join in line.joins] == [("sale", ""), ("days", "sale")]


def test_a_line_with_a_date_takes_over_only_the_date_of_the_headers_event() -> None:
    schema = SHOP.replace("*line_no/5,", "*line_no/5, packed date,")
    assert references(fact_of(schema, "fct_line")).keys() == {
        "packed_date_key",
        "product_key",
        "customer_key",
        "ordered_date_key",
    }


def test_the_event_begins_with_the_date_that_comes_first_in_nearly_all_rows() -> None:
    measured = source("stay *id, left_at timestamp, admitted_at timestamp, amount decimal")
    order = DateOrder("stay", "admitted_at", "left_at", 100, 98, 0, 0, open_is_recent=False)
    stay = fact(star(measured, observations=Observations(date_orders=(order,))), "fct_stay")
    assert stay.dated_by is not None
    assert stay.dated_by.attribute == "admitted_at"
    assert stay.dated_by.reason == "The event begins with admitted_at; left_at comes later."


def test_a_user_chooses_the_date_of_an_event() -> None:
    measured = source(SHOP)
    orders = fact(star(measured, event_dates={"ORDERS": "Shipped"}), "fct_orders")
    assert orders.dated_by == FactDate(
        attribute="shipped",
        reason="You chose shipped as the date of the event.",
        alternatives=("ordered",),
    )
    line = fact(star(measured, event_dates={"orders": "shipped"}), "fct_line")
    assert line.dated_by is not None
    assert line.dated_by.attribute == "shipped"


@pytest.mark.parametrize(
    ("table", "date", "message"),
    [
        ("order", "ordered", "Unknown table 'order'"),
        ("customer", "name", "customer isn't a fact"),
        ("orders", "freight", "orders has no event date 'freight'"),
        ("line", "packed", "line has no event date 'packed'"),
    ],
)
def test_what_is_no_date_of_a_fact_cant_be_chosen(table: str, date: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        star(source(SHOP), event_dates={table: date})


def test_a_date_and_its_timestamp_have_one_role() -> None:
    """The day is in the calendar, and the time stays in the fact."""
    measured = source("stay *id, day date, moment timestamp, amount decimal")
    pair = SameMoment("stay", "day", "moment", rows=100)
    stay = fact(star(measured, observations=Observations(same_moments=(pair,))), "fct_stay")
    assert [reference.key for reference in stay.dimensions] == ["day_key"]
    assert reasons(stay)["moment"] == (
        "The time of day, which is in the calendar: the same moment."
    )


def test_the_planned_one_of_two_equal_dates_has_no_role() -> None:
    measured = source("bill *id, due_date date, billed date, amount decimal")
    twin = TwinMoment("bill", "due_date", "billed", rows=100)
    bill = fact(star(measured, observations=Observations(twin_moments=(twin,))), "fct_bill")
    assert [reference.key for reference in bill.dimensions] == ["billed_date_key"]
    assert reasons(bill)["due_date"] == "The same moment as billed in all 100 rows."


@pytest.mark.parametrize(
    ("columns", "roles"),
    [
        ("from_date date, to_date date", ["from_date"]),
        ("start_date date, end_date date", ["start_date", "end_date"]),
        ("valid_start date, valid_end date", ["valid_start_date"]),
        ("sold date, birth_date date", ["sold_date"]),
        ("sold date, comment_date date", ["sold_date"]),
    ],
)
def test_a_date_that_is_no_event_has_no_role(columns: str, roles: list[str]) -> None:
    deal = fact_of(f"deal *id, {columns}, amount decimal", "fct_deal")
    assert [reference.role for reference in deal.dimensions] == roles


def test_the_end_of_a_row_in_a_history_is_no_event() -> None:
    history = fact_of(
        "pay_history *id, start_date date, end_date date, amount decimal", "fct_pay_history"
    )
    assert [reference.role for reference in history.dimensions] == ["start_date"]
    assert reasons(history)["end_date"].startswith("It ends what starts at start_date")


def test_a_period_may_be_written_in_one_word() -> None:
    columns = "*id, *startdate date, enddate date?, amount decimal"
    history = fact_of(f"pricehistory {columns}", "fct_pricehistory")
    assert [reference.role for reference in history.dimensions] == ["startdate"]


def test_the_grain_of_a_snapshot_is_its_day_and_members_and_no_number() -> None:
    """A shift isn't in a junk dimension where it says what a row is."""
    measured = source("figure *id, day date/25, shift text/4, is_late boolean/2, calls/60 1-900")
    measured = changed(measured, "figure", candidate_keys=(("id",), ("day", "shift")))
    figure = fact(star(measured), "fct_figure")
    assert figure.fact_type == "periodic_snapshot"
    assert figure.grain_columns == ("day_key", "shift")
    assert figure.grain == "One row for each figure: day, shift."


def test_a_snapshot_may_have_several_sorts_of_members() -> None:
    schema = """
        account *id, name text
        branch  *id, name text
        figure  *id, day date/5, account_id/20 > account, branch_id/5 > branch, amount decimal
    """
    identity = RowIdentity("figure", ("day", "account_id", "branch_id"))
    model = star(source(schema), observations=Observations(row_identities=(identity,)))
    figure = fact(model, "fct_figure")
    assert figure.fact_type == "periodic_snapshot"
    assert figure.grain_columns == ("day_key", "account_id", "branch_id")


@pytest.mark.parametrize(
    "columns", ["day date/20, shift text/11", "created_at timestamp/10, shift text/4"]
)
def test_events_that_share_no_day_by_accident_are_no_snapshot(columns: str) -> None:
    """Of all pairs of a day and a shift less than a tenth occurs, or the date is of the record."""
    measured = source(f"figure *id, {columns}, calls/60 1-900", rows=20)
    names = [part.split()[0] for part in columns.split(", ")]
    measured = changed(measured, "figure", candidate_keys=(("id",), tuple(names)))
    figure = fact(star(measured), "fct_figure")
    assert figure.fact_type == "transaction"
    assert figure.grain_columns == ("id",)


def test_a_timestamp_that_most_tables_have_is_about_their_records() -> None:
    tables = "\n".join(f"t{n} *id, name text, tms timestamp" for n in range(6))
    sale = fact_of(f"{tables}\nsale *id, sold date, tms timestamp, amount decimal", "fct_sale")
    assert [reference.role for reference in sale.dimensions] == ["sold_date"]
    assert reasons(sale)["tms"].startswith("It's read as when the record")


def test_a_fact_has_eight_calendar_keys_at_most() -> None:
    days = ", ".join(f"day_{n} date{'?' if n < 3 else ''}" for n in range(10))
    log = fact_of(f"log *id, amount decimal, {days}", "fct_log")
    assert [reference.role for reference in log.dimensions] == [
        "day_0_date",
        *(f"day_{n}_date" for n in range(3, 10)),
    ]
    assert "8 that more rows have" in reasons(log)["day_1"]


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
        ("*id, a date, b date, c date, amount decimal", "transaction", "one event"),
        ("*id, ordered date, due_date date?, amount decimal", "transaction", "one event"),
        (
            "*id, ordered date, shipped date?, amount decimal",
            "accumulating_snapshot",
            "2 dates are read as milestones: shipped, null in",
        ),
        (
            "*store_id > store, *product_id > product, price decimal",
            "periodic_snapshot",
            "each row is read as a state",
        ),
        (
            "*id, store_id > store, units_in_stock/50 1-900",
            "periodic_snapshot",
            "each row is read as a state",
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


@pytest.mark.parametrize(
    ("observed", "fact_type"),
    [
        ({"open": 20}, "accumulating_snapshot"),
        ({"open": 75, "open_is_recent": True}, "accumulating_snapshot"),
        ({"open": 75}, "transaction"),
        ({"open": 76, "open_is_recent": True}, "transaction"),
        ({"open": 0}, "transaction"),
        ({"open": 20, "in_order": 0.94}, "transaction"),
        ({"open": 20, "skipped": 5}, "transaction"),
    ],
)
def test_milestones_follow_each_other_and_fill_up(
    observed: dict[str, float], fact_type: str
) -> None:
    """The later date is reached by enough rows, in order, and is open in the youngest ones."""
    open_rows, in_order = int(observed["open"]), observed.get("in_order", 1)
    both = 100 - open_rows - int(observed.get("skipped", 0))
    order = DateOrder(
        "event", "a", "b", both, int(in_order * both), open_rows,
        int(observed.get("skipped", 0)), open_is_recent=bool(observed.get("open_is_recent")),
    )  # fmt: skip
    measured = source("event *id, a date, b date?, amount decimal")
    model = star(measured, observations=Observations(date_orders=(order,)))
    assert fact(model, "fct_event").fact_type == fact_type


def test_one_dimension_inherited_from_two_headers_has_two_roles() -> None:
    result = fact_of(
        """
        store     *id, name text
        product   *id, name text
        delivery  *id, booked date, store_id > store, amount decimal
        sale      *id, booked date, store_id > store, amount decimal
        sale_item *id, delivery_id > delivery, sale_id > sale, product_id > product, price decimal
        """,
        "fct_sale_item",
    )
    stores = [r.role for r in result.dimensions if r.dimension == "dim_store"]
    assert len(set(stores)) == len(stores) == 2
    days = [r.role for r in result.dimensions if r.dimension == "dim_date"]
    assert len(set(days)) == len(days) == 2


def test_totals_that_are_not_exact_are_a_fact_and_no_dimension_with_versions() -> None:
    """Figures of each category are no things that change, though a category is their key."""
    schema = """
        product *id, title text, family text/9
        sale    *id, sold date, amount decimal, product_id/50 > product
        figures *family text, label text, amount decimal
    """
    totals = Aggregate("figures", "sale", (), rows=100, matched=98, missing=0, query="")
    model = star(source(schema), observations=Observations(aggregates=(totals,)))
    assert fact(model, "fct_figures").reason.startswith(
        "Nearly all of its rows are totals of sale."
    )
    assert "dim_figures" not in {dimension.name for dimension in model.dimensions}
    assert "dim_figures" in {dimension.name for dimension in star(source(schema)).dimensions}
