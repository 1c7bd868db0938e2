"""The published JSON schema says what the models say, and the documents are true to it."""

import json
import re
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import ValidationError

from fluid_build.decisions.files import parse_decisions
from fluid_build.decisions.language import DECISION_NAMES, DecisionFile, decisions_schema
from fluid_build.forging.decision_files import schema_text

DOCS = Path(__file__).parent.parent.parent / "docs"
VALIDATOR = Draft202012Validator(decisions_schema())

KEY = {"table": "t", "columns": ["a", "b"]}
REFERENCE = {"from_table": "t", "from_columns": ["a"], "to_table": "u", "to_columns": ["b"]}
VALID: Mapping[str, dict[str, object]] = {
    "rename": {"table": "t", "column": "a", "new_name": "b_1"},
    "describe": {"element": "hub_t", "text": "Two\nlines."},
    "set_key": KEY,
    "add_relationship": REFERENCE | {"despite_violations": True},
    "drop_relationship": REFERENCE,
    "business_key": KEY,
    "classify": {"table": "t", "role": "hub"},
    "grain": KEY,
    "measure": {"table": "t", "column": "a", "additivity": "none"},
    "type": {"table": "t", "column": "a", "read_as": "date", "date_format": "%d.%m.%Y"},
    "personal_data": {"table": "t", "column": "a", "is_personal": False},
    "domain": {"domain": "Sales"},
    "owner": {"team": "Ann", "email": "ann@example.org"},
    "name": {"name": "Bikes"},
    "conventions": {
        "preset": "automate_dv",
        "prefixes": {"hub": "h_"},
        "columns": {"load_date": "ldts", "hub_key": "hk_<name>"},
        "hashing": {"trim": False, "separator": ";"},
    },
    "exposure": {"name": "sales", "type": "ml", "models": ["fct_t"], "owner": "Ann"},
    "renamed": {"table": "t", "column": "a", "was": "b"},
    "delivery": {"table": "t", "delivers": "delta"},
    "validity": {"table": "t", "follows": "stamp", "column": "changed_at"},
    "ignore": {"table": "t"},
    "one_table": {"table": "t", "parts": ["t_*"]},
    "separate": {"table": "t"},
    "merge": {"table": "t", "columns": ["a"], "into_table": "u", "into_columns": ["b"]},
    "split": {"table": "t", "columns": ["a"], "attributes": ["b"], "entity": "e"},
}
COMMON: dict[str, object] = {"by": "person", "reason": "", "evidence": {"rows": 3, "sql": "x"}}
ODD_VALUES: tuple[object, ...] = (
    None, 3, 1.5, True, "", "x" * 3_000, "a b", "hub", [], ["a"], [""], [3], ["a"] * 40, {},
    {"rows": 3}, {"rows": "3"}, "model",
)  # fmt: skip


def entry(kind: str) -> dict[str, object]:
    return {"decision": kind, **VALID[kind], **COMMON}


def file_errors(document: object) -> set[str] | None:
    """Return the kinds of errors that the models find, None where they find none."""
    try:
        DecisionFile.model_validate_json(json.dumps(document), strict=True)
    except ValidationError as error:
        return {detail["type"] for detail in error.errors()}
    return None


def test_the_published_schema_is_current() -> None:
    assert (DOCS / "decisions.schema.json").read_text(encoding="utf-8") == schema_text()


def test_it_is_a_valid_schema_of_2020_12() -> None:
    Draft202012Validator.check_schema(decisions_schema())


def test_every_kind_has_an_example() -> None:
    assert set(VALID) == set(DECISION_NAMES)


@pytest.mark.parametrize("kind", DECISION_NAMES)
def test_a_valid_entry_of_each_kind_is_accepted(kind: str) -> None:
    document = {"version": 1, "decisions": [entry(kind)]}
    assert file_errors(document) is None
    assert VALIDATOR.is_valid(document)


@given(st.sampled_from(DECISION_NAMES), st.data())
def test_schema_and_models_agree_on_what_is_wrong(kind: str, data: st.DataObject) -> None:
    """But for what a schema can't say, the rules between fields and on characters."""
    changed = entry(kind)
    field = data.draw(st.sampled_from([*changed, "table", "element", "despite_violations", "new"]))
    if data.draw(st.booleans()):
        changed.pop(field, None)
    else:
        changed[field] = data.draw(st.sampled_from(ODD_VALUES))
    errors = file_errors({"decisions": [changed]})
    if VALIDATOR.is_valid({"decisions": [changed]}):
        assert errors is None or errors == {"value_error"}
    else:
        assert errors is not None


def test_a_model_that_insists_is_refused_by_the_schema_too() -> None:
    insisting = {**entry("set_key"), "by": "model", "despite_violations": True}
    assert not VALIDATOR.is_valid({"decisions": [insisting]})


def test_the_examples_of_the_document_are_valid_and_cover_every_kind() -> None:
    text = (DOCS / "decisions.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```yaml\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    kinds = {decision.decision for block in blocks for decision in parse_decisions(block)}
    assert kinds == set(DECISION_NAMES)
    assert all(VALIDATOR.is_valid(yaml.safe_load(block)) for block in blocks)
