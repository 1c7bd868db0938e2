"""Which entities get a dimension, what is copied into it, and what it leads to."""

import pytest

from fluid_build.modeling.dimensional.elements import Dimension, DimensionalModel
from fluid_build.profiling.profile import Profile
from tests.modeling.profiles import reference
from tests.modeling.sources import changed_column, dimension, source, star

SHOP = """
    department *id, name text
    category   *id, name text, department_id > department
    product    *id, name text, size text, category_id > category
    sale       *id, sold date, amount decimal, product_id > product
"""


def covering(measured: Profile, *, coverage: float = 1.0) -> Profile:
    keys = tuple(
        key.model_copy(update={"evidence": key.evidence.model_copy(update={"coverage": coverage})})
        for key in measured.foreign_keys
    )
    return measured.model_copy(update={"foreign_keys": keys})


def columns(result: Dimension) -> dict[str, str]:
    """The columns of a dimension, each with the join that it comes from."""
    return {attribute.name: attribute.source for attribute in result.attributes}


def names(model: DimensionalModel) -> set[str]:
    return {dimension.name for dimension in model.dimensions} - {"dim_date"}


def test_lookups_of_which_every_row_is_used_are_collapsed() -> None:
    model = star(source(SHOP))
    assert names(model) == {"dim_product"}
    result = dimension(model, "dim_product")
    assert columns(result)["category_name"] == "category"
    assert columns(result)["department_name"] == "department"
    assert [(join.name, join.parent, join.complete) for join in result.joins] == [
        ("category", "", True),
        ("department", "category", True),
    ]


def test_lookups_with_unused_rows_also_have_dimensions_of_their_own() -> None:
    model = star(covering(source(SHOP), coverage=0.9))
    assert names(model) == {"dim_product", "dim_category", "dim_department"}
    category = dimension(model, "dim_category")
    assert category.dimension_type == "outrigger"
    assert category.reason == (
        "Its columns are copied into the dimensions that refer to it. It's also kept as a"
        " dimension, so that rows to which nothing refers aren't lost."
    )
    product = dimension(model, "dim_product")
    assert "category_name" in columns(product)
    assert [(link.key, link.dimension) for link in product.links] == [
        ("category_key", "dim_category"),
        ("department_key", "dim_department"),
    ]


@pytest.mark.parametrize("evidence", [{"orphans": 2}, {"exact": False}])
def test_an_orphan_or_an_estimate_keeps_a_lookup_apart(evidence: dict[str, object]) -> None:
    measured = source(SHOP)
    keys = tuple(
        key.model_copy(update={"evidence": key.evidence.model_copy(update=evidence)})
        if key.to_table == "category"
        else key
        for key in measured.foreign_keys
    )
    model = star(measured.model_copy(update={"foreign_keys": keys}))
    assert names(model) == {"dim_product", "dim_category"}


def test_a_snowflake_collapses_nothing() -> None:
    model = star(source(SHOP), "snowflake")
    assert names(model) == {"dim_product", "dim_category", "dim_department"}
    assert columns(dimension(model, "dim_product")).keys() == {"id", "name", "size", "category_id"}
    assert dimension(model, "dim_category").reason.startswith(
        "A snowflake keeps each lookup in its own"
    )


def test_a_lookup_that_facts_use_as_well_is_copied_if_it_is_narrow() -> None:
    narrow = f"{SHOP}\nplan *id, planned date, budget decimal, category_id > category"
    assert "category_name" in columns(dimension(star(source(narrow)), "dim_product"))


@pytest.mark.parametrize(("sizes", "is_copied"), [(5, True), (6, False)])
def test_a_lookup_that_facts_use_is_copied_up_to_six_columns_and_else_only_its_names(
    sizes: int, is_copied: bool
) -> None:
    more = ", ".join(f"size{n} text" for n in range(sizes))
    schema = f"""
        category *id, name text, {more}
        product  *id, name text, category_id > category
        sale     *id, sold date, amount decimal, product_id > product
        plan     *id, planned date, budget decimal, category_id > category
    """
    result = columns(dimension(star(source(schema)), "dim_product"))
    assert "category_name" in result
    assert ("category_size0" in result) == is_copied


def test_of_a_person_only_names_are_copied() -> None:
    shop = SHOP.replace("size text", "maker_id > maker, size text")
    measured = source(f"maker *id, name text, mood text\n{shop}"
                      "plan *id, planned date, budget decimal, maker_id > maker")  # fmt: skip
    assert "maker_mood" in columns(dimension(star(measured), "dim_product"))
    person = changed_column(measured, "maker", "name", semantic_type="person_name")
    result = columns(dimension(star(person), "dim_product"))
    assert "maker_name" in result
    assert "maker_mood" not in result


def test_a_copied_lookup_leaves_record_keeping_behind_if_it_is_kept_elsewhere() -> None:
    stamped = SHOP.replace("category   *id,", "category *id, updated_at timestamp,")
    alone = columns(dimension(star(source(stamped)), "dim_product"))
    assert "category_updated_at" in alone
    kept = columns(dimension(star(covering(source(stamped), coverage=0.9)), "dim_product"))
    assert "category_updated_at" not in kept


def test_two_references_to_one_lookup_are_copied_under_their_roles() -> None:
    schema = """
        colour *id, name text
        shirt  *id, name text, body_colour > colour, trim_colour > colour
        sale   *id, sold date, amount decimal, shirt_id > shirt
    """
    result = columns(dimension(star(source(schema)), "dim_shirt"))
    assert result["colour_name"] == "colour"
    assert result["trim_colour_name"] == "trim_colour"


def test_a_hierarchy_leads_to_the_parent_member() -> None:
    measured = source(
        "employee *id, name text, manager_id? > employee\n"
        "sale *id, sold date, amount decimal, employee_id > employee"
    )
    (link,) = dimension(star(measured), "dim_employee").links
    assert (link.key, link.dimension, link.role, link.attributes) == (
        "manager_employee_key",
        "dim_employee",
        "manager",
        ("id",),
    )


def test_a_part_is_joined_backwards_with_a_flag() -> None:
    measured = source(
        "customer *id, name text\nvip *customer_id > customer, lounge text\n"
        "sale *id, sold date, amount decimal, customer_id > customer"
    )
    result = dimension(star(measured), "dim_customer")
    (join,) = result.joins
    assert (join.entity, join.backwards, join.complete) == ("vip", True, True)
    assert columns(result)["is_vip"] == columns(result)["vip_lounge"] == "vip"
    flag = next(a for a in result.attributes if a.name == "is_vip")
    assert flag.description == "Whether vip has a row for it."
    assert result.mapped_source_tables == ("customer", "vip")


def test_a_reference_to_a_part_leads_to_the_dimension_of_the_whole() -> None:
    measured = source(
        "customer *id, name text\nvip *customer_id > customer, lounge text\n"
        "sale *id, sold date, amount decimal, customer_id > customer\n"
        "gift *id, given date, worth decimal, vip_id > vip"
    )
    model = star(measured)
    gift = next(fact for fact in model.facts if fact.name == "fct_gift")
    reference_to_vip = gift.dimensions[0]
    assert (reference_to_vip.dimension, reference_to_vip.role, reference_to_vip.to_columns) == (
        "dim_customer",
        "vip",
        ("id",),
    )


def test_the_unknown_member_has_a_name_unless_something_refers_to_the_name() -> None:
    measured = source(
        "product *sku text, name text, size text\nsale *id, sold date, q decimal, sku > product"
    )
    unknown = {a.name: a.unknown for a in dimension(star(measured), "dim_product").attributes}
    assert unknown == {"sku": "", "name": "Unknown", "size": ""}


def test_a_surrogate_key_avoids_a_column_of_that_name() -> None:
    measured = source(
        "product *product_key, name text\nsale *id, sold date, q decimal, p > product"
    )
    assert dimension(star(measured), "dim_product").surrogate_key == "product_sk"


def test_a_calendar_of_the_source_is_a_dimension_of_its_own() -> None:
    measured = source(
        "days *id, day date, year/2, month/12, week/52\n"
        "sale *id, amount decimal, customer text, day_id > days"
    )
    model = star(measured)
    assert dimension(model, "dim_days").dimension_type == "date"
    assert [dimension.name for dimension in model.dimensions] == ["dim_days"]


def test_a_dimension_that_nothing_refers_to_is_standard() -> None:
    measured = source("colour *id, colour_name text\nsale *id, sold date, amount decimal")
    result = dimension(star(measured), "dim_colour")
    assert result.dimension_type == "standard"
    assert (
        result.reason
        == "No table refers to it. colour_name names its rows, so it's there to be looked up."
    )


def test_dimensions_stop_after_twenty_four_joins() -> None:
    lookups = [f"l{n}" for n in range(30)]
    schema = "\n".join(f"{name} *id, {name}_name text" for name in lookups)
    references = [reference("product", f"c{n}", f"l{n}", "id") for n in range(30)]
    of_product = ", ".join(f"c{n}" for n in range(30))
    measured = source(
        f"{schema}\nproduct *id, name text, {of_product}\n"
        "sale *id, sold date, amount decimal, product_id > product",
        *references,
    )
    model = star(measured)
    assert len(dimension(model, "dim_product").joins) == 24
    assert {f"dim_l{n}" for n in range(24, 30)} <= names(model)
