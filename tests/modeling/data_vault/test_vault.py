"""How a vault is drawn: which table becomes what, on which key, and why."""

import pytest

from fluid_build.modeling.data_vault.elements import DataVaultModel, Hub, Link, Satellite
from fluid_build.modeling.techniques import build_model
from fluid_build.profiling.profile import ForeignKey, KeyClaim, Profile, TableProfile
from tests.modeling.profiles import column, profile, reference, table


def vault(*parts: TableProfile | ForeignKey, **more: object) -> DataVaultModel:
    """The vault of tables and references."""
    tables = [part for part in parts if isinstance(part, TableProfile)]
    keys = [part for part in parts if isinstance(part, ForeignKey)]
    model = build_model(profile(*tables, foreign_keys=keys, **more), "data_vault_2")
    assert model.dv2 is not None
    return model.dv2


def keyed(name: str, *columns: str, key: str = "id", **more: object) -> TableProfile:
    """A table of whole numbers and of text (``name:text``), with a declared primary key."""
    made = [
        column(bare, "VARCHAR" if kind == "text" else "BIGINT")
        for bare, _, kind in (part.partition(":") for part in columns)
    ]
    names = key.split()
    own = [column(one) for one in names if one not in {c.name for c in made}]
    evidence = {"origin": "declared", "rows": 100}
    claims = [{"columns": names, "evidence": evidence}, *more.pop("unique", [])]  # type: ignore[misc]
    return table(name, *own, *made, primary_key=names, declared_keys=claims, **more)


def unique(column_: str, **evidence: object) -> dict[str, object]:
    """A declared unique key."""
    return {"columns": [column_], "evidence": {"origin": "declared", "rows": 100, **evidence}}


def hub(found: DataVaultModel, name: str) -> Hub:
    return found.hub(name)


def link(found: DataVaultModel, name: str) -> Link:
    (one,) = (one for one in found.links if one.name == name)
    return one


def satellite(found: DataVaultModel, name: str) -> Satellite:
    (one,) = (one for one in found.satellites if one.name == name)
    return one


def relations(found: DataVaultModel) -> set[str]:
    """The names of all relations but those that only tell since when a reference stands."""
    return {
        *(one.name for one in found.hubs),
        *(one.name for one in found.links),
        *(one.name for one in found.satellites if not one.name.startswith("eff_sat_")),
        *(one.name for one in found.reference_tables),
        *(one.name for one in found.keyless_tables),
    }


CUSTOMER = keyed("customer", "name:text", "city:text", "street:text")
PRODUCT = keyed("product", "title:text", "price", "size:text")
ORDERS = keyed("orders", "customer_id", "ordered:text")
ORDERED_BY = reference("orders", "customer_id", "customer", "id")


def test_an_entity_is_a_hub_a_satellite_and_a_link_for_each_reference() -> None:
    """What refers is in the link, what describes in the satellite, what identifies in the hub."""
    found = vault(CUSTOMER, ORDERS, ORDERED_BY)
    assert relations(found) == {
        "hub_customer",
        "sat_customer",
        "hub_orders",
        "sat_orders",
        "lnk_orders_customer",
    }
    assert satellite(found, "sat_orders").columns == ("ordered",)
    assert satellite(found, "sat_customer").columns == ("name", "city", "street")
    assert [one.columns for one in link(found, "lnk_orders_customer").hubs] == [
        ("id",),
        ("customer_id",),
    ]


def test_a_hub_is_fed_by_every_table_that_holds_its_key() -> None:
    """So that an orphan is in the hub as well."""
    found = vault(CUSTOMER, ORDERS, ORDERED_BY)
    assert hub(found, "hub_customer").mapped_source_tables == ("customer", "orders")


def test_every_piece_says_where_it_came_from_and_why() -> None:
    """Tables, columns and a sentence."""
    lines = keyed("line", "order_id", "product_id", "quantity", key="order_id no")
    found = vault(
        CUSTOMER,
        ORDERS,
        PRODUCT,
        lines,
        ORDERED_BY,
        reference("line", "order_id", "orders", "id"),
        reference("line", "product_id", "product", "id"),
    )
    for piece in (*found.hubs, *found.links, *found.satellites):
        assert piece.mapped_source_tables
        assert piece.reason.endswith(".")
    for piece in (*found.hubs, *found.links):
        assert piece.source_columns


@pytest.mark.parametrize("name", ["sku", "product_code", "articleNumber", "isbn", "vin", "barcode"])
def test_a_declared_code_is_preferred_to_a_surrogate(name: str) -> None:
    """It is what people call the thing by; the surrogate becomes a column like others."""
    found = vault(keyed("product", f"{name}:text", "title:text", unique=[unique(name)]))
    product = hub(found, "hub_product")
    assert (product.business_key_columns, product.business_key_kind) == ((name,), "natural")
    assert "id" in satellite(found, "sat_product").columns
    assert f"{name} is preferred to id" in product.reason


@pytest.mark.parametrize(
    ("name", "facts"),
    [
        ("email", {"semantic_type": "email", "pii": True}),
        ("phone_number", {"semantic_type": "phone", "pii": True}),
        ("social_security_no", {"semantic_type": "national_id", "pii": True}),
        ("name", {}),
        ("faxnumber", {}),
        ("row_number", {}),
        ("title", {}),
        ("code", {"nulls": 3}),
    ],
)
def test_what_is_no_code_of_the_thing_leaves_the_surrogate(
    name: str, facts: dict[str, object]
) -> None:
    """Personal data, names, numbers of something else, and codes that may be missing."""
    evidence = {"nulls": facts.get("nulls", 0)}
    person = table(
        "person",
        column("id"),
        column(name, "VARCHAR", **facts),
        primary_key=["id"],
        declared_keys=[
            {"columns": ["id"], "evidence": {"origin": "declared", "rows": 100}},
            unique(name, **evidence),
        ],
    )
    found = hub(vault(person), "hub_person")
    assert (found.business_key_columns, found.business_key_kind) == (("id",), "surrogate")


@pytest.mark.parametrize(("rows", "chosen"), [(99, ("id",)), (100, ("code",))])
def test_a_measured_code_needs_a_hundred_rows(rows: int, chosen: tuple[str, ...]) -> None:
    """Fewer rows are unique by accident."""
    columns = [
        column(n, t, rows=rows, distinct=rows) for n, t in (("id", "BIGINT"), ("code", "VARCHAR"))
    ]
    thing = table("thing", *columns, primary_key=["id"], candidate_keys=[["id"], ["code"]])
    assert hub(vault(thing), "hub_thing").business_key_columns == chosen


@pytest.mark.parametrize(
    ("code", "beside", "chosen"),
    [
        ("concept_code", "vocabulary_id", "id"),
        ("product_no", "tenant", "id"),
        ("isbn", "catalogue", "isbn"),
        ("concept_code", "category_id", "concept_code"),
    ],
)
def test_a_measured_code_that_may_be_one_of_several_lists_leaves_the_surrogate(
    code: str, beside: str, chosen: str
) -> None:
    """Each vocabulary gives out its own codes; a book's number is the same in every catalogue."""
    columns = [column("id"), column(code, "VARCHAR"), column(beside, "VARCHAR", distinct=2)]
    thing = table("thing", *columns, primary_key=["id"], candidate_keys=[["id"], [code]])
    found = hub(vault(thing), "hub_thing")
    assert found.business_key_columns == (chosen,)
    if chosen == "id":
        assert f"{code} may be unique only within one {beside}" in found.reason


def test_a_reference_to_a_surrogate_looks_the_natural_key_up() -> None:
    """And the referring column stays in the satellite, so that nothing hangs on the lookup."""
    found = vault(
        keyed("product", "sku:text", "title:text", unique=[unique("sku")]),
        keyed("review", "product_id", "stars"),
        reference("review", "product_id", "product", "id"),
    )
    end = link(found, "lnk_review_product").hubs[1]
    assert end.lookup is not None
    assert (end.lookup.match, end.lookup.found) == (("id",), ("sku",))
    assert satellite(found, "sat_review").columns == ("product_id", "stars")


def test_tables_that_share_a_surrogate_keep_it_for_their_hub() -> None:
    """A subtype knows no other key, and the reason says so."""
    found = vault(
        keyed("product", "sku:text", "title:text", unique=[unique("sku")]),
        keyed("book", "pages", key="product_id"),
        reference("book", "product_id", "product", "id"),
    )
    product = hub(found, "hub_product")
    assert product.business_key_columns == ("id",)
    assert "sku" in product.reason and "book" in product.reason
    assert satellite(found, "sat_book").parent == "hub_product"
    assert relations(found) == {"hub_product", "sat_product", "sat_book"}


def test_a_chain_of_subtypes_hangs_on_the_hub_at_its_end() -> None:
    """And its references are links of that hub, in the role of the subtype that is meant."""
    found = vault(
        keyed("party", "label:text", "a:text", "b:text"),
        keyed("person", "born:text", key="party_id"),
        keyed("employee", "salary", "boss_id", key="person_id"),
        reference("person", "party_id", "party", "id"),
        reference("employee", "person_id", "person", "party_id"),
        reference("employee", "boss_id", "employee", "person_id"),
    )
    assert [one.name for one in found.hubs] == ["hub_party"]
    assert satellite(found, "sat_employee").parent == "hub_party"
    boss = link(found, "hal_employee_boss")
    assert boss.link_type == "hierarchical"
    assert [one.hub for one in boss.hubs] == ["hub_party", "hub_party"]


def test_a_table_of_two_keys_is_a_link() -> None:
    """What it holds beside them is a satellite of the link."""
    found = vault(
        CUSTOMER,
        PRODUCT,
        keyed("rating", "stars", key="customer_id product_id"),
        reference("rating", "customer_id", "customer", "id"),
        reference("rating", "product_id", "product", "id"),
    )
    assert [one.hub for one in link(found, "lnk_rating").hubs] == ["hub_customer", "hub_product"]
    assert satellite(found, "sat_rating").parent == "lnk_rating"
    assert satellite(found, "sat_rating").columns == ("stars",)


def test_a_table_that_only_relates_is_a_link_whatever_its_data_show() -> None:
    """No film has two categories yet, but the table has nothing else to say."""
    film = keyed("film", "title:text", "a:text", "b:text")
    category = keyed("category", "name:text")
    relation = keyed("film_category", "category_id", key="film_id")
    found = vault(
        film,
        category,
        relation,
        reference("film_category", "film_id", "film", "id"),
        reference("film_category", "category_id", "category", "id"),
    )
    assert [one.hub for one in link(found, "lnk_film_category").hubs] == [
        "hub_film",
        "hub_category",
    ]
    assert satellite(found, "eff_sat_film_category").kind == "effectivity"


def test_lines_are_a_transactional_link_with_a_dependent_child_key() -> None:
    """The grain is the line; the header and what is sold are its hubs."""
    found = vault(
        ORDERS,
        PRODUCT,
        CUSTOMER,
        ORDERED_BY,
        keyed("line", "product_id", "quantity", key="order_id no"),
        reference("line", "order_id", "orders", "id"),
        reference("line", "product_id", "product", "id"),
    )
    lines = link(found, "tl_line")
    assert lines.link_type == "transactional"
    assert lines.dependent_child_keys == ("no",)
    assert {one.hub for one in lines.hubs} == {"hub_orders", "hub_product"}


def test_a_surrogate_of_an_event_is_its_dependent_child_key() -> None:
    """An event between two things is no thing itself, as long as nothing refers to it."""
    parts = (
        CUSTOMER,
        PRODUCT,
        keyed("sale", "customer_id", "product_id", "amount"),
        reference("sale", "customer_id", "customer", "id"),
        reference("sale", "product_id", "product", "id"),
    )
    sale = link(vault(*parts), "tl_sale")
    assert sale.dependent_child_keys == ("id",)
    refund = keyed("refund", "sale_id", "why:text")
    referred = vault(*parts, refund, reference("refund", "sale_id", "sale", "id"))
    assert {"hub_sale", "lnk_sale_customer", "lnk_sale_product"} <= relations(referred)


def test_a_link_table_that_is_referred_to_is_a_hub_on_its_whole_key() -> None:
    """Composite parents are referred to whole."""
    found = vault(
        CUSTOMER,
        PRODUCT,
        keyed("offer", "price", key="customer_id product_id"),
        keyed("bid", "c", "p", "amount"),
        reference("offer", "customer_id", "customer", "id"),
        reference("offer", "product_id", "product", "id"),
        reference("bid", "c p", "offer", "customer_id product_id"),
    )
    assert hub(found, "hub_offer").business_key_columns == ("customer_id", "product_id")
    assert {"lnk_offer_customer", "lnk_offer_product", "lnk_bid_offer"} <= relations(found)
    assert link(found, "lnk_bid_offer").hubs[1].columns == ("c", "p")


def test_columns_pair_with_the_parent_s_key_in_its_order() -> None:
    """A reference that lists a composite key the other way round is turned."""
    found = vault(
        keyed("site", "label:text", "a:text", key="region no"),
        keyed("visit", "x", "y", "note:text"),
        reference("visit", "x y", "site", "no region"),
    )
    assert link(found, "lnk_visit_site").hubs[1].columns == ("y", "x")
    assert satellite(found, "sat_visit").columns == ("x", "y", "note")


def test_several_rows_of_one_parent_are_a_multi_active_satellite() -> None:
    """They have no identity without it, and nothing else refers to them."""
    found = vault(
        CUSTOMER,
        keyed("phone", "digits:text", key="customer_id kind"),
        reference("phone", "customer_id", "customer", "id"),
    )
    phones = satellite(found, "msat_phone")
    assert (phones.parent, phones.multi_active_keys) == ("hub_customer", ("kind",))
    assert phones.columns == ("digits",)


def test_a_relationship_over_time_is_a_link_with_a_date_as_its_child_key() -> None:
    """It measures nothing and may be corrected: no transaction, but a link with several rows."""
    found = vault(
        CUSTOMER,
        PRODUCT,
        table(
            "lease",
            column("customer_id"),
            column("product_id"),
            column("since", "DATE"),
            column("until", "DATE", nulls=9),
            primary_key=["customer_id", "product_id", "since"],
        ),
        reference("lease", "customer_id", "customer", "id"),
        reference("lease", "product_id", "product", "id"),
    )
    lease = link(found, "lnk_lease")
    assert (lease.link_type, lease.dependent_child_keys) == ("standard", ("since",))


def test_a_key_that_is_another_table_s_second_key_makes_a_hub_of_its_own() -> None:
    """It does not lead to the other's hub by itself, so it is linked to it."""
    found = vault(
        keyed("member", "code:text", "name:text", unique=[unique("code")]),
        keyed("card", "colour:text", key="member_code"),
        keyed("party", "x:text", key="member_id"),
        reference("card", "member_code", "member", "code"),
        reference("party", "member_id", "member", "id"),
    )
    assert {"hub_member", "hub_card", "lnk_card_member", "sat_party"} <= relations(found)


def test_a_short_list_of_codes_is_a_reference_table() -> None:
    """Its codes stay where they are used, and no link leads to it."""
    codes = [
        column("code", "VARCHAR", rows=40, distinct=40, max_length=2),
        column("label", "VARCHAR", rows=40, distinct=40),
    ]
    colours = table("colour", *codes, primary_key=["code"])
    found = vault(
        colours,
        keyed("shirt", "colour_code:text", "size:text"),
        reference("shirt", "colour_code", "colour", "code"),
    )
    (ref,) = found.reference_tables
    assert (ref.name, ref.key_columns, ref.columns) == ("ref_colour", ("code",), ("label",))
    assert found.links == ()
    assert satellite(found, "sat_shirt").columns == ("colour_code", "size")


def test_a_list_that_things_are_sorted_into_is_a_hub() -> None:
    """What is part of another table's key takes part in a relationship."""
    found = vault(
        keyed("playlist", "name:text", rows=10),
        keyed("track", "title:text", "a:text", "b:text"),
        keyed("entry", key="playlist_id track_id"),
        reference("entry", "playlist_id", "playlist", "id"),
        reference("entry", "track_id", "track", "id"),
    )
    assert found.reference_tables == ()
    assert "hub_playlist" in relations(found)


def test_states_are_parted_from_what_stays() -> None:
    """A balance moves with every transaction, a name with a correction."""
    account = keyed("account", "owner:text", "branch:text", "kind:text", "balance", "status:text")
    found = vault(account)
    slow, fast = satellite(found, "sat_account"), satellite(found, "sat_account_state")
    assert (slow.columns, slow.rate_of_change) == (("owner", "branch", "kind"), "slow")
    assert (fast.columns, fast.rate_of_change) == (("balance", "status"), "fast")


def test_an_unknown_rate_of_change_is_said_to_be_unknown() -> None:
    """One look at the data shows no rate."""
    (only,) = vault(CUSTOMER).satellites
    assert only.rate_of_change == "unknown"


def test_duplicates_of_a_thing_are_a_same_as_link() -> None:
    """Where a column says that one row is another."""
    found = vault(
        keyed("contact", "duplicate_of_id", "name:text"),
        reference("contact", "duplicate_of_id", "contact", "id"),
    )
    (same,) = found.links
    assert (same.link_type, same.name[:4]) == ("same-as", "sal_")


def test_a_table_without_a_key_is_kept_with_the_hubs_it_refers_to() -> None:
    """Its columns are all kept, and the hub's hash key beside them."""
    log = table("log", column("customer_id"), column("text", "VARCHAR"))
    found = vault(CUSTOMER, log, reference("log", "customer_id", "customer", "id"))
    (kept,) = found.keyless_tables
    assert kept.columns == ("customer_id", "text")
    assert [one.hub for one in kept.hubs] == ["hub_customer"]


def test_implied_references_are_not_drawn() -> None:
    """What follows from other references is no relationship of its own, and stays a column."""
    found = vault(CUSTOMER, ORDERS, ORDERED_BY.model_copy(update={"implied": True}))
    assert found.links == ()
    assert satellite(found, "sat_orders").columns == ("customer_id", "ordered")


def test_a_reference_to_what_is_no_key_is_not_drawn() -> None:
    """There is no one row that it could lead to."""
    found = vault(CUSTOMER, ORDERS, reference("orders", "customer_id", "customer", "city"))
    assert found.links == ()


def test_a_violated_key_is_replaced_by_a_declared_one_that_holds() -> None:
    """And without one, rows are kept as they are."""
    broken = KeyClaim.model_validate(
        {"columns": ["id"], "evidence": {"origin": "declared", "rows": 100, "violations": 2}}
    )
    rows = [column("id", distinct=99), column("no")]
    holds = KeyClaim.model_validate(unique("no"))
    one = table("t", *rows, primary_key=["id"], declared_keys=[broken, holds])
    assert hub(vault(one), "hub_t").business_key_columns == ("no",)
    other = table("t", *rows, primary_key=["id"], declared_keys=[broken])
    assert relations(vault(other)) == {"psa_t"}


def test_structure_without_data_is_modelled_by_what_it_declares() -> None:
    """Of DDL nothing is known to be small, so that there are no code lists."""
    empty = [
        one.model_copy(
            update={
                "rows": 0,
                "columns": tuple(
                    c.model_copy(update={"rows": 0, "distinct": 0}) for c in one.columns
                ),
            }
        )
        for one in (CUSTOMER, ORDERS)
    ]
    found = vault(*empty, ORDERED_BY, has_data=False, source_kind="ddl")
    assert relations(found) >= {"hub_customer", "hub_orders", "lnk_orders_customer"}


@pytest.mark.parametrize("alias", ["data_vault_2", "dv2", "data vault", "vault", "Data-Vault-2.0"])
def test_the_technique_goes_by_its_usual_names(alias: str) -> None:
    """All of them build the same model."""
    measured: Profile = profile(CUSTOMER)
    assert build_model(measured, alias) == build_model(measured, "data_vault_2")
