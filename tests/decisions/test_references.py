"""Claims about relationships, measured on every row."""

from contextlib import closing
from pathlib import Path

import duckdb
import pytest

from fluid_build.decisions.language import AddRelationship, Author, DropRelationship, Merge
from fluid_build.decisions.weighing.references import weigh_dropping
from tests.decisions.shop import ORPHANS, Shop, open_shop


def refers(
    child: str, parent: str, *, by: Author = "person", insist: bool = False
) -> AddRelationship:
    """Say that a column refers to another, both as ``table.column``."""
    (from_table, from_column), (to_table, to_column) = child.split("."), parent.split(".")
    return AddRelationship(
        from_table=from_table,
        from_columns=(from_column,),
        to_table=to_table,
        to_columns=(to_column,),
        by=by,
        despite_violations=insist,
    )


def drops(child: str, parent: str, *, by: Author = "person") -> DropRelationship:
    added = refers(child, parent)
    return DropRelationship(
        by=by, **added.model_dump(include={"from_table", "from_columns", "to_table", "to_columns"})
    )


def test_a_relationship_with_orphans_is_refused_with_the_figure(shop: Shop) -> None:
    verdict = shop.verdict(refers("clients.mail", "customers.email"))
    assert verdict.status == "refused"
    assert verdict.message == (
        "20 of 40 rows in `clients.mail` have no match in `customers.email`."
    )
    assert verdict.evidence is not None
    assert (verdict.evidence.violations, verdict.evidence.matched) == (20, 20)


@pytest.mark.parametrize("by", ["person", "model"])
def test_confirming_a_relationship_of_the_draft_with_orphans_leaves_it_as_it_is(
    shop: Shop, by: Author
) -> None:
    decision = refers("orders.customer_id", "customers.id", by=by)
    verdict = shop.verdict(decision)
    assert verdict.status == "accepted"
    assert verdict.message == (
        "The model has it already, as it is: 3 of 298 rows in `orders.customer_id` have no match"
        " in `customers.id`."
    )
    assert verdict.evidence is not None
    assert verdict.evidence.violations == ORPHANS
    assert (verdict.evidence.nulls, verdict.evidence.matched) == (2, 295)
    assert shop.amended(decision) == shop.profile


def test_a_relationship_that_holds_is_a_declared_foreign_key(shop: Shop) -> None:
    decision = refers("returns.return_id", "customers.id")
    key = next(k for k in shop.amended(decision).foreign_keys if k.from_table == "returns")
    assert (key.origin, key.cardinality, key.confidence) == ("declared", "one-to-one", 1.0)
    assert (key.evidence.matched, key.evidence.orphans, key.evidence.coverage) == (30, 0, 0.5)


COINCIDENCE = (
    "All 30 rows have a match, but 30 different values prove little, and the names don't match."
)


def test_a_person_is_told_that_matching_values_prove_little(shop: Shop) -> None:
    verdict = shop.verdict(refers("returns.return_id", "customers.id"))
    assert (verdict.status, verdict.message) == ("accepted", COINCIDENCE)


def test_a_models_relationship_that_may_hold_by_chance_is_refused(shop: Shop) -> None:
    verdict = shop.verdict(refers("returns.return_id", "customers.id", by="model"))
    assert (verdict.status, verdict.message) == ("refused", COINCIDENCE)


def test_a_models_relationship_the_other_way_round_is_refused(shop: Shop) -> None:
    verdict = shop.verdict(refers("countries.code", "customers.country", by="model"))
    assert verdict.message == (
        "`customers.country` refers to `countries.code` already, so not the other way round."
    )


def test_a_models_merge_of_keys_that_count_from_one_is_refused(shop: Shop) -> None:
    merge = Merge(
        table="returns", columns=("return_id",), into_table="customers", into_columns=("id",)
    )
    by_person, by_model = (
        shop.verdict(merge),
        shop.verdict(merge.model_copy(update={"by": "model"})),
    )
    assert (by_person.status, by_model.status) == ("accepted", "refused")
    assert by_person.message == by_model.message
    assert by_model.message.endswith(
        "but 30 different values prove little, and the names don't match."
    )


def test_a_relationship_to_columns_that_repeat_is_refused(shop: Shop) -> None:
    verdict = shop.verdict(refers("returns.return_id", "orders.big"))
    assert verdict.status == "refused"
    assert verdict.message == "`orders.big` isn't unique: 250 of 300 rows repeat a value."


def test_columns_that_cant_be_compared_are_refused(shop: Shop) -> None:
    verdict = shop.verdict(refers("orders.order_no", "customers.id"))
    assert verdict.message == (
        "`orders.order_no` holds text and `customers.id` numbers, which can't be compared."
    )


def test_a_person_can_insist_on_a_relationship_with_orphans(shop: Shop) -> None:
    decision = refers("clients.mail", "customers.email", insist=True)
    assert shop.verdict(decision).status == "insisted"
    key = next(k for k in shop.amended(decision).foreign_keys if k.from_table == "clients")
    assert (key.evidence.orphans, key.evidence.reason) == (
        20,
        "Decided by a person. 20 rows violate it.",
    )


def test_a_model_cant_give_a_column_a_second_parent(shop: Shop) -> None:
    verdict = shop.verdict(refers("orders.customer_id", "returns.return_id", by="model"))
    assert verdict.message == "`orders.customer_id` refers to `customers.id` already."


def test_a_column_cant_refer_to_itself(shop: Shop) -> None:
    verdict = shop.verdict(refers("orders.order_id", "orders.order_id"))
    assert verdict.message == "`orders.order_id` can't refer to itself."


def test_a_dropped_relationship_becomes_a_ruled_out_candidate(shop: Shop) -> None:
    decision = drops("orders.customer_id", "customers.id")
    assert shop.verdict(decision).status == "accepted"
    profile = shop.amended(decision)
    assert not [key for key in profile.foreign_keys if key.from_table == "orders"]
    candidate = next(each for each in profile.candidates if each.from_table == "orders")
    assert candidate.ruled_out


def test_a_model_cant_drop_a_relationship_that_names_and_values_bear_out(shop: Shop) -> None:
    verdict = shop.verdict(drops("orders.customer_id", "customers.id", by="model"))
    assert verdict.status == "refused"
    assert "have a match. Only a person can drop it." in verdict.message


def test_a_relationship_that_isnt_there_cant_be_dropped(shop: Shop) -> None:
    verdict = shop.verdict(drops("orders.order_id", "customers.id"))
    assert verdict.status == "refused"


def test_only_a_person_can_drop_what_the_source_declares(shop: Shop) -> None:
    declared = ("customers.country", "countries.code")
    assert shop.verdict(drops(*declared, by="model")).status == "refused"
    assert shop.verdict(drops(*declared)).status == "accepted"


def test_a_query_that_fails_refuses_the_decision_without_quoting_a_value(tmp_path: Path) -> None:
    path = tmp_path / "wide.duckdb"
    with closing(duckdb.connect(str(path))) as database:
        largest = "340282366920938463463374607431768211455"
        database.execute(f"CREATE TABLE wide AS SELECT {largest}::UHUGEINT AS number")
        database.execute("CREATE TABLE narrow AS SELECT range AS id FROM range(9)")
    with open_shop(path) as opened:
        verdict = opened.verdict(refers("wide.number", "narrow.id"))
    assert verdict.status == "refused"
    assert verdict.message.startswith("It couldn't be checked on the data: ")
    assert "3402823669" not in verdict.message


@pytest.mark.parametrize(
    ("confidence", "by", "status"),
    [
        (0.94, "model", "accepted"), (0.95, "model", "refused"), (0.96, "model", "refused"),
        (0.95, "person", "accepted"), (1.0, "person", "accepted"),
    ],
)  # fmt: skip
def test_a_model_drops_no_reference_that_is_sure(
    shop: Shop, confidence: float, by: Author, status: str
) -> None:
    key = shop.profile.foreign_keys[0].model_copy(
        update={"confidence": confidence, "origin": "measured"}
    )
    profile = shop.profile.model_copy(update={"foreign_keys": (key,)})
    child = f"{key.from_table}.{key.from_columns[0]}"
    decision = drops(child, f"{key.to_table}.{key.to_columns[0]}", by=by)
    assert weigh_dropping(profile, decision).status == status
