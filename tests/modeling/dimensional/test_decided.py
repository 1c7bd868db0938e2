"""Decisions about a star: each element is as decided and the star is proven, or it's refused."""

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from fluid_build.decisions.language import (
    BusinessKey,
    Classify,
    DecisionEvidence,
    Grain,
    Measure,
    Merge,
    Role,
    Split,
)
from fluid_build.decisions.model_decisions import model_decisions
from fluid_build.modeling.decided_measures import unfollowed_measures
from fluid_build.modeling.dimensional.elements import Dimension, DimensionalModel, Fact
from fluid_build.modeling.techniques import build_model
from fluid_build.transform.dbt.project import dbt_project
from fluid_build.transform.dbt.running import run_dbt
from fluid_build.transform.plan.techniques import transform_plan
from tests.forges import demo_shop
from tests.modeling.dimensional.decided_shop import Workshop, small_shop, workshop
from tests.shared import CORPUS, on_databases
from tests.transform.dbt.projects import duckdb_access, written


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


@pytest.mark.parametrize("technique", ["flat", "data_vault_2"])
def test_every_technique_follows_measures(shop: Workshop, technique: str) -> None:
    measure = Measure(table="line", column="quantity", additivity="none")
    text = Measure(table="tag", column="label", additivity="additive")
    decisions = model_decisions([measure, text])
    model = build_model(shop.profile, technique, decisions=decisions)
    assert model.conceptual.entity("line").attribute("quantity").measure is None
    assert set(unfollowed_measures(model.conceptual, decisions)) == {text}


def test_a_grain_names_the_decided_columns_and_identifies_rows_by_them(shop: Workshop) -> None:
    grain = Grain(table="line", columns=("order_id", "product_id"), reason="One product a line.")
    result = shop.decided(grain)
    assert result.proof.verdict == "proven"
    fact = fact_of(result.star, "line")
    assert fact.grain == (
        "One row for each line: order_id, product_id. Decided by a person: One product a line."
    )
    assert fact.grain_columns == ("order_id", "product_id")
    assert not result.refusals


def test_a_grain_insisted_on_is_stated_as_violated_and_not_tested(shop: Workshop) -> None:
    grain = Grain(
        table="line",
        columns=("product_id",),
        despite_violations=True,
        evidence=DecisionEvidence(rows=600, violations=560),
    )
    result = shop.decided(grain)
    fact = fact_of(result.star, "line")
    assert fact.grain == (
        "One row for each line: product_id. Decided by a person. It's declared and violated: 560 of"
        " 600 rows repeat a value or have a null. order_id and no identify a row."
    )
    assert fact.grain_columns == ("order_id", "no_")
    build = next(b for b in transform_plan(result.model).published if b.name == fact.name)
    assert ("product_id",) not in {test.columns for test in build.tests if test.kind == "unique"}
    assert not result.refusals


def test_a_dimension_has_no_grain_to_decide(shop: Workshop) -> None:
    (refusal,) = shop.decided(Grain(table="customer", columns=("name",))).refusals
    assert refusal.status == "unused"
    assert refusal.message == "`customer` isn't a fact in this star, and only facts have a grain."


@pytest.mark.parametrize("variant", [None, "wide", "snowflake"])
def test_columns_are_split_off_a_fact_into_a_dimension(shop: Workshop, variant: str | None) -> None:
    split = Split(
        table="orders", columns=("carrier_code",), attributes=("carrier_name",), entity="Carrier"
    )
    result = shop.decided(split, variant=variant)
    assert result.proof.verdict == "proven"
    assert not result.refusals
    dimension = result.star.dimension("dim_carrier")
    assert [attribute.attribute for attribute in dimension.attributes] == [
        "carrier_code",
        "carrier_name",
    ]
    fact = fact_of(result.star, "orders")
    assert "carrier_key" in {reference.key for reference in fact.dimensions}
    assert not {"carrier_code", "carrier_name"} & {a.attribute for a in fact.attributes}


def test_a_measure_can_be_split_off_with_what_it_describes(shop: Workshop) -> None:
    split = Split(
        table="orders", columns=("carrier_code",), attributes=("freight",), entity="tariff"
    )
    result = shop.decided(split)
    assert result.proof.verdict == "proven"
    assert not fact_of(result.star, "orders").measures


@pytest.mark.parametrize(
    ("table", "column", "status", "message"),
    [
        (
            "orders",
            "id",
            "refused",
            "`orders.id` can't be split off: it's part of the key of `orders`.",
        ),
        (
            "orders",
            "customer_id",
            "refused",
            "`orders.customer_id` can't be split off: it refers to `customer`.",
        ),
        (
            "customer",
            "city",
            "unused",
            "`customer` isn't a fact in this star; a dimension keeps all of its columns.",
        ),
    ],
)
def test_columns_that_a_relation_needs_arent_split_off(
    shop: Workshop, table: str, column: str, status: str, message: str
) -> None:
    result = shop.decided(Split(table=table, columns=(column,), entity="other"))
    assert result.proof.verdict == "proven"
    assert [(r.status, r.message) for r in result.refusals] == [(status, message)]


def merge_of_tags(rows: int, unmatched: int = 0) -> Merge:
    return Merge(
        table="tag",
        columns=("id",),
        into_table="product",
        into_columns=("id",),
        evidence=DecisionEvidence(rows=rows, matched=rows - unmatched),
    )


def test_a_table_is_merged_into_the_dimension_that_has_all_its_rows(shop: Workshop) -> None:
    result = shop.decided(merge_of_tags(8))
    assert result.proof.verdict == "proven"
    assert not result.refusals
    assert "tag" not in {dimension.entity_name for dimension in result.star.dimensions}
    product = dimension_of(result.star, "product")
    assert {"is_tag", "tag_label"} <= {attribute.name for attribute in product.attributes}
    (bridge,) = result.star.bridges
    assert (bridge.left, bridge.right) == ("dim_product", "dim_product")


def test_a_merge_that_would_lose_rows_is_refused_with_their_number(shop: Workshop) -> None:
    result = shop.decided(merge_of_tags(8, unmatched=3))
    assert [refusal.message for refusal in result.refusals] == [
        "`tag` can't be merged into `product`: 3 of 8 rows have no row there and would be lost."
    ]
    assert result.star == shop.decided().star


def test_a_merge_into_a_fact_is_refused_and_leaves_no_trace(shop: Workshop) -> None:
    merge = merge_of_tags(8).model_copy(update={"into_table": "orders"})
    result = shop.decided(merge)
    assert [refusal.message for refusal in result.refusals] == [
        "`tag` can't be merged into `orders`: in this star, `orders` is a fact."
    ]
    assert result.model == shop.decided().model


def test_a_part_that_others_refer_to_is_read_from_its_whole_alone(shop: Workshop) -> None:
    """The category is a part of the order here, and copied into the product as well."""
    merge = merge_of_tags(5).model_copy(update={"table": "category", "into_table": "orders"})
    result = shop.decided(merge, Classify(table="orders", role="dimension"))
    assert result.proof.verdict == "proven"
    assert not result.refusals


def test_a_business_key_is_unused_in_a_star(shop: Workshop) -> None:
    (refusal,) = shop.decided(BusinessKey(table="customer", columns=("name",))).refusals
    assert refusal.status == "unused"


def test_the_demo_is_proven_with_decisions_of_every_kind(tmp_path: Path) -> None:
    place = tmp_path / "shop.db"
    demo_shop(place)
    with workshop(place) as opened:
        result = opened.decided(
            Classify(table="reviews", role="dimension"),
            Classify(table="vouchers", role="fact", by="model"),
            Measure(table="order_lines", column="unit_price", additivity="none"),
            Measure(table="employees", column="salary", additivity="additive"),
            Grain(table="payments", columns=("order_id", "paid_at")),
            Split(table="shipments", columns=("carrier",), entity="carrier"),
        )
    assert result.proof.verdict == "proven"
    assert not result.refusals
    assert fact_of(result.star, "payments").grain_columns == ("order_id", "paid_at")
    assert dimension_of(result.star, "reviews").reason.startswith("Decided by a person.")


@on_databases("world", thorough="chinook northwind sakila")
def test_a_known_database_is_proven_with_any_role_of_any_table(name: str) -> None:
    """Every table in turn is a fact, a dimension, a bridge and a calendar, or that's refused."""
    with workshop(CORPUS / name / "data") as opened:
        for table in opened.profile.tables:
            for role in ("fact", "dimension", "bridge", "date"):
                result = opened.decided(Classify(table=table.name, role=role))
                assert result.proof.verdict == "proven", (table.name, role)
                assert all(refusal.status == "refused" for refusal in result.refusals)


@pytest.mark.usefixtures("dbt")
def test_dbt_builds_a_star_with_decisions_and_its_tests_pass(tmp_path: Path) -> None:
    place = small_shop(tmp_path)
    with workshop(place) as opened:
        result = opened.decided(
            Classify(table="visit", role="dimension"),
            Classify(table="line", role="bridge"),
            Classify(table="holiday", role="date"),
            Measure(table="orders", column="freight", additivity="none"),
            Grain(
                table="orders",
                columns=("customer_id",),
                despite_violations=True,
                evidence=DecisionEvidence(rows=300, violations=240),
            ),
            Split(
                table="orders",
                columns=("carrier_code",),
                attributes=("carrier_name",),
                entity="carrier",
            ),
            merge_of_tags(8),
        )
    assert not result.refusals
    plan = transform_plan(result.model)
    access = duckdb_access(plan, place)
    project = written(dbt_project(plan, result.model, access=access), tmp_path / "dbt")
    nodes = run_dbt(project, variables={"load_date": "2024-06-01"}).nodes
    assert {node.status for node in nodes} <= {"built", "passed"}
    assert {node.kind for node in nodes} >= {"model", "test"}
    with duckdb.connect(str(project / "shop.duckdb"), read_only=True) as connection:
        counts = connection.execute(
            "SELECT (SELECT count(*) FROM main.dim_carrier), (SELECT count(*) FROM main.brg_line)"
        ).fetchone()
    assert counts == (6, 600)
