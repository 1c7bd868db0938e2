"""Decided names reach every artifact of a forged folder, and the proof holds whatever they are."""

import re
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.contract.exports.formats import export
from fluid_build.decisions.language import AnyDecision, Domain, Owner, ProductName, Rename
from fluid_build.decisions.model_decisions import ModelDecisions
from fluid_build.forging import Forged, forge
from fluid_build.forging.stages import measure
from fluid_build.modeling.sql_names import RESERVED
from fluid_build.modeling.techniques import build_decided_model
from fluid_build.sources import open_source
from fluid_build.sources.combined import SourceRequest, open_several
from fluid_build.sources.uri import locate
from fluid_build.transform.plan.techniques import transform_plan
from fluid_build.transform.proof.building import build_and_prove
from tests.examples import dear_property
from tests.shared import CORPUS, on_databases
from tests.test_forge import build_shop

NAMES = ("crm", "erp")
TECHNIQUES = ("flat", "data_vault_2", "dimensional")
NEW_NAMES = st.from_regex(r"\A[A-Za-z_][A-Za-z0-9_]{0,62}\Z") | st.sampled_from(
    ["order", "select", "user", "load_date", "hash_diff", "customer", "Id", "order_id", "_"]
)


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_shop(tmp_path_factory.mktemp("decided") / "shop.sqlite")


def forged(
    database: Path,
    *decisions: AnyDecision,
    technique: str = "flat",
    out: Path | None = None,
) -> Forged:
    with closing(open_source(str(database))) as source:
        return forge(source, out=out, technique=technique, decisions=decisions)


def relations(result: Forged) -> set[str]:
    return {build.name for build in result.plan.published}


def columns(result: Forged, relation: str) -> set[str]:
    return {column.name for column in result.plan.build(relation).columns}


def statuses(result: Forged) -> list[str]:
    return [verdict.status for verdict in result.verdicts]


RENAMED: Sequence[AnyDecision] = (
    Rename(table="Order Details", new_name="sales_line"),
    Rename(table="Order Details", column="Total", new_name="gross_amount"),
    Rename(table="Customer", new_name="client"),
)


@pytest.mark.parametrize(
    ("technique", "expected", "holder"),
    [
        ("flat", {"client", "sales_line"}, "sales_line"),
        ("data_vault_2", {"hub_client", "sat_client", "tl_sales_line"}, "sat_sales_line"),
        ("dimensional", {"dim_client", "fct_sales_line"}, "fct_sales_line"),
    ],
)
def test_relations_have_the_decided_names(
    shop: Path, technique: str, expected: set[str], holder: str
) -> None:
    result = forged(shop, *RENAMED, technique=technique)
    assert expected <= relations(result)
    assert not any("order_details" in name or "customer" in name for name in relations(result))
    assert "gross_amount" in columns(result, holder)
    assert statuses(result) == ["accepted"] * 3
    assert result.proof.verdict == "proven"


@pytest.mark.parametrize("technique", TECHNIQUES)
def test_the_source_keeps_its_own_names(shop: Path, tmp_path: Path, technique: str) -> None:
    result = forged(shop, *RENAMED, technique=technique, out=tmp_path)
    assert {source.id for source in result.plan.sources} == {"customer", "order_details"}
    sources = (tmp_path / "dbt/models/staging/_sources.yml").read_text()
    assert "Order Details" in sources and "sales_line" not in sources


def test_a_reader_sees_both_names(shop: Path, tmp_path: Path) -> None:
    result = forged(shop, *RENAMED, out=tmp_path)
    document = (tmp_path / "MODEL.md").read_text()
    assert "`Order Details`, named `sales_line`" in document
    assert "`Total`, named `gross_amount`" in document
    assert "client" in {expose.title for expose in result.contract.exposes}
    model = result.model.osi
    assert model is not None
    assert {each.name for each in model.semantic_model[0].datasets} == {"client", "sales_line"}


def test_a_name_of_another_table_is_refused(shop: Path) -> None:
    result = forged(shop, Rename(table="Customer", new_name="OrderDetails"))
    (verdict,) = result.verdicts
    assert (verdict.status, verdict.message) == (
        "refused",
        "The table `Order Details` has the name `OrderDetails` already.",
    )
    assert relations(result) == {"customer", "order_details"}


def test_a_name_of_another_column_is_refused(shop: Path) -> None:
    result = forged(shop, Rename(table="Order Details", column="Total", new_name="order_id"))
    message = "`Order Details.OrderId` has the name `order_id` already."
    assert result.verdicts[0].message == message


def test_two_tables_never_get_the_same_name(shop: Path) -> None:
    result = forged(
        shop,
        Rename(table="Order Details", new_name="party"),
        Rename(table="Customer", new_name="Party"),
    )
    assert sorted(statuses(result)) == ["accepted", "refused"]
    assert len(relations(result)) == 2


def test_two_tables_can_swap_their_names(shop: Path) -> None:
    with closing(open_source(str(shop))) as source:
        profile = measure(source)
        renamings = (
            Rename(table="Order Details", new_name="customer"),
            Rename(table="Customer", new_name="order_details"),
        )
        decisions = ModelDecisions(renamings=renamings)
        built = build_decided_model(profile, decisions=decisions)
        assert not built.refusals
        plan = transform_plan(built.model)
        assert "email" in {column.name for column in plan.build("order_details").columns}
        assert build_and_prove(source, plan, built.model).verdict == "proven"


@pytest.mark.parametrize(("word", "name"), [("order", "order_"), ("LineItems", "line_items")])
def test_a_name_that_relations_spell_differently_says_so(shop: Path, word: str, name: str) -> None:
    result = forged(shop, Rename(table="Order Details", new_name=word))
    assert name in relations(result)
    assert f"so it's `{name}`." in result.verdicts[0].message
    assert result.verdicts[0].status == "accepted"


@pytest.mark.parametrize("technique", TECHNIQUES)
@dear_property
@given(
    st.lists(
        st.tuples(
            st.sampled_from(
                [
                    ("Customer", None),
                    ("Order Details", None),
                    ("Customer", "Id"),
                    ("Customer", "Email"),
                    ("Customer", "State"),
                    ("Order Details", "OrderId"),
                    ("Order Details", "CustomerId"),
                    ("Order Details", "Total"),
                ]
            ),
            NEW_NAMES,
        ),
        max_size=8,
    )
)
def test_the_proof_holds_whatever_the_names(
    shop: Path, technique: str, renamings: list[tuple[tuple[str, str | None], str]]
) -> None:
    decisions = [
        Rename(table=table, column=column, new_name=name) for (table, column), name in renamings
    ]
    result = forged(shop, *decisions, technique=technique)
    assert result.proof.verdict == "proven"
    for build in result.plan.published:
        names = [build.name, *(column.name for column in build.columns)]
        assert all(re.fullmatch(r"[a-z_][a-z0-9_]{0,62}", name) for name in names)
        assert not RESERVED & set(names)
    assert len(result.verdicts) == len(decisions)


@on_databases("chinook", thorough="northwind pubs sakila")
@pytest.mark.parametrize("technique", TECHNIQUES)
def test_a_corpus_database_is_proven_with_new_names(name: str, technique: str) -> None:
    """Every table and every column gets another name."""
    database = CORPUS / name / "data"
    plain = forged(database, technique=technique)
    decisions = [
        Rename(table=entity.name, column=column, new_name=f"{word}_{number}")
        for number, entity in enumerate(plain.model.conceptual.entities)
        for word, column in (
            ("thing", None),
            *((f"part_{at}", a.name) for at, a in enumerate(entity.attributes)),
        )
    ]
    result = forged(database, *decisions, technique=technique)
    assert set(statuses(result)) == {"accepted"}
    assert result.proof.verdict == plain.proof.verdict


def test_a_column_that_gives_way_to_a_key_says_so(shop: Path) -> None:
    decision = Rename(table="Order Details", column="Total", new_name="customer_key")
    result = forged(shop, decision, technique="dimensional")
    message = "`fct_order_details` has a `customer_key` of its own, so it's `customer_key_2` there."
    assert [verdict.message for verdict in result.verdicts] == [message]
    assert "customer_key_2" in columns(result, "fct_order_details")
    assert result.proof.verdict == "proven"


def test_a_table_of_several_sources_has_its_decided_name(tmp_path: Path) -> None:
    for name in NAMES:
        (tmp_path / name).mkdir()
        build_shop(tmp_path / name / f"{name}.sqlite")
    decision = Rename(table="crm.Customer", new_name="client")
    requests = [SourceRequest(locate(str(tmp_path / name / f"{name}.sqlite"))) for name in NAMES]
    with closing(open_several(requests)) as both:
        result = forge(both, technique="data_vault_2", decisions=[decision])
    assert "sat_client_crm" in relations(result)
    assert "sat_customer_erp" in relations(result)
    assert result.proof.verdict == "proven"


PRODUCT: Sequence[AnyDecision] = (
    Domain(domain="Retail"),
    Owner(team="Sales data", email="sales@example.com"),
    ProductName(name="Web shop"),
)


def test_the_contract_has_the_decided_name_domain_and_owner(shop: Path, tmp_path: Path) -> None:
    result = forged(shop, *PRODUCT, out=tmp_path)
    contract = yaml.safe_load((tmp_path / "contract.fluid.yaml").read_text())
    assert (contract["id"], contract["name"], contract["domain"]) == ("shop", "Web shop", "Retail")
    assert contract["metadata"]["owner"] == {"team": "Sales data", "email": "sales@example.com"}
    assert contract["metadata"]["businessContext"]["domain"] == "Retail"
    assert "before you publish it" not in contract["description"]
    document = (tmp_path / "MODEL.md").read_text()
    assert document.startswith("# Data model: `Web shop`\n")
    assert "Domain: Retail. Owner: Sales data (sales&#64;example.com)." in document
    assert statuses(result) == ["accepted"] * 3
    odcs = export(result.contract, "odcs").document
    assert (odcs["name"], odcs["domain"]) == ("Web shop", "Retail")
    assert "Sales data" in export(result.contract, "dcs").text


@pytest.mark.parametrize(
    ("decision", "missing"), [(PRODUCT[0], "an owner"), (PRODUCT[1], "a domain")]
)
def test_the_contract_asks_only_for_what_is_missing(
    shop: Path, decision: AnyDecision, missing: str
) -> None:
    description = forged(shop, decision).contract.description
    assert description is not None
    assert description.endswith(f". Assign {missing} before you publish it.")
