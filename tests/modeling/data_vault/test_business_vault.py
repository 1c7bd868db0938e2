"""The business vault: which tables it has, what they lead to, and why."""

import pytest

from fluid_build.errors import UsageError
from fluid_build.modeling.data_vault.business_elements import BridgeTable, BusinessVault
from fluid_build.modeling.data_vault.elements import DataVaultModel
from fluid_build.modeling.techniques import build_model
from fluid_build.profiling.profile import Profile
from tests.modeling.profiles import reference
from tests.modeling.sources import source

CUSTOMER = """
    customer *id, name text, city text, street text, status text/4, balance decimal
    customer_detail *customer_id > customer, hobby text
"""
CHAIN = """
    country  *id, name text, continent text, anthem text
    customer *id, name text, street text, country_id > country
    product  *id, title text, size text, colour text
    orders   *id, customer_id > customer, ordered date, note text
    line     *order_id > orders, *product_id > product, quantity/9 1-900
"""


def vault(measured: Profile) -> DataVaultModel:
    model = build_model(measured, "data_vault_2", business_vault=True).dv2
    assert model is not None
    return model


def business_vault(schema: str) -> BusinessVault:
    business = vault(source(schema)).business_vault
    assert business is not None
    return business


def bridge(business: BusinessVault, name: str) -> BridgeTable:
    return next(bridge for bridge in business.bridges if bridge.name == name)


def ways(bridge: BridgeTable) -> list[tuple[str, str]]:
    """From which column of a bridge its hops lead to which."""
    return [(hop.from_key, hop.hash_key) for hop in bridge.hops]


def test_a_vault_has_none_unless_it_is_asked_for() -> None:
    model = build_model(source(CUSTOMER), "data_vault_2").dv2
    assert model is not None and model.business_vault is None


@pytest.mark.parametrize("technique", ["flat", "dimensional"])
def test_only_a_vault_can_have_one(technique: str) -> None:
    with pytest.raises(UsageError, match=f"part of a Data Vault, and the technique is {technique}"):
        build_model(source(CUSTOMER), technique, business_vault=True)


def test_a_hub_of_several_satellites_has_a_point_in_time_table() -> None:
    (table,) = business_vault(CUSTOMER).point_in_time_tables
    assert (table.name, table.hub) == ("pit_customer", "hub_customer")
    assert [(each.satellite, each.load_date) for each in table.satellites] == [
        ("sat_customer", "sat_customer_load_date"),
        ("sat_customer_state", "sat_customer_state_load_date"),
        ("sat_customer_detail", "sat_customer_detail_load_date"),
    ]


def test_a_hub_of_one_satellite_has_no_point_in_time_table() -> None:
    assert business_vault(CHAIN).point_in_time_tables == ()


def test_a_multi_active_satellite_is_left_out_with_the_reason() -> None:
    phones = "customer_phone *customer_id > customer, *kind text/3, digits text"
    (table,) = business_vault(f"{CUSTOMER}\n{phones}").point_in_time_tables
    assert "msat_customer_phone" not in [each.satellite for each in table.satellites]
    assert "msat_customer_phone isn't in it: several rows are valid at a time." in table.reason


def test_a_bridge_follows_the_links_from_the_finest_grain() -> None:
    (lines,) = business_vault(CHAIN).bridges
    assert (lines.name, lines.start, lines.satellite) == ("bridge_line", "lnk_line", "sat_line")
    assert [end.hash_key for end in lines.hubs] == ["orders_hk", "product_hk"]
    assert ways(lines) == [("orders_hk", "customer_hk"), ("customer_hk", "country_hk")]


def test_a_single_link_is_no_chain() -> None:
    schema = """
        customer *id, name text, city text, street text
        orders   *id, customer_id > customer, note text
    """
    assert business_vault(schema).bridges == ()


def test_a_hub_that_nothing_refers_to_starts_a_chain_of_references() -> None:
    """Rows of events are counted by what they lead to; settings are read one by one."""
    schema = """
        country  *id, name text, continent text, anthem text
        customer *id, name text, street text, country_id > country
        claim    *id text, customer_id > customer, filed date, note text, kind text
        setting  *id text, customer_id > customer, language text, note text, colour text
    """
    (claims,) = business_vault(schema).bridges
    assert (claims.start, claims.hubs) == ("hub_claim", ())
    assert ways(claims) == [("claim_hk", "customer_hk"), ("customer_hk", "country_hk")]


def test_a_bridge_follows_the_link_of_an_event_once_to_all_of_its_hubs() -> None:
    schema = CHAIN.replace("ordered date", "shop_id > shop, ordered date")
    business = business_vault(f"{schema}\n shop *id, name text, street text, opened date")
    lines = bridge(business, "bridge_line")
    assert [(hop.link, hop.hash_key) for hop in lines.hops] == [
        ("lnk_orders", "customer_hk"),
        ("lnk_orders", "shop_hk"),
        ("lnk_customer_country", "country_hk"),
    ]
    assert {hop.link_key for hop in lines.hops} == {"orders_lk", "customer_country_lk"}
    assert "by what 2 links lead to" in lines.reason


def test_a_hub_is_reached_again_in_another_role_only() -> None:
    """The seller of the order isn't the packer of the line; a second customer would be the same."""
    schema = CHAIN.replace("ordered date", "seller_id, ordered date").replace(
        "quantity", "packer_id, customer_id > customer, quantity"
    )
    roles = [
        reference("orders", "seller_id", "employee", "id", role="seller"),
        reference("line", "packer_id", "employee", "id", role="packer"),
    ]
    measured = source(f"{schema}\n employee *id, name text, hired date, room text", *roles)
    business = vault(measured).business_vault
    assert business is not None
    assert ways(bridge(business, "bridge_line")) == [
        ("orders_hk", "employee_seller_hk"),
        ("customer_hk", "country_hk"),
    ]


def test_a_link_of_a_hub_to_itself_is_not_followed() -> None:
    """One step up isn't where a hierarchy ends."""
    manager = reference("customer", "parent_id", "customer", "id", role="parent")
    measured = source(CHAIN.replace("street text", "street text, parent_id"), manager)
    business = vault(measured).business_vault
    assert business is not None
    links = [hop.link for hop in bridge(business, "bridge_line").hops]
    assert links == ["lnk_orders_customer", "lnk_customer_country"]


def test_who_wrote_a_row_is_not_followed() -> None:
    """Nobody groups rows by who typed them in."""
    writer = reference("orders", "created_by", "customer", "id", role="created_by")
    measured = source(CHAIN.replace("ordered date", "created_by, ordered date"), writer)
    business = vault(measured).business_vault
    assert business is not None
    links = [hop.link for hop in bridge(business, "bridge_line").hops]
    assert links == ["lnk_orders_customer", "lnk_customer_country"]


def test_what_happened_to_one_hub_starts_a_chain() -> None:
    """Amounts are added up by what their hub leads to; phone numbers aren't."""
    schema = """
        country  *id, name text, continent text, anthem text
        customer *id, name text, street text, country_id > country
        deposit  *customer_id > customer, *no, amount decimal
        phone    *customer_id > customer, *kind text/3, digits text
    """
    business = business_vault(schema)
    (deposits,) = business.bridges
    assert (deposits.name, deposits.satellite) == ("bridge_deposit", "sat_deposit")
    assert ways(deposits) == [("customer_hk", "country_hk")]


def test_a_hub_that_may_be_missing_has_a_ghost_record() -> None:
    model = vault(source(CHAIN))
    assert {hub.name for hub in model.hubs if hub.has_ghost} == {"hub_customer", "hub_country"}


def test_every_table_says_why_it_is_there_and_what_it_is_made_of() -> None:
    for schema in (CUSTOMER, CHAIN):
        business = business_vault(schema)
        for table in (*business.point_in_time_tables, *business.bridges):
            assert table.reason.endswith(".")
            assert table.mapped_source_tables and table.source_columns
            assert f"FROM {table.name}" in table.query and table.name not in table.raw_query
