"""Warnings about valid contracts that contradict themselves."""

from typing import Any

import pytest

from fluid_build.contract.consistency import check_consistency
from fluid_build.contract.read.files import validate_file
from fluid_build.contract.validation import Finding, validate
from tests.contract.contracts import contract, expose


def only(document: object) -> Finding:
    assert validate(document) == ()
    warnings = check_consistency(document)
    assert len(warnings) == 1, warnings
    assert warnings[0].level == "warning"
    return warnings[0]


def promise(**changes: Any) -> dict[str, Any]:
    return {**expose()["contract"], **changes}


def rule(**changes: Any) -> dict[str, Any]:
    return {"id": "r1", "type": "uniqueness", "severity": "error", **changes}


def test_a_consistent_contract_has_no_warnings() -> None:
    """Nothing is said of names that all lead somewhere."""
    rules = [rule(selector="order_id, placed_on"), rule(id="r2", selector="count(*) > 3")]
    document = contract(exposes=[expose(contract=promise(dq={"rules": rules}))])
    assert check_consistency(document) == ()


def test_an_invalid_document_has_findings_and_no_warnings() -> None:
    """What is not valid is left to the validator."""
    assert check_consistency(contract(kind="x", exposes=[expose(), expose()])) == ()


def test_two_exposes_of_one_id() -> None:
    """An id that is given twice is reported at the second place."""
    warning = only(contract(exposes=[expose(), expose()]))
    assert warning.path == "exposes[1].exposeId"
    assert warning.message == "the exposeId `orders` is defined twice"


def test_two_columns_of_one_name() -> None:
    """A column that is given twice is reported."""
    columns = [{"name": "a", "type": "int"}, {"name": "a", "type": "int"}]
    warning = only(contract(exposes=[expose(contract={"schema": columns})]))
    assert warning.path == "exposes[0].contract.schema[1].name"


def test_a_rule_on_a_column_that_is_not_there() -> None:
    """A rule's selector names columns of the schema."""
    rules = [rule(selector="order_id, placed_om")]
    warning = only(contract(exposes=[expose(contract=promise(dq={"rules": rules}))]))
    assert warning.path == "exposes[0].contract.dq.rules[0].selector"
    assert warning.nearest == "placed_on"


def test_masking_a_column_that_is_not_there() -> None:
    """A policy speaks of columns of the schema."""
    policy = {"privacy": {"masking": [{"column": "email", "strategy": "hash"}]}}
    assert only(contract(exposes=[expose(policy=policy)])).path.endswith("masking[0].column")


def test_a_build_of_something_that_is_not_exposed() -> None:
    """What a build puts out is exposed."""
    document = contract(builds=[{"id": "b", "outputs": ["order"]}])
    assert only(document).message == (
        "the contract has no exposeId `order`; did you mean `orders`?"
    )


def test_a_metric_of_a_measure_that_is_not_there() -> None:
    """Metrics name measures, and other metrics, of the same model."""
    semantics = {
        "measures": [{"name": "total", "agg": "sum", "createMetric": True}],
        "metrics": [
            {"name": "revenue", "type": "simple", "measure": "totl"},
            {"name": "rate", "type": "ratio", "numerator": "revenue", "denominator": "total"},
        ],
    }
    warning = only(contract(exposes=[expose(semantics=semantics)]))
    assert warning.path == "exposes[0].semantics.metrics[0].measure"
    assert warning.nearest == "total"


def test_a_task_that_waits_for_none() -> None:
    """The tasks that a task waits for are in the DAG."""
    airflow = {"dagId": "d", "tasks": [{"taskId": "a", "dependencies": ["b"]}]}
    document = contract(orchestration={"engine": "airflow", "airflow": airflow})
    assert only(document).path == "orchestration.airflow.tasks[0].dependencies[0]"


@pytest.mark.parametrize(
    ("metadata", "path"),
    [
        ({"owner": {"email": "nobody"}}, "metadata.owner.email"),
        ({"owner": {}, "createdAt": "yesterday"}, "metadata.createdAt"),
    ],
)
def test_texts_that_are_not_of_their_format(metadata: object, path: str) -> None:
    """Formats that the schema only notes are a warning where they are not kept."""
    assert only(contract(metadata=metadata)).path == path


def test_well_formed_texts_are_not_warned_of() -> None:
    """An e-mail address, a time and a link that are what they should be raise nothing."""
    metadata = {"owner": {"email": "a@b.example"}, "createdAt": "2025-01-31T12:00:00Z"}
    document = contract(metadata=metadata, docs={"homepage": "https://example.org"})
    assert check_consistency(document) == ()


def test_validating_a_file_gives_no_warnings(tmp_path: Any) -> None:
    """The verdict on a file is the schema's alone."""
    file = tmp_path / "contract.json"
    file.write_text('{"fluidVersion": "0.7.2"}')
    assert {finding.level for finding in validate_file(file)} == {"error"}
