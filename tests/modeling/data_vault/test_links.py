"""Links: one for each reference of a hub's table, one for each table that relates hubs."""

import pytest

from fluid_build.modeling.data_vault.elements import DataVaultModel, Link
from fluid_build.profiling.profile import ForeignKey
from tests.modeling.profiles import reference
from tests.modeling.sources import changed, changed_column, link, source, vault

TWO_HUBS = """
    customer *id, name text, city text, street text
    product  *id, title text, size text, colour text
"""
ORDERS = f"{TWO_HUBS} orders *id, customer_id > customer, note text"


def only_link(schema: str, *references: ForeignKey) -> Link:
    (only,) = vault(source(schema, *references)).links
    return only


def test_a_reference_is_a_standard_link_with_both_ends_and_the_reason_of_the_reference() -> None:
    result = only_link(ORDERS)
    assert (result.name, result.link_type, result.hash_key) == (
        "lnk_orders_customer",
        "standard",
        "orders_customer_lk",
    )
    assert [end.hub for end in result.hubs] == ["hub_orders", "hub_customer"]
    assert result.reason.startswith("customer_id refers to customer: ")
    assert [(c.table, c.column) for c in result.source_columns] == [
        ("orders", "id"),
        ("orders", "customer_id"),
    ]


def test_a_reference_that_may_be_missing_isnt_optional_as_its_link_is_missing_too() -> None:
    """A link of one reference has no row where the reference is null."""
    result = only_link(ORDERS.replace("customer_id", "customer_id?"))
    assert [end.optional for end in result.hubs] == [False, False]


EVENTS = f"""
    {TWO_HUBS}
    employee *id, name text, room text, hired date
    orders   *id, customer_id > customer, seller_id? > employee, ordered date
    line     *order_id > orders, *product_id > product, quantity decimal
"""


def test_what_an_event_refers_to_is_one_link_with_its_own_hub_first() -> None:
    """An order comes with its customer and its seller at once."""
    model = vault(source(EVENTS))
    assert [link.name for link in model.links] == ["lnk_orders", "lnk_line"]
    orders = link(model, "lnk_orders")
    assert [(end.hub, end.optional) for end in orders.hubs] == [
        ("hub_orders", False),
        ("hub_customer", False),
        ("hub_employee", True),
    ]
    assert (orders.link_type, orders.hash_key) == ("standard", "orders_lk")
    assert "what an event refers to is one unit of work" in orders.reason
    assert "seller_id refers to employee: " in orders.reason
    (lasting,) = (s for s in model.satellites if s.parent == "lnk_orders")
    assert (lasting.name, lasting.kind) == ("eff_sat_orders", "effectivity")
    assert lasting.reason.startswith("The driving key is orders_hk: ")


def test_what_a_thing_refers_to_changes_independently() -> None:
    """A product gets another supplier and stays in its category."""
    schema = """
        supplier *id, company text, city text, street text
        category *id, title text, head text, room text
        product  *id, name text, supplier_id > supplier, category_id > category, price decimal
        sale     *id, product_id > product, sold date, quantity decimal
    """
    names = [link.name for link in vault(source(schema)).links]
    assert {"lnk_product_supplier", "lnk_product_category"} <= set(names)


def test_what_has_neither_a_date_nor_a_measure_is_no_event() -> None:
    """The menus of a site's settings are chosen one by one."""
    schema = """
        menu     *id, title text, place text, colour text
        theme    *id, title text, place text, colour text
        settings *id text, menu_id > menu, theme_id > theme, language text, note text, font text
    """
    names = {link.name for link in vault(source(schema)).links}
    assert names == {"lnk_settings_menu", "lnk_settings_theme"}


def test_what_came_before_an_event_and_who_wrote_it_are_links_of_their_own() -> None:
    """They're no part of what happened, and a record is written again and again."""
    schema = EVENTS.replace(
        "ordered date", "parent_id? > orders, updated_by > employee, ordered date"
    )
    names = {link.name for link in vault(source(schema)).links}
    assert names == {
        "lnk_orders",
        "hal_orders_parent",
        "lnk_orders_employee_updated_by",
        "lnk_line",
    }


@pytest.mark.parametrize(
    ("column", "kind", "name"),
    [
        ("manager_id", "hierarchical", "hal_person_manager"),
        ("parent", "hierarchical", "hal_person_parent"),
        ("duplicate_of", "same-as", "sal_person_duplicate_of"),
        ("merged_into", "same-as", "sal_person_merged_into"),
        ("canonical_id", "same-as", "sal_person_canonical"),
    ],
)
def test_a_reference_to_its_own_hub_is_a_hierarchy_or_says_who_is_the_same(
    column: str, kind: str, name: str
) -> None:
    result = only_link(f"person *id, {column} > person, name text")
    assert (result.link_type, result.name) == (kind, name)


def test_two_references_to_one_hub_are_told_apart_by_their_role() -> None:
    links = vault(
        source(f"{TWO_HUBS} orders *id, buyer_id > customer, payer_id > customer, note text")
    ).links
    assert [link.name for link in links] == ["lnk_orders_customer_buyer",
                                               "lnk_orders_customer_payer"]  # fmt: skip
    assert [link.hubs[1].hash_key for link in links] == [
        "customer_buyer_hk",
        "customer_payer_hk",
    ]


def test_a_role_that_the_profile_knows_names_the_link() -> None:
    result = only_link(
        f"{TWO_HUBS} orders *id, c, note text",
        reference("orders", "c", "customer", "id", role="Bill To"),
    )
    assert (result.name, result.hubs[1].role) == ("lnk_orders_customer_bill_to", "bill_to")
    assert result.description == "Which customer each orders refers to as bill_to."


def test_a_link_tables_own_key_comes_first_and_other_columns_are_dependent_child_keys() -> None:
    result = link(
        vault(
            source(f"{TWO_HUBS} line product_id > product, *customer_id > customer, *no, q decimal")
        ),
        "tl_line",
    )
    assert [end.hub for end in result.hubs] == ["hub_customer", "hub_product"]
    assert result.dependent_child_keys == ("no",)


@pytest.mark.parametrize(("null", "optional"), [("", False), ("?", True)])
def test_an_end_that_a_row_may_lack_is_optional_and_gives_the_hub_a_ghost(
    null: str, optional: bool
) -> None:
    schema = f"{TWO_HUBS} line *customer_id > customer, *no, product_id{null} > product, q decimal"
    model = vault(source(schema))
    assert [end.optional for end in link(model, "tl_line").hubs] == [False, optional]
    assert model.hub("hub_product").has_ghost == optional
    assert not model.hub("hub_customer").has_ghost


def test_a_key_in_another_type_is_looked_up_in_its_parent() -> None:
    measured = changed_column(source(ORDERS), "orders", "customer_id", type="VARCHAR")
    (result,) = vault(measured).links
    lookup = result.hubs[1].lookup
    assert lookup is not None
    assert (lookup.table, lookup.match, lookup.found) == ("customer", ("id",), ("id",))
    assert result.reason.endswith("The business key is looked up in customer.")


def test_whole_numbers_of_another_width_reach_the_hub_directly() -> None:
    measured = changed_column(source(ORDERS), "orders", "customer_id", type="SMALLINT")
    (result,) = vault(measured).links
    assert result.hubs[1].lookup is None


def test_a_reference_by_a_lookup_doesnt_feed_the_hub() -> None:
    measured = changed_column(source(ORDERS), "orders", "customer_id", type="VARCHAR")
    assert vault(measured).hub("hub_customer").mapped_source_tables == ("customer",)
    assert vault(source(ORDERS)).hub("hub_customer").mapped_source_tables == ("customer", "orders")


def test_the_same_reference_twice_is_one_link() -> None:
    assert only_link(ORDERS, reference("orders", "customer_id", "customer", "id"))


@pytest.mark.parametrize(("origin", "links"), [("measured", 0), ("declared", 1)])
def test_an_implied_reference_is_linked_only_if_it_is_declared(origin: str, links: int) -> None:
    implied = reference("orders", "c", "customer", "id", implied=True, origin=origin)
    model = vault(source(f"{TWO_HUBS} orders *id, c, note text", implied))
    assert len(model.links) == links


def test_a_subtypes_reference_starts_from_the_supertypes_hub() -> None:
    result = only_link(f"{TWO_HUBS} vip *customer_id > customer, gift_id > product, lounge text")
    assert [end.hub for end in result.hubs] == ["hub_customer", "hub_product"]
    assert result.hubs[0].columns == ("customer_id",)


def test_a_reference_to_a_subtype_has_the_subtype_as_its_role() -> None:
    model = vault(
        source(f"""{TWO_HUBS}
            vip  *customer_id > customer, lounge text
            gift *id, given_to > vip, label text
        """)
    )
    end = link(model, "lnk_gift_vip").hubs[1]
    assert (end.hub, end.role, end.hash_key) == ("hub_customer", "vip", "customer_vip_hk")


RESULTS = """
    race   *race_id, title text, held date
    driver *driver_id, forename text, surname text
    result *result_id, race_id/90 > race, driver_id/40 > driver, lap/9, points decimal
"""


def results(*unique: str, rows: int = 500) -> DataVaultModel:
    """The vault of results, of which the data shows that the columns are unique together."""
    keys = (("result_id",), unique)
    return vault(changed(source(RESULTS, rows=rows), "result", candidate_keys=keys))


def test_what_a_link_relates_identifies_its_rows_before_a_number_of_the_source() -> None:
    model = results("race_id", "driver_id")
    result = link(model, "tl_result")
    assert result.dependent_child_keys == ()
    assert "No two rows have the same race_id and driver_id, so that result_id" in result.reason
    assert "told apart by result_id" in [each.choice for each in result.alternatives]
    (satellite,) = (each for each in model.satellites if each.parent == "tl_result")
    assert "result_id" in satellite.columns


@pytest.mark.parametrize(
    ("unique", "rows"),
    [(("race_id", "points"), 500), (("race_id", "driver_id"), 60)],
    ids=["a measure", "too few rows"],
)
def test_a_number_of_the_source_stays_where_nothing_else_identifies_for_sure(
    unique: tuple[str, ...], rows: int
) -> None:
    result = link(results(*unique, rows=rows), "tl_result")
    assert result.dependent_child_keys == ("result_id",)
