"""Decisions about elements of the model: a relation or column is renamed wherever it's used."""

import re
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.decisions.language import AnyDecision, Describe, Rename
from fluid_build.forging import Forged, forge
from fluid_build.sources import open_source
from fluid_build.transform.plan.elements import Build
from tests.examples import dear_property
from tests.shared import CORPUS, on_databases
from tests.test_decided_names import NEW_NAMES, TECHNIQUES, columns, relations, statuses
from tests.test_forge import build_shop

ELEMENTS = {
    "flat": ("customer", "order_details"),
    "data_vault_2": ("hub_customer", "sat_customer", "sat_order_details"),
    "dimensional": ("dim_customer", "fct_order_details", "dim_customer_history"),
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_shop(tmp_path_factory.mktemp("elements") / "shop.sqlite")


def forged(
    database: Path, *decisions: AnyDecision, technique: str, business_vault: bool = False
) -> Forged:
    with closing(open_source(str(database))) as source:
        return forge(
            source, technique=technique, decisions=decisions, business_vault=business_vault
        )


def _names(build: Build) -> list[str]:
    return [build.name, *(column.name for column in build.columns)]


def message(result: Forged) -> str:
    (verdict,) = result.verdicts
    return verdict.message


@pytest.mark.parametrize("technique", TECHNIQUES)
def test_a_renamed_element_is_renamed_wherever_it_is_used(shop: Path, technique: str) -> None:
    element = ELEMENTS[technique][0]
    result = forged(shop, Rename(element=element, new_name="clients"), technique=technique)
    assert statuses(result) == ["accepted"]
    assert "clients" in relations(result)
    assert element not in relations(result)
    layer = result.model.dv2 or result.model.dimensional
    if layer is not None:
        word = re.compile(rf"\b{element}\b")
        assert not word.search(layer.model_dump_json())
        assert not word.search(result.contract.model_dump_json())
    assert result.proof.verdict == "proven"


@pytest.mark.parametrize(
    ("technique", "element", "column", "new_name"),
    [
        ("flat", "customer", "state", "region"),
        ("data_vault_2", "sat_customer", "state", "region"),
        ("data_vault_2", "hub_customer", "id", "client_no"),
        ("dimensional", "dim_customer", "state", "region"),
        ("dimensional", "fct_order_details", "total", "amount"),
    ],
)
def test_a_column_of_an_element_is_renamed(
    shop: Path, technique: str, element: str, column: str, new_name: str
) -> None:
    decision = Rename(element=element, column=column, new_name=new_name)
    result = forged(shop, decision, technique=technique)
    assert statuses(result) == ["accepted"]
    assert new_name in columns(result, element)
    assert column not in columns(result, element)
    assert result.proof.verdict == "proven"


@pytest.mark.parametrize(
    ("technique", "decision", "status", "expected"),
    [
        (
            "flat",
            Rename(element="hub_customer", new_name="x"),
            "unused",
            "Only a Data Vault has `hub_customer`.",
        ),
        (
            "data_vault_2",
            Rename(element="dim_customer", new_name="x"),
            "unused",
            "Only a dimensional model has `dim_customer`.",
        ),
        (
            "data_vault_2",
            Rename(element="pit_customer", new_name="x"),
            "unused",
            "Only a business vault has `pit_customer`.",
        ),
        (
            "dimensional",
            Rename(element="dim_custumer", new_name="x"),
            "refused",
            "The model has no element `dim_custumer`. Did you mean 'dim_customer'?",
        ),
        (
            "dimensional",
            Rename(element="dim_customer", new_name="fct_order_details"),
            "refused",
            "Another relation has the name `fct_order_details` already.",
        ),
        (
            "data_vault_2",
            Rename(element="hub_customer", new_name="stg_customer"),
            "refused",
            "Another relation has the name `stg_customer` already.",
        ),
        (
            "data_vault_2",
            Rename(element="hub_customer", column="customer_hk", new_name="x"),
            "refused",
            "`customer_hk` is a column that the model adds to `hub_customer`.",
        ),
        (
            "dimensional",
            Rename(element="dim_customer", column="stat", new_name="x"),
            "refused",
            "`dim_customer` has no column `stat`. Did you mean 'state'?",
        ),
        (
            "dimensional",
            Rename(element="fct_order_details", column="total", new_name="customer_key"),
            "refused",
            "`fct_order_details` has a column `customer_key` already.",
        ),
        (
            "flat",
            Describe(element="client", text="x"),
            "refused",
            "The model has no element `client`.",
        ),
    ],
)
def test_what_the_model_cannot_show_is_not_accepted(
    shop: Path, technique: str, decision: AnyDecision, status: str, expected: str
) -> None:
    result = forged(shop, decision, technique=technique)
    assert (statuses(result), message(result)) == ([status], expected)


def test_the_later_of_two_names_counts_also_by_the_first_one(shop: Path) -> None:
    result = forged(
        shop,
        Rename(element="hub_customer", new_name="hub_client"),
        Rename(element="hub_client", new_name="hub_party"),
        technique="data_vault_2",
    )
    assert statuses(result) == ["unused", "accepted"]
    assert "hub_party" in relations(result)


def test_a_name_that_a_target_reserves_gets_an_underscore(shop: Path) -> None:
    result = forged(shop, Rename(element="dim_customer", new_name="user"), technique="dimensional")
    assert "user_" in relations(result)
    assert "so it's `user_`" in message(result)


@pytest.mark.parametrize("technique", TECHNIQUES)
def test_a_description_of_an_element_is_in_every_artifact(
    shop: Path, tmp_path: Path, technique: str
) -> None:
    element, column = ELEMENTS[technique][0], "id" if technique == "data_vault_2" else "state"
    decisions: Sequence[AnyDecision] = (
        Rename(element=element, new_name="client"),
        Rename(element=element, column=column, new_name="code"),
        Describe(element=element, text="Who buys from us."),
        Describe(element="client", column="code", text="Where they buy."),
    )
    with closing(open_source(str(shop))) as source:
        result = forge(source, out=tmp_path, technique=technique, decisions=decisions)
    assert statuses(result) == ["accepted"] * 4
    exposed = next(expose for expose in result.contract.exposes if expose.expose_id == "client")
    assert exposed.description == "Who buys from us."
    described = {c.name: c.description for c in exposed.contract.columns or ()}
    assert described["code"] == "Where they buy."
    properties = "".join(path.read_text() for path in (tmp_path / "dbt/models").rglob("_*.yml"))
    assert "Who buys from us." in properties and "Where they buy." in properties
    assert "Who buys from us." in (tmp_path / "MODEL.md").read_text()
    semantic = tmp_path / ("dbt/semantic" if technique == "dimensional" else "dbt/osi")
    assert "Who buys from us." in next(semantic.iterdir()).read_text()


@pytest.mark.parametrize("technique", TECHNIQUES)
@dear_property
@given(data=st.data())
def test_the_proof_holds_whatever_elements_are_called(
    shop: Path, technique: str, data: st.DataObject
) -> None:
    elements = st.sampled_from(ELEMENTS[technique])
    column = st.sampled_from([None, "id", "state", "email", "total", "order_id", "customer_id"])
    decisions = data.draw(
        st.lists(
            st.builds(lambda e, c, n: Rename(element=e, column=c, new_name=n), elements, column,
                      NEW_NAMES | elements),
            max_size=6,
        )
    )  # fmt: skip
    result = forged(shop, *decisions, technique=technique)
    assert result.proof.verdict == "proven"
    for verdict in result.verdicts:
        if verdict.status == "accepted" and isinstance(verdict.decision, Rename):
            label = verdict.decision.new_name.lower()
            names = {
                *relations(result),
                *(c for r in relations(result) for c in columns(result, r)),
            }
            assert label in names or "so it's `" in verdict.message


@on_databases("chinook", thorough="northwind sakila")
@pytest.mark.parametrize("technique", TECHNIQUES)
def test_a_corpus_database_is_proven_with_renamed_elements(name: str, technique: str) -> None:
    """Every relation is renamed, those of the business vault too, and most columns."""
    database = CORPUS / name / "data"
    business = technique == "data_vault_2"
    plain = forged(database, technique=technique, business_vault=business)
    decisions = [
        Rename(element=build.name, new_name=f"relation_{number}")
        for number, build in enumerate(plain.plan.published)
    ]
    result = forged(database, *decisions, technique=technique, business_vault=business)
    assert set(statuses(result)) == {"accepted"}
    assert all(relation.startswith("relation_") for relation in relations(result))
    assert result.proof.verdict == plain.proof.verdict
