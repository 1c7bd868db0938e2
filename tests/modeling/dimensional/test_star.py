"""The star of a small shop: grain, roles, histories, variants, and the sources of everything."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given

from fluid_build.modeling.dimensional.elements import DimensionalModel
from fluid_build.modeling.logical import LogicalModel, model_json
from fluid_build.modeling.techniques import build_model
from fluid_build.profiling import profile_source
from fluid_build.profiling.profile import Profile
from fluid_build.sources import open_source
from tests.modeling.profiles import column, profile, profiles, reference, table
from tests.transform.databases import database
from tests.transform.dimensional.shop import SHOP
from tests.transform.dimensional.stars import bridge, dimension, fact, star_of


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Profile]:
    path: Path = tmp_path_factory.mktemp("shop") / "shop.duckdb"
    with open_source(database(path, *SHOP)) as source:
        yield profile_source(source)


@pytest.fixture(scope="module")
def star(shop: Profile) -> DimensionalModel:
    return star_of(build_model(shop, "dimensional"))


def test_each_event_is_a_fact_at_its_own_grain(star: DimensionalModel) -> None:
    """Orders, their lines and payments are three facts; none repeats what another measures."""
    measured = {fact.name: [measure.name for measure in fact.measures] for fact in star.facts}
    assert measured == {
        "fct_order_line": ["quantity", "unit_price"],
        "fct_orders": ["freight"],
        "fct_payment": ["amount"],
        "fct_visit": [],
    }
    assert fact(star, "fct_order_line").grain == "One row for each order line: order_id, line_no."
    assert fact(star, "fct_order_line").grain_columns == ("order_id", "line_no")


def test_a_line_has_the_dimensions_of_its_header(star: DimensionalModel) -> None:
    """Lines are grouped by customer and date of the order, and have its number."""
    line = fact(star, "fct_order_line")
    places = {reference.key: reference.source for reference in line.dimensions}
    assert places["product_key"] == ""
    assert places["customer_key"] == places["order_date_key"] == "orders"
    assert "order_id" in line.degenerate_dimensions


def test_one_dimension_is_referred_to_in_several_roles(star: DimensionalModel) -> None:
    """Who orders and who gets it are both customers, each by a key named for the role."""
    keys = {
        reference.key: reference.optional
        for reference in fact(star, "fct_orders").dimensions
        if reference.dimension == "dim_customer"
    }
    assert keys == {"customer_key": False, "ship_customer_key": True}
    assert dimension(star, "dim_customer").conformed


def test_facts_have_different_types(star: DimensionalModel) -> None:
    """An order is shipped later, a payment happens once, a visit has no measure."""
    assert {fact.name: fact.fact_type for fact in star.facts} == {
        "fct_order_line": "transaction",
        "fct_orders": "accumulating_snapshot",
        "fct_payment": "transaction",
        "fct_visit": "factless",
    }


def test_a_chain_of_lookups_is_collapsed(star: DimensionalModel) -> None:
    """A product has the names of its category and department."""
    names = {attribute.name for attribute in dimension(star, "dim_product").attributes}
    assert {"category_name", "department_name"} <= names


def test_a_lookup_with_unused_rows_also_has_a_dimension(star: DimensionalModel) -> None:
    """A category without products and a region without customers are not lost."""
    apart = [
        dimension.name for dimension in star.dimensions if dimension.dimension_type == "outrigger"
    ]
    assert apart == ["dim_category", "dim_region"]


def test_a_part_is_merged_with_a_flag_for_a_row_being_there(star: DimensionalModel) -> None:
    """Not every product has a text."""
    result = {
        attribute.name: attribute.source for attribute in dimension(star, "dim_product").attributes
    }
    assert result["is_product_text"] == result["product_text_body"] == "product_text"


def test_bridges_relate_dimensions_and_events_to_dimensions(star: DimensionalModel) -> None:
    """Products have tags; orders have reasons, identified by the order's number."""
    assert {(bridge.left, bridge.right) for bridge in star.bridges} == {
        ("dim_product", "dim_tag"),
        ("fct_orders", "dim_reason"),
    }
    attributes = bridge(star, "brg_order_reason").attributes
    assert [attribute.name for attribute in attributes] == ["order_id", "reason_id"]


def test_each_attribute_is_kept_overwritten_or_versioned(star: DimensionalModel) -> None:
    """Keys stay, what describes the member is versioned, and personal data is overwritten."""
    types = {
        attribute.name: attribute.scd_type
        for attribute in dimension(star, "dim_customer").attributes
    }
    assert types == {
        "id": 0, "name": 2, "email": 1, "city": 2, "segment": 2, "region_id": 2, "region_name": 1,
    }  # fmt: skip
    assert all(attribute.reason for attribute in dimension(star, "dim_customer").attributes)


def test_personal_data_is_never_versioned(star: DimensionalModel, shop: Profile) -> None:
    """What the source deletes is deleted here too."""
    personal = {
        (table_.name, column.name)
        for table_ in shop.tables
        for column in table_.columns
        if column.pii
    }
    versioned = {
        (dimension.entity_name, attribute.attribute)
        for dimension in star.dimensions
        for attribute in dimension.attributes
        if attribute.scd_type == 2
    }
    assert personal and not personal & versioned


def test_every_source_table_is_in_the_star(star: DimensionalModel, shop: Profile) -> None:
    """Each belongs to a fact, dimension or bridge, and each element has a reason."""
    elements = (*star.facts, *star.dimensions, *star.bridges)
    mapped = {name for element in elements for name in element.mapped_source_tables}
    assert mapped == {table.name for table in shop.tables}
    assert all(element.reason for element in elements)
    assert all(element.source_columns for element in elements)


def test_the_variant_follows_the_source(star: DimensionalModel, shop: Profile) -> None:
    """Facts that share dimensions make a galaxy, and the model says so."""
    assert star.variant == "galaxy"
    assert "share conformed dimensions" in star.variant_reason
    single = profile(
        table("sale", column("id"), column("amount", "DOUBLE", distinct=70), primary_key=("id",))
    )
    assert star_of(build_model(single, "dimensional")).variant == "wide"


def test_a_variant_can_be_requested(shop: Profile) -> None:
    """A snowflake collapses nothing and keeps every lookup; the suggestion is still named."""
    snowflake = star_of(build_model(shop, "dimensional", "Snowflake"))
    assert snowflake.variant_reason.startswith(
        "You requested this variant; for this source, the default would be galaxy:"
    )
    assert "dim_department" in {dimension.name for dimension in snowflake.dimensions}
    product = dimension(snowflake, "dim_product")
    assert "category_name" not in {attribute.name for attribute in product.attributes}
    assert "category_key" in {link.key for link in product.links}


def test_wide_facts_carry_the_columns_of_their_dimensions(shop: Profile) -> None:
    """One wide table a fact, its columns named by role."""
    wide = fact(star_of(build_model(shop, "dimensional", "wide")), "fct_orders")
    carried = {name for reference in wide.dimensions for _, name in reference.carried}
    assert {"customer_city", "ship_customer_city", "order_date_year_number"} <= carried


def test_a_reference_to_what_isnt_unique_stays_a_column() -> None:
    """Following it would double rows."""
    measured = profile(
        table("thing", column("code", distinct=40), column("name", "VARCHAR")),
        table(
            "sale",
            column("id"),
            column("code", distinct=40),
            column("amount", "DOUBLE", distinct=70),
            primary_key=("id",),
        ),
        foreign_keys=[reference("sale", "code", "thing", "code")],
    )
    sale = fact(star_of(build_model(measured, "dimensional")), "fct_sale")
    assert sale.dimensions == ()
    assert "code" in {attribute.name for attribute in sale.attributes}


def test_a_fact_has_its_references_along_with_the_keys_of_dimensions() -> None:
    """A value that leads nowhere would be lost if only the unknown member's key were there."""
    thing = table("thing", column("id"), column("name", "VARCHAR"), primary_key=("id",))
    sale = table(
        "sale",
        column("id"),
        column("thing", distinct=40),
        column("amount", "DOUBLE", distinct=70),
        primary_key=("id",),
    )
    for orphans in (0, 3):
        measured = profile(
            thing, sale, foreign_keys=[reference("sale", "thing", "thing", "id", orphans)]
        )
        result = fact(star_of(build_model(measured, "dimensional")), "fct_sale")
        assert "thing" in {attribute.name for attribute in result.attributes}


@given(profiles())
def test_any_profile_makes_a_model_that_maps_every_table_once(measured: Profile) -> None:
    """Whatever was measured: names are unique and short, and the JSON reads back the same."""
    model = build_model(measured, "dimensional")
    result = star_of(model)
    elements = (*result.facts, *result.dimensions, *result.bridges)
    names = [element.name for element in elements] + [
        dimension.history for dimension in result.dimensions if dimension.history
    ]
    assert len(set(names)) == len(names)
    assert all(len(name) <= 63 for name in names)
    mapped = {name for element in elements for name in element.mapped_source_tables}
    assert mapped == {table.name for table in measured.tables}
    text = model_json(model)
    assert LogicalModel.model_validate_json(text) == model
    assert model_json(build_model(measured, "dimensional")) == text
