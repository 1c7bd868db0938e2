"""The open judgement calls: what is asked, in which order, and what is left out."""

from collections.abc import Collection

from fluid_build.decisions.language import (
    AddRelationship,
    AnyDecision,
    Domain,
    DropRelationship,
    Owner,
    SetKey,
)
from fluid_build.modeling.techniques import build_model
from fluid_build.profiling.profile import Candidate, ForeignKeyEvidence, Profile
from fluid_build.report.judgements.judgement import Judgement
from fluid_build.report.judgements.open_judgements import open_judgements
from fluid_build.report.profile_json import profile_json
from tests.modeling.profiles import column, profile, reference, table

OWNED: tuple[AnyDecision, ...] = (Domain(domain="Sales"), Owner(team="Ann"))


def shop(confidence: float = 0.8, candidate: float = 0.4) -> Profile:
    """Orders of customers by a reference that isn't certain, with a candidate to stores."""
    return profile(
        table(
            "customers",
            column("customer_id"),
            primary_key=("customer_id",),
            candidate_keys=[("customer_id",)],
        ),
        table("stores", column("no", "VARCHAR"), primary_key=("no",), candidate_keys=[("no",)]),
        table(
            "orders",
            column("order_id"),
            column("customer_id"),
            column("store", "VARCHAR"),
            primary_key=("order_id",),
            candidate_keys=[("order_id",)],
        ),
        foreign_keys=[
            reference("orders", "customer_id", "customers", "customer_id").model_copy(
                update={"confidence": confidence}
            )
        ],
    ).model_copy(
        update={
            "candidates": (
                Candidate(
                    from_table="orders",
                    from_columns=("store",),
                    to_table="stores",
                    to_columns=("no",),
                    confidence=candidate,
                    reason="Its name doesn't say so.",
                    evidence=ForeignKeyEvidence(origin="measured", rows=9, matched=9),
                ),
            )
        }
    )


def questions(source: Profile, decided: Collection[AnyDecision] = OWNED) -> tuple[Judgement, ...]:
    return open_judgements(profile_json(source), build_model(source, "flat"), decided)


def test_relationships_are_asked_by_how_sure_they_are() -> None:
    candidate, believed = questions(shop())
    assert (candidate.question, candidate.certainty) == (
        "Does orders.store refer to stores.no?",
        0.6,
    )
    assert believed.certainty == 0.8
    first, second = (choice.decision for choice in candidate.choices)
    assert isinstance(first, DropRelationship)
    assert isinstance(second, AddRelationship)
    first, second = (choice.decision for choice in believed.choices)
    assert isinstance(first, AddRelationship)
    assert isinstance(second, DropRelationship)


def test_what_is_certain_or_unlikely_is_no_question() -> None:
    assert questions(shop(confidence=0.99, candidate=0.1)) == ()


def test_what_is_decided_is_not_asked_whatever_the_case_of_its_names() -> None:
    decided = DropRelationship(
        from_table="ORDERS", from_columns=("Store",), to_table="stores", to_columns=("NO",)
    )
    assert [question.certainty for question in questions(shop(), (*OWNED, decided))] == [0.8]


def test_domain_and_owner_come_last_and_are_answered_in_words() -> None:
    open_questions = questions(shop(), ())
    assert [question.field for question in open_questions] == ["", "", "domain", "owner"]


def test_a_key_chosen_among_several_is_a_question() -> None:
    source = profile(
        table(
            "people",
            column("id"),
            column("badge", "VARCHAR"),
            primary_key=("id",),
            candidate_keys=[("id",), ("badge",)],
        )
    )
    (question,) = questions(source)
    decisions = [choice.decision for choice in question.choices]
    assert decisions == [
        SetKey(table="people", columns=("id",)),
        SetKey(table="people", columns=("badge",)),
    ]


def test_ids_can_be_typed_and_occur_once() -> None:
    names = ("a b", "a-b", "ä;$(x)")
    source = profile(
        *(
            table(
                name,
                column("id"),
                column("no", "VARCHAR"),
                primary_key=("id",),
                candidate_keys=[("id",), ("no",)],
            )
            for name in names
        )
    )
    assert [question.id for question in questions(source)] == ["key-a-b", "key-a-b_2", "key-x"]
