"""What has a life cycle is an event that begins on a day: a claim, a work order, a flight."""

import pytest

from fluid_build.modeling.dimensional.elements import DimensionalModel, Fact
from fluid_build.observations.date_orders import DateOrder
from fluid_build.observations.observe import Observations
from fluid_build.observations.same_moment import SameMoment
from tests.modeling.sources import changed, fact, source, star

PARTIES = """
    policy  *id, name text
    claim   *id, policy_id/90 > policy, {columns}
    payment *id, claim_id/90 > claim, paid date, amount decimal
"""


def _order(table: str, earlier: str, later: str, *, open_: int = 20) -> DateOrder:
    return DateOrder(table, earlier, later, 80, 80, open_, 0, open_is_recent=True)


def _star(schema: str, *orders: DateOrder) -> DimensionalModel:
    return star(source(schema), observations=Observations(date_orders=orders))


def _dated_by(result: Fact) -> str | None:
    return result.dated_by.attribute if result.dated_by else None


def _facts(model: DimensionalModel) -> set[str]:
    return {result.entity_name for result in model.facts}


def test_a_case_is_an_event_though_a_text_says_what_it_is_about() -> None:
    columns = "opened_on date, closed_on date?, loss_on date, claim_status text/3, description text"
    model = _star(PARTIES.format(columns=columns), _order("claim", "loss_on", "closed_on"))
    assert fact(model, "fct_claim").fact_type == "accumulating_snapshot"


@pytest.mark.parametrize(
    ("columns", "open_"),
    [
        ("loss_on date, closed_on date?, description text", 20),
        ("loss_on date, closed_on date?, claim_status text/3, description text", 0),
        ("loss_on date, closed_on date?, claim_status text/3, claim_name text", 20),
    ],
    ids=["without a status", "nothing open", "with a name"],
)
def test_what_has_no_life_cycle_is_looked_up(columns: str, open_: int) -> None:
    order = _order("claim", "loss_on", "closed_on", open_=open_)
    assert "claim" not in _facts(_star(PARTIES.format(columns=columns), order))


JOB = "*id, item_id/90 > item, released_on date, due_on date, started_on date?, quantity/90"
JOBS = f"item *id, name text\n job {JOB}{{more}}"


def test_a_life_cycle_begins_with_its_release() -> None:
    orders = (_order("job", "released_on", "started_on"), _order("job", "released_on", "due_on"))
    model = _star(JOBS.format(more=", job_status text/4"), *orders)
    assert _dated_by(fact(model, "fct_job")) == "released_on"
    without_status = _star(JOBS.format(more=""), *orders)
    assert _dated_by(fact(without_status, "fct_job")) != "released_on"


def test_a_case_without_a_status_begins_when_it_is_opened() -> None:
    """A shop is opened too, but nothing that follows is still to come in its latest rows."""
    ticket = "*id, user_id/90 > user, opened_at date, answered_at date, solved_at date?"
    schema = f"user *id, name text\n ticket {ticket}"
    answered = _order("ticket", "opened_at", "answered_at", open_=0)
    solved = _order("ticket", "opened_at", "solved_at")
    assert _dated_by(fact(_star(schema, answered, solved), "fct_ticket")) == "opened_at"
    never_open = _order("ticket", "opened_at", "solved_at", open_=0)
    assert _dated_by(fact(_star(schema, answered, never_open), "fct_ticket")) == "answered_at"


FLIGHT = "*id, airport_id/9 > airport, scheduled_departure date, actual_departure date{optional}"
FLIGHTS = f"airport *id, name text\n flight {FLIGHT}"


def test_a_plan_dates_what_may_not_happen() -> None:
    order = _order("flight", "scheduled_departure", "actual_departure")
    result = fact(_star(FLIGHTS.format(optional="?"), order), "fct_flight")
    assert _dated_by(result) == "scheduled_departure"
    assert result.dated_by is not None
    assert result.dated_by.reason == "Every row has scheduled_departure, but not actual_departure."
    assert result.fact_type == "accumulating_snapshot"


def test_what_surely_happened_dates_the_row_before_its_plan() -> None:
    result = fact(_star(FLIGHTS.format(optional="")), "fct_flight")
    assert _dated_by(result) == "actual_departure"


def test_a_bill_is_dated_by_its_day_and_not_by_the_period_that_it_covers() -> None:
    bill = "*id, contract_id/90 > contract, issued_on date, period_start date, amount decimal"
    schema = f"contract *id, name text\n bill {bill}"
    orders = (_order("bill", "period_start", "issued_on", open_=0),)
    assert _dated_by(fact(_star(schema, *orders), "fct_bill")) == "issued_on"


@pytest.mark.parametrize(("charges", "dated_by"), [(100, "created"), (500, "billed_on")])
def test_what_comes_once_for_each_header_happens_when_it_is_recorded(
    charges: int, dated_by: str
) -> None:
    """As many charges as invoices are no lines of them; five times as many are."""
    schema = """
        customer *id, name text
        invoice  *id, customer_id/90 > customer, billed_on date, total decimal
        charge   *id, invoice_id/90 > invoice, amount decimal, created timestamp
    """
    measured = changed(source(schema), "charge", rows=charges)
    assert _dated_by(fact(star(measured), "fct_charge")) == dated_by


def test_the_number_of_a_thing_itself_links_nothing() -> None:
    model = _star("aircraft *code text, model text\n seat *aircraft_code > aircraft, *seat_no text")
    assert "seat" not in _facts(model)


@pytest.mark.parametrize("name", ["crew", "+"])
def test_a_key_of_what_has_no_table_links_it(name: str) -> None:
    """Whatever the table is called, and if it has no word in its name."""
    model = _star(
        f"aircraft *code text, model text\n {name} *aircraft_code > aircraft, *pilot_no text"
    )
    assert name in _facts(model)


def test_the_bound_of_a_period_gives_way_to_what_happened_that_day() -> None:
    bill = "*id, contract_id/90 > contract, period_end date, final timestamp, amount decimal"
    same = SameMoment("bill", "period_end", "final", 100)
    measured = source(f"contract *id, name text\n bill {bill}")
    result = fact(star(measured, observations=Observations(same_moments=(same,))), "fct_bill")
    assert _dated_by(result) == "final"
