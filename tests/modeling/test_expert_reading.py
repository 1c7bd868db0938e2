"""What experts stumbled over, in small sources whose model an expert would sign."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb

from fluid_build.modeling.data_vault.elements import DataVaultModel, Hub, Link
from fluid_build.modeling.dimensional.elements import Dimension, DimensionalModel, Fact
from fluid_build.modeling.logical import LogicalModel
from fluid_build.modeling.techniques import build_model
from fluid_build.observations.observe import observe
from fluid_build.profiling import profile_source
from fluid_build.sources import open_source

_STATEMENTS = Path(__file__).with_name("expert_sources")


@cache
def _model(source_name: str, technique: str) -> LogicalModel:
    with TemporaryDirectory() as folder:
        database = Path(folder) / f"{source_name}.duckdb"
        with duckdb.connect(str(database)) as connection:
            connection.execute((_STATEMENTS / f"{source_name}.sql").read_text())
        with open_source(str(database)) as source:
            profile = profile_source(source)
            return build_model(profile, technique, None, observe(source, profile))


def _star(source_name: str) -> DimensionalModel:
    star = _model(source_name, "dimensional").dimensional
    assert star is not None
    return star


def _vault(source_name: str) -> DataVaultModel:
    vault = _model(source_name, "data_vault_2").dv2
    assert vault is not None
    return vault


def _fact(source_name: str, table: str) -> Fact:
    (fact,) = (fact for fact in _star(source_name).facts if fact.entity_name == table)
    return fact


def _additivity(fact: Fact) -> dict[str, str]:
    return {measure.column: measure.additivity for measure in fact.measures}


def _dimension(source_name: str, table: str) -> Dimension:
    (dimension,) = (d for d in _star(source_name).dimensions if d.entity_name == table)
    return dimension


def _hubs(source_name: str) -> dict[str, Hub]:
    return {hub.entity_name: hub for hub in _vault(source_name).hubs}


def _link(source_name: str, table: str) -> Link:
    (link,) = (link for link in _vault(source_name).links if link.table == table)
    return link


def test_a_payment_between_two_accounts_is_a_transaction_fact() -> None:
    """The account plays two roles, and the amount adds up."""
    payment = _fact("bank", "payment")
    assert payment.fact_type == "transaction"
    assert {r.role for r in payment.dimensions if r.dimension == "dim_account"} == {"from", "to"}
    assert _additivity(payment) == {"amount": "additive"}


def test_a_balance_for_each_month_end_is_a_periodic_snapshot() -> None:
    """It can be added up across accounts, and not over time."""
    balance = _fact("bank", "account_balance")
    assert balance.fact_type == "periodic_snapshot"
    assert _additivity(balance)["balance"] == "semi-additive"


def test_a_star_read_as_a_source_keeps_its_facts_and_its_calendar() -> None:
    """Sums of a fact aren't a fact of their own, and no second calendar is made."""
    star = _star("mart")
    assert {fact.entity_name for fact in star.facts} == {"FactSales", "FactInventory"}
    calendars = [d.entity_name for d in star.dimensions if d.dimension_type == "date"]
    assert calendars == ["DimDate"]
    assert _fact("mart", "FactInventory").fact_type == "periodic_snapshot"


def test_a_sale_is_dated_by_its_own_order_date() -> None:
    """The start of a promotion says nothing about the day of a sale."""
    dated_by = _fact("mart", "FactSales").dated_by
    assert dated_by is not None
    joins = {join.name: join.relationship for join in _fact("mart", "FactSales").joins}
    assert "order" in (joins.get(dated_by.source) or dated_by.attribute).lower()


def test_a_stock_is_semi_additive_and_a_movement_additive() -> None:
    """Units that came in during a month add up over months, and the stock at its end doesn't."""
    stock = _additivity(_fact("mart", "FactInventory"))
    assert stock["UnitsBalance"] == "semi-additive"
    assert {stock["UnitsIn"], stock["UnitsOut"]} == {"additive"}
    assert stock["UnitCost"] == "non-additive"


def test_employees_are_a_dimension_with_history_and_a_snapshot_of_their_salary() -> None:
    """The current state is versioned, and the salary can be followed over time."""
    employee = _dimension("hr", "employee")
    versioned = {a.attribute for a in employee.attributes if a.scd_type == 2}
    assert {"job_id", "department_id", "status"} <= versioned
    salary = _fact("hr", "employee")
    assert salary.fact_type == "periodic_snapshot"
    assert _additivity(salary)["salary"] == "semi-additive"


def test_a_measurement_is_a_transaction_with_each_moment_once() -> None:
    """The day and the time of the same moment are one date; no milestones fill up."""
    measurement = _fact("hospital", "labevents")
    dates = [r for r in measurement.dimensions if r.dimension == "dim_date" and not r.source]
    assert (measurement.fact_type, len(dates)) == ("transaction", 1)
    assert _additivity(measurement) == {"valuenum": "non-additive"}


def test_an_order_that_passes_through_stages_is_an_accumulating_snapshot() -> None:
    """Each later date is filled in for fewer rows, and never before the one in front of it."""
    assert _fact("hospital", "orders").fact_type == "accumulating_snapshot"


def test_codes_of_digits_and_flags_are_no_measures() -> None:
    """Only the amount of an expense adds up."""
    assert _additivity(_fact("org", "expense")) == {"amount": "additive"}


def test_an_expense_is_a_transaction() -> None:
    """It has a date and a number of its own, and says nothing about a period."""
    assert _fact("org", "expense").fact_type == "transaction"


def test_a_closure_of_a_hierarchy_is_a_bridge() -> None:
    """Facts of a unit are added up over all units below another."""
    assert [bridge.entity_name for bridge in _star("org").bridges] == ["unit_closure"]


def test_votes_and_badges_are_events_without_measures() -> None:
    """Each has a date and is counted; the tags of a post are a bridge."""
    star = _star("forum")
    factless = {f.entity_name for f in star.facts if f.fact_type == "factless"}
    assert {"votes", "badges"} <= factless
    assert [bridge.entity_name for bridge in star.bridges] == ["post_tags"]


def test_whole_numbers_that_spell_days_give_services_a_calendar() -> None:
    """Services are joined to the days on which they run."""
    star = _star("transit")
    assert [d.entity_name for d in star.dimensions if d.dimension_type == "date"] == [""]
    by_day = [f for f in star.facts if "calendar" in {f.entity_name, *f.mapped_source_tables}]
    assert any("dim_date" in {r.dimension for r in fact.dimensions} for fact in by_day)


def test_what_has_no_business_key_is_no_hub() -> None:
    """Votes, badges and comments are links or satellites; a tag is known by its name."""
    hubs = _hubs("forum")
    assert hubs.keys() == {"posts", "tags", "users"}
    assert hubs["tags"].business_key_columns == ("tag_name",)
    assert _link("forum", "comments").link_type == "transactional"


def test_a_shape_is_a_hub_with_multi_active_points() -> None:
    """A point is known only by the shape that it's on."""
    vault = _vault("transit")
    assert _hubs("transit")["shapes"].business_key_columns == ("shape_id",)
    (points,) = (s for s in vault.satellites if s.table == "shapes")
    assert points.multi_active_keys == ("shape_pt_sequence",)


def test_a_star_read_as_a_source_has_hubs_on_business_keys_and_links_of_events() -> None:
    """The calendar is a reference table, and the sums of a fact are no hub."""
    hubs = _hubs("mart")
    assert hubs.keys() == {"DimProduct", "DimCustomer", "DimPromotion"}
    assert hubs["DimProduct"].business_key_columns == ("ProductAlternateKey",)
    assert hubs["DimCustomer"].business_key_columns == ("CustomerAlternateKey",)
    assert _link("mart", "FactSales").link_type == "transactional"
    assert [table.table for table in _vault("mart").reference_tables] == ["DimDate"]


def test_two_kinds_of_party_are_both_reached_by_a_contract() -> None:
    """Persons and companies share one range of numbers, and no contract loses its party."""
    tables = {column.table for hub in _vault("parties").hubs for column in hub.source_columns}
    assert {"person", "company"} <= tables
    reached = {
        reference.hub
        for link in _vault("parties").links
        if link.table == "contract"
        for reference in link.hubs
    }
    holders = {
        hub.name
        for hub in _vault("parties").hubs
        if {"person", "company"} & set(hub.mapped_source_tables)
    }
    assert holders <= reached


def test_sister_tables_are_facts_alike() -> None:
    """Whether a diagnosis has ended is no state of it, and one with a name of its own is none."""
    facts = {fact.entity_name: fact.fact_type for fact in _star("clinic").facts}
    assert facts == {
        "allergy": "factless",
        "diagnosis": "factless",
        "encounter": "factless",
        "immunization": "factless",
        "medication": "transaction",
        "treatment": "factless",
    }


def test_an_issue_is_followed_from_its_creation_to_its_end() -> None:
    """Though every table of the tracker says when its records were created."""
    issue = _fact("tracker", "issue")
    assert issue.fact_type == "accumulating_snapshot"
    assert issue.dated_by is not None
    assert issue.dated_by.attribute == "created_at"


def test_what_people_do_to_something_is_a_factless_fact() -> None:
    """A label of an issue is no act of anybody."""
    star = _star("tracker")
    facts = {fact.entity_name for fact in star.facts if fact.fact_type == "factless"}
    assert facts == {"reaction", "watcher"}
    assert {bridge.entity_name for bridge in star.bridges} == {"issue_label"}


def test_what_was_built_before_all_that_refers_to_it_is_a_dimension() -> None:
    """Containers are older than their moves and invoices; a vault has no event of them either."""
    assert _dimension("freight", "container").natural_key_columns == ("container_no",)
    assert _hubs("freight")["container"].business_key_columns == ("container_no",)


def test_a_line_has_the_date_of_its_header_and_not_of_what_it_mentions() -> None:
    dated_by = _fact("freight", "invoice_line").dated_by
    assert dated_by is not None
    assert (dated_by.source, dated_by.attribute) == ("invoice", "issued_on")


def test_loading_cargo_is_a_milestone_between_confirmation_and_discharge() -> None:
    """When a row was changed is none, though that's later too."""
    roles = {reference.columns for reference in _fact("freight", "booking").dimensions}
    assert ("loaded_at",) in roles
    assert ("updated_at",) not in roles


def test_a_hire_after_an_offer_is_a_milestone_of_the_application() -> None:
    roles = {reference.columns for reference in _fact("staff", "application").dimensions}
    assert {("applied_on",), ("offered_on",), ("hired_on",)} <= roles


def test_what_a_build_overwrites_is_of_type_1() -> None:
    types = {a.name: a.scd_type for a in _dimension("staff", "employee").attributes}
    assert (types["emp_no"], types["birth_date"], types["hire_date"]) == (0, 1, 1)


def test_what_is_there_day_by_day_is_a_level_and_what_comes_in_a_flow() -> None:
    assert _additivity(_fact("freight", "yard_stock_daily")) == {
        "containers": "semi-additive",
        "teu": "semi-additive",
        "arrivals": "additive",
    }


def test_what_ends_a_month_and_begins_the_next_is_a_level() -> None:
    assert _additivity(_fact("staff", "leave_balance")) == {
        "opening_days": "semi-additive",
        "accrued_days": "additive",
        "taken_days": "additive",
        "closing_days": "semi-additive",
    }


def test_amounts_add_up_within_the_currency_beside_them_or_of_their_header() -> None:
    """And the model says so."""
    within = {
        f"{fact.entity_name}.{measure.column}": measure.within
        for fact in _star("freight").facts
        for measure in fact.measures
        if measure.within
    }
    assert within == {
        "booking.quoted_amount": "ccy",
        "booking_line.declared_value": "declared_ccy",
        "invoice.net_amount": "ccy",
        "invoice_line.unit_price": "invoice.ccy",
        "invoice_line.amount": "invoice.ccy",
        "party.credit_limit": "credit_ccy",
    }
    (amount,) = (m for m in _fact("freight", "booking_line").measures if m.within)
    assert amount.reason == "Additive within one declared_ccy: 'value' adds up."


def test_shares_that_add_up_to_100_are_the_weights_of_a_bridge() -> None:
    star = _star("staff")
    (bridge,) = star.bridges
    assert (bridge.left, bridge.right) == ("dim_cost_center", "dim_employee")
    reasons = {attribute.name: attribute.reason for attribute in bridge.attributes}
    assert reasons["alloc_pct"].startswith("The weighting factor")
    assert "cc_allocation" not in {fact.entity_name for fact in star.facts}
