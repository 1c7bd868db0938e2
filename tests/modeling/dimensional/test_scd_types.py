"""What happens to each attribute of a dimension when it changes, and why."""

import pytest

from fluid_build.modeling.dimensional.elements import DimensionAttribute
from fluid_build.observations.header_totals import HeaderTotal
from fluid_build.observations.observe import Observations
from fluid_build.profiling.profile import Profile
from tests.modeling.sources import changed, changed_column, dimension, source, star

SALE = "sale *id, sold date, amount decimal, customer_id > customer"


def attributes(measured: Profile, name: str = "dim_customer") -> dict[str, DimensionAttribute]:
    return {attribute.name: attribute for attribute in dimension(star(measured), name).attributes}


def attribute(column: str, **facts: object) -> DimensionAttribute:
    """A column of a dimension that dated events refer to."""
    name = column.split()[0].split("/")[0].rstrip("?")
    measured = source(f"customer *id, a text, b text, {column}\n{SALE}")
    return attributes(changed_column(measured, "customer", name, **facts))[name]


@pytest.mark.parametrize(
    ("column", "facts", "scd_type", "reason"),
    [
        ("born date", {}, 1, "a date that happens once"),
        ("card_number text", {}, 2, "read as describing the member"),
        ("updated_at timestamp", {}, 1, "about the record"),
        ("guid uuid", {}, 1, "about the record"),
        ("segment text/4", {"pii": True}, 1, "it's personal data"),
        ("city text/90", {"semantic_type": "city", "pii": True}, 2, "read as describing"),
        ("balance decimal", {}, 1, "fct_customer_snapshot records its value at each load"),
        ("ytd_sales decimal", {}, 1, "a total or level that events change"),
        ("view_count/90 1-900", {}, 1, "a total or level that events change"),
        ("num_downloads/90 1-900", {}, 1, "a total or level that events change"),
        ("sale_count/90 1-900", {}, 1, "a total or level that events change"),
        ("last_order_date date", {}, 1, "a total or level that events change"),
        ("last_grade text", {}, 2, "read as describing the member"),
        ("price decimal", {}, 2, "read as describing the member"),
        ("max_salary decimal", {}, 2, "read as describing the member"),
        ("label text", {}, 2, "read as describing the member"),
        ("signed date", {}, 2, "read as describing the member"),
        ("segment text/4", {}, 2, "read as describing the member"),
        ("is_vip boolean/2", {}, 2, "read as describing the member"),
        ("story text", {"max_length": 255}, 2, "read as describing the member"),
        ("story text", {"max_length": 256}, 1, "it's read and not grouped by"),
        ("comment text/9", {}, 1, "it's read and not grouped by"),
        ("photo text/9", {}, 1, "it's read and not grouped by"),
        ("photo_count/9 1-90", {}, 2, "read as describing the member"),
    ],
)
def test_an_attribute_is_kept_overwritten_or_versioned(
    column: str, facts: dict[str, object], scd_type: int, reason: str
) -> None:
    result = attribute(column, **facts)
    assert result.scd_type == scd_type
    assert reason in result.reason


def test_a_total_of_what_refers_to_a_member_is_not_versioned() -> None:
    """Each sale would make another version of its customer, and says by itself what it added."""
    measured = source(f"customer *id, a text, b text, worth decimal\n{SALE}")
    total = HeaderTotal("customer", "worth", "sale", ("amount",), rows=90, matches=90)
    found = dimension(
        star(measured, observations=Observations(header_totals=(total,))), "dim_customer"
    )
    types = {attribute.name: attribute.scd_type for attribute in found.attributes}
    assert (types["worth"], types["a"]) == (1, 2)


def test_an_ordinal_that_equals_a_sum_is_no_total() -> None:
    """The round of a race equals the wins of all drivers so far."""
    total = HeaderTotal("customer", "round", "sale", ("amount",), rows=90, matches=88)
    observed = Observations(header_totals=(total,))
    measured = source(f"customer *id, a text, b text, round text/20\n{SALE}")
    found = dimension(star(measured, observations=observed), "dim_customer")
    assert {a.name: a.scd_type for a in found.attributes}["round"] == 2


def test_another_unique_number_identifies_the_member_too() -> None:
    measured = changed(
        source(f"customer *id, a text, card_number text\n{SALE}"),
        "customer",
        candidate_keys=(("id",), ("card_number",)),
    )
    result = attributes(measured)["card_number"]
    assert result.scd_type == 1
    assert result.reason == "Overwritten: it identifies the member too, so a change corrects it."


def test_a_unique_description_identifies_nothing() -> None:
    measured = source(f"customer *id, status text, status_type text\n{SALE}")
    keys = tuple((column,) for column in ("id", "status", "status_type"))
    found = attributes(changed(measured, "customer", candidate_keys=keys))
    for name in ("status", "status_type"):
        assert "identifies" not in found[name].reason


def test_what_a_vault_would_take_as_business_key_identifies_the_member() -> None:
    """A name next to it describes the member, and a number within something else is a part."""
    measured = source(f"customer *id, name text, customer_ref text, a text\n{SALE}", rows=12)
    keys = tuple((column,) for column in ("id", "name", "customer_ref"))
    found = attributes(changed(measured, "customer", candidate_keys=keys))
    assert "it identifies the member too" in found["customer_ref"].reason
    assert "it's read as describing the member" in found["name"].reason


@pytest.mark.parametrize(("name_type", "scd_type"), [("person_name", 1), ("company", 2)])
def test_a_street_is_personal_where_people_live(name_type: str, scd_type: int) -> None:
    measured = source(f"customer *id, name text, street text\n{SALE}")
    measured = changed_column(measured, "customer", "name", semantic_type=name_type)
    measured = changed_column(
        measured, "customer", "street", semantic_type="street_address", pii=True
    )
    assert attributes(measured)["street"].scd_type == scd_type


def test_the_key_never_changes() -> None:
    result = attributes(source(f"customer *id, a text, b text\n{SALE}"))["id"]
    assert result.scd_type == 0
    assert result.reason == "It identifies the member: another value is another member."


def test_a_reference_is_versioned_and_what_is_copied_by_it_is_not() -> None:
    result = attributes(
        source(f"region *id, label text\ncustomer *id, a text, region_id > region\n{SALE}")
    )
    assert (result["region_id"].scd_type, result["region_label"].scd_type) == (2, 1)
    assert "past events show the current value too" in result["region_label"].reason


def test_versions_have_a_relation_and_members_a_durable_key() -> None:
    measured = source(f"customer *id, a text, b text, segment text/4\n{SALE}")
    result = dimension(star(measured), "dim_customer")
    assert (result.history, result.surrogate_key, result.durable_key, result.member_key) == (
        "dim_customer_history",
        "customer_key",
        "customer_durable_key",
        "customer_durable_key",
    )


def test_without_versions_the_surrogate_key_is_the_members() -> None:
    result = dimension(star(source(f"customer *id, a text\n{SALE}")), "dim_customer")
    assert (result.history, result.durable_key, result.member_key) == ("", "", "customer_key")


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        ("customer *id, a text, b text", "no fact refers to the dimension"),
        (f"customer *id, a text\n{SALE}", "it belongs to a simple lookup"),
        (f"customer *id, size/20, grade/5\n{SALE}", "another combination of values"),
        (
            f"customer *customer_sk, customer_id text/60, a text, start_date date, end_date date?"
            f"\n{SALE}",
            "customer_id repeats, and rows with the same one are read as its versions",
        ),
    ],
)
def test_a_dimension_may_have_nothing_to_version(schema: str, reason: str) -> None:
    other = "sale *id, sold date, amount decimal"
    schema = schema if "sale" in schema else f"{schema}\n{other}"
    result = dimension(star(source(schema)), "dim_customer")
    assert result.history == ""
    assert reason in result.attributes[1].reason


@pytest.mark.parametrize(
    "column", ["code/60", "customer_type text/4", "shop_id/60", "customer_class_id/60"]
)
def test_a_code_that_repeats_is_no_identifier_of_members_with_versions(column: str) -> None:
    columns = f"*customer_sk, {column}, a text, start_date date, end_date date?"
    assert dimension(star(source(f"customer {columns}\n{SALE}")), "dim_customer").history


def test_a_few_members_of_an_undated_fact_are_versioned_too() -> None:
    measured = source(
        "customer *id, a text, b text\nsale *id, amount decimal, customer_id > customer", rows=5
    )
    assert dimension(star(measured), "dim_customer").history


def test_a_calendar_and_a_junk_dimension_have_no_history() -> None:
    measured = source("sale *id, sold date, amount decimal, is_gift boolean/2, is_web boolean/2")
    model = star(measured)
    for name in ("dim_date", "dim_sale_flags"):
        result = dimension(model, name)
        assert result.history == ""
        assert {attribute.scd_type for attribute in result.attributes} == {0}
