"""The logical model: its techniques, its layers, and what they look like as JSON."""

import json

import pytest
from hypothesis import given
from jsonschema import Draft202012Validator

from fluid_build.errors import UsageError
from fluid_build.modeling.data_vault.elements import DataVaultModel, Hub
from fluid_build.modeling.dimensional.elements import DimensionalModel, Fact, Measure
from fluid_build.modeling.logical import LogicalModel, model_json
from fluid_build.modeling.techniques import TECHNIQUES, build_model
from fluid_build.profiling.profile import Evidence, Profile
from tests.modeling.profiles import column, profile, profiles, reference, table
from tests.shared import OSI_SCHEMA


def test_an_unknown_technique_is_refused_with_those_that_are_known() -> None:
    """What can't be built is not pretended to be."""
    with pytest.raises(UsageError) as caught:
        build_model(profile(table("t", column("id"))), "anchor")
    assert "anchor" in caught.value.message
    assert caught.value.hint == f"Known techniques: {', '.join(sorted(TECHNIQUES))}."


def test_a_misspelt_technique_is_answered_with_the_nearest() -> None:
    """A typing error gets the word that was probably meant."""
    with pytest.raises(UsageError) as caught:
        build_model(profile(table("t", column("id"))), "Flatt")
    assert (caught.value.hint or "").startswith("Did you mean 'flat'? Known techniques: ")


def test_flat_fills_the_conceptual_and_the_semantic_layer_alone() -> None:
    """One entity a table, and neither a vault nor a star."""
    model = build_model(profile(table("a", column("id")), table("b", column("id"))))
    assert [entity.name for entity in model.conceptual.entities] == ["a", "b"]
    assert model.osi is not None
    assert model.dv2 is None
    assert model.dimensional is None


@given(profiles())
def test_the_json_reads_back_as_the_same_model_and_holds_a_valid_osi_document(
    measured: Profile,
) -> None:
    """Nothing is lost in ``model.json``, and its ``osi`` part passes the official schema."""
    model = build_model(measured)
    text = model_json(model)
    assert LogicalModel.model_validate_json(text) == model
    assert model_json(build_model(measured)) == text
    if OSI_SCHEMA.exists():
        schema = json.loads(OSI_SCHEMA.read_text(encoding="utf-8"))
        errors = list(Draft202012Validator(schema).iter_errors(json.loads(text)["osi"]))
        assert errors == []


def test_names_in_osi_are_unique_and_expressions_quoted() -> None:
    """Datasets, relationships and metrics have names of their own; names never become SQL."""
    shop = profile(
        table("a b", column('x"; DROP', "DOUBLE")),
        table("a_b", column('x"; DROP', "DOUBLE"), column("ref")),
        foreign_keys=[reference("a_b", "ref", "a b", "x")],
    )
    document = build_model(shop).osi
    assert document is not None
    model = document.semantic_model[0]
    metrics = model.metrics or ()
    assert len({metric.name for metric in metrics}) == len(metrics) == 2
    assert metrics[0].expression.dialects[0].expression == 'AVG("a b"."x""; DROP")'


def test_the_other_layers_hold_what_their_documents_name() -> None:
    """A vault and a star fit into the same model under the documented field names."""
    sources = {
        "mapped_source_tables": ("customers",),
        "source_columns": ({"table": "customers", "column": "email"},),
        "reason": "The e-mail address is unique.",
    }
    hub = Hub.model_validate(
        {
            "name": "hub_customer",
            "entity_name": "customer",
            "business_key_columns": ["email"],
            "business_key_kind": "natural",
            "business_key_origin": "measured",
            "hash_key": "hk_customer",
            "evidence": Evidence(origin="measured", rows=3),
            **sources,
        }
    )
    measure = Measure(name="total", column="total", aggregation="sum", additivity="additive")
    fact = Fact(
        name="fct_orders",
        entity_name="orders",
        fact_type="transaction",
        grain="one row an order",
        measures=(measure,),
    )
    flat = build_model(profile(table("customers", column("email"))))
    model = flat.model_copy(
        update={
            "dv2": DataVaultModel(hubs=(hub,)),
            "dimensional": DimensionalModel(variant="star", facts=(fact,)),
        }
    )
    document = json.loads(model_json(model))
    assert document["dv2"]["hubs"][0]["business_key_columns"] == ["email"]
    assert document["dv2"]["hubs"][0]["mapped_source_tables"] == ["customers"]
    assert document["dimensional"]["facts"][0]["measures"][0]["name"] == "total"
    assert LogicalModel.model_validate(document) == model
