"""decisions.yaml, written: what a person wrote stays, and what was measured is added."""

import re
from collections.abc import Sequence

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from fluid_build.decisions.editing import (
    SCHEMA_LINE,
    canonical_text,
    decisions_text,
    with_decision,
    without_evidence,
)
from fluid_build.decisions.files import parse_decisions
from fluid_build.decisions.language import (
    AnyDecision,
    Classify,
    DecisionEvidence,
    Describe,
    Ignore,
    SetKey,
)
from fluid_build.decisions.suggested_texts import checked_prose
from fluid_build.errors import DecisionError

EVIDENCE = DecisionEvidence(rows=830, distinct=830, sql='SELECT *\nFROM "orders"')
BY_MODEL = Classify(table="orders", role="fact", by="model", reason="Each row is a sale: no #1.")

WRITTEN = """\
# Ours. Ask Ann before you change anything.
decisions:
    # the key
    - decision: set_key   # not the row number
      columns: [order_no]
      table: "orders"
      reason: >
        Printed on
        every invoice.

    # left over from 2019
    - {decision: ignore, table: 'old_orders'}
# end
"""


def applied_from(text: str, evidence: DecisionEvidence | None = EVIDENCE) -> list[AnyDecision]:
    return [d.model_copy(update={"evidence": evidence}) for d in parse_decisions(text)]


def test_a_persons_layout_is_kept_and_evidence_added() -> None:
    (key, _) = applied_from(WRITTEN)
    text = decisions_text(WRITTEN, [key, BY_MODEL])
    assert text == (
        f"{SCHEMA_LINE}\n"
        + WRITTEN.replace(
            "    every invoice.\n",
            "    every invoice.\n"
            "      evidence:\n"
            "        rows: 830\n"
            "        distinct: 830\n"
            '        sql: "SELECT *\\nFROM \\"orders\\""\n',
        ).replace(
            "# end",
            "    - decision: classify\n"
            "      table: orders\n"
            "      role: fact\n"
            "      by: model\n"
            "      reason: 'Each row is a sale: no #1.'\n"
            "# end",
        )
    )


def test_evidence_is_replaced_in_place() -> None:
    text = decisions_text(WRITTEN, applied_from(WRITTEN))
    other = DecisionEvidence(rows=831, violations=2, sql="SELECT 1")
    again = decisions_text(text, applied_from(WRITTEN, other))
    assert again == decisions_text(WRITTEN, applied_from(WRITTEN, other))


def test_a_refused_entry_stays_without_evidence() -> None:
    text = decisions_text(WRITTEN, applied_from(WRITTEN)[:1])
    assert decisions_text(text, []) == f"{SCHEMA_LINE}\n{WRITTEN}"


def test_without_decisions_there_is_no_text() -> None:
    assert decisions_text("", []) == ""


def test_a_file_of_comments_is_kept() -> None:
    assert decisions_text("# to do\n", []) == f"{SCHEMA_LINE}\n# to do\n"


def test_the_schema_line_is_written_once() -> None:
    text = "# yaml-language-server: $schema=../our.json\ndecisions: []\n"
    assert decisions_text(text, []) == text


@pytest.mark.parametrize(
    "previous",
    [
        "",
        "# note\n",
        "version: 1\n",
        "decisions: # none yet\n",
        "decisions: []\n",
        "decisions: []",
        "decisions:\r\n- decision: ignore\r\n  table: x\r\n",
        "decisions: [{decision: ignore, table: x}, ]\n",
        "decisions: [\n  {decision: ignore, table: x},  # why\n]\n",
        "---\ndecisions:\n- decision: ignore\n  table: x\n...\n",
        "{decisions: [{decision: ignore, table: x}]}",
        "decisions:\n- reason: |+\n    kept\n\n  table: x\n  decision: ignore\n",
        "decisions:\n- evidence: {rows: 1}\n  table: x\n  decision: ignore\n",
        "decisions:\n- evidence:\n  table: x\n  decision: ignore\n",
        "decisions:\n-\n  decision: ignore\n  table: |+\n    x\n\n",
        "decisions: [\n{decision: ignore, table: x, evidence: {rows: 2}}]\n",
    ],
)
def test_any_layout_can_be_added_to(previous: str) -> None:
    before = parse_decisions(previous)
    text = decisions_text(previous, [*applied_from(previous), BY_MODEL])
    expected = (*(d.model_copy(update={"evidence": EVIDENCE}) for d in before), BY_MODEL)
    assert parse_decisions(text) == expected
    assert decisions_text(text, expected) == text
    assert text.count(SCHEMA_LINE) == 1
    assert set(re.findall("# (?:note|none yet|why)", previous)) <= {*re.findall("# .*", text)}


def test_a_decision_replaces_the_one_about_the_same() -> None:
    text = with_decision(WRITTEN, SetKey(table="orders", columns=("id",), reason="It's unique."))
    assert text == (
        f"{SCHEMA_LINE}\n"
        "# Ours. Ask Ann before you change anything.\n"
        "decisions:\n"
        "    # the key\n"
        "\n"
        "    # left over from 2019\n"
        "    - {decision: ignore, table: 'old_orders'}\n"
        "    - decision: set_key\n"
        "      table: orders\n"
        "      columns:\n"
        "      - id\n"
        "      by: person\n"
        "      reason: It's unique.\n"
        "# end\n"
    )


@pytest.mark.parametrize(
    "previous",
    [
        canonical_text([Ignore(table="x")]),
        "decisions: [{decision: ignore, table: x}]",
        "decisions:\n-\n  decision: ignore\n  table: x\n",
        "decisions:\n- decision: ignore\n  table: x",
    ],
)
def test_the_only_decision_can_be_replaced(previous: str) -> None:
    decision = Ignore(table="x", reason="It's empty.")
    text = with_decision(previous, decision)
    assert parse_decisions(text) == (decision,)
    assert with_decision(text, decision) == text


def test_a_text_that_is_not_valid_is_not_written_over() -> None:
    with pytest.raises(DecisionError):
        decisions_text("decisions: 3", [BY_MODEL])


NAMES = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), min_size=1)
TEXTS = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc", "Cf", "Cs"], include_characters="\n\t"),
    min_size=1,
    max_size=80,
)


def says_something(text: str) -> bool:
    """Return whether a model may write a text as a description."""
    try:
        checked_prose(text)
    except ValueError:
        return False
    return True


EVIDENCES = st.builds(
    DecisionEvidence,
    rows=st.integers(0, 10**12),
    violations=st.integers(0, 9),
    matched=st.none() | st.integers(0, 10**12),
    coverage=st.none() | st.floats(0, 1),
    sql=TEXTS,
)
DECISIONS: st.SearchStrategy[AnyDecision] = st.one_of(
    st.builds(Ignore, table=NAMES, reason=TEXTS, evidence=st.none() | EVIDENCES),
    st.builds(
        Describe,
        table=NAMES,
        column=st.none() | NAMES,
        text=TEXTS.filter(says_something),
        by=st.just("model"),
    ),
    st.builds(SetKey, table=NAMES, columns=st.lists(NAMES, min_size=1, max_size=3).map(tuple)),
)


@given(st.lists(DECISIONS, max_size=4))
def test_what_is_written_is_what_is_read(decisions: Sequence[AnyDecision]) -> None:
    text = canonical_text(decisions)
    assert parse_decisions(text) == tuple(decisions)


@given(
    st.lists(DECISIONS, min_size=1, max_size=4),
    st.lists(DECISIONS, max_size=3),
    EVIDENCES,
    st.data(),
)
def test_comments_survive_and_a_second_run_changes_nothing(
    entries: Sequence[AnyDecision],
    added: Sequence[AnyDecision],
    evidence: DecisionEvidence,
    data: st.DataObject,
) -> None:
    plain = [without_evidence(entry) for entry in entries]
    assume(not {*plain} & {*map(without_evidence, added)})
    commented = _with_comments(canonical_text(entries), data)
    is_applied = {decision: data.draw(st.booleans()) for decision in plain}
    measured = [
        decision.model_copy(update={"evidence": evidence})
        for decision in plain
        if is_applied[decision]
    ]
    text = decisions_text(commented, [*measured, *added])
    assert [without_evidence(d) for d in parse_decisions(text)][: len(plain)] == plain
    outside = [line for line in commented.splitlines() if line.startswith("# c")]
    assert [line for line in text.splitlines() if line.startswith("# c")] == outside
    assert decisions_text(text, [*measured, *added]) == text


def _with_comments(text: str, data: st.DataObject) -> str:
    """Put comments between entries, where nothing that is rewritten has any."""
    lines = []
    for number, line in enumerate(text.splitlines()):
        if line.startswith("- decision") and data.draw(st.booleans()):
            lines.append(f"# c{number}")
        lines.append(line)
    return "\n".join((*lines, "# c at the end", ""))
