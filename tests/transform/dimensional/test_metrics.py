"""The metrics of a star, computed by their own expressions, and the same by hand."""

from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from fluid_build.transform.dbt.dialects import dialect_of
from fluid_build.transform.dbt.metricflow import metrics_yaml
from fluid_build.transform.dbt.semantic_model import semantic_document
from tests.transform.dimensional.stars import Star, star

STORE = (
    "CREATE TABLE product (product_id INTEGER PRIMARY KEY, product_name VARCHAR)",
    "INSERT INTO product SELECT i, 'Product ' || i FROM range(1, 31) t(i)",
    "CREATE TABLE sale_line (line_id INTEGER PRIMARY KEY, product_id INTEGER REFERENCES product,"
    " sold_on DATE, quantity INTEGER, unit_price DECIMAL(9, 2), line_amount DECIMAL(9, 2),"
    " currency_code VARCHAR)",
    "INSERT INTO sale_line SELECT i, 1 + i % 30, DATE '2024-01-01' + (i % 60)::INT, 1 + i % 7,"
    " CASE WHEN i % 11 THEN 3 + i % 13 * 1.25 END, (1 + i % 7) * (3 + i % 13 * 1.25),"
    " ['EUR', 'USD', 'CHF'][1 + i % 3] FROM range(1, 601) t(i)",
    "CREATE TABLE stock_balance (product_id INTEGER REFERENCES product, counted_on DATE,"
    " quantity_on_hand INTEGER, PRIMARY KEY (product_id, counted_on))",
    "INSERT INTO stock_balance SELECT p, DATE '2024-03-01' + d::INT, p * 37 % 11 + d * 13 % 29"
    " FROM range(1, 31) a(p), range(30) b(d) WHERE (p + d) % 9 > 0",
    "CREATE TABLE parcel (parcel_id INTEGER PRIMARY KEY, product_id INTEGER REFERENCES product,"
    " ordered_on DATE, shipped_at TIMESTAMP, delivered_on DATE)",
    "INSERT INTO parcel SELECT i, 1 + i % 30, d, CASE WHEN i < 380 THEN d + (1 + i % 4)::INT END,"
    " CASE WHEN i < 340 THEN d + (3 + i % 9)::INT END"
    " FROM (SELECT i, DATE '2024-01-01' + i::INT AS d FROM range(1, 401) t(i))",
    "CREATE TABLE attendance (product_id INTEGER REFERENCES product, shown_on DATE,"
    " stand INTEGER, PRIMARY KEY (product_id, shown_on, stand))",
    "INSERT INTO attendance SELECT 1 + i % 30, DATE '2024-02-01' + (i // 30)::INT, 1 + i % 4"
    " FROM range(600) t(i)",
)
AVERAGE_PRICE = (
    "SELECT sum(unit_price * quantity) / sum(quantity) FILTER (unit_price IS NOT NULL)"
    " FROM shop.sale_line"
)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Star]:
    with star(tmp_path_factory.mktemp("store"), STORE) as found:
        yield found


def osi_metrics(store: Star) -> dict[str, tuple[str, str]]:
    """The expression and the description of each metric of the OSI document."""
    facts = [fact.name for fact in store.star.facts]
    document = semantic_document(store.plan, database=None, schema="main", facts=facts)
    assert document is not None
    return {
        metric.name: (metric.expression.dialects[0].expression, metric.description or "")
        for metric in document.semantic_model[0].metrics or ()
    }


HIDDEN = {"hidden": True}


def metricflow(store: Star) -> Any:
    """The semantic models and metrics that MetricFlow reads."""
    text = metrics_yaml(store.plan, store.star, dialect_of("duckdb"))
    assert text is not None
    return yaml.safe_load(text)


def figure(store: Star, fact: str, metric: str) -> float:
    """What a metric of OSI comes to."""
    expression, _ = osi_metrics(store)[metric]
    ((value,),) = store.rows(f"SELECT CAST({expression} AS DOUBLE) FROM model.{fact}")
    assert isinstance(value, float)
    return value


def by_hand(store: Star, sql: str) -> float:
    ((value,),) = store.rows(f"SELECT CAST(({sql}) AS DOUBLE)")
    assert isinstance(value, float)
    return value


def test_an_average_price_is_weighted_by_the_quantity(store: Star) -> None:
    """A line without a price weighs nothing."""
    ours = figure(store, "fct_sale_line", "avg_fct_sale_line_unit_price")
    assert ours == pytest.approx(by_hand(store, AVERAGE_PRICE))
    assert ours != pytest.approx(by_hand(store, "SELECT avg(unit_price) FROM shop.sale_line"))


def test_metricflow_has_the_weighted_price_as_a_ratio(store: Star) -> None:
    document = metricflow(store)
    metrics = {metric["name"]: metric for metric in document["metrics"]}
    average = metrics["avg_fct_sale_line_unit_price"]
    assert average["type"] == "ratio"
    model = next(m for m in document["semantic_models"] if m["name"] == "fct_sale_line")
    sums = {m["name"]: m["expr"] for m in model["measures"] if m["agg"] == "sum"}
    parts = [
        sums[metrics[average["type_params"][part]]["type_params"]["measure"]]
        for part in ("numerator", "denominator")
    ]
    ours = store.rows(f"SELECT sum({parts[0]}) / sum({parts[1]}) FROM model.fct_sale_line")
    assert ours == store.rows(AVERAGE_PRICE)
    hidden = {m["name"] for m in metrics.values() if m.get("config", {}).get("meta") == HIDDEN}
    assert hidden == {average["type_params"][part] for part in ("numerator", "denominator")}


def test_a_level_is_summed_over_members_and_averaged_over_days(store: Star) -> None:
    ours = figure(store, "fct_stock_balance", "avg_fct_stock_balance_quantity_on_hand")
    assert ours == pytest.approx(
        by_hand(
            store,
            "SELECT avg(level) FROM (SELECT sum(quantity_on_hand) AS level"
            " FROM shop.stock_balance GROUP BY counted_on)",
        )
    )


def test_amounts_in_several_currencies_say_so(store: Star) -> None:
    said = "Amounts are in several currencies, so group by or filter currency_code."
    assert said in osi_metrics(store)["sum_fct_sale_line_line_amount"][1]
    assert said not in osi_metrics(store)["sum_fct_sale_line_quantity"][1]
    amount = next(
        m for m in metricflow(store)["metrics"] if m["name"] == "sum_fct_sale_line_line_amount"
    )
    assert said in amount["description"]


def test_an_accumulating_snapshot_says_how_long_its_steps_take(store: Star) -> None:
    """Parcels that are under way aren't counted."""
    parcel = next(m for m in metricflow(store)["semantic_models"] if m["name"] == "fct_parcel")
    lags = {m["name"]: m["expr"] for m in parcel["measures"] if m["agg"] == "average"}
    assert {
        name: store.rows(f"SELECT avg({sql}) FROM model.fct_parcel") for name, sql in lags.items()
    } == {
        "avg_fct_parcel_days_to_shipped_date": store.rows(
            "SELECT avg(shipped_at::DATE - ordered_on) FROM shop.parcel"
        ),
        "avg_fct_parcel_days_to_delivered_date": store.rows(
            "SELECT avg(delivered_on - ordered_on) FROM shop.parcel"
        ),
    }


def test_the_rows_of_every_fact_are_counted(store: Star) -> None:
    """Also of one without measures."""
    assert next(f for f in store.star.facts if f.name == "fct_attendance").fact_type == "factless"
    for fact in ("fct_sale_line", "fct_stock_balance", "fct_attendance"):
        rows = by_hand(store, f"SELECT count(*) FROM shop.{fact.removeprefix('fct_')}")
        assert figure(store, fact, f"count_{fact}") == rows
