"""The OSI semantic model: datasets, their fields, how they join, and metrics."""

import json

import pytest

from fluid_build.modeling.osi import Dataset, SemanticModel
from fluid_build.modeling.semantic_layer import semantic_layer
from fluid_build.profiling.profile import Profile
from tests.modeling.profiles import profile
from tests.modeling.sources import changed, changed_column, conceptual, source

SHOP = """
    customer *id, email text
    orders   *id, customer_id > customer, ordered date, freight decimal
"""


def semantic_model(measured: Profile) -> SemanticModel:
    document = semantic_layer(measured, conceptual(measured))
    assert document is not None
    return document.semantic_model[0]


def dataset(measured: Profile, name: str) -> Dataset:
    return {dataset.name: dataset for dataset in semantic_model(measured).datasets}[name]


def test_a_source_without_tables_has_no_semantic_model() -> None:
    assert semantic_layer(profile(), conceptual(profile())) is None


def test_a_table_is_a_dataset_at_its_place_in_the_source() -> None:
    result = dataset(source(SHOP), "orders")
    assert (result.source, result.primary_key) == ("shop.orders", ("id",))
    extension = (result.custom_extensions or ())[0]
    assert json.loads(extension.data) == {"reason": "Unique and never null."}


def test_unique_keys_are_those_that_hold() -> None:
    measured = changed(source(SHOP), "customer", candidate_keys=(("id",), ("email",)))
    assert dataset(measured, "customer").unique_keys == (("email",),)


@pytest.mark.parametrize(
    ("name", "dimension", "is_time"),
    [("id", True, False), ("ordered", True, True), ("freight", False, None)],
)
def test_every_field_but_a_measure_is_a_dimension(
    name: str, dimension: bool, is_time: bool | None
) -> None:
    fields = {item.name: item for item in dataset(source(SHOP), "orders").fields or ()}
    result = fields[name].dimension
    assert (result is not None) == dimension
    assert (result.is_time if result else None) == is_time


def test_personal_data_is_marked() -> None:
    measured = changed_column(source(SHOP), "customer", "email", pii=True, semantic_type="email")
    fields = {item.name: item for item in dataset(measured, "customer").fields or ()}
    extension = (fields["email"].custom_extensions or ())[0]
    assert json.loads(extension.data) == {"pii": True}
    assert fields["email"].label == "email"
    assert fields["id"].custom_extensions is None


def test_a_reference_is_a_relationship_with_its_figures() -> None:
    (result,) = semantic_model(source(SHOP)).relationships or ()
    assert (result.from_, result.from_columns, result.to, result.to_columns) == (
        "orders",
        ("customer_id",),
        "customer",
        ("id",),
    )
    assert json.loads((result.custom_extensions or ())[0].data) == {
        "origin": "measured",
        "implied": False,
        "cardinality": "many-to-one",
        "rows": 100,
        "orphans": 0,
    }


def test_a_measure_is_a_metric_that_says_how_it_adds_up() -> None:
    (result,) = semantic_model(source(SHOP)).metrics or ()
    assert result.expression.dialects[0].expression == 'SUM("orders"."freight")'
    assert result.description == "Additive: 'freight' adds up."
    assert result.name == "sum_orders_freight"


def test_a_value_that_doesnt_add_up_is_averaged() -> None:
    (result,) = semantic_model(source("product *id, unit_price decimal")).metrics or ()
    assert result.expression.dialects[0].expression == 'AVG("product"."unit_price")'
    assert result.description == (
        "Non-additive: 'price' is for one unit, and adds up only times a quantity."
    )
