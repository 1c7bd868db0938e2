"""A forge is judged by the truth, and by nothing that isn't known."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.decisions.files import decisions_of
from fluid_build.decisions.language import AnyDecision
from fluid_build.decisions.verdicts import Verdict, accepted
from fluid_build.errors import FaultyFileError
from fluid_build.forging import Forged
from fluid_build.pipeline.evaluation.judging import is_true, judge, share_right
from fluid_build.pipeline.evaluation.results import ForgeTrial, result_of
from fluid_build.pipeline.evaluation.truth import (
    TrueDescription,
    TrueName,
    TrueReference,
    TrueTable,
    Truth,
    decided_truth,
    read_truth,
    shop_truth,
    undecided,
)
from fluid_build.pipeline.receipt import Receipt
from fluid_build.profiling.profile import ForeignKey, ForeignKeyEvidence, Profile, TableProfile

TABLES = ("a", "b", "c")


@dataclass(frozen=True)
class Claimed:
    """What is judged of a forge."""

    profile: Profile
    verdicts: tuple[Verdict, ...] = field(default=())


def reference(child: str, parent: str, *, implied: bool = False) -> ForeignKey:
    return ForeignKey(
        from_table=child,
        from_columns=("x",),
        to_table=parent,
        to_columns=("ID",),
        origin="measured",
        implied=implied,
        confidence=0.9,
        evidence=ForeignKeyEvidence(origin="measured", rows=1),
    )


def true(child: str, parent: str, *, supported: bool = True) -> TrueReference:
    return TrueReference(
        from_table=child.upper(),
        from_columns=("X",),
        to_table=parent,
        to_columns=("id",),
        supported=supported,
    )


def forged(
    references: Sequence[ForeignKey] = (),
    keys: dict[str, tuple[str, ...]] | None = None,
    decisions: Sequence[AnyDecision] = (),
) -> Forged:
    tables = tuple(
        TableProfile(name=name, rows=3, columns=(), primary_key=(keys or {}).get(name))
        for name in TABLES
    )
    profile = Profile.model_construct(tables=tables, foreign_keys=tuple(references))
    return cast("Forged", Claimed(profile, tuple(accepted(each, "") for each in decisions)))


def states(found: Forged, truth: Truth) -> dict[str, str]:
    return {f"{s.kind} {s.name}": each.state for s, each in judge(found, truth).items()}


def test_references_are_compared_in_any_case_and_what_follows_counts_neither_way() -> None:
    truth = Truth(foreign_keys=(true("a", "b"), true("b", "c"), true("a", "c", supported=False)))
    claims = [reference("a", "b"), reference("a", "c"), reference("c", "a")]
    assert states(forged(claims), truth) == {
        "references A(X) -> b(id)": "right",
        "references B(X) -> c(id)": "missed",
        "references c(x) -> a(ID)": "wrong",
    }
    following = [reference("b", "c", implied=True), reference("c", "a", implied=True)]
    assert states(forged(following), truth) == {"references A(X) -> b(id)": "missed"}


def test_a_key_is_right_where_it_is_the_true_one_or_inside_it() -> None:
    truth = Truth(
        tables={
            "A": TrueTable(primary_key=("ID", "no")),
            "b": TrueTable(primary_key=("id",)),
            "c": TrueTable(),
        }
    )
    found = forged(keys={"a": ("id",), "b": ("code",), "c": ("id",)})
    assert states(found, truth) == {"keys a": "right", "keys b": "wrong", "keys c": "wrong"}
    assert states(forged(), truth) == {"keys a": "missed", "keys b": "missed"}
    violated = Truth(tables={"a": TrueTable(primary_key=("id",), pk_holds=False)})
    assert states(forged(), violated) == {}


def test_names_and_descriptions_are_those_of_accepted_decisions() -> None:
    truth = Truth(
        names=(
            TrueName(table="a", column="cat_id", names=("category_id",)),
            TrueName(table="b", names=("b", "bees")),
            TrueName(table="c", names=("seas",)),
        ),
        descriptions=(
            TrueDescription(table="a", text="A category of articles that the shop sells."),
            TrueDescription(table="b", text="A swarm, b, with its queen."),
            TrueDescription(table="c", text="The c."),
        ),
    )
    decisions = decisions_of(
        [
            {"decision": "rename", "table": "A", "column": "CAT_ID", "new_name": "CategoryID"},
            {"decision": "rename", "table": "c", "new_name": "lakes"},
            {"decision": "describe", "table": "a", "text": "Articles by their category"},
            {"decision": "describe", "table": "b", "text": "A table of b"},
        ]
    )
    assert states(forged(decisions=decisions), truth) == {
        "names a.cat_id": "right",
        "names b": "right",
        "names c": "wrong",
        "descriptions a": "right",
        "descriptions b": "missed",
    }
    assert states(forged(), truth)["names a.cat_id"] == "missed"
    assert states(forged(), truth)["descriptions a"] == "missed"


def test_of_decisions_only_those_of_a_person_are_true_and_nothing_else_is_false() -> None:
    decisions = decisions_of(
        [
            {"decision": "set_key", "table": "a", "columns": ["id"]},
            {"decision": "set_key", "table": "a", "columns": ["no"]},
            {"decision": "set_key", "table": "b", "columns": ["id"], "by": "model"},
            {"decision": "ignore", "table": "c"},
            *(
                {
                    "decision": kind,
                    "from_table": child,
                    "from_columns": ["x"],
                    "to_table": "c",
                    "to_columns": ["id"],
                }
                for kind, child in (("add_relationship", "a"), ("drop_relationship", "b"))
            ),
        ]
    )
    claims = [reference("b", "c"), reference("c", "a"), reference("a", "c")]
    found = forged(claims, keys={"a": ("no",), "b": ("code",)})
    assert states(found, decided_truth(decisions)) == {
        "references a(x) -> c(id)": "right",
        "references b(x) -> c(ID)": "wrong",
        "keys a": "right",
    }
    assert [each.decision for each in undecided(decisions)] == ["ignore"]


def test_a_proposal_is_true_where_it_says_what_is_known() -> None:
    truth = Truth(
        tables={"A": TrueTable(primary_key=("id",))},
        foreign_keys=(true("a", "b", supported=False),),
        denied=(true("b", "c"),),
        names=(TrueName(table="a", column="x", names=("width",)),),
        descriptions=(TrueDescription(table="b", text="A swarm with its queen."),),
    )
    places = {"from_columns": ["x"], "to_columns": ["id"]}
    cases = [
        ({"decision": "set_key", "table": "a", "columns": ["ID"]}, True),
        ({"decision": "set_key", "table": "a", "columns": ["x"]}, False),
        ({"decision": "add_relationship", "from_table": "a", "to_table": "B", **places}, True),
        ({"decision": "add_relationship", "from_table": "b", "to_table": "c", **places}, False),
        ({"decision": "drop_relationship", "from_table": "b", "to_table": "c", **places}, True),
        ({"decision": "rename", "table": "a", "column": "X", "new_name": "Width"}, True),
        ({"decision": "rename", "table": "a", "new_name": "width"}, False),
        ({"decision": "describe", "table": "b", "text": "The queen of bees"}, True),
        ({"decision": "describe", "table": "b", "text": "A b"}, False),
        ({"decision": "domain", "domain": "Bees"}, False),
    ]
    decisions = decisions_of([entry for entry, _ in cases])
    assert [is_true(each, truth) for each in decisions] == [expected for _, expected in cases]


_REFERENCES = st.sets(st.sampled_from([(c, p) for c in TABLES for p in TABLES if c != p]))


@given(_REFERENCES, _REFERENCES, _REFERENCES)
def test_what_is_gained_less_what_is_lost_is_what_became_better(
    truth: set[tuple[str, str]], before: set[tuple[str, str]], after: set[tuple[str, str]]
) -> None:
    """For whatever is true and claimed; and the same claims change nothing."""
    known = Truth(foreign_keys=tuple(true(*pair) for pair in sorted(truth)))

    def trial(claims: set[tuple[str, str]]) -> ForgeTrial:
        judgements = judge(forged([reference(*pair) for pair in sorted(claims)]), known)
        receipt = Receipt(run="", version="", folder="", technique="flat", proof_verdict="proven")
        return ForgeTrial("db", 1, known, judgements, receipt, 1.0)

    plain, new = trial(before), trial(after)
    result = result_of("model", [new], [plain])

    def merit(claims: set[tuple[str, str]]) -> int:
        return len(claims & truth) - len(claims - truth)

    assert len(result.gained) - len(result.lost) == merit(after) - merit(before)
    assert result.kinds["references"].right == len(after & truth)
    assert result_of("same", [plain], [plain]).gained == ()
    share = share_right(new.judgements, "references")
    assert share is None or share == len(after & truth) / len(after | truth)


def test_the_demo_is_known_by_every_kind_of_claim() -> None:
    truth = shop_truth()
    tables = {*truth.tables}
    assert {each.table for each in truth.names} <= tables
    assert {key.from_table for key in truth.foreign_keys} <= tables
    assert {each.table for each in truth.descriptions if each.column is None} == tables


def test_a_faulty_truth_is_refused_with_all_that_is_wrong(tmp_path: Path) -> None:
    path = tmp_path / "truth.json"
    path.write_text('{"tables": {"a": {"rows": "many"}}, "names": [{"table": "a"}]}')
    with pytest.raises(FaultyFileError) as caught:
        read_truth(path)
    assert [str(problem).partition(":")[0] for problem in caught.value.problems] == [
        "tables.a.rows",
        "names.0.names",
    ]
