"""A vault that follows what was decided about the place of tables, or says why it can't."""

import pytest

from fluid_build.decisions.language import Classify, Role
from fluid_build.decisions.model_decisions import ModelDecisions, model_decisions
from fluid_build.modeling.data_vault.builder import data_vault
from fluid_build.modeling.data_vault.decided.unfollowed import unfollowed
from fluid_build.modeling.data_vault.elements import DataVaultModel
from fluid_build.profiling.profile import Profile
from tests.modeling.profiles import reference
from tests.modeling.sources import changed_column, conceptual, satellite, source

SHOP = """
    customer *id, name text, city text, street text
    product  *id, title text, size text, colour text
    rating   *id, customer_id > customer, product_id > product, stars/5 1-5, rated date
    visit    *id, customer_id > customer, page text, browser text, seconds
    vip      *customer_id > customer, lounge text
    colour   *code text, label text
    log      message text, level/4
"""


def decided(**roles: Role) -> ModelDecisions:
    return model_decisions(
        Classify(table=table, role=role, reason=f"{table} is that") for table, role in roles.items()
    )


def decided_vault(
    measured: Profile, decisions: ModelDecisions
) -> tuple[DataVaultModel, dict[str, str]]:
    """Return the vault, and for each table that isn't where it was decided the message."""
    model = conceptual(measured)
    vault = data_vault(measured, model, decisions=decisions)
    refusals = unfollowed(vault, model, decisions)
    return vault, {
        decision.table: refusal.message
        for decision, refusal in refusals.items()
        if isinstance(decision, Classify)
    }


def refusal(table: str, role: Role, schema: str = SHOP) -> str:
    """Return why a table isn't where it was decided; "" if it is."""
    return decided_vault(source(schema), decided(**{table: role}))[1].get(table, "")


def test_a_transaction_decided_as_a_hub_gets_one_and_says_who_decided() -> None:
    vault, refusals = decided_vault(source(SHOP), decided(rating="hub"))
    assert not refusals
    hub = vault.hub("hub_rating")
    assert "Decided by a person: rating is that." in hub.reason
    assert hub.alternatives[0].choice == "a transactional link"
    assert hub.alternatives[0].reason.startswith("each row is an event that links customer and")


def test_what_a_model_suggested_is_attributed_to_it() -> None:
    suggested = Classify(table="rating", role="hub", by="model", reason="ratings are moderated")
    vault, _ = decided_vault(source(SHOP), model_decisions([suggested]))
    assert "Suggested by a language model: ratings are moderated." in vault.hub("hub_rating").reason


def test_a_hub_that_refers_to_two_others_can_be_decided_a_link() -> None:
    schema = SHOP.replace("rated date", "note text, tone text, place text")
    vault, refusals = decided_vault(source(schema), decided(rating="link"))
    assert not refusals
    (link,) = (link for link in vault.links if link.table == "rating")
    assert [end.hub for end in link.hubs] == ["hub_customer", "hub_product"]
    assert link.reason == "Decided by a person: rating is that."
    assert link.alternatives[0].choice == "a hub"


def test_a_table_with_one_reference_can_be_decided_a_multi_active_satellite() -> None:
    vault, refusals = decided_vault(source(SHOP), decided(visit="satellite"))
    assert not refusals
    visits = satellite(vault, "msat_visit")
    assert (visits.parent, visits.multi_active_keys) == ("hub_customer", ("id",))
    assert visits.reason == "Decided by a person: visit is that."
    assert visits.alternatives[0].choice == "a transactional link"


def test_what_happens_to_one_parent_can_be_decided_a_link() -> None:
    schema = SHOP.replace("seconds", "seconds, status text/3, came date")
    vault, refusals = decided_vault(source(schema), decided(visit="link"))
    assert not refusals
    (visits,) = (link for link in vault.links if link.table == "visit")
    assert [end.hub for end in visits.hubs] == ["hub_customer"]


def test_a_subtype_can_be_decided_a_hub_and_a_hub_can_keep_its_subtype() -> None:
    vault, refusals = decided_vault(source(SHOP), decided(vip="hub", customer="hub"))
    assert not refusals
    assert vault.hub("hub_vip").business_key_columns == ("customer_id",)
    assert vault.hub("hub_vip").alternatives[0].choice == "a satellite of another table's hub"


def test_a_decision_for_the_place_that_we_chose_has_no_alternative() -> None:
    vault, refusals = decided_vault(source(SHOP), decided(vip="satellite", customer="hub"))
    assert not refusals
    assert satellite(vault, "sat_vip").parent == "hub_customer"
    assert satellite(vault, "sat_vip").reason.startswith("Decided by a person: vip is that.")
    assert not satellite(vault, "sat_vip").alternatives
    assert not vault.hub("hub_customer").alternatives


def test_a_list_that_nothing_relates_can_be_decided_a_reference_table_or_a_hub() -> None:
    schema = "colour *code text, label text, red, green, blue, founded date\nlog message text"
    vault, refusals = decided_vault(source(schema), decided(colour="reference"))
    assert not refusals
    (colours,) = vault.reference_tables
    assert colours.reason == "Decided by a person: colour is that."
    assert colours.alternatives[0].choice == "a hub"


def test_decided_links_are_seen_through_by_what_refers_to_them() -> None:
    schema = f"""{SHOP}
        listing *customer_id > customer, *product_id > product, title text, note text, tone text
        sale    *id, customer_id, product_id, amount decimal, sold date
    """
    sale = reference("sale", "customer_id product_id", "listing", "customer_id product_id")
    vault, refusals = decided_vault(source(schema, sale), decided(listing="link"))
    assert not refusals
    ends = {link.table: {end.hub for end in link.hubs} for link in vault.links}
    assert ends["sale"] == {"hub_customer", "hub_product"}


@pytest.mark.parametrize(
    ("table", "role", "message"),
    [
        ("log", "hub", "No key identifies the 100 rows of `log`, and every hub has one."),
        ("log", "satellite",
         "No key identifies the 100 rows of `log`, and every satellite has one."),
        ("vip", "link", "`vip` refers to one table with a hub, `customer`, and a link needs two."),
        ("colour", "link", "`colour` refers to no table with a hub, and a link needs two."),
        ("colour", "satellite", "`colour` refers to no table with a hub, so it describes no hub."),
        ("rating", "satellite",
         "`rating` refers to `customer` and `product`, and a satellite describes a single hub."),
        ("visit", "reference",
         "`visit` refers to `customer`, and a reference table holds no relationships."),
        ("product", "reference",
         "`rating` relates its rows, and no link leads to a reference table."),
    ],
)  # fmt: skip
def test_what_a_vault_cannot_carry_is_refused_with_figures_or_names(
    table: str, role: Role, message: str
) -> None:
    assert refusal(table, role) == message


def test_a_link_that_others_refer_to_is_refused() -> None:
    schema = f"{SHOP}reply *id, rating_id > rating, words text"
    assert refusal("rating", "link", schema) == (
        "`reply` refers to `rating`, and no link leads to another link."
    )


def test_a_satellite_that_others_refer_to_is_refused() -> None:
    schema = f"{SHOP}click *id, visit_id > visit, words text"
    assert refusal("visit", "satellite", schema) == (
        "`click` refers to `visit`, which needs a hub of its own for that."
    )


def test_a_satellite_is_refused_where_rows_would_describe_nothing() -> None:
    schema = SHOP.replace("visit    *id, customer_id >", "visit    *id, customer_id? >")
    assert refusal("visit", "satellite", schema) == (
        "`visit.customer_id` is null in 10 of 100 rows, which would describe no row of `customer`."
    )


def test_a_satellite_whose_key_is_written_differently_is_refused() -> None:
    measured = changed_column(source(SHOP), "vip", "customer_id", type="VARCHAR")
    _, refusals = decided_vault(measured, decided(vip="satellite"))
    assert refusals["vip"] == "The key of `vip` isn't written like the key of `customer`."


def test_two_satellites_of_each_other_leave_the_first_with_the_other_as_hub() -> None:
    schema = "a *id > b, x text\nb *id > a, y text"
    vault, refusals = decided_vault(source(schema), decided(a="satellite", b="satellite"))
    assert [hub.entity_name for hub in vault.hubs] == ["b"]
    assert refusals == {"b": "The other decisions leave no satellite for `b`."}


def test_roles_of_a_star_are_unused() -> None:
    model = conceptual(source(SHOP))
    decisions = decided(rating="fact", customer="dimension")
    vault = data_vault(source(SHOP), model, decisions=decisions)
    statuses = {refusal.status for refusal in unfollowed(vault, model, decisions).values()}
    assert statuses == {"unused"}
    assert vault == data_vault(source(SHOP), model)
