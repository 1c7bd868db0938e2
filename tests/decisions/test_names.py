"""The names that decisions use, and decisions that others overrule."""

import pytest

from fluid_build.decisions.deliveries import partial_tables
from fluid_build.decisions.language import (
    AddRelationship,
    AnyDecision,
    Delivery,
    Describe,
    DropRelationship,
    Ignore,
    Merge,
    Rename,
    Renamed,
    SetDelivery,
    SetKey,
    Split,
)
from fluid_build.decisions.renames import renames
from fluid_build.decisions.verdicts import applied
from tests.decisions.shop import Shop


def test_an_unknown_table_is_refused_with_the_nearest_name(shop: Shop) -> None:
    verdict = shop.verdict(SetKey(table="ordres", columns=("order_id",)))
    assert verdict.status == "refused"
    assert verdict.message == "There's no table `ordres`. Did you mean 'orders'?"


def test_an_unknown_column_is_refused_with_the_nearest_name(shop: Shop) -> None:
    verdict = shop.verdict(SetKey(table="orders", columns=("order_di",)))
    assert verdict.status == "refused"
    assert verdict.message == "`orders` has no column `order_di`. Did you mean 'order_id'?"


def test_another_case_becomes_the_exact_name(shop: Shop) -> None:
    verdict = shop.verdict(SetKey(table="ORDERS", columns=("Order_ID",)))
    assert verdict.status == "accepted"
    assert verdict.decision == SetKey(table="orders", columns=("order_id",))


def test_a_column_named_twice_is_refused(shop: Shop) -> None:
    verdict = shop.verdict(SetKey(table="orders", columns=("order_id", "ORDER_ID")))
    assert verdict.message == "`orders.order_id` is named twice."


def test_two_spellings_of_a_table_cant_be_merged(shop: Shop) -> None:
    merge = Merge(table="orders", columns=("order_id",), into_table="ORDERS", into_columns=("big",))
    assert shop.verdict(merge).message == "`orders` can't be merged into itself."


def test_two_spellings_of_a_column_cant_be_both_key_and_attribute(shop: Shop) -> None:
    split = Split(table="customers", columns=("zip",), attributes=("ZIP",), entity="place")
    assert shop.verdict(split).status == "refused"


def test_an_element_of_the_model_isnt_looked_up(shop: Shop) -> None:
    assert shop.verdict(Describe(element="hub_anything", text="A hub.")).status == "accepted"


def test_the_later_of_two_decisions_counts(shop: Shop) -> None:
    earlier, later = shop.weigh(
        SetKey(table="customers", columns=("id",)), SetKey(table="customers", columns=("email",))
    )
    assert (earlier.status, later.status) == ("refused", "accepted")
    assert earlier.message == (
        "Decision 2 (set_key `customers email`) contradicts it, and the later decision overrules"
        " it."
    )


@pytest.mark.parametrize("is_first", [True, False])
def test_a_persons_decision_counts_before_a_models(shop: Shop, is_first: bool) -> None:
    person = SetKey(table="customers", columns=("email",))
    model = SetKey(table="customers", columns=("id",), by="model")
    pair = (person, model) if is_first else (model, person)
    statuses = {verdict.decision.by: verdict.status for verdict in shop.weigh(*pair)}
    assert statuses == {"person": "accepted", "model": "refused"}


def test_adding_and_dropping_one_relationship_contradict_each_other(shop: Shop) -> None:
    reference = {
        "from_table": "customers",
        "from_columns": ("country",),
        "to_table": "countries",
        "to_columns": ("code",),
    }
    added, dropped = shop.weigh(
        AddRelationship.model_validate(reference), DropRelationship.model_validate(reference)
    )
    assert (added.status, dropped.status) == ("refused", "accepted")


def test_two_tables_cant_get_one_name(shop: Shop) -> None:
    earlier, later = shop.weigh(
        Rename(table="orders", new_name="sales"), Rename(table="returns", new_name="Sales")
    )
    assert (earlier.status, later.status) == ("refused", "accepted")


def test_the_same_decision_twice_is_one(shop: Shop) -> None:
    first, second = shop.weigh(
        SetKey(table="orders", columns=("order_id",), by="model"),
        SetKey(table="ORDERS", columns=("order_id",), by="model", reason="Said again."),
    )
    assert (first.status, second.status) == ("accepted", "unused")
    assert second.message == "Decision 1 says the same."


def test_a_decision_about_an_ignored_table_is_refused(shop: Shop) -> None:
    describe, ignore = shop.weigh(
        Describe(table="returns", column="reason", text="Why."), Ignore(table="returns")
    )
    assert (describe.status, ignore.status) == ("refused", "accepted")
    assert describe.message == "The table `returns` is ignored."


def test_a_model_cant_ignore_what_a_person_decided_about(shop: Shop) -> None:
    describe, ignore = shop.weigh(
        Describe(table="returns_backup", text="Old."), Ignore(table="returns_backup", by="model")
    )
    assert (describe.status, ignore.status) == ("accepted", "refused")


def test_ignoring_every_table_is_refused(shop: Shop) -> None:
    everything = [Ignore(table=table.name) for table in shop.profile.tables]
    assert {verdict.status for verdict in shop.weigh(*everything)} == {"refused"}


def test_a_very_long_name_is_clipped_in_the_message(shop: Shop) -> None:
    decisions: list[AnyDecision] = [Rename(table="x" * 500, new_name="y")]
    assert len(shop.weigh(*decisions)[0].message) < 200


def test_an_earlier_name_is_accepted_where_it_is_gone_and_the_new_one_is_there(shop: Shop) -> None:
    column = Renamed(table="ORDERS", column="order_id", was="number")
    table = Renamed(table="customers", was="buyers")
    verdicts = shop.weigh(column, table)
    assert [verdict.message for verdict in verdicts] == [
        "There's `orders.order_id`, and no column `orders.number` any more.",
        "There's `customers`, and no table `buyers` any more.",
    ]
    said = renames(applied(verdicts))
    assert said.earlier_column("orders", "order_id") == "number"
    assert said.earlier_table("customers") == "buyers"
    assert said.earlier_table("orders") == "orders"


@pytest.mark.parametrize(
    ("decision", "message"),
    [
        (
            Renamed(table="orders", column="order_id", was="customer_id"),
            "There's still a column `orders.customer_id`, so `orders.order_id` is another one.",
        ),
        (
            Renamed(table="orders", was="customers"),
            "There's still a table `customers`, so `orders` is another one.",
        ),
        (Renamed(table="buyers", was="clients"), "There's no table `buyers`."),
        (
            Renamed(table="orders", was="sales", by="model"),
            "Only a person knows what it was called before.",
        ),
    ],
)
def test_an_earlier_name_that_the_source_contradicts_is_refused(
    shop: Shop, decision: Renamed, message: str
) -> None:
    verdict = shop.verdict(decision)
    assert (verdict.status, verdict.message) == ("refused", message)


@pytest.mark.parametrize(
    ("delivers", "message"),
    [
        ("full", "`orders` has all of its rows, and one that it lacks is deleted."),
        ("delta", "`orders` has the rows that changed, and what it lacks stays."),
        ("append", "`orders` has the rows that came, and what it lacks stays."),
    ],
)
def test_what_a_table_delivers_is_what_a_person_says(
    shop: Shop, delivers: Delivery, message: str
) -> None:
    verdict = shop.verdict(SetDelivery(table="ORDERS", delivers=delivers))
    assert (verdict.status, verdict.message) == ("accepted", message)
    assert partial_tables(applied([verdict])) == ({"orders"} if delivers != "full" else set())
    by_model = shop.verdict(SetDelivery(table="orders", delivers=delivers, by="model"))
    assert by_model.message == "Only a person knows what the source delivers."


def test_the_later_one_of_two_deliveries_counts(shop: Shop) -> None:
    first, second = shop.weigh(
        SetDelivery(table="orders", delivers="delta"), SetDelivery(table="orders", delivers="full")
    )
    assert (first.status, second.status) == ("refused", "accepted")


def test_only_one_column_can_have_had_a_name(shop: Shop) -> None:
    first = Renamed(table="orders", column="order_id", was="number")
    second = Renamed(table="orders", column="customer_id", was="number")
    assert [verdict.status for verdict in shop.weigh(first, second)] == ["refused", "accepted"]
