"""What happens to each attribute of a dimension when it changes, and why."""

import pytest

from fluid_build.modeling.dimensional.elements import DimensionAttribute
from fluid_build.profiling.profile import Profile
from tests.modeling.sources import changed_column, dimension, source, star

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
        ("born date", {}, 0, "It happened once"),
        ("updated_at timestamp", {}, 1, "about the record"),
        ("guid uuid", {}, 1, "about the record"),
        ("segment text/4", {"pii": True}, 1, "history isn't kept for personal data"),
        ("balance decimal", {}, 1, "a number that changes often"),
        ("latitude double", {}, 1, "a number that changes often"),
        ("full_name text", {}, 1, "changes to names and dates"),
        ("signed date", {}, 1, "changes to names and dates"),
        ("segment text/4", {}, 2, "Versioned: 100 members share 4 values"),
        ("segment text/21", {}, 1, "it describes single members"),
        ("segment text/4", {"max_length": 64}, 2, "Versioned"),
        ("segment text/4", {"max_length": 65}, 1, "it describes single members"),
        ("city text/90", {"semantic_type": "city"}, 2, "Versioned"),
        ("city text/1", {"semantic_type": "city"}, 1, "it describes single members"),
        ("grade_level/4 1-4", {}, 2, "Versioned"),
        ("points/4 36-39", {}, 1, "a number that changes often"),
        ("is_vip boolean/2", {}, 2, "Versioned"),
    ],
)
def test_an_attribute_is_kept_overwritten_or_versioned(
    column: str, facts: dict[str, object], scd_type: int, reason: str
) -> None:
    result = attribute(column, **facts)
    assert result.scd_type == scd_type
    assert reason in result.reason


def test_the_key_never_changes() -> None:
    result = attributes(source(f"customer *id, a text, b text\n{SALE}"))["id"]
    assert (result.scd_type, result.reason) == (0, "It identifies the member and never changes.")


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
    result = dimension(star(source(f"customer *id, a text, b text\n{SALE}")), "dim_customer")
    assert (result.history, result.durable_key, result.member_key) == ("", "", "customer_key")


CUSTOMER = "customer *id, a text, segment text/4"


@pytest.mark.parametrize(
    ("schema", "rows", "reason"),
    [
        (f"{CUSTOMER}\n{SALE}".replace("sold date, ", ""), 100, "no event with a date refers"),
        (f"{CUSTOMER}\n{SALE}".replace("a text, ", ""), 100, "it belongs to a simple lookup"),
        (f"{CUSTOMER}, is_vip boolean\n{SALE}", 9, "with 9 members, there is too little data"),
    ],
)
def test_a_dimension_may_have_nothing_to_version(schema: str, rows: int, reason: str) -> None:
    measured = changed_column(
        source(schema, rows=rows), "customer", "segment", semantic_type="region", distinct=4
    )
    result = attributes(measured)["segment"]
    assert result.scd_type == 1
    assert reason in result.reason


@pytest.mark.parametrize(("rows", "scd_type"), [(10, 2), (9, 1)])
def test_ten_members_are_enough_to_version(rows: int, scd_type: int) -> None:
    measured = changed_column(
        source(f"{CUSTOMER}\n{SALE}", rows=rows), "customer", "segment", semantic_type="region"
    )
    assert attributes(measured)["segment"].scd_type == scd_type


def test_a_calendar_and_a_junk_dimension_have_no_history() -> None:
    measured = source("sale *id, sold date, amount decimal, is_gift boolean/2, is_web boolean/2")
    model = star(measured)
    for name in ("dim_date", "dim_sale_flags"):
        result = dimension(model, name)
        assert result.history == ""
        assert {attribute.scd_type for attribute in result.attributes} == {0}
