"""The OSI export: datasets with their keys, how they join, and what may be asked of them."""

from typing import Any

from fluid_build.contract.exports.formats import Exported, export
from fluid_build.contract.validation import parse_contract
from tests.contract.contracts import contract, expose
from tests.contract.exports.verdicts import refused_by_osi
from tests.shared import needs_shared


def exported(semantics: dict[str, Any]) -> Exported:
    lines = expose(
        exposeId="lines",
        semantics=semantics,
        contract={
            "schema": [
                {"name": "order_id", "type": "integer"},
                {"name": "pos", "type": "integer"},
                {"name": "price", "type": "decimal(10,2)"},
                {"name": "sold_on", "type": "date"},
            ]
        },
    )
    orders = expose(
        semantics={"entities": [{"name": "order", "type": "primary", "expr": "order_id"}]}
    )
    return export(parse_contract(contract(exposes=[orders, lines])), "osi")


SEMANTICS: dict[str, Any] = {
    "entities": [
        {"name": "line", "type": "primary", "expr": '("order_id", "pos")'},
        {"name": "order", "type": "foreign", "expr": "order_id"},
    ],
    "dimensions": [
        {"name": "sold_on", "type": "time", "typeParams": {"timeGranularity": "day"}},
        {"name": "dear", "type": "categorical", "expr": "price > 100"},
    ],
    "measures": [
        {"name": "revenue", "agg": "sum", "expr": "price"},
        {"name": "rows", "agg": "count", "expr": "1"},
        {"name": "p", "agg": "percentile", "expr": "price"},
    ],
    "metrics": [
        {"name": "average", "type": "ratio", "numerator": "revenue", "denominator": "rows"},
        {"name": "of_march", "type": "simple", "measure": "revenue", "filter": "month = 3"},
    ],
}


def model(semantics: dict[str, Any]) -> dict[str, Any]:
    (found,) = exported(semantics).document["semantic_model"]  # type: ignore[misc]
    return found


def test_datasets_have_their_keys_whole() -> None:
    """A composite primary key keeps all its columns, in order."""
    orders, lines = model(SEMANTICS)["datasets"]
    assert (orders["primary_key"], lines["primary_key"]) == (["order_id"], ["order_id", "pos"])


def test_references_become_relationships() -> None:
    """A foreign entity of the semantic model joins the dataset whose primary entity it names."""
    (relationship,) = model(SEMANTICS)["relationships"]
    assert (relationship["from"], relationship["to"]) == ("lines", "orders")
    assert (relationship["from_columns"], relationship["to_columns"]) == (["order_id"],) * 2


def test_measures_and_metrics_have_expressions() -> None:
    """Sums and counts over columns, and ratios of them that survive a zero."""
    metrics = {m["name"]: m["expression"]["dialects"][0] for m in model(SEMANTICS)["metrics"]}
    assert {name: expression["expression"] for name, expression in metrics.items()} == {
        "lines.revenue": 'SUM("lines"."price")',
        "lines.rows": "COUNT(*)",
        "average": '(SUM("lines"."price")) / NULLIF((COUNT(*)), 0)',
    }


def test_dimensions_are_fields() -> None:
    """A dimension that is a column marks its field, one with an expression is a field itself."""
    fields = {field["name"]: field for field in model(SEMANTICS)["datasets"][1]["fields"]}
    assert fields["sold_on"]["dimension"] == {"is_time": True}
    assert fields["dear"]["expression"]["dialects"][0]["expression"] == "price > 100"
    assert "dimension" not in fields["price"]


def test_metrics_without_an_expression_are_listed() -> None:
    """A percentile without its number and a metric with a filter are unsaid."""
    paths = {unsaid.path for unsaid in exported(SEMANTICS).unsaid}
    assert {"exposes[].semantics.measures[]", "exposes[].semantics.metrics[]"} <= paths


@needs_shared
def test_the_document_is_valid() -> None:
    """It passes the official schema."""
    assert refused_by_osi(exported(SEMANTICS).document) is None
