"""Claims about keys, measured on every row."""

from fluid_build.decisions.language import BusinessKey, Grain, SetKey
from tests.decisions.shop import ORDERS, REPEATED_NUMBERS, Shop


def test_a_key_that_repeats_is_refused_with_figure_and_query(shop: Shop) -> None:
    verdict = shop.verdict(SetKey(table="orders", columns=("order_no",)))
    assert verdict.status == "refused"
    assert verdict.message == "`orders.order_no` isn't unique: 12 of 300 rows repeat a value."
    assert verdict.evidence is not None
    assert (verdict.evidence.rows, verdict.evidence.violations) == (ORDERS, REPEATED_NUMBERS)
    assert len(shop.rows(verdict.evidence.sql)) == REPEATED_NUMBERS


def test_a_key_with_nulls_is_refused(shop: Shop) -> None:
    verdict = shop.verdict(Grain(table="orders", columns=("order_id", "customer_id")))
    assert verdict.status == "refused"
    assert verdict.message == (
        "`orders.(order_id, customer_id)` doesn't identify every row: of 300 rows, 2 have a null."
    )
    assert verdict.evidence is not None
    assert len(shop.rows(verdict.evidence.sql)) == verdict.evidence.nulls == 2


def test_a_key_that_holds_becomes_the_primary_key(shop: Shop) -> None:
    decision = SetKey(table="orders", columns=("amount",), reason="It's only a test")
    table = shop.amended(decision).table("orders")
    assert table.primary_key == ("amount",)
    assert table.primary_key_origin == "declared"
    assert table.primary_key_reason == "Decided by a person: It's only a test."
    assert ("order_id",) in table.candidate_keys


def test_a_models_key_says_that_a_model_suggested_it(shop: Shop) -> None:
    decision = SetKey(table="clients", columns=("mail",), by="model")
    table = shop.amended(decision).table("clients")
    assert table.primary_key_origin == "llm"
    assert table.primary_key_reason == ("Suggested by a language model, and confirmed by the data.")


def test_a_model_cannot_make_amounts_a_key_though_none_occurs_twice(shop: Shop) -> None:
    verdict = shop.verdict(BusinessKey(table="orders", columns=("amount",), by="model"))
    assert verdict.status == "refused"
    assert "holds amounts" in verdict.message


def test_a_model_cannot_replace_a_key_that_tables_refer_to(shop: Shop) -> None:
    verdict = shop.verdict(SetKey(table="customers", columns=("email",), by="model"))
    assert verdict.status == "refused"
    assert verdict.message == "`customers.id` is its key: orders refers to it."
    person = SetKey(table="customers", columns=("email",))
    assert shop.verdict(person).status == "accepted"


def test_a_key_that_a_model_repeats_keeps_its_origin(shop: Shop) -> None:
    decision = SetKey(table="orders", columns=("order_id",), by="model")
    assert shop.amended(decision) == shop.profile


def test_a_key_that_a_person_insists_on_is_declared_and_violated(shop: Shop) -> None:
    decision = SetKey(table="orders", columns=("order_no",), despite_violations=True)
    assert shop.verdict(decision).status == "insisted"
    table = shop.amended(decision).table("orders")
    (claim,) = table.declared_keys
    assert not claim.holds
    assert claim.evidence.violations == REPEATED_NUMBERS
    assert table.primary_key == ("order_id",), "rows are loaded by a key that holds"


def test_a_business_key_that_holds_becomes_a_candidate_key(shop: Shop) -> None:
    table = shop.amended(BusinessKey(table="orders", columns=("order_no", "amount")))
    assert ("order_no", "amount") in table.table("orders").candidate_keys


def test_a_key_of_an_empty_table_is_declared_and_not_proven(shop: Shop) -> None:
    verdict = shop.verdict(SetKey(table="returns_backup", columns=("return_id",)))
    assert (verdict.status, verdict.message) == ("accepted", "There are no rows to check it on.")
    assert verdict.evidence is not None
    assert verdict.evidence.rows == 0
