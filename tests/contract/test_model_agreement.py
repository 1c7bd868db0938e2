"""Whether a contract says what its model builds."""

from collections.abc import Callable
from typing import Any

import pytest

from fluid_build.contract.fluid import FluidContract
from fluid_build.contract.model_agreement import disagreements
from fluid_build.contract.validation import parse_contract
from fluid_build.contract.write.from_model import contract_from_model
from fluid_build.contract.write.yaml_text import as_document
from fluid_build.modeling.techniques import TECHNIQUES, build_model
from fluid_build.transform.plan.elements import TransformPlan
from fluid_build.transform.plan.techniques import transform_plan
from tests.modeling.profiles import column, profile, table

_PROFILE = profile(
    table("a", column("id", "INTEGER"), column("name", "VARCHAR")), table("b", column("id"))
)


def _both(technique: str = "flat") -> tuple[FluidContract, TransformPlan]:
    model = build_model(_PROFILE, technique)
    plan = transform_plan(model)
    return contract_from_model(_PROFILE, model, plan), plan


def _said(contract: FluidContract, plan: TransformPlan) -> list[str]:
    return [str(one) for one in disagreements(contract, plan)]


@pytest.mark.parametrize("technique", sorted(TECHNIQUES))
def test_a_contract_agrees_with_the_model_that_it_was_made_of(technique: str) -> None:
    """What forge writes needs no correction."""
    assert _said(*_both(technique)) == []


def _edited(contract: FluidContract, edit: Callable[[Any], None]) -> FluidContract:
    document = as_document(contract)
    edit(document["exposes"])
    return parse_contract(document)


def test_another_type_is_reported() -> None:
    """Both types are named, and whose they are."""
    contract, plan = _both()

    def edit(exposes: Any) -> None:
        exposes[0]["contract"]["schema"][0]["type"] = "string"

    assert _said(_edited(contract, edit), plan) == [
        "a.id: string in the contract, integer in the model"
    ]


def test_a_column_on_one_side_is_reported() -> None:
    """A renamed column is one too many and one too few."""
    contract, plan = _both()

    def edit(exposes: Any) -> None:
        exposes[0]["contract"]["schema"][1]["name"] = "label"

    assert _said(_edited(contract, edit), plan) == [
        "a.name: in the model but not in the contract",
        "a.label: in the contract but not in the model",
    ]


def test_an_expose_on_one_side_is_reported() -> None:
    """A renamed expose is one too many and one too few."""
    contract, plan = _both()

    def edit(exposes: Any) -> None:
        exposes[1]["exposeId"] = "c"

    assert _said(_edited(contract, edit), plan) == [
        "b: in the model but not in the contract",
        "c: in the contract but not in the model",
    ]
