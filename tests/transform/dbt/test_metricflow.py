"""The semantic models and metrics of a star, as dbt itself reads them."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pytest
import sqlglot
import yaml
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.modeling.techniques import build_model
from fluid_build.profiling.profile import Profile
from fluid_build.transform.dbt.dialects import dialect_of
from fluid_build.transform.dbt.metricflow import day_of, metrics_yaml
from fluid_build.transform.dbt.project import dbt_project
from fluid_build.transform.dbt.targets import Target
from fluid_build.transform.plan.elements import TransformPlan
from fluid_build.transform.plan.techniques import transform_plan
from tests.modeling.profiles import column, profile, reference, table
from tests.transform.databases import database, modelled
from tests.transform.dbt.projects import TARGETS, duckdb_access, manifest, written
from tests.transform.dbt.test_semantic_model import ACCEPTED

SHOP = (
    "CREATE TABLE customer (customer_id INTEGER PRIMARY KEY, name VARCHAR, email VARCHAR)",
    "INSERT INTO customer SELECT i, 'Name ' || i, 'name' || i || '@example.org'"
    " FROM range(1, 41) r(i)",
    "COMMENT ON COLUMN customer.name IS '{{ 1 }} {% x %} {# y'",
    "CREATE TABLE address (address_id INTEGER PRIMARY KEY, city VARCHAR)",
    "INSERT INTO address SELECT i + 500, 'Town ' || (i % 7) FROM range(30) r(i)",
    """
    CREATE TABLE sale (
        sale_id INTEGER PRIMARY KEY, sold_on DATE, paid_on DATE, amount DECIMAL(9, 2),
        customer_id INTEGER REFERENCES customer, ship_to INTEGER REFERENCES address,
        bill_to INTEGER REFERENCES address
    )
    """,
    """
    INSERT INTO sale SELECT i + 9000, DATE '2024-01-01' + i::INTEGER % 60,
        CASE WHEN i % 9 > 0 THEN DATE '2024-01-03' + i::INTEGER % 60 END, i * 1.25 + 3,
        i % 40 + 1, 500 + i % 30, 500 + i * 7 % 30
    FROM range(300) r(i)
    """,
    """
    CREATE TABLE stock_level (
        article VARCHAR, counted_on DATE, quantity_on_hand INTEGER,
        PRIMARY KEY (article, counted_on)
    )
    """,
    """
    INSERT INTO stock_level
    SELECT 'article ' || chr(65 + a::INTEGER), DATE '2024-03-01' + d::INTEGER,
        a * 37 % 11 + d * 13 % 29
    FROM range(20) r(a), range(30) s(d)
    """,
    """
    CREATE TABLE visit (
        visit_id INTEGER PRIMARY KEY, visited_on DATE, customer_id INTEGER REFERENCES customer
    )
    """,
    "INSERT INTO visit SELECT i + 70000, DATE '2024-02-01' + i::INTEGER % 50, i % 40 + 1"
    " FROM range(200) r(i)",
)


@dataclass(frozen=True)
class Parsed:
    """A star's plan, and what dbt makes of the project: its semantic models and metrics by name."""

    plan: TransformPlan
    project: Path
    models: dict[str, dict[str, Any]]
    metrics: dict[str, dict[str, Any]]

    def elements(self, model: str, kind: str) -> dict[str, dict[str, Any]]:
        """The entities, dimensions or measures of a semantic model by name."""
        return {one["name"]: one for one in self.models[model][kind]}


@pytest.fixture(scope="module")
def shop(dbt: None, tmp_path_factory: pytest.TempPathFactory) -> Parsed:
    """A star with sales that refer twice to one dimension, levels, and visits without measures."""
    folder = tmp_path_factory.mktemp("metricflow")
    path = database(folder / "shop.duckdb", *SHOP)
    with modelled(path, "dimensional") as source:
        plan = transform_plan(source.model)
        files = dbt_project(plan, source.model, access=duckdb_access(plan, path))
    project = written(files, folder / "dbt")
    parsed: Any = manifest(project, folder / "target")
    return Parsed(
        plan,
        project,
        {one["name"]: one for one in parsed["semantic_models"].values()},
        {one["name"]: one for one in parsed["metrics"].values()},
    )


def test_each_fact_and_dimension_is_a_semantic_model_of_its_own_relation(shop: Parsed) -> None:
    assert {name: model["node_relation"]["alias"] for name, model in shop.models.items()} == {
        build.name: build.name for build in shop.plan.published if "history" not in build.name
    }


def test_entities_are_the_plan_s_keys_and_references(shop: Parsed) -> None:
    for name in shop.models:
        build = shop.plan.build(name)
        entities = shop.elements(name, "entities").values()
        keys = {one["expr"] for one in entities if one["type"] != "foreign"}
        foreign = {one["expr"] for one in entities if one["type"] == "foreign"}
        assert keys == ({*build.key} if len(build.key) == 1 else set())
        assert foreign == {column for t in build.tests if t.is_join for column in t.columns}
    assert shop.models["fct_stock_level"]["primary_entity"] == "fct_stock_level_row"


def test_every_reference_finds_the_key_of_what_it_refers_to(shop: Parsed) -> None:
    """MetricFlow joins by names alone, so a dimension has one for each role."""
    for name in shop.models:
        foreign = [
            one for one in shop.elements(name, "entities").values() if one["type"] == "foreign"
        ]
        for entity in foreign:
            found = [m for m in shop.models if _is_key(shop, m, entity["name"])]
            parents = [
                t.to_model
                for t in shop.plan.build(name).tests
                if t.is_join and t.columns == (entity["expr"],)
            ]
            assert found == parents
    assert {"address", "bill_to_address", "ship_to_address"} == {
        *shop.elements("dim_address", "entities")
    }


def _is_key(shop: Parsed, model: str, entity: str) -> bool:
    found = shop.elements(model, "entities").get(entity)
    return found is not None and found["type"] != "foreign"


def test_measures_are_the_plan_s_and_the_number_of_rows(shop: Parsed) -> None:
    aggregations = {"avg": "average"}
    for name in shop.models:
        build = shop.plan.build(name)
        expected = {
            column.name: aggregations.get(column.measure.aggregation, column.measure.aggregation)
            for column in build.columns
            if column.measure is not None and column.measure.additivity != "semi-additive"
        }
        found = {
            one["expr"]: one["agg"]
            for one in shop.models[name]["measures"]
            if "_days_to_" not in one["name"]
        }
        count = {"1": "sum"} if name.startswith("fct_") else {}
        levels = {"quantity_on_hand": "sum"} if name == "fct_stock_level" else {}
        assert found == {**expected, **levels, **count}
        assert set(shop.elements(name, "measures")) <= set(shop.metrics)
    assert {metric["type"] for metric in shop.metrics.values()} == {"simple"}


def test_a_level_is_summed_on_the_last_day(shop: Parsed) -> None:
    level = shop.elements("fct_stock_level", "measures")["last_fct_stock_level_quantity_on_hand"]
    assert level["agg"] == "sum"
    assert level["non_additive_dimension"] == {
        "name": "counted_date",
        "window_choice": "max",
        "window_groupings": [],
    }


def test_measures_are_of_the_date_of_the_event(shop: Parsed) -> None:
    """A sale is measured when it was made and not when it was paid; both can be grouped by."""
    assert shop.models["fct_sale"]["defaults"] == {"agg_time_dimension": "sold_date"}
    dimensions = shop.elements("fct_sale", "dimensions").values()
    times = {one["name"] for one in dimensions if one["type"] == "time"}
    assert times == {"sold_date", "paid_date"}


def test_the_osi_document_is_where_dbt_does_not_read_it_a_second_time(shop: Parsed) -> None:
    assert (shop.project / "semantic" / f"{shop.plan.name}.osi.json").is_file()
    assert not (shop.project / "osi").exists()


def test_no_text_of_a_stranger_is_jinja_for_dbt(shop: Parsed) -> None:
    """Dbt parses the project, and the text is still there to read."""
    name = shop.elements("dim_customer", "dimensions")["name"]
    assert name["description"] == "{ { 1 }} { % x %} { # y"


def test_personal_data_is_marked(shop: Parsed) -> None:
    email = shop.elements("dim_customer", "dimensions")["email"]
    assert email["config"]["meta"] == {"pii": True}


@pytest.mark.parametrize("target", ["duckdb", *TARGETS])
def test_a_day_is_read_from_its_key_in_every_dialect(shop: Parsed, target: Target) -> None:
    """Neither the key of no date nor that of infinity is a day."""
    day = day_of("k", dialect_of(target))
    query = f"SELECT {day} FROM (SELECT 20240229 AS k UNION ALL SELECT 10101"
    query += " UNION ALL SELECT -1 UNION ALL SELECT 99999999) AS keys ORDER BY k"
    query = sqlglot.transpile(query, read=target, write="duckdb")[0]
    found = [str(day) for (day,) in duckdb.sql(query).fetchall()]
    assert found == ["None", "0001-01-01", "2024-02-29", "None"]


_HOSTILE = ("day", "YEAR", "a", "metric_time", "x__y", "_x_", "customer", "customer_key", "sale_id")
_CLASHING = ("sold_date", "sold_date_key", "date_key", "count_fct_sale", "dim_customer", "fct_sale")


@st.composite
def _stars(draw: st.DrawFn) -> Profile:
    """A sale and its customer, with columns whose names MetricFlow reserves or that clash."""
    names = st.sampled_from((*_HOSTILE, *_CLASHING))
    types = st.sampled_from(("VARCHAR", "DATE", "TIMESTAMP", "BOOLEAN", "DECIMAL(9,2)"))
    more = [
        [column(name, draw(types)) for name in draw(st.lists(names, unique=True, max_size=5))]
        for _ in range(2)
    ]
    return profile(
        table("customer", column("id", "INTEGER"), *more[0], primary_key=("id",)),
        table(
            "sale",
            column("id", "INTEGER"),
            column("buyer", "INTEGER"),
            column("sold", "DATE"),
            column("amount", "DECIMAL(10,2)", min="1", max="99"),
            *more[1],
            primary_key=("id",),
        ),
        foreign_keys=(reference("sale", "buyer", "customer", "id"),),
    )


@given(_stars())
def test_a_name_means_one_thing_in_all_semantic_models(found: Profile) -> None:
    """MetricFlow refuses a name that is an entity here and a dimension there, or no legal name."""
    model = build_model(found, "dimensional")
    assert model.dimensional is not None
    text = metrics_yaml(transform_plan(model), model.dimensional, dialect_of("duckdb"))
    assert text is not None
    document = yaml.safe_load(text)
    meanings: dict[str, str] = {}
    for one in document["semantic_models"]:
        own = [(kind, each) for kind in _KINDS for each in one.get(kind, ())]
        names = [each["name"] for _, each in own]
        assert len(set(names)) == len(names)
        for kind, each in own:
            meaning = each["type"] if kind == "dimensions" else kind
            assert meanings.setdefault(each["name"], meaning) == meaning
            assert ACCEPTED.fullmatch(each["name"]), each["name"]
    measures = [
        each["name"] for one in document["semantic_models"] for each in one.get("measures", ())
    ]
    assert len(set(measures)) == len(measures)
    assert [one["name"] for one in document.get("metrics", ())] == measures


_KINDS = ("entities", "dimensions", "measures")
