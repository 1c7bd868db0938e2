"""Decisions about a star: each element is as decided and the star is proven, or it's refused."""

from collections.abc import Iterator

import pytest

from fluid_build.decisions.language import Classify, Measure, Role
from fluid_build.modeling.decided_measures import unfollowed_in_flat
from fluid_build.modeling.dimensional.elements import Dimension, DimensionalModel, Fact
from fluid_build.modeling.techniques import build_model
from tests.modeling.dimensional.decided_shop import Workshop, small_shop, workshop


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workshop]:
    with workshop(small_shop(tmp_path_factory.mktemp("shop"))) as opened:
        yield opened


def fact_of(star: DimensionalModel, table: str) -> Fact:
    return next(f for f in star.facts if f.entity_name == table and not f.snapshot_of)


def dimension_of(star: DimensionalModel, table: str) -> Dimension:
    return next(d for d in star.dimensions if d.entity_name == table)


@pytest.mark.parametrize("table", ["customer", "category", "loyalty", "product_tag", "holiday"])
def test_what_we_would_look_up_can_be_an_event(shop: Workshop, table: str) -> None:
    result = shop.decided(Classify(table=table, role="fact", reason="Each row is counted."))
    assert result.proof.verdict == "proven"
    assert not result.refusals
    fact = fact_of(result.star, table)
    assert fact.reason.startswith("Decided by a person: Each row is counted. ")
    assert [alternative.choice for alternative in fact.alternatives]


@pytest.mark.parametrize("table", ["orders", "line", "visit", "category", "loyalty", "product_tag"])
def test_what_we_would_count_can_be_looked_up(shop: Workshop, table: str) -> None:
    result = shop.decided(Classify(table=table, role="dimension", by="model"))
    assert result.proof.verdict == "proven"
    assert not result.refusals
    assert dimension_of(result.star, table).reason.startswith("Suggested by a language model.")


def test_a_decided_role_names_the_lost_one_as_an_alternative(shop: Workshop) -> None:
    star = shop.decided(Classify(table="visit", role="dimension")).star
    (alternative,) = dimension_of(star, "visit").alternatives
    assert alternative.choice == "a fact"
    assert alternative.reason.startswith("no table refers to it. It has a date (visited)")


def test_lines_can_be_a_bridge_of_orders_and_products(shop: Workshop) -> None:
    result = shop.decided(Classify(table="line", role="bridge"))
    assert result.proof.verdict == "proven"
    assert "brg_line" in {bridge.name for bridge in result.star.bridges}
    assert not result.refusals


def test_a_table_with_a_row_a_day_can_be_a_calendar(shop: Workshop) -> None:
    result = shop.decided(Classify(table="holiday", role="date"))
    assert result.proof.verdict == "proven"
    assert dimension_of(result.star, "holiday").dimension_type == "date"


@pytest.mark.parametrize(
    ("table", "role", "message"),
    [
        (
            "orders",
            "bridge",
            "`orders` can't be a bridge: it has 1 reference to other tables, and a bridge has two.",
        ),
        (
            "visit",
            "date",
            "`visit` can't be a calendar: `visited` has 100 values in 200 rows, and each day of a"
            " calendar is there once.",
        ),
        ("tag", "date", "`tag` can't be a calendar: it has no column of dates."),
    ],
)
def test_a_role_that_a_star_cant_carry_is_refused_with_the_figure(
    shop: Workshop, table: str, role: Role, message: str
) -> None:
    result = shop.decided(Classify(table=table, role=role))
    assert result.proof.verdict == "proven"
    assert [(refusal.status, refusal.message) for refusal in result.refusals] == [
        ("refused", message)
    ]
    assert result.star == shop.decided().star


def test_roles_of_a_vault_are_unused_in_a_star(shop: Workshop) -> None:
    result = shop.decided(Classify(table="customer", role="hub"))
    assert [refusal.status for refusal in result.refusals] == ["unused"]
    assert result.star == shop.decided().star


def test_a_measure_adds_up_as_decided_in_every_layer(shop: Workshop) -> None:
    result = shop.decided(
        Measure(table="line", column="price", additivity="semi-additive", reason="It's a level.")
    )
    assert result.proof.verdict == "proven"
    measure = next(m for m in fact_of(result.star, "line").measures if m.column == "price")
    assert (measure.additivity, measure.aggregation) == ("semi-additive", "avg")
    assert measure.reason == "Semi-additive: decided by a person: It's a level."
    assert result.model.osi is not None
    metrics = result.model.osi.semantic_model[0].metrics or ()
    assert 'AVG("line"."price")' in {m.expression.dialects[0].expression for m in metrics}


def test_what_is_no_measure_stays_in_the_fact_as_a_plain_column(shop: Workshop) -> None:
    result = shop.decided(Measure(table="line", column="quantity", additivity="none"))
    assert result.proof.verdict == "proven"
    fact = fact_of(result.star, "line")
    assert "quantity" not in {measure.column for measure in fact.measures}
    assert "quantity" in {attribute.attribute for attribute in fact.attributes}
    assert not result.refusals
    attribute = result.model.conceptual.entity("line").attribute("quantity")
    assert "It isn't a measure. Decided by a person." in attribute.reason


@pytest.mark.parametrize(
    ("table", "column", "message"),
    [
        ("line", "order_id", "`line.order_id` can't be a measure: it refers to `orders`."),
        ("orders", "id", "`orders.id` can't be a measure: it's part of a key of `orders`."),
        ("tag", "label", "`tag.label` can't be a measure: its type is string."),
    ],
)
def test_what_identifies_or_is_text_is_refused_as_a_measure(
    shop: Workshop, table: str, column: str, message: str
) -> None:
    result = shop.decided(Measure(table=table, column=column, additivity="additive"))
    assert result.proof.verdict == "proven"
    assert [refusal.message for refusal in result.refusals] == [message]


def test_flat_tables_follow_measures_and_nothing_else(shop: Workshop) -> None:
    measure = Measure(table="line", column="quantity", additivity="none")
    role = Classify(table="line", role="dimension")
    decisions = shop.decided(measure, role).decisions
    model = build_model(shop.profile, "flat", decisions=decisions)
    refusals = unfollowed_in_flat(model.conceptual, decisions)
    assert {decision: refusal.status for decision, refusal in refusals.items()} == {role: "unused"}
    assert model.conceptual.entity("line").attribute("quantity").measure is None
