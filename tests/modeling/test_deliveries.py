"""A source that has only what changed says nothing of what it lacks, and its model stays."""

from pathlib import Path

import pytest

from fluid_build.decisions.language import SetDelivery
from fluid_build.modeling.logical import PartialDelivery
from fluid_build.report.judgements.model_judgements import model_judgements
from tests.modeling.evolved import SHOP, designed, relations, run

TECHNIQUES = ("flat", "data_vault_2", "dimensional")
_A_NIGHT = (
    "DELETE FROM customers WHERE customer_id > 3",
    "DELETE FROM regions",
    "DELETE FROM products WHERE product_id <> 7",
    "DELETE FROM order_lines",
    "DELETE FROM orders",
    "INSERT INTO orders SELECT 600 + i, 100 + i, DATE '2025-02-01', 'open', i FROM range(5) t(i)",
)
"""Of customers, three are delivered, and the orders of others."""
_ORDERS = SetDelivery(table="orders", delivers="append")


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A database that delivered everything once."""
    database = tmp_path / "shop.duckdb"
    run(database, SHOP)
    return database


@pytest.mark.parametrize("technique", TECHNIQUES)
def test_a_night_of_changes_is_no_change_of_the_model(shop: Path, technique: str) -> None:
    tables = ("regions", "customers", "products", "order_lines")
    decisions = (*(SetDelivery(table=each, delivers="delta") for each in tables), _ORDERS)
    before = designed(shop, technique, decisions=decisions)
    run(shop, _A_NIGHT)
    after = designed(shop, technique, before.basis, decisions)
    assert relations(after) == relations(before)
    assert [build.sql for build in after.plan.builds] == [build.sql for build in before.plan.builds]
    assert after.model.evolution is None
    assert after.notes == ()


@pytest.mark.parametrize("technique", TECHNIQUES)
@pytest.mark.parametrize("delivers", ["delta", "append"])
def test_a_part_of_a_table_changes_no_figure_of_all_of_it(
    shop: Path, technique: str, delivers: str
) -> None:
    """Totals are unique in all rows and in the part: that stays promised."""
    decision = SetDelivery.model_validate({"table": "orders", "delivers": delivers})
    before = designed(shop, technique, decisions=(decision,))
    run(shop, ["DELETE FROM orders WHERE order_id > 5"])
    after = designed(shop, technique, before.basis, (decision,))
    assert [build.tests for build in after.plan.published] == [
        build.tests for build in before.plan.published
    ]
    assert after.profile.table("orders").rows == 600
    run(shop, ["UPDATE orders SET total = 7 WHERE order_id < 3"])
    repeated = designed(shop, technique, after.basis, (decision,))
    unique = [
        test.columns
        for build in repeated.plan.published
        for test in build.tests
        if test.kind == "unique"
    ]
    assert ("total",) not in unique


def test_the_decision_says_nothing_of_what_a_table_is(shop: Path) -> None:
    """It may be made on a night when there's only a part of the table."""
    before = designed(shop, "dimensional")
    run(shop, _A_NIGHT)
    after = designed(shop, "dimensional", before.basis, (_ORDERS,))
    assert after.model.deliveries == (PartialDelivery(table="orders", kind="append"),)
    marts = {build.name for build in before.plan.published}
    assert {build.name for build in after.plan.published} >= marts


def test_what_has_no_key_is_delivered_whole(tmp_path: Path) -> None:
    database = tmp_path / "visits.duckdb"
    run(database, ["CREATE TABLE visit AS SELECT 'a' AS page FROM range(9)"])
    decision = SetDelivery(table="visit", delivers="delta")
    made = designed(database, "flat", decisions=(decision,))
    (verdict,) = made.verdicts
    assert (verdict.status, verdict.message) == (
        "refused",
        "`visit` has no key by which a row is known again: decide with `set_key` which columns are"
        " its key.",
    )
    assert made.model.deliveries is None


def test_a_table_that_seems_to_have_only_what_changed_is_a_question(shop: Path) -> None:
    """Far fewer rows than before, and all of them later; whoever answers isn't asked again."""
    before = designed(shop, "data_vault_2")
    run(shop, _A_NIGHT)
    after = designed(shop, "data_vault_2", before.basis)
    (question,) = (q for q in model_judgements(after.model) if q.topic == "delivery")
    assert question.question == "Does orders have all of its rows each time?"
    assert "every ordered_on is later" in question.evidence
    assert [choice.decision for choice in question.choices] == [
        SetDelivery(table="orders", delivers="full"),
        SetDelivery(table="orders", delivers="delta"),
        SetDelivery(table="orders", delivers="append"),
    ]
    for choice in question.choices:
        assert isinstance(choice.decision, SetDelivery)
        answered = designed(shop, "data_vault_2", before.basis, (choice.decision,))
        assert not [q for q in model_judgements(answered.model) if q.topic == "delivery"]
