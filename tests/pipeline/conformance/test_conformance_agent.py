"""The ConformanceAgent as "Agentic Primitives" documents it, and what its findings say."""

from types import SimpleNamespace
from typing import Any

import pytest

from fluid_build.copilot.agents.conformance_agent import (
    OSI_SUPPORTED_DIALECTS,
    ConformanceAgent,
    ConformanceReport,
)
from fluid_build.modeling.osi import Dataset, osi_document, osi_field, osi_metric
from tests.contract.contracts import contract, expose

FIELD = osi_field("order_id", '"order_id"')
DATASET = Dataset(name="orders", source="shop.orders", fields=(FIELD,))
TOTAL = osi_metric("total", 'SUM("orders"."price")', None)


def logical() -> SimpleNamespace:
    return SimpleNamespace(osi=osi_document("shop", None, [DATASET], [], [TOTAL]))


def complete_contract(**changes: Any) -> dict[str, Any]:
    return contract(exposes=[expose(version="1.0.0")], **changes)


def run(**documents: object) -> ConformanceReport:
    return ConformanceAgent().run(**documents)


def test_clean_model_and_contract_are_summarised_as_documented() -> None:
    report = run(logical=logical(), contract=complete_contract())
    assert report.summary() == "conformance: ✓ all 2 standards clean"
    assert report.ok
    assert report.findings == ()


def test_all_four_standards_are_checked() -> None:
    assert run(logical=logical(), contract=complete_contract()).standards == (
        "fluid",
        "osi",
        "odcs_translation_readiness",
        "dcs_translation_readiness",
    )


def test_a_standard_without_its_document_is_not_checked() -> None:
    assert run(logical=logical()).summary() == "conformance: ✓ 1 standard clean"
    assert run().summary() == "conformance: nothing to check"
    assert run(logical=SimpleNamespace(osi=None)).standards == ()


def test_broken_contract_is_not_ok() -> None:
    report = run(logical=logical(), contract=complete_contract(kind="Nothing"))
    assert not report.ok
    assert report.summary().startswith("conformance: ✗ 1 of 2 standards clean; fluid: 1 error; ")
    (finding,) = report.findings_for("fluid")
    assert finding.path == "kind"


def test_broken_semantic_model_is_not_ok() -> None:
    model = {"osi": {"version": "0.1.1", "semantic_model": [{"name": "shop", "datasets": []}]}}
    report = run(logical=model)
    assert report.summary() == "conformance: ✗ 0 of 1 standard clean; osi: 1 error"
    assert report.findings[0].path == "semantic_model[0].datasets"


def test_expression_that_is_not_sql_is_a_warning() -> None:
    metric = osi_metric("total", "DROP TABLE orders", None)
    model = SimpleNamespace(osi=osi_document("shop", None, [DATASET], [], [metric]))
    (finding,) = run(logical=model).findings
    assert (finding.standard, finding.level, finding.path) == ("osi", "warning", "total")


def test_missing_fields_of_the_exports_are_listed() -> None:
    api = {"openapiRef": "https://example.com/openapi.json"}
    report = run(contract=contract(exposes=[expose(contract=api)]))
    paths = [finding.path for finding in report.findings_for("odcs_translation_readiness")]
    assert paths == ["exposes[0].version", "exposes[0].contract.schema"]
    assert report.ok
    assert report.summary() == (
        "conformance: ✓ 1 standard clean; odcs_translation_readiness: 2 warnings;"
        " dcs_translation_readiness: 2 warnings"
    )


def test_report_does_not_depend_on_the_order_in_which_checks_end() -> None:
    documents = {"logical": logical(), "contract": contract(kind="Nothing")}
    assert len({run(**documents) for _ in range(5)}) == 1


def dialects(item: Any) -> dict[str, str]:
    return {entry.dialect: entry.expression for entry in item.expression.dialects}


def test_missing_dialects_are_filled_in() -> None:
    mapped = ConformanceAgent().apply_dialect_mapper(logical())
    model = mapped.osi.semantic_model[0]
    assert dialects(model.datasets[0].fields[0]) == {
        "ANSI_SQL": '"order_id"',
        "SNOWFLAKE": '"order_id"',
        "DATABRICKS": "`order_id`",
    }
    assert dialects(model.metrics[0])["DATABRICKS"] == "SUM(`orders`.`price`)"
    assert mapped.osi.dialects == OSI_SUPPORTED_DIALECTS
    assert run(logical=mapped).ok


@pytest.mark.parametrize("dialect", ["MDX", "BIGQUERY"])
def test_only_sql_dialects_of_osi_are_filled_in(dialect: str) -> None:
    with pytest.raises(ValueError, match=dialect):
        ConformanceAgent().apply_dialect_mapper(logical(), [dialect])


def test_existing_dialects_stay() -> None:
    own = {"dialect": "SNOWFLAKE", "expression": "MY_COLUMN"}
    expression = {"dialects": [{"dialect": "ANSI_SQL", "expression": '"a"'}, own]}
    model = {"osi": {"semantic_model": [{"datasets": [{"fields": [{"expression": expression}]}]}]}}
    ConformanceAgent().apply_dialect_mapper(model)
    assert expression["dialects"] == [
        {"dialect": "ANSI_SQL", "expression": '"a"'},
        own,
        {"dialect": "DATABRICKS", "expression": "`a`"},
    ]


def test_objects_are_filled_in_place() -> None:
    entry = SimpleNamespace(dialect="ANSI_SQL", expression="COUNT(*)")
    metric = SimpleNamespace(expression=SimpleNamespace(dialects=[entry]))
    model = SimpleNamespace(osi=SimpleNamespace(metrics=[metric]))
    assert ConformanceAgent().apply_dialect_mapper(model) is model
    assert dialects(metric) == dict.fromkeys(OSI_SUPPORTED_DIALECTS, "COUNT(*)")


@pytest.mark.parametrize("nothing", [None, {}, SimpleNamespace(), {"osi": None}])
def test_model_without_a_semantic_layer_is_left_alone(nothing: object) -> None:
    assert ConformanceAgent().apply_dialect_mapper(nothing) is nothing
