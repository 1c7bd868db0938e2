"""Satellites: each table's payload, its history, and what isn't left to a hub."""

import pytest

from fluid_build.decisions.model_decisions import ModelDecisions
from fluid_build.modeling.data_vault.builder import data_vault
from fluid_build.modeling.data_vault.elements import HashKeyStrategy
from fluid_build.modeling.entities import conceptual_model
from fluid_build.observations.date_orders import DateOrder
from fluid_build.observations.observe import Observations
from fluid_build.profiling.profile import Profile
from tests.modeling.profiles import reference
from tests.modeling.sources import changed_column, link, satellite, source, vault

HUBS = """
    customer *id, name text, city text, street text
    product  *id, title text, size text, colour text
"""


def test_the_payload_is_what_no_hub_gives_back() -> None:
    result = satellite(
        vault(source(f"{HUBS} orders *id, customer_id > customer, note text, total decimal")),
        "sat_orders",
    )
    assert result.columns == ("note", "total")
    assert (result.parent, result.hash_key, result.kind) == (
        "hub_orders",
        "orders_hk",
        "descriptive",
    )


def test_a_satellite_of_a_hub_says_by_which_columns_rows_reach_it() -> None:
    via = satellite(vault(source(HUBS)), "sat_customer").via
    assert via is not None and (via.hub, via.columns) == ("hub_customer", ("id",))


def test_a_reference_that_is_looked_up_stays_in_the_payload() -> None:
    measured = source(f"{HUBS} orders *id, customer_id > customer, note text")
    measured = changed_column(measured, "orders", "customer_id", type="VARCHAR")
    assert satellite(vault(measured), "sat_orders").columns == ("customer_id", "note")


def test_a_composite_reference_outside_the_key_stays_in_the_payload() -> None:
    """A row that has only a part of it reaches no hub, which couldn't give the part back."""
    composite = reference("visit", "a b", "site", "region no")
    schema = "site *region, *no, label text\nvisit *id, a, b, title text, note text"
    model = vault(source(schema, composite))
    assert satellite(model, "sat_visit").columns == ("a", "b", "title", "note")


def test_a_composite_reference_inside_the_key_is_left_to_the_hub() -> None:
    composite = reference("photo", "a b", "site", "region no")
    model = vault(source("site *region, *no, label text\nphoto *a, *b, *taken, u text", composite))
    result = satellite(model, "msat_photo")
    assert (result.multi_active_keys, result.columns) == (("taken",), ("u",))


def test_upper_case_hash_keys_keep_text_keys_in_the_payload() -> None:
    """A key in capital letters doesn't say how it was written."""
    measured = source("product *sku text, title text\nplace *no, name text")
    upper = vault(measured, HashKeyStrategy(case="upper"))
    assert satellite(upper, "sat_product").columns == ("sku", "title")
    assert satellite(upper, "sat_place").columns == ("name",)
    assert satellite(vault(measured), "sat_product").columns == ("title",)


def test_a_table_of_a_key_alone_has_an_effectivity_satellite() -> None:
    result = satellite(vault(source("tag *id\nnote *id, tag_id > tag, body text")), "eff_sat_tag")
    assert (result.kind, result.columns) == ("effectivity", ())
    assert (
        result.reason
        == "tag has no descriptive columns; this records when each row appeared and disappeared."
    )


def test_each_link_of_a_reference_has_an_effectivity_satellite() -> None:
    model = vault(source(f"{HUBS} orders *id, customer_id > customer, note text"))
    result = satellite(model, "eff_sat_orders_customer")
    assert (result.kind, result.parent, result.columns) == (
        "effectivity",
        "lnk_orders_customer",
        (),
    )
    assert result.reason == (
        "The driving key is orders_hk: where the reference changes, the old one ends and a new one"
        " starts."
    )


def test_a_link_table_has_one_satellite_without_its_references_and_keys() -> None:
    schema = f"{HUBS} line *customer_id > customer, *no/5, product_id > product, price decimal"
    model = vault(source(schema))
    result = satellite(model, "sat_line")
    assert (result.parent, result.columns) == ("tl_line", ("price",))
    assert result.reason == "The columns of line other than references and keys."
    assert [s.name for s in model.satellites if s.parent == "tl_line"] == ["sat_line"]


def test_a_multi_active_satellite_belongs_to_the_parents_hub() -> None:
    schema = f"{HUBS} phone *customer_id > customer, *kind/3, digits text"
    result = satellite(vault(source(schema)), "msat_phone")
    assert (result.parent, result.multi_active_keys, result.columns) == (
        "hub_customer",
        ("kind",),
        ("digits",),
    )
    assert result.via is not None and not result.via.optional


def test_a_multi_active_satellite_by_a_lookup_sends_orphans_to_the_ghost() -> None:
    measured = source(f"{HUBS} phone *customer_id > customer, *kind/3, digits text")
    measured = changed_column(measured, "phone", "customer_id", type="VARCHAR")
    model = vault(measured)
    result = satellite(model, "msat_phone")
    assert result.via is not None and result.via.optional
    assert model.hub("hub_customer").has_ghost
    assert result.multi_active_keys == ("kind",)


def test_orphans_are_distinguished_by_the_columns_that_found_no_hub() -> None:
    schema = f"{HUBS} phone *customer_id, *kind/3, digits text"
    measured = source(schema, reference("phone", "customer_id", "customer", "id", orphans=3))
    measured = changed_column(measured, "phone", "customer_id", type="VARCHAR")
    result = satellite(vault(measured), "msat_phone")
    assert result.multi_active_keys == ("customer_id", "kind")


def test_the_points_of_a_shape_are_a_multi_active_satellite_of_the_shape() -> None:
    model = vault(source("shapes *shape_id text/9, *shape_pt_sequence/80, lat double, lon double"))
    assert model.hub("hub_shapes").business_key_columns == ("shape_id",)
    result = satellite(model, "msat_shapes")
    assert (result.parent, result.multi_active_keys) == ("hub_shapes", ("shape_pt_sequence",))
    assert result.columns == ("lat", "lon")


def test_versions_are_a_multi_active_satellite_that_keeps_its_references() -> None:
    model = vault(source(f"{HUBS} {VERSIONS} sale *item_sk > item, *ticket_no, amount decimal"))
    assert model.hub("hub_item").business_key_columns == ("item_id",)
    result = satellite(model, "msat_item")
    assert result.multi_active_keys == ("item_sk",)
    assert result.columns == ("start_date", "end_date", "customer_id", "size")
    assert link(model, "tl_sale").dependent_child_keys == ("item_sk", "ticket_no")


VERSIONS = (
    """item *item_sk, item_id text/60, start_date date/9, end_date date?/9,
""".strip()
    + " customer_id > customer, size text\n"
)


def test_a_subtypes_satellite_says_what_it_is_a_subtype_of() -> None:
    result = satellite(vault(source(f"{HUBS} vip *customer_id > customer, lounge text")), "sat_vip")
    assert result.parent == "hub_customer"
    assert result.reason.startswith("A subtype of customer: ")


ACCOUNT = "account *id, owner text, branch text, kind text"


@pytest.mark.parametrize(
    ("columns", "fast"),
    [
        ("balance", ("balance",)),
        ("units_in_stock", ("units_in_stock",)),
        ("status text", ("status",)),
        ("order_status/4", ("order_status",)),
        ("status text, updated_at timestamp", ("status", "updated_at")),
    ],
)
def test_levels_and_status_have_a_satellite_of_their_own(
    columns: str, fast: tuple[str, ...]
) -> None:
    model = vault(source(f"{ACCOUNT}, {columns}"))
    slow_satellite = satellite(model, "sat_account")
    fast_satellite = satellite(model, "sat_account_state")
    assert (fast_satellite.columns, fast_satellite.rate_of_change) == (fast, "fast")
    assert (slow_satellite.columns, slow_satellite.rate_of_change) == (
        ("owner", "branch", "kind"),
        "slow",
    )
    assert slow_satellite.reason == fast_satellite.reason
    assert "with events, the others less often." in fast_satellite.reason


@pytest.mark.parametrize(("is_recent", "parts"), [(True, 2), (False, 1)])
def test_a_date_that_the_youngest_rows_lack_changes_with_events(
    *, is_recent: bool, parts: int
) -> None:
    """It's filled in as things go on; one that rows of any age lack is a remark."""
    order = DateOrder("account", "opened", "checked", 60, 60, 10, 0, open_is_recent=is_recent)
    observed = Observations(date_orders=(order,))
    measured = source(f"{ACCOUNT}, opened date, checked date?")
    model = vault(measured, observations=observed)
    assert len(model.satellites) == parts
    if is_recent:
        assert satellite(model, "sat_account_state").columns == ("checked",)


def test_the_dates_of_what_has_a_status_change_with_it() -> None:
    """Cancelled bookings are of any age, and which are confirmed changes as the status does."""
    orders = tuple(
        DateOrder("account", "opened", later, 60, 60, 10, 0, open_is_recent=later == "checked")
        for later in ("checked", "cancelled_at", "closed_until")
    )
    columns = "opened date, checked date?, cancelled_at date?, closed_until date?, status text"
    model = vault(source(f"{ACCOUNT}, {columns}"), observations=Observations(date_orders=orders))
    assert satellite(model, "sat_account_state").columns == ("checked", "cancelled_at", "status")


@pytest.mark.parametrize(
    "columns",
    [
        "balance_date date", "marital_status text", "maritalstatus text", "updated_at timestamp",
        "amount decimal", "status_date date", "teu_capacity",
    ],
)  # fmt: skip
def test_what_is_no_level_or_status_doesnt_divide_a_satellite(columns: str) -> None:
    (result,) = vault(source(f"{ACCOUNT}, {columns}")).satellites
    assert result.rate_of_change == "unknown"
    assert "no column is known to change more often than the others" in result.reason


def test_two_slow_columns_arent_worth_a_satellite() -> None:
    (result,) = vault(source("account *id, owner text, branch text, balance")).satellites
    assert result.columns == ("owner", "branch", "balance")


def personal(measured: Profile, table: str, *columns: str) -> Profile:
    for column in columns:
        measured = changed_column(measured, table, column, pii=True)
    return measured


def test_personal_data_has_a_satellite_of_its_own() -> None:
    model = vault(personal(source(HUBS), "customer", "name", "street"))
    others, own = satellite(model, "sat_customer"), satellite(model, "sat_customer_personal")
    assert (others.columns, own.columns) == (("city",), ("name", "street"))
    assert (own.parent, own.hash_key, own.via) == ("hub_customer", "customer_hk", others.via)
    assert own.reason == (
        "Personal data of customer in a satellite of its own, so that a person can be erased"
        " without losing the history of the other columns: name and street."
    )
    assert others.reason.startswith("All other descriptive columns of customer in one satellite: ")


def marked(schema: str, table: str, **types: str) -> Profile:
    """The profile with columns that are marked as personal data of a type."""
    measured = source(schema)
    for column, type_ in types.items():
        measured = changed_column(measured, table, column, pii=True, semantic_type=type_)
    return measured


STORE = "store *id, name text, street text, lat double, call text, mail text, opened date"


def test_where_a_shop_is_and_how_it_is_reached_is_no_data_of_a_person() -> None:
    measured = marked(STORE, "store", street="address", lat="latitude", call="phone", mail="email")
    assert [each.name for each in vault(measured).satellites] == ["sat_store"]


def test_somebody_to_contact_is_a_person_and_is_reached_by_the_number_beside_the_name() -> None:
    schema = STORE.replace("name text", "name text, contact text")
    measured = marked(schema, "store", contact="person_name", street="address", call="phone")
    assert satellite(vault(measured), "sat_store_personal").columns == ("contact", "call")


@pytest.mark.parametrize(
    ("table", "name", "personal_columns"),
    [
        ("customer", "name text", ("street",)),  # a person or a company: nobody knows
        ("customer", "company text", ()),
        ("customer", "company text?", ("street",)),  # those without one are people
        ("supplier", "company text", ()),
        ("employee", "name text", ("street",)),
        ("place", "note text", ("street",)),  # where people live, perhaps
    ],
)
def test_an_address_is_a_persons_unless_each_row_is_a_shop_or_a_company(
    table: str, name: str, personal_columns: tuple[str, ...]
) -> None:
    schema = f"{table} *id, {name}, street text, room text, colour text"
    model = vault(marked(schema, table, street="address"))
    personal = [s.columns for s in model.satellites if s.name.endswith("_personal")]
    assert personal == ([personal_columns] if personal_columns else [])


def test_what_a_person_is_like_is_personal_beside_the_name() -> None:
    columns = "name text, gender text/2, marital_status text/4, birth_place text, hired date"
    people = source(f"employee *id, {columns}")
    named = changed_column(people, "employee", "name", pii=True, semantic_type="person_name")
    assert satellite(vault(named), "sat_employee_personal").columns == (
        *("name", "gender", "marital_status", "birth_place"),
    )
    assert not any(s.name.endswith("_personal") for s in vault(people).satellites)


def test_a_decided_mark_counts_wherever_it_is() -> None:
    measured = marked(STORE, "store", street="address", lat="latitude")
    decided = ModelDecisions(personal=frozenset({("store", "lat")}))
    model = data_vault(measured, conceptual_model(measured), decisions=decided)
    assert satellite(model, "sat_store_personal").columns == ("lat",)


def test_personal_data_alone_stays_in_one_satellite() -> None:
    model = vault(personal(source(HUBS), "customer", "name", "city", "street"))
    assert satellite(model, "sat_customer").columns == ("name", "city", "street")
    assert len(model.satellites) == 2


def test_personal_data_is_neither_slow_nor_fast() -> None:
    model = vault(personal(source(f"{ACCOUNT}, iban text, balance"), "account", "iban"))
    assert [(each.name, each.columns, each.rate_of_change) for each in model.satellites] == [
        ("sat_account", ("owner", "branch", "kind"), "slow"),
        ("sat_account_state", ("balance",), "fast"),
        ("sat_account_personal", ("iban",), "unknown"),
    ]


def test_personal_data_of_a_link_has_a_satellite_of_its_own() -> None:
    schema = f"{HUBS} delivery *customer_id > customer, *product_id > product, day date, phone text"
    model = vault(personal(source(schema), "delivery", "phone"))
    own, others = satellite(model, "sat_delivery_personal"), satellite(model, "sat_delivery")
    assert (others.columns, own.columns) == (("day",), ("phone",))
    assert (own.parent, own.hash_key) == (others.parent, others.hash_key)
    assert others.reason == "The columns of delivery other than references, keys and personal data."
