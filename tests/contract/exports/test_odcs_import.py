"""ODCS documents: ours come back the same, those of others come as far as FLUID can say them."""

import copy
import json
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.contract.exports.formats import Exported, export
from fluid_build.contract.exports.odcs.reading import Imported, import_odcs
from fluid_build.contract.fluid import DqRule, FluidContract
from fluid_build.contract.keys import keys_of
from fluid_build.contract.structure import Path
from fluid_build.contract.validation import parse_contract
from fluid_build.contract.write.yaml_text import as_document
from fluid_build.errors import ContractError
from tests.contract.exports.shops import shops
from tests.contract.exports.verdicts import refused_by_odcs
from tests.contract.official import Maker, places
from tests.shared import needs_shared

versions = st.sampled_from(("3.1.0", "3.2.0"))


def carried(value: Any, left: set[Path] = frozenset(), path: Path = ()) -> Any:
    """A contract as the round trip keeps it.

    It lacks what the export leaves unsaid and what is empty, rules come by column, and an id that
    ODCS needs to point at an oddly named column is a new label.
    """
    if isinstance(value, dict):
        entries = {key: carried(item, left, (*path, key)) for key, item in value.items()}
        if path[-1:] == ("rules",):
            entries.pop("id", None)
        full = {key: item for key, item in entries.items() if item not in ({}, [])}
        return {key: item for key, item in full.items() if (*path, key) not in left}
    if not isinstance(value, list):
        return value
    items = [
        carried(item, left, (*path, index))
        for index, item in enumerate(value)
        if (*path, index) not in left
    ]
    items = [item for item in items if item not in ({}, [])]
    return sorted(items, key=json.dumps) if path[-2:] == ("dq", "rules") else items


def without_new_ids(imported: Any, contract: Any) -> Any:
    """The imported contract without the ids of columns and tables that the contract has not."""
    for ours, theirs in zip(imported["exposes"], contract["exposes"], strict=True):
        columns = (each["contract"].get("schema", []) for each in (ours, theirs))
        for new, old in [(ours, theirs), *zip(*columns, strict=True)]:
            if "id" not in old.get("labels", {}):
                new.get("labels", {}).pop("id", None)
    return imported


def check_round_trip(contract: FluidContract, version: str) -> None:
    exported = export(contract, "odcs", version)
    imported = import_odcs(copy.deepcopy(exported.document))
    document = as_document(contract)
    back = without_new_ids(as_document(imported.contract), document)
    assert carried(back) == carried(document, set(exported.left))


@given(shops(), versions)
def test_drawn_contracts_keep_what_fluid_says(contract: FluidContract, version: str) -> None:
    """What ODCS has about tables, keys, references and rules is the same after the round trip."""
    check_round_trip(contract, version)


@needs_shared
@given(st.randoms(use_true_random=False), versions)
def test_any_valid_contract_keeps_what_fluid_says(random: Random, version: str) -> None:
    """So is what it has about a contract made from the official FLUID schema."""
    check_round_trip(parse_contract(Maker(random, richness=0.5).document()), version)


@needs_shared
def test_every_place_of_a_contract_is_kept() -> None:
    """For each node of the FLUID schema that ODCS can hold, the round trip keeps it."""
    for index, place in enumerate(places()):
        document = Maker(Random(index), richness=0.1).document(place)
        check_round_trip(parse_contract(document), "3.2.0")


@given(shops(), versions)
def test_an_export_of_ours_leaves_nothing_to_labels(contract: FluidContract, version: str) -> None:
    """All that an export of ours holds has a key in FLUID, but for numbered ids."""
    imported = import_odcs(export(contract, "odcs", version).document)
    assert {u.path for u in imported.unsaid} <= {"schema[].id", "schema[].properties[].id"}


def document(**changes: Any) -> dict[str, Any]:
    """A small ODCS document by somebody else."""
    return {
        "apiVersion": "v3.1.0",
        "kind": "DataContract",
        "id": "53581432-6c55-4ba2-a65f-72344a91553b",
        "name": "Sales",
        "version": "2.1.0",
        "status": "active",
        "schema": [orders(), lines()],
        **changes,
    }


def orders(**changes: Any) -> dict[str, Any]:
    return {
        "name": "Orders",
        "physicalName": "tbl_orders",
        "properties": [
            {"name": "id", "logicalType": "integer", "primaryKey": True, "required": True},
            {"name": "placed on", "logicalType": "timestamp", "physicalType": "TIMESTAMP_NTZ(9)"},
        ],
        **changes,
    }


def lines(**changes: Any) -> dict[str, Any]:
    return {
        "name": "lines",
        "properties": [
            {
                "name": "order_id",
                "logicalType": "integer",
                "primaryKey": True,
                "primaryKeyPosition": 2,
                "relationships": [{"to": "Orders.id"}],
            },
            {"name": "line", "logicalType": "integer", "primaryKey": True, "primaryKeyPosition": 1},
            {"name": "sku", "logicalType": "string", "logicalTypeOptions": {"maxLength": 12}},
        ],
        **changes,
    }


def text(name: str, **changes: Any) -> dict[str, Any]:
    return {"name": name, "logicalType": "string", **changes}


def imported(foreign: dict[str, Any]) -> Imported:
    """The import of a document that the official validator accepts; its contract goes back out."""
    assert refused_by_odcs(foreign) is None
    found = import_odcs(copy.deepcopy(foreign))
    for version in ("3.1.0", "3.2.0"):
        check_round_trip(found.contract, version)
    return found


def rules(contract: FluidContract, table: int = 0) -> list[DqRule]:
    dq = contract.exposes[table].contract.dq
    return list(dq.rules or ()) if dq is not None else []


def test_tables_and_columns_of_others_are_exposed() -> None:
    """Names, types, lengths, nullability and version arrive in FLUID's words."""
    contract = imported(document()).contract
    first, second = contract.exposes
    assert (contract.name, contract.lifecycle) == ("Sales", {"state": "active"})
    assert (first.expose_id, first.title, first.version) == ("orders", "Orders", "2.1.0")
    assert first.binding.location.table == "tbl_orders"
    assert [(c.name, c.type, c.required) for c in first.contract.columns or ()] == [
        ("id", "bigint", True),
        ("placed on", "TIMESTAMP_NTZ(9)", None),
    ]
    assert (second.contract.columns or [])[2].type == "varchar(12)"


def test_a_table_without_columns_is_exposed() -> None:
    """ODCS allows a table that says nothing about its columns; FLUID then has an empty schema."""
    (table,) = import_odcs(document(schema=[{"name": "orders"}])).contract.exposes
    assert table.contract.columns == []


def test_tables_of_nearly_one_name_stay_apart() -> None:
    """Names that FLUID has to respell do not meet those that it need not."""
    found = imported(document(schema=[orders(), orders(name="orders"), orders(name="ORDERS")]))
    assert [expose.expose_id for expose in found.contract.exposes] == [
        "orders_2",
        "orders",
        "orders_3",
    ]


def test_keys_and_references_of_others_become_rules() -> None:
    """A composite key in the order of its positions, and a reference to another table."""
    contract = imported(document()).contract
    first, second = keys_of(contract)
    assert (first.primary, second.primary) == (("id",), ("line", "order_id"))
    (reference,) = second.references
    assert (reference.columns, reference.expose, reference.to_columns) == (
        ("order_id",),
        0,
        ("id",),
    )


def test_a_composite_reference_keeps_its_pairs() -> None:
    """Several columns refer to several, by names or by ids, each to its own."""
    pair = {
        "from": ["schema/l/properties/b", "schema/l/properties/a"],
        "to": ["Orders.x", "Orders.y"],
    }
    child = {
        "id": "l",
        "name": "lines",
        "properties": [text("A", id="a"), text("B", id="b")],
        "relationships": [pair],
    }
    parent = orders(properties=[text("x"), text("y")])
    found = imported(document(schema=[parent, child]))
    (reference,) = keys_of(found.contract)[1].references
    assert (reference.columns, reference.to_columns) == (("B", "A"), ("x", "y"))
    assert {unsaid.path for unsaid in found.unsaid} == {"schema[].id", "schema[].properties[].id"}


def test_a_reference_to_elsewhere_is_kept_as_a_label() -> None:
    """What points into another contract has no place in FLUID, and is listed."""
    table = orders(properties=[text("id", relationships=[{"to": "a.yaml#/schema/x/y/z"}])])
    found = imported(document(schema=[table]))
    assert [unsaid.path for unsaid in found.unsaid] == ["schema[].properties[].relationships"]


@pytest.mark.parametrize(
    ("check", "expected"),
    [
        ({"metric": "nullValues", "mustBe": 0}, ("completeness", 1, ">=", {})),
        (
            {"metric": "nullValues", "mustBeLessThan": 1, "unit": "percent"},
            ("completeness", 0.99, ">", {}),
        ),
        (
            {"metric": "duplicateValues", "mustBeLessThan": 10},
            ("uniqueness", None, ">=", {"max-violations": "9"}),
        ),
        (
            {"metric": "invalidValues", "arguments": {"validValues": ["a", "b"]}, "mustBe": 0},
            ("valid_values", 1, ">=", {"accepted-values": '["a", "b"]'}),
        ),
        (
            {"type": "library", "metric": "nullValues", "mustBeBetween": [1, 5]},
            ("completeness", None, None, "odcs-check"),
        ),
        (
            {"type": "sql", "query": "SELECT 1", "mustBeGreaterThan": 0},
            ("accuracy", None, None, "odcs-check"),
        ),
        (
            {"type": "custom", "engine": "soda", "implementation": {"a": 1}},
            ("accuracy", None, None, "odcs-check"),
        ),
    ],
)
def test_checks_of_others_become_rules(
    check: dict[str, Any],
    expected: tuple[str, float | None, str | None, dict[str, str] | str],
) -> None:
    """Each kind of check has FLUID's words, and goes back out as the same check."""
    column = text("a", quality=[{"name": "q", "severity": "high", **check}])
    found = imported(document(schema=[orders(properties=[column])]))
    (rule,) = rules(found.contract)
    labels = rule.labels or {}
    if isinstance(expected[3], str):
        assert json.loads(labels[expected[3]]) == check
        labels = expected[3]
    assert (rule.type, rule.threshold, rule.operator, labels) == expected
    assert (rule.id, rule.selector, rule.severity) == ("q", "a", "error")
    again = export(found.contract, "odcs").document["schema"]
    written = quality_of(again, 0)[0]
    same = {"mustBeLessThan": 10, "mustBeLessOrEqualTo": 9}
    for key, value in check.items():
        assert written.get(key) == value or (key == "mustBeLessThan" and same[key] == value)


def quality_of(schema: Any, column: int) -> list[dict[str, Any]]:
    table: dict[str, Any] = schema[0]
    found: list[dict[str, Any]] = table["properties"][column]["quality"]
    return found


def test_a_table_of_unique_pairs_is_kept() -> None:
    """A check of duplicates over several columns names them all."""
    check = {
        "metric": "duplicateValues",
        "mustBe": 0,
        "arguments": {"properties": ["id", "placed on"]},
    }
    contract = imported(document(schema=[orders(quality=[check])])).contract
    assert ("id", "placed on") in keys_of(contract)[0].unique


def test_what_fluid_has_no_key_for_is_kept_as_a_label() -> None:
    """Texts as they are, structures in JSON; all of it is listed, and goes back out."""
    foreign = document(
        tenant="acme",
        description={"purpose": "To sell.", "usage": "Daily."},
        price={"priceAmount": 1.5, "priceCurrency": "EUR"},
        tags=["Big Data"],
    )
    found = imported(foreign)
    labels = {
        "usage": "Daily.",
        "tenant": "acme",
        "price": '{"priceAmount": 1.5, "priceCurrency": "EUR"}',
        "tags": '["Big Data"]',
    }
    assert found.contract.description == "To sell."
    assert (found.contract.labels or {}).items() >= labels.items()
    assert found.contract.tags == ["big-data"]
    assert {u.path: u.count for u in found.unsaid} == {
        "description.usage": 1,
        "tenant": 1,
        "price": 2,
        "tags": 1,
    }
    written = export(found.contract, "odcs").document["customProperties"]
    assert {item["property"]: item["value"] for item in written}.items() >= labels.items()


def test_the_owner_and_the_ways_to_reach_him_arrive() -> None:
    """A team's name, and channels by their tool."""
    foreign = document(
        team={"name": "sales"},
        support=[
            {"channel": "sales@acme.org", "tool": "email", "url": "mailto:sales@acme.org"},
            {"channel": "#sales", "tool": "slack"},
        ],
    )
    owner = imported(foreign).contract.metadata.owner
    assert (owner.team, owner.email, owner.slack) == ("sales", "sales@acme.org", "#sales")


def test_a_server_of_others_becomes_the_binding() -> None:
    """Platform, format and address; how a server is reached stays with its settings."""
    server = {
        "server": "prod",
        "type": "postgres",
        "host": "db.acme.org",
        "port": 5432,
        "database": "sales",
        "schema": "public",
        "environment": "prod",
    }
    binding = imported(document(servers=[server])).contract.exposes[0].binding
    assert (binding.platform, binding.format) == ("other", "other")
    assert (binding.location.database, binding.location.schema_name) == ("sales", "public")
    assert binding.properties == {"kind": "postgres", "host": "db.acme.org", "port": 5432}
    assert binding.labels == {"server": "prod", "environment": "prod"}


@pytest.mark.parametrize("version", ["v3.0.1", "v3.1.0", "v3.2.0"])
def test_columns_without_a_logical_type_are_read(version: str) -> None:
    """The schema of 3.2.0 takes a property without a type for a map; nobody means that."""
    foreign = document(apiVersion=version, schema=[orders(properties=[{"name": "a"}])])
    (column,) = import_odcs(foreign).contract.exposes[0].contract.columns or ()
    assert (column.name, column.type) == ("a", "string")


def test_a_document_of_3_0_is_read() -> None:
    """Its team is a list of members, and its library checks name a rule."""
    foreign = document(
        apiVersion="v3.0.2",
        team=[{"username": "jane@acme.org", "role": "Data Owner"}],
        schema=[
            orders(
                properties=[
                    {
                        "name": "a",
                        "logicalType": "number",
                        "logicalTypeOptions": {"maximum": 9, "exclusiveMaximum": True},
                        "quality": [{"type": "library", "rule": "nullCheck", "mustBe": 0}],
                    }
                ]
            )
        ],
    )
    contract = import_odcs(foreign).contract
    assert contract.metadata.owner.team == "jane@acme.org"
    assert [rule.type for rule in rules(contract)] == ["completeness"]


def test_enumerated_values_of_3_2_become_a_rule() -> None:
    """``enum`` of 3.2 says which values a column may have."""
    column = {"name": "state", "logicalType": "string", "enum": [{"value": "a"}, {"value": "b"}]}
    contract = imported(
        document(apiVersion="v3.2.0", schema=[orders(properties=[column])])
    ).contract
    (rule,) = rules(contract)
    assert (rule.type, (rule.labels or {})["accepted-values"]) == ("valid_values", '["a", "b"]')


@pytest.mark.parametrize(
    ("foreign", "message"),
    [
        ([], "isn't a mapping"),
        ({"fluidVersion": "0.7.2"}, "already a FLUID contract"),
        ({"dataContractSpecification": "1.2.1"}, "Data Contract Specification"),
        ({"apiVersion": "v2.2.2", "kind": "DataContract"}, "2.2.2"),
        ({"apiVersion": "v4.0.0", "kind": "DataContract"}, "v4.0.0"),
        ({"apiVersion": "v3.1.0", "kind": "DataContract"}, "isn't a valid ODCS 3.1.0"),
        (document(schema=[]), "no table"),
        (document(schema=[{"physicalName": "x"}]), "name"),
    ],
)
def test_documents_that_are_not_readable_odcs_are_refused(foreign: object, message: str) -> None:
    """Each with what it is instead, or what is wrong with it."""
    with pytest.raises(ContractError, match=message):
        import_odcs(foreign)


def edited(contract: FluidContract) -> tuple[Exported, dict[str, Any]]:
    exported = export(contract, "odcs")
    return exported, copy.deepcopy(json.loads(json.dumps(exported.document)))


def test_what_somebody_changed_in_our_document_counts() -> None:
    """A bound, a key and a reference that were edited natively are not overruled by our words."""
    contract = import_odcs(document(schema=[orders(), lines()])).contract
    _, changed = edited(contract)
    table = changed["schema"][0]
    table["properties"][0]["quality"][0]["mustBeLessOrEqualTo"] = 7
    del table["properties"][0]["quality"][0]["mustBe"]
    table["properties"][1]["unique"] = True
    changed["schema"][1]["properties"][2]["relationships"] = [{"to": "orders.id"}]
    contract = import_odcs(changed).contract
    by_id = {rule.id: rule for rule in rules(contract)}
    assert (by_id["orders.primary_key"].labels or {})["max-violations"] == "7"
    assert ("placed on",) in keys_of(contract)[0].unique
    assert {r.columns for r in keys_of(contract)[1].references} == {("order_id",), ("sku",)}


def test_a_fluid_property_with_an_invalid_value_is_refused() -> None:
    """A value under ``fluid.`` that FLUID does not allow is an error, not an odd contract."""
    _, changed = edited(import_odcs(document()).contract)
    changed["customProperties"].append({"property": "fluid.sovereignty", "value": "the sea"})
    with pytest.raises(ContractError, match="sovereignty"):
        import_odcs(changed)
