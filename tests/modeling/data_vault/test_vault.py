"""The vault as a whole: what a source becomes, fed from where, and why."""

import pytest

from fluid_build.modeling.data_vault.elements import DataVaultModel, HashKeyStrategy
from fluid_build.modeling.techniques import build_model
from fluid_build.observations.aggregates import Aggregate
from fluid_build.observations.observe import Observations
from fluid_build.observations.shared_identifiers import (
    IdentifierUse,
    PartOfKeyReference,
    SplitReference,
    UnlistedIdentifier,
)
from fluid_build.profiling.profile import Profile
from tests.modeling.profiles import reference
from tests.modeling.sources import changed, changed_column, link, satellite, source, vault

SHOP = """
    customer *id, name text, city text, street text
    product  *id, title text, price decimal, size text
    orders   *id, customer_id > customer, ordered text
"""


def relations(model: DataVaultModel) -> set[str]:
    """The names of all relations but the effectivity satellites."""
    return {
        *(hub.name for hub in model.hubs),
        *(link.name for link in model.links),
        *(s.name for s in model.satellites if s.kind == "descriptive"),
        *(table.name for table in model.reference_tables),
        *(table.name for table in model.keyless_tables),
    }


def with_unique(measured: Profile, table: str, column: str) -> Profile:
    """The profile with a column that turned out to be unique."""
    keys = (*measured.table(table).candidate_keys, (column,))
    return changed(measured, table, candidate_keys=keys)


def test_an_entity_is_a_hub_a_satellite_and_a_link_for_each_reference() -> None:
    """Keys go to the hub, references to the link, and the payload to the satellite."""
    model = vault(source(SHOP))
    assert relations(model) == {
        *("hub_customer", "sat_customer", "hub_product", "sat_product"),
        *("hub_orders", "sat_orders", "lnk_orders_customer"),
    }
    assert satellite(model, "sat_orders").columns == ("ordered",)
    assert [end.columns for end in link(model, "lnk_orders_customer").hubs] == [
        ("id",),
        ("customer_id",),
    ]


def test_a_hub_is_fed_by_every_table_that_has_its_key() -> None:
    """So an orphan is in the hub as well."""
    assert vault(source(SHOP)).hub("hub_customer").mapped_source_tables == ("customer", "orders")


def test_every_element_says_where_it_came_from_and_why() -> None:
    model = vault(
        source(f"{SHOP} line *order_id > orders, *no, product_id > product, quantity/9 1-900")
    )
    for element in (*model.hubs, *model.links, *model.satellites):
        assert element.mapped_source_tables
        assert element.reason.endswith(".")
    for element in (*model.hubs, *model.links):
        assert element.source_columns


@pytest.mark.parametrize(("rows", "chosen"), [(99, ("id",)), (100, ("batch_code",))])
def test_a_measured_code_named_for_something_else_needs_a_hundred_rows(
    rows: int, chosen: tuple[str, ...]
) -> None:
    """In fewer rows, many columns are unique by accident."""
    measured = with_unique(source("part *id, batch_code text", rows=rows), "part", "batch_code")
    assert vault(measured).hub("hub_part").business_key_columns == chosen


def test_a_surrogate_key_that_lost_to_a_natural_one_is_payload() -> None:
    model = vault(with_unique(source("product *id, sku text, title text"), "product", "sku"))
    assert model.hub("hub_product").business_key_columns == ("sku",)
    assert satellite(model, "sat_product").columns == ("id", "title")


def test_a_reference_to_a_surrogate_key_looks_up_the_natural_one() -> None:
    """The referring column stays in the satellite, so nothing is lost if the lookup fails."""
    measured = source("product *id, sku text\nreview *id, product_id > product, title text")
    model = vault(with_unique(measured, "product", "sku"))
    lookup = link(model, "lnk_review_product").hubs[1].lookup
    assert lookup is not None
    assert (lookup.match, lookup.found) == (("id",), ("sku",))
    assert satellite(model, "sat_review").columns == ("product_id", "title")


def test_tables_that_share_a_surrogate_key_keep_it_for_their_hub() -> None:
    """A subtype has no other key, and the reason says so."""
    measured = source("product *id, sku text\nbook *product_id > product, pages")
    model = vault(with_unique(measured, "product", "sku"))
    hub = model.hub("hub_product")
    assert hub.business_key_columns == ("id",)
    assert "sku" in hub.reason and "book" in hub.reason
    assert relations(model) == {"hub_product", "sat_product", "sat_book"}


def test_a_chain_of_subtypes_belongs_to_the_hub_at_its_end() -> None:
    """Their references are links of that hub, in the role of the subtype that is meant."""
    model = vault(
        source("""
            party    *id, label text, a text, b text
            person   *party_id > party, born text
            employee *person_id > person, salary, boss_id > employee
        """)
    )
    assert [hub.name for hub in model.hubs] == ["hub_party"]
    assert satellite(model, "sat_employee").parent == "hub_party"
    boss = link(model, "hal_employee_boss")
    assert boss.link_type == "hierarchical"
    assert [end.hub for end in boss.hubs] == ["hub_party", "hub_party"]


def test_an_events_own_number_is_its_dependent_child_key() -> None:
    schema = f"{SHOP} sale *id, customer_id > customer, product_id > product, amount decimal"
    assert link(vault(source(schema)), "tl_sale").dependent_child_keys == ("id",)


OFFERS = f"""{SHOP}
    offer *customer_id > customer, *product_id > product, price decimal
    bid   *id, c, p, amount decimal
"""


def test_a_reference_to_a_link_leads_to_the_hubs_at_its_ends() -> None:
    model = vault(source(OFFERS, reference("bid", "c p", "offer", "customer_id product_id")))
    assert {"lnk_offer", "tl_bid"} <= relations(model)
    assert "hub_offer" not in relations(model)
    ends = [(end.hub, end.columns) for end in link(model, "tl_bid").hubs]
    assert ends == [("hub_customer", ("c",)), ("hub_product", ("p",))]


def test_a_relating_table_with_names_of_its_own_stays_a_hub_on_its_whole_key() -> None:
    named = OFFERS.replace(
        "product_id > product, price decimal", "product_id > product, title text"
    )
    model = vault(source(named, reference("bid", "c p", "offer", "customer_id product_id")))
    assert model.hub("hub_offer").business_key_columns == ("customer_id", "product_id")


def test_returns_with_the_key_of_a_sale_are_related_to_the_hubs_of_the_sale() -> None:
    measured = source(
        f"""{SHOP}
        store   *id, title text
        sale    *product_id > product, *ticket, customer_id > customer, amount decimal
        refund  *product_id, *ticket, store_id > store, amount decimal
        """,
        reference("refund", "product_id ticket", "sale", "product_id ticket"),
    )
    model = vault(changed(measured, "refund", rows=20))
    refund = link(model, "tl_refund")
    assert [end.hub for end in refund.hubs] == ["hub_product", "hub_store"]
    assert refund.dependent_child_keys == ("ticket",)
    assert "tl_sale" in relations(model)


def test_referring_columns_are_in_the_order_of_the_business_key() -> None:
    swapped = reference("visit", "x y", "site", "no region")
    model = vault(source("site *region, *no, label text\nvisit *id, x, y, title text", swapped))
    assert link(model, "lnk_visit_site").hubs[1].columns == ("y", "x")


def test_a_relationship_over_time_is_a_link_with_a_date_as_its_child_key() -> None:
    schema = (
        f"{SHOP} lease *customer_id > customer, *product_id > product, *since date, until date?"
    )
    lease = link(vault(source(schema)), "lnk_lease")
    assert (lease.link_type, lease.dependent_child_keys) == ("standard", ("since",))


def test_a_reference_table_has_the_codes_and_no_link_leads_to_it() -> None:
    measured = source(
        "colour *code text, label text\nshirt *id, c text > colour, size text", rows=40
    )
    model = vault(changed_column(measured, "colour", "code", max_length=2))
    (table,) = model.reference_tables
    assert (table.name, table.key_columns, table.columns) == ("ref_colour", ("code",), ("label",))
    assert model.links == ()
    assert satellite(model, "sat_shirt").columns == ("c", "size")


def test_a_table_without_a_key_is_a_link_of_rows_with_its_payload_in_it() -> None:
    model = vault(source(f"{SHOP} log customer_id > customer, text text"))
    log = link(model, "tl_log")
    assert (log.link_type, log.of_rows, log.columns) == ("transactional", True, ("text",))
    assert [(end.hub, end.columns) for end in log.hubs] == [("hub_customer", ("customer_id",))]
    assert not [s for s in model.satellites if s.table == "log"]
    assert model.keyless_tables == ()


def test_a_table_without_a_key_and_without_references_is_stored_by_itself() -> None:
    (table,) = vault(source(f"{SHOP} log message text, text text")).keyless_tables
    assert (table.name, table.columns) == ("psa_log", ("message", "text"))


def test_structure_without_data_is_modelled_by_its_declarations() -> None:
    model = vault(source(SHOP, rows=0, has_data=False, source_kind="ddl"))
    assert relations(model) >= {"hub_customer", "hub_orders", "lnk_orders_customer"}


def test_hash_keys_are_made_by_md5_unless_another_strategy_is_asked_for() -> None:
    assert vault(source(SHOP)).hash_key_strategy.algorithm == "md5"
    strategy = HashKeyStrategy(algorithm="sha256")
    assert vault(source(SHOP), strategy).hash_key_strategy == strategy


@pytest.mark.parametrize(
    "parts", [{"escape": ""}, {"escape": "|"}, {"delimiter": "^"}, {"null_token": ""}]
)
def test_a_strategy_under_which_two_keys_could_be_written_alike_is_refused(
    parts: dict[str, str],
) -> None:
    with pytest.raises(ValueError, match=r"must (be|begin)"):
        HashKeyStrategy.model_validate(parts)


@pytest.mark.parametrize("alias", ["data_vault_2", "dv2", "data vault", "vault", "Data-Vault-2.0"])
def test_the_technique_goes_by_its_usual_names(alias: str) -> None:
    measured = source(SHOP)
    assert build_model(measured, alias) == build_model(measured, "data_vault_2")


SHAPES = """
    shapes *shape_id text/9, *sequence/20, lat double
    trips  *trip_id text, shape_id text/9, title text
"""


@pytest.mark.parametrize(("orphans", "links"), [(0, {"lnk_trips_shapes"}), (20, set())])
def test_what_has_the_identifier_of_parts_refers_to_their_whole(
    orphans: int, links: set[str]
) -> None:
    observed = PartOfKeyReference("trips", "shape_id", "shapes", "shape_id", 100, orphans)
    observations = Observations(part_of_key_references=(observed,))
    model = vault(source(SHAPES), observations=observations)
    assert {link.name for link in model.links} == links
    assert model.hub("hub_shapes").business_key_columns == ("shape_id",)


def test_two_tables_that_one_column_refers_to_share_a_hub() -> None:
    schema = "sets *set_num text, title text\nfigures *fig_num text, title text"
    schema += "\nstock *id, set_num text > sets, place text/9"
    split = SplitReference("stock", "set_num", "sets", "set_num", "figures", "fig_num", 100, 60, 40)
    model = vault(source(schema), observations=Observations(split_references=(split,)))
    assert [hub.name for hub in model.hubs] == ["hub_sets"]
    assert satellite(model, "sat_figures").parent == "hub_sets"
    assert "no key is in both" in satellite(model, "sat_figures").reason


RATINGS = """
    film   *id, title text
    rating *user_id/40, *film_id > film, stars/5 1-5
    tag    *user_id/20, *film_id > film, *word text/9
"""


def _unlisted(known: int, column: str = "user_id") -> Observations:
    home = IdentifierUse("rating", column, 40, 40)
    identifier = UnlistedIdentifier(home, (IdentifierUse("tag", column, 20, known),))
    return Observations(unlisted_identifiers=(identifier,))


def test_what_several_tables_identify_and_none_lists_has_a_hub_without_a_satellite() -> None:
    model = vault(source(RATINGS), observations=_unlisted(20))
    user = model.hub("hub_user")
    assert (user.entity_name, user.business_key_columns) == ("rating", ("user_id",))
    assert user.mapped_source_tables == ("rating", "tag")
    assert user.reason.startswith("No table lists what user_id identifies; rating and tag have it.")
    assert [end.hub for end in link(model, "lnk_rating").hubs] == ["hub_film", "hub_user"]
    assert link(model, "lnk_tag").dependent_child_keys == ("word",)
    assert not [s for s in model.satellites if s.parent == "hub_user"]


def test_identifiers_of_one_name_with_other_values_have_no_common_hub() -> None:
    assert "hub_user" not in relations(vault(source(RATINGS), observations=_unlisted(10)))


def test_a_numbered_time_is_nothing_that_a_hub_lists() -> None:
    schema = RATINGS.replace("user_id", "year_id")
    assert "hub_year" not in relations(vault(source(schema), observations=_unlisted(20, "year_id")))


@pytest.mark.parametrize(
    ("columns", "hubs"),
    [
        ("*id, employee_key/20, day date, quota decimal", ["hub_employee"]),
        ("*id, employee_key/20, title text, quota decimal", ["hub_quota"]),
        ("*id, employee_key/20, note text", ["hub_quota"]),
        ("*id, employee_key/90, quota decimal", ["hub_quota"]),
        ("*id, type_id/5, quota decimal", ["hub_quota"]),
        ("*id, region_code/5, quota decimal", ["hub_quota"]),
    ],
    ids=["measured", "named", "not measured", "once each", "a type", "a code"],
)
def test_what_measures_without_another_table_are_about_has_a_hub(
    columns: str, hubs: list[str]
) -> None:
    model = vault(source(f"quota {columns}"))
    assert [hub.name for hub in model.hubs] == hubs


@pytest.mark.parametrize(("missing", "keyless"), [(0, ["psa_totals"]), (1, [])])
def test_totals_that_can_be_computed_have_no_hub(missing: int, keyless: list[str]) -> None:
    schema = f"{SHOP}\ntotals *family text, amount decimal"
    totals = Aggregate("totals", "product", (), rows=9, matched=9, missing=missing, query="")
    model = vault(source(schema), observations=Observations(aggregates=(totals,)))
    assert [table.name for table in model.keyless_tables] == keyless
    assert ("hub_totals" in relations(model)) == (not keyless)


def test_totals_relate_nothing_by_what_only_their_values_show() -> None:
    """Each day is in the totals of days, so that sales and calendars seem to refer to them."""
    schema = f"{SHOP}\nsales *id, product_id > product, day date\ntotals *day date, amount decimal"
    totals = Aggregate("totals", "sales", (), rows=9, matched=9, missing=0, query="")
    measured = source(schema, reference("sales", "day", "totals", "day"))
    model = vault(measured, observations=Observations(aggregates=(totals,)))
    assert [table.name for table in model.keyless_tables] == ["psa_totals"]


def test_totals_of_what_has_a_hub_stay_there_with_a_note() -> None:
    schema = f"{SHOP}\ntotals *product_id, *day date, amount decimal"
    declared = reference("totals", "product_id", "product", "id", origin="declared")
    totals = Aggregate("totals", "orders", (), rows=9, matched=9, missing=0, query="")
    model = vault(source(schema, declared), observations=Observations(aggregates=(totals,)))
    result = link(model, "tl_totals")
    assert result.reason.endswith("Its rows are totals of orders, which a business vault computes.")
    assert result.alternatives[-1].choice == "left to the business vault"
