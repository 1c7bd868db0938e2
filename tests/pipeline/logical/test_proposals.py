"""What a model answers, read as decisions."""

from typing import Any

import pytest
from pydantic import ValidationError

from fluid_build.copilot.llm.closed_schema import compile_closed_schema
from fluid_build.copilot.llm.strict_schema import harden
from fluid_build.decisions.language import (
    AddRelationship,
    AnyDecision,
    BusinessKey,
    Classify,
    Describe,
    Domain,
    DropRelationship,
    Grain,
    Measure,
    Merge,
    PersonalData,
    ProductName,
    Rename,
    SetKey,
    Split,
    TextType,
)
from fluid_build.pipeline.logical.proposals import (
    MOST_PROPOSALS,
    PROPOSAL_KINDS,
    Proposals,
    ReadProposals,
    read_proposals,
)


def read(*entries: object) -> ReadProposals:
    """Return what is read of an answer with these entries."""
    return read_proposals(Proposals(decisions=list(entries)))


ORDERS: dict[str, Any] = {"table": "orders", "reason": "R."}
PAIR: dict[str, Any] = {"columns": ["a"], "to_table": "t", "to_columns": ["b"]}
REFERENCE: dict[str, Any] = {
    "from_table": "orders", "from_columns": ["a"], "to_table": "t", "to_columns": ["b"],
}  # fmt: skip
COMMON: dict[str, Any] = {"by": "model", "reason": "R."}
COLUMN: dict[str, Any] = {"table": "orders", "column": "a", **COMMON}
KEY: dict[str, Any] = {"table": "orders", "columns": ["a", "b"], **COMMON}


@pytest.mark.parametrize(
    ("fields", "decision"),
    [
        ({"decision": "rename", "columns": ["a"], "value": "x"}, Rename(new_name="x", **COLUMN)),
        (
            {"decision": "describe", "value": "An order."},
            Describe(table="orders", text="An order.", **COMMON),
        ),
        ({"decision": "set_key", "columns": ["a", "b"]}, SetKey(**KEY)),
        ({"decision": "business_key", "columns": ["a", "b"]}, BusinessKey(**KEY)),
        ({"decision": "grain", "columns": ["a", "b"]}, Grain(**KEY)),
        ({"decision": "add_relationship", **PAIR}, AddRelationship(**REFERENCE, **COMMON)),
        ({"decision": "drop_relationship", **PAIR}, DropRelationship(**REFERENCE, **COMMON)),
        (
            {"decision": "classify", "value": "fact"},
            Classify(table="orders", role="fact", **COMMON),
        ),
        (
            {"decision": "measure", "columns": ["a"], "value": "none"},
            Measure(additivity="none", **COLUMN),
        ),
        (
            {"decision": "type", "columns": ["a"], "value": "date %d/%m/%Y"},
            TextType(read_as="date", date_format="%d/%m/%Y", **COLUMN),
        ),
        (
            {"decision": "type", "columns": ["a"], "value": "number comma"},
            TextType(read_as="number", decimal="comma", **COLUMN),
        ),
        ({"decision": "personal_data", "columns": ["a"]}, PersonalData(**COLUMN)),
        ({"decision": "domain", "value": "Sales"}, Domain(domain="Sales", **COMMON)),
        ({"decision": "name", "value": "Shop"}, ProductName(name="Shop", **COMMON)),
        (
            {"decision": "merge", **PAIR},
            Merge(table="orders", columns=("a",), into_table="t", into_columns=("b",), **COMMON),
        ),
        (
            {"decision": "split", "columns": ["a"], "to_columns": ["b"], "value": "city"},
            Split(table="orders", columns=("a",), attributes=("b",), entity="city", **COMMON),
        ),
    ],
)
def test_each_kind_becomes_its_decision(fields: dict[str, Any], decision: AnyDecision) -> None:
    """The few fields of a proposal hold everything that a decision needs."""
    assert read({**ORDERS, **fields}) == ReadProposals((decision,))


def test_every_kind_is_read() -> None:
    """No kind of the schema is unknown to the reader."""
    for kind in PROPOSAL_KINDS:
        faults = read({"decision": kind, "table": "orders", "columns": ["a"], "reason": "R."})
        assert len(faults.decisions) + len(faults.invalid) == 1


@pytest.mark.parametrize(
    ("entry", "fault"),
    [
        ("drop everything", "a proposal is an object"),
        ({"decision": "ignore", "table": "t", "reason": "R"}, "decision: Input should be"),
        ({"decision": "owner", "value": "Ann", "reason": "R"}, "decision: Input should be"),
        ({"decision": "describe", "table": "t", "value": "x"}, "reason: Field required"),
        ({**ORDERS, "decision": "rename", "value": "../etc"}, "rename.new_name: String should"),
        ({**ORDERS, "decision": "describe", "value": "\x1b[2J"}, "control characters"),
        ({**ORDERS, "decision": "measure", "value": "none"}, "columns has to name one column"),
        ({**ORDERS, "decision": "grain", "columns": []}, "grain.columns: Tuple should have"),
        (
            {**ORDERS, "decision": "personal_data", "columns": ["a"], "value": "no"},
            "only a person can say that a column isn't personal",
        ),
    ],
)
def test_a_wrong_entry_is_refused_with_its_fault(entry: object, fault: str) -> None:
    """The others of the answer stay."""
    good = {**ORDERS, "decision": "describe", "value": "An order."}
    answer = read(entry, good)
    assert len(answer.decisions) == 1
    assert fault in answer.invalid[0].fault


def test_a_model_can_neither_insist_nor_bring_evidence() -> None:
    """Fields that a proposal doesn't have are without effect."""
    claim = {**ORDERS, "decision": "set_key", "columns": ["a"], "despite_violations": True}
    (decision,) = read({**claim, "by": "person", "evidence": {"rows": 1}}).decisions
    assert decision == SetKey(table="orders", columns=("a",), by="model", reason="R.")


def test_null_fields_say_nothing() -> None:
    """Some providers' models answer null where a field doesn't apply."""
    entry = {**ORDERS, "decision": "describe", "value": "x", "columns": None, "to_table": None}
    assert read(entry).decisions == (Describe(table="orders", text="x", **COMMON),)


def test_a_long_reason_is_cut() -> None:
    """It's text for people, and not worth another question."""
    (decision,) = read({"decision": "domain", "value": "Sales", "reason": "so " * 500}).decisions
    assert len(decision.reason) == 300


def test_only_the_first_proposals_are_read() -> None:
    """Each may cost a query."""
    entry = {"decision": "domain", "value": "Sales", "reason": "R."}
    answer = read(*[entry] * (MOST_PROPOSALS + 7))
    assert (len(answer.decisions), answer.unread) == (MOST_PROPOSALS, 7)


def test_a_huge_entry_is_quoted_in_ascii_and_briefly() -> None:
    """What is reported of it can't flood or steer a screen."""
    (invalid,) = read({"decision": "\x1b" + "é" * 1_000_000}).invalid
    assert len(invalid.entry) <= 201
    assert "\x1b" not in invalid.entry


def test_deeply_nested_answers_are_refused() -> None:
    """They aren't parsed without end."""
    with pytest.raises(ValidationError):
        Proposals.model_validate_json('{"decisions":' + "[" * 100_000)


def test_every_provider_takes_the_schema() -> None:
    """It has no union, and the strict modes only close it."""
    schema = Proposals.model_json_schema()
    assert "anyOf" not in str(schema)
    assert compile_closed_schema(schema) is not None
    assert harden(schema)["properties"]["decisions"]["items"]["additionalProperties"] is False
