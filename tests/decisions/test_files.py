"""decisions.yaml, read: what it says, or everything that is wrong with it."""

from pathlib import Path

import pytest

from fluid_build.decisions.files import parse_decisions, recorded_decisions
from fluid_build.decisions.language import AnyDecision, Classify, PersonalData, SetKey
from fluid_build.errors import DecisionError, SourceUnreadableError

VALID = """\
version: 1
decisions:
- decision: set_key
  table: orders
  columns: [order_no]
"""


def problems(text: str) -> list[str]:
    with pytest.raises(DecisionError) as caught:
        parse_decisions(text)
    return [str(problem) for problem in caught.value.problems]


def test_entries_become_typed_decisions() -> None:
    assert parse_decisions(VALID) == (SetKey(table="orders", columns=("order_no",)),)


@pytest.mark.parametrize("text", ["", "# nothing yet\n", "decisions:\n", "decisions: []\n", "~"])
def test_a_file_without_entries_has_no_decisions(text: str) -> None:
    assert parse_decisions(text) == ()


def test_a_bare_word_that_yaml_takes_for_something_else_is_a_name() -> None:
    text = VALID.replace("[order_no]", "[no, 2024, 1.50, 2024-01-01]")
    (decision,) = parse_decisions(text)
    assert isinstance(decision, SetKey)
    assert decision.columns == ("no", "2024", "1.50", "2024-01-01")


def test_what_is_no_text_is_read_by_its_type() -> None:
    text = "decisions: [{decision: personal_data, table: t, column: c, is_personal: no}]"
    assert parse_decisions(text) == (PersonalData(table="t", column="c", is_personal=False),)


def test_every_problem_is_reported_with_its_line_and_entry() -> None:
    text = VALID + (
        "- decision: classify\n  table: orders\n  role: hubb\n"
        "- decision: set_key\n  tabel: orders\n  columns: []\n"
    )
    assert problems(text) == [
        "line 8, entry 2 (classify): `role` isn't valid. Allowed: 'hub', 'link', 'satellite',"
        " 'reference', 'fact', 'dimension', 'bridge' or 'date'.",
        "line 9, entry 3 (set_key): `table` is missing.",
        "line 11, entry 3 (set_key): `columns` is empty.",
        "line 10, entry 3 (set_key): unknown field 'tabel'. Did you mean 'table'? Fields of"
        " set_key: decision, by, reason, evidence, despite_violations, table and columns.",
    ]


def test_the_message_of_a_single_problem_has_it() -> None:
    with pytest.raises(DecisionError) as caught:
        parse_decisions("decisions: 3", "shop/decisions.yaml")
    assert caught.value.message == "shop/decisions.yaml, line 1: `decisions` isn't a list."


def test_an_unknown_kind_gets_a_guess() -> None:
    (problem,) = problems("decisions:\n- decision: set-ky\n")
    assert problem.startswith(
        "line 2, entry 1: unknown decision 'set-ky'. Did you mean 'set_key'? Known decisions: "
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("- [not: a mapping]", "expected a mapping with the list `decisions`"),
        ("decisions: [3]", "not a mapping"),
        ("decisions: [{table: x}]", "`decision` is missing"),
        ("version: 2", "this version isn't known"),
        ("decision: []", "Did you mean 'decisions'?"),
        ("decisions: []\ndecisions: []", "the field 'decisions' occurs twice"),
        ("decisions: [{decision: ignore, table: a, table: b}]", "the field 'table' occurs twice"),
        ("decisions: []\n---\na: 1", "a second document begins here"),
        ("decisions: [", "did not find expected node content"),
        ("a: \x07", "control character"),
        ("? [a]\n: b", "a field's name must be text"),
        ("decisions: !!python/object/apply:os.system [id]", "tags aren't allowed here"),
        ("decisions: !!set {a}", "tags aren't allowed here"),
        ("a: &x [1]\nb: *x", "anchors and aliases aren't allowed here"),
        ("a: " + "[" * 5_000, "nested more than 16 levels deep"),
    ],
)
def test_yaml_with_surprises_is_refused(text: str, reason: str) -> None:
    assert reason in "\n".join(problems(text))


def test_a_bomb_of_aliases_is_refused_at_its_first_line() -> None:
    levels = [f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 10)}]" for n in range(1, 12)]
    assert problems("\n".join(["l0: &l0 [x]", *levels])) == [
        "line 1: anchors and aliases aren't allowed here."
    ]


def test_a_file_with_too_many_entries_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLUID_MAX_DECISIONS", "2")
    (problem,) = problems("decisions:\n" + "- {decision: ignore, table: t}\n" * 3)
    assert problem.startswith("3 entries; the limit is 2. Set the environment variable")


def test_a_model_can_not_insist() -> None:
    text = VALID + "  by: model\n  despite_violations: true\n"
    (problem,) = problems(text)
    assert "only a person can insist on a claim that the data contradicts" in problem


def test_the_folders_file_is_read_unless_another_is_named(tmp_path: Path) -> None:
    (tmp_path / "decisions.yaml").write_text(VALID)
    other = tmp_path / "other.yaml"
    other.write_text("decisions: [{decision: classify, table: t, role: fact}]")
    own: tuple[AnyDecision, ...] = (SetKey(table="orders", columns=("order_no",)),)
    assert recorded_decisions(tmp_path).decisions == own
    assert recorded_decisions(tmp_path, other).decisions == (Classify(table="t", role="fact"),)
    assert recorded_decisions(tmp_path / "new", None).decisions == ()


def test_a_named_file_must_exist(tmp_path: Path) -> None:
    with pytest.raises(DecisionError, match="can't be read: No such file or directory"):
        recorded_decisions(tmp_path, tmp_path / "missing.yaml")


def test_a_file_that_is_not_text_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "decisions.yaml"
    path.write_bytes(b"# fine\n# \xff\n")
    with pytest.raises(DecisionError, match="line 2: it isn't UTF-8 text"):
        recorded_decisions(tmp_path)


def test_a_device_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "decisions.yaml").symlink_to("/dev/zero")
    with pytest.raises(SourceUnreadableError, match="isn't a regular file"):
        recorded_decisions(tmp_path)
