"""The semantic model: valid OSI, with names that dbt accepts and that mean one thing."""

import json
import re
from typing import Any

import pytest
from hypothesis import given
from jsonschema import Draft202012Validator

from fluid_build.modeling.techniques import build_model
from fluid_build.profiling.profile import Profile
from fluid_build.transform.dbt.semantic_model import semantic_document, semantic_json
from fluid_build.transform.plan.techniques import transform_plan
from tests.modeling.profiles import column, profile, profiles, reference, table
from tests.shared import OSI_SCHEMA, needs_shared

# Of dbt 1.12's own check of names in a semantic model.
ACCEPTED = re.compile(r"[a-z]((?!__)[a-z0-9_])*[a-z0-9]")
GRAINS = set("day hour microsecond millisecond minute month nanosecond quarter second week".split())


def semantic_model(found: Profile, database: str | None = "shop") -> dict[str, Any]:
    """The semantic model of a profile's flat plan, as the file holds it."""
    plan = transform_plan(build_model(found))
    document = semantic_document(plan, database=database, schema="main")
    assert document is not None
    (model,) = json.loads(semantic_json(document))["semantic_model"]
    return dict(model)


def dataset(model: dict[str, Any], name: str) -> dict[str, Any]:
    """The dataset of that name."""
    return next(dict(found) for found in model["datasets"] if found["name"] == name)


def fields(found: dict[str, Any]) -> dict[str, str]:
    """The expression of each field."""
    return {
        field["name"]: field["expression"]["dialects"][0]["expression"] for field in found["fields"]
    }


SHOP = profile(
    table("customer", column("id", "INTEGER"), column("name", "VARCHAR"), primary_key=("id",)),
    table(
        "line",
        column("order_no", "INTEGER"),
        column("line_no", "INTEGER"),
        column("customer_id", "INTEGER"),
        column("name", "DATE"),
        column("amount", "DECIMAL(10,2)", min="1", max="99"),
        primary_key=("order_no", "line_no"),
    ),
    table("order", column("id", "INTEGER"), column("year", "INTEGER"), primary_key=("id",)),
    table("log", column("text", "VARCHAR"), column("customer_id", "INTEGER")),
    foreign_keys=(
        reference("line", "customer_id", "customer", "id"),
        reference("log", "customer_id", "customer", "id"),
    ),
)


def test_a_dataset_is_found_by_database_schema_and_name() -> None:
    """That is how dbt finds its model; where the environment tells the database, by the rest."""
    assert dataset(semantic_model(SHOP), "customer")["source"] == "shop.main.customer"
    assert dataset(semantic_model(SHOP, None), "customer")["source"] == "main.customer"


def test_a_key_of_several_columns_becomes_one_field() -> None:
    """Dbt requires a primary key of one field; an extension lists the columns."""
    line = dataset(semantic_model(SHOP), "line")
    assert line["primary_key"] == ["line_key"]
    assert fields(line)["line_key"] == (
        "CAST(order_no AS VARCHAR) || '|' || CAST(line_no AS VARCHAR)"
    )
    assert json.loads(line["custom_extensions"][0]["data"]) == {
        "primary_key": ["order_no", "line_no"]
    }


def test_a_name_with_several_meanings_gets_a_prefix() -> None:
    """A key of two datasets that are not related, and a name that is text here and a date there."""
    model = semantic_model(SHOP)
    assert fields(dataset(model, "customer")) == {"customer_id": "id", "customer_name": "name"}
    assert dataset(model, "customer")["primary_key"] == ["customer_id"]
    assert "line_name" in fields(dataset(model, "line"))


def test_names_that_dbt_reserves_are_changed() -> None:
    """A field cannot be called after a time granularity, nor a dataset after a word of SQL."""
    order = dataset(semantic_model(SHOP), "order_data")
    assert order["source"] == "shop.main.order_"
    assert fields(order) == {"order_data_id": "id", "year_field": "year"}


def test_of_a_table_without_a_key_only_references_are_fields() -> None:
    """Dbt groups by nothing that it cannot tell rows apart by, and refuses such fields."""
    assert fields(dataset(semantic_model(SHOP), "log")) == {"customer_id": "customer_id"}


def test_references_and_measures_are_in_the_document() -> None:
    """Relationships name datasets and fields, metrics how a measure is added up."""
    model = semantic_model(SHOP)
    first = model["relationships"][0]
    told = (first["from"], first["from_columns"], first["to"], first["to_columns"])
    assert told == ("line", ["customer_id"], "customer", ["customer_id"])
    (metric,) = model["metrics"]
    assert metric["name"] == "sum_line_amount"
    assert metric["expression"]["dialects"][0]["expression"] == "SUM(line.amount)"


def test_no_text_of_a_stranger_is_jinja_for_dbt() -> None:
    """Dbt renders the descriptions of a semantic model."""
    found = profile(
        table("t", column("id", "INTEGER", comment="{{ 1 }} {% x %} {# y"), primary_key=("id",))
    )
    assert "{{" not in json.dumps(semantic_model(found)["datasets"][0]["fields"][0]["description"])


@pytest.fixture(scope="module")
def validator() -> Draft202012Validator:
    """The official schema of OSI 0.1.1."""
    return Draft202012Validator(json.loads(OSI_SCHEMA.read_text(encoding="utf-8")))


@given(profiles())
def test_every_document_is_valid_and_every_name_accepted(found: Profile) -> None:
    """Whatever a source is called: valid OSI, unique names that dbt takes, keys that are fields."""
    plan = transform_plan(build_model(found))
    document = semantic_document(plan, database="shop", schema="main")
    if document is None:
        assert not plan.published
        return
    (model,) = json.loads(semantic_json(document))["semantic_model"]
    names = [named["name"] for named in model["datasets"]]
    assert len(set(names)) == len(names)
    for one in model["datasets"]:
        own = [field["name"] for field in one.get("fields", ())]
        assert len(set(own)) == len(own)
        assert set(one.get("primary_key", ())) <= set(own)
        for name in (one["name"], *own):
            assert ACCEPTED.fullmatch(name), name
            assert name not in GRAINS
    metrics = [metric["name"] for metric in model.get("metrics", ())]
    assert len({*metrics, *names}) == len(metrics) + len(names)
    assert all(ACCEPTED.fullmatch(name) for name in metrics)


@needs_shared
def test_the_document_is_valid_under_the_official_schema(validator: Draft202012Validator) -> None:
    """The file says what OSI 0.1.1 knows and nothing else."""
    plan = transform_plan(build_model(SHOP))
    document = semantic_document(plan, database="shop", schema="main")
    assert document is not None
    assert list(validator.iter_errors(json.loads(semantic_json(document)))) == []
