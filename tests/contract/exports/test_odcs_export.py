"""The ODCS and DCS exports: where each part of a contract goes."""

import json
from typing import Any

import pytest

from fluid_build.contract.exports.formats import export
from fluid_build.contract.validation import parse_contract
from tests.contract.contracts import contract, expose


def written(format_: str = "odcs", version: str | None = None, **changes: Any) -> dict[str, Any]:
    return export(parse_contract(contract(**changes)), format_, version).document


def table(**changes: Any) -> dict[str, Any]:
    """The table ``orders`` as ODCS has it."""
    (found,) = written(exposes=[expose(**changes)])["schema"]
    return found


def column(**changes: Any) -> dict[str, Any]:
    """One column as ODCS has it."""
    given = {"name": "a", "type": "string", **changes}
    (found,) = table(contract={"schema": [given]})["properties"]
    return found


def own(element: dict[str, Any]) -> dict[str, Any]:
    return {item["property"]: item["value"] for item in element["customProperties"]}


def ruled(rule: dict[str, Any], *columns: str) -> dict[str, Any]:
    """A table with one rule."""
    schema = [{"name": name, "type": "string"} for name in columns]
    full = {"id": "r", "severity": "error", "selector": ", ".join(columns), **rule}
    return expose(contract={"schema": schema, "dq": {"rules": [full]}})


@pytest.mark.parametrize(
    ("type_", "logical", "options", "figures"),
    [
        ("decimal(10, 2)", "number", None, {"precision": 10, "scale": 2}),
        ("varchar(40)", "string", {"maxLength": 40}, {}),
        ("BIGINT", "integer", None, {}),
        ("timestamp with time zone", "timestamp", None, {}),
        ("map", "object", None, {}),
        ("uuid", "string", None, {}),
    ],
)
def test_types_are_carried(
    type_: str, logical: str, options: dict[str, Any] | None, figures: dict[str, int]
) -> None:
    """The logical type, length, precision and scale, and the type as it is spelled."""
    found = column(type=type_)
    assert (found["logicalType"], found["physicalType"]) == (logical, type_)
    assert found.get("logicalTypeOptions") == options
    assert (own(found) if figures else {}) == figures


def test_composite_keys_have_positions() -> None:
    """The primary key's columns are numbered in the key's order."""
    labels = {"primary-key": json.dumps(["placed_on", "order_id"])}
    places = {p["name"]: p.get("primaryKeyPosition") for p in table(labels=labels)["properties"]}
    assert places == {"order_id": 2, "placed_on": 1}


@pytest.mark.parametrize(
    ("rule", "columns", "expected"),
    [
        (
            {"type": "completeness", "threshold": 1},
            ("a",),
            {"metric": "nullValues", "mustBe": 0, "unit": "rows"},
        ),
        (
            {"type": "completeness", "threshold": 0.99, "operator": ">="},
            ("a",),
            {"metric": "nullValues", "mustBeLessOrEqualTo": 1.0, "unit": "percent"},
        ),
        (
            {"type": "completeness", "labels": {"max-violations": "3"}},
            ("a",),
            {"metric": "nullValues", "mustBeLessOrEqualTo": 3, "unit": "rows"},
        ),
        (
            {"type": "uniqueness", "threshold": 1},
            ("a", "b"),
            {"metric": "duplicateValues", "arguments": {"properties": ["a", "b"]}, "mustBe": 0},
        ),
        (
            {"type": "valid_values", "labels": {"accepted-values": '["x"]'}},
            ("a",),
            {"metric": "invalidValues", "arguments": {"validValues": ["x"]}, "mustBe": 0},
        ),
        ({"type": "freshness", "window": "P1D"}, ("a",), {"type": "text"}),
        ({"type": "completeness", "operator": "<=", "threshold": 0.1}, ("a",), {"type": "text"}),
    ],
)
@pytest.mark.parametrize("format_", ["odcs", "dcs"])
def test_rules_become_the_closest_check(
    format_: str, rule: dict[str, Any], columns: tuple[str, ...], expected: dict[str, Any]
) -> None:
    """A metric with its bound where there is one, else a text; at the column if it is one."""
    document = written(format_, exposes=[ruled(rule, *columns)])
    if format_ == "odcs":
        place = document["schema"][0]
        place = place["properties"][0] if len(columns) == 1 else place
    else:
        place = document["models"]["orders"]
        place = place["fields"]["a"] if len(columns) == 1 else place
    (check,) = place["quality"]
    assert check.items() >= expected.items()


def referring(*pairs: tuple[str, str], name: str = "lines") -> list[dict[str, Any]]:
    """Two tables, one referring to the other by these columns."""
    labels = {
        "rule": "reference",
        "to-table": "orders",
        "to-columns": json.dumps([theirs for _, theirs in pairs]),
        "columns": json.dumps([ours for ours, _ in pairs]),
    }
    child = ruled({"type": "accuracy", "labels": labels}, *(ours for ours, _ in pairs))
    schema = [{"name": theirs, "type": "string"} for _, theirs in pairs]
    return [{**child, "exposeId": name}, expose(contract={"schema": schema})]


def test_a_reference_by_one_column_is_at_that_column() -> None:
    """The column points at the other by names, and a query counts what is not found."""
    child, _ = written(exposes=referring(("a", "x")))["schema"]
    (relationship,) = child["properties"][0]["relationships"]
    assert (relationship["type"], relationship["to"]) == ("foreignKey", "orders.x")
    (check,) = child["properties"][0]["quality"]
    assert check["query"] == (
        'SELECT COUNT(CASE WHEN p."x" IS NULL THEN 1 END) AS orphans FROM "lines" AS c LEFT JOIN '
        '"orders" AS p ON p."x" = c."a" WHERE c."a" IS NOT NULL'
    )


def test_a_composite_reference_is_at_the_table() -> None:
    """Pairs of columns stay pairs, and names that are not plain are pointed at by ids."""
    child, parent = written(exposes=referring(("a", "x"), ("the b", "y")))["schema"]
    (relationship,) = child["relationships"]
    assert relationship["from"] == ["lines.a", "schema/lines/properties/the_b"]
    assert relationship["to"] == ["orders.x", "orders.y"]
    assert (child["id"], child["properties"][1]["id"]) == ("lines", "the_b")
    assert "id" not in parent


def test_references_in_dcs() -> None:
    """One column refers natively; several go into `config`, as DCS has no key for them."""
    single = written("dcs", exposes=referring(("a", "x")))["models"]["lines"]
    assert single["fields"]["a"]["references"] == "orders.x"
    several = written("dcs", exposes=referring(("a", "x"), ("b", "y")))["models"]["lines"]
    assert several["config"]["references"] == [
        {"columns": ["a", "b"], "model": "orders", "toColumns": ["x", "y"]}
    ]


def test_personal_data_is_marked() -> None:
    """As classification in ODCS, and by its own flag in DCS."""
    given = {"schema": [{"name": "a", "type": "string", "sensitivity": "pii"}]}
    assert column(sensitivity="pii")["classification"] == "pii"
    field = written("dcs", exposes=[expose(contract=given)])["models"]["orders"]["fields"]["a"]
    assert (field["pii"], field["classification"]) == (True, "pii")


def test_precision_and_scale_in_dcs() -> None:
    """DCS has keys for both."""
    given = {"schema": [{"name": "a", "type": "decimal(10,2)"}]}
    field = written("dcs", exposes=[expose(contract=given)])["models"]["orders"]["fields"]["a"]
    assert (field["type"], field["precision"], field["scale"]) == ("decimal", 10, 2)


def test_the_owner_is_the_team() -> None:
    """The team's name, and support channels for its addresses."""
    owner = {"team": "sales", "email": "sales@acme.org", "slack": "#sales"}
    document = written(metadata={"owner": owner})
    assert document["team"] == {"name": "sales"}
    assert [(c["tool"], c["channel"]) for c in document["support"]] == [
        ("email", "sales@acme.org"),
        ("slack", "#sales"),
    ]


@pytest.mark.parametrize(
    ("lifecycle", "version", "status"),
    [
        ({"state": "preview"}, "3.1.0", "draft"),
        ({"state": "retired"}, "3.2.0", "retired"),
        ({}, "3.1.0", "unstated"),
        ({}, "3.2.0", None),
    ],
)
def test_the_stage_of_life_is_the_status(
    lifecycle: dict[str, str], version: str, status: str | None
) -> None:
    """3.1 requires a status, and gets one that says there is none; 3.2 doesn't."""
    assert written(version=version, lifecycle=lifecycle).get("status") == status


def test_labels_keep_their_names() -> None:
    """A label is a custom property, and one that looks like ours is not taken for it."""
    found = own(column(labels={"origin": "measured", "fluid.type": "odd"}))
    assert found == {"origin": "measured", "fluid.label.fluid.type": "odd"}


def test_tables_of_one_place_share_a_server() -> None:
    """Bindings that differ in their table alone are one server; others have one each."""

    def at(id_: str, **location: str) -> dict[str, Any]:
        binding = {"platform": "snowflake", "format": "snowflake_table", "location": location}
        return expose(exposeId=id_, binding=binding)

    place = {"account": "acme", "database": "sales", "schema": "public"}
    one = written(exposes=[at("a", **place, table="A"), at("b", **place, table="B")])
    assert [server["type"] for server in one["servers"]] == ["snowflake"]
    assert [found["physicalName"] for found in one["schema"]] == ["A", "B"]
    two = written(exposes=[at("a", **place), at("b", **{**place, "schema": "other"})])
    assert [own(found)["fluid.server"] for found in two["schema"]] == ["snowflake", "snowflake_2"]
