from pathlib import Path

import pytest
import yaml

from bench.expected_models.built import built_elements
from bench.expected_models.elements import (
    BuiltElement,
    Column,
    ExpectedElement,
    ExpectedMeasure,
)
from bench.expected_models.reading import (
    ExpectationError,
    read_expected_model,
    read_expected_models,
)
from bench.expected_models.scoring import ModelScore, score_model
from fluid_build.modeling.dimensional.facts.snapshots import SNAPSHOT_DATE
from fluid_build.modeling.techniques import build_model
from fluid_build.sources import open_source
from tests.modeling.sources import source as source_profile
from tests.shared import SHARED, needs_shared

FILES = sorted(Path(__file__).with_name("expected").rglob("*.yaml"))

LINES = ExpectedElement(
    table="line",
    kinds=("fact",),
    why="An event.",
    types=("transaction",),
    grains=(frozenset({"order_id", "number"}), frozenset({"id"})),
    dates=(Column("order", "placed"),),
    measures=(
        ExpectedMeasure(Column("line", "quantity"), ("additive",)),
        ExpectedMeasure(Column("line", "price"), ("non-additive",)),
        ExpectedMeasure(Column("line", "weight"), ("additive",), optional=True),
    ),
)
ORDERS = ExpectedElement(
    table="order",
    kinds=("collapsed", "fact"),
    why="A header.",
    types=("transaction",),
    grains=(frozenset({"id"}),),
    measures=(ExpectedMeasure(Column("order", "total"), ("additive",)),),
)
PRODUCTS = ExpectedElement(table="product", kinds=("dimension",), why="What is sold.")
STAR = (LINES, ORDERS, PRODUCTS)

BUILT_LINES = BuiltElement(
    "line",
    "fact",
    type="transaction",
    grain=frozenset({"id"}),
    date=Column("order", "placed"),
    measures={Column("line", "quantity"): "additive", Column("line", "price"): "non-additive"},
)
BUILT_PRODUCTS = BuiltElement("product", "dimension")

SHOP = """
customer *id, name text, since date
product *id, name text/20
sale *id, customer_id > customer, sold date
item *sale_id > sale, *number/5 1-5, product_id > product, quantity/9, price decimal/50
tag *product_id > product, *word text/30, note text
"""


def _built(technique: str) -> dict[tuple[str, str], BuiltElement]:
    model = build_model(source_profile(SHOP, rows=1000), technique)
    return {(element.table, element.kind): element for element in built_elements(model)}


def _counts(score: ModelScore, aspect: str) -> tuple[int, int, int]:
    counted = score.aspects[aspect]
    return counted.right, counted.wrong, counted.missed


def _f1(score: ModelScore) -> dict[str, float]:
    return {aspect: s.f1 for aspect, s in score.aspects.items() if not s.is_empty}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_expected_model_can_be_read_and_says_why(path):
    model = read_expected_model(path)
    assert model.database == path.stem
    assert model.literature
    assert all(element.why.endswith((".", "!")) for element in (*model.star, *model.vault))


@needs_shared
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_an_expected_model_has_every_table_and_only_columns_that_exist(path):
    model = read_expected_model(path)
    columns = _source_columns(model.database)
    for layer in (model.star, model.vault):
        assert {element.table for element in layer} - {""} == columns.keys()
        for element in layer:
            for column in _named_columns(element):
                # The date of a snapshot that a forge starts is in no source.
                assert column.name in {*columns[column.table], SNAPSHOT_DATE}, column
            assert {t for tables in element.parents for t in tables} <= columns.keys()


def _source_columns(database: str) -> dict[str, set[str]]:
    (data,) = (
        corpus / database / "data"
        for corpus in (SHARED / "corpus", SHARED / "corpus_more")
        if (corpus / database / "data").is_dir()
    )
    with open_source(str(data)) as source:
        return {table.name: {c.name for c in table.columns} for table in source.tables}


def _named_columns(element: ExpectedElement) -> list[Column]:
    own = {name for names in (*element.grains, *element.keys) for name in names}
    return [
        *element.columns,
        *(date for date in element.dates if date is not None),
        *(measure.column for measure in element.measures),
        *(Column(element.table, name) for name in own),
    ]


def test_a_model_as_expected_has_a_perfect_score():
    score = score_model(STAR, [BUILT_LINES, BUILT_PRODUCTS])
    assert set(_f1(score).values()) == {1.0}
    assert _counts(score, "kinds") == (2, 0, 0)
    assert _counts(score, "measures") == (2, 0, 0)


def test_an_alternative_is_as_right_as_the_first_choice():
    orders = BuiltElement(
        "order",
        "fact",
        type="transaction",
        grain=frozenset({"id"}),
        measures={Column("order", "total"): "additive"},
    )
    score = score_model(STAR, [BUILT_LINES, orders, BUILT_PRODUCTS])
    assert set(_f1(score).values()) == {1.0}
    assert _counts(score, "measures") == (3, 0, 0)


def test_an_optional_measure_counts_neither_way():
    lines = BuiltElement("line", "fact", measures={**BUILT_LINES.measures})
    with_weight = BuiltElement(
        "line", "fact", measures={**BUILT_LINES.measures, Column("line", "weight"): "additive"}
    )
    for aspect in ("measures", "additivity"):
        assert _counts(score_model(STAR, [lines]), aspect) == (2, 0, 0)
        assert _counts(score_model(STAR, [with_weight]), aspect) == (2, 0, 0)


def test_a_model_of_the_wrong_kinds_scores_nothing():
    products = BuiltElement(
        "product",
        "fact",
        type="factless",
        grain=frozenset({"code"}),
        measures={Column("product", "code"): "additive"},
    )
    score = score_model(STAR, [BuiltElement("line", "dimension"), products])
    assert set(_f1(score).values()) == {0.0}
    assert _counts(score, "kinds") == (0, 2, 2)
    assert _counts(score, "measures") == (0, 1, 2)
    assert _counts(score, "grain") == (0, 1, 1)


def test_wrong_values_of_the_right_element_are_wrong_and_missed():
    lines = BuiltElement(
        "line",
        "fact",
        type="accumulating_snapshot",
        grain=frozenset({"number"}),
        measures={Column("line", "price"): "additive", Column("line", "number"): "additive"},
    )
    score = score_model(STAR, [lines, BUILT_PRODUCTS])
    assert _counts(score, "kinds") == (2, 0, 0)
    assert _counts(score, "types") == (0, 1, 1)
    assert _counts(score, "grain") == (0, 1, 1)
    assert _counts(score, "dates") == (0, 0, 1)
    assert _counts(score, "measures") == (1, 1, 1)
    assert _counts(score, "additivity") == (0, 2, 2)


def test_an_element_where_an_expert_draws_none_is_wrong():
    score = score_model(STAR, [BUILT_LINES, BUILT_PRODUCTS, BuiltElement("order", "dimension")])
    assert _counts(score, "kinds") == (2, 1, 0)
    assert score.aspects["kinds"].errors == ["order: expected collapsed, fact, built dimension"]


def test_a_derived_dimension_is_known_by_its_columns():
    flags = frozenset({Column("line", "status"), Column("line", "flag")})
    expected = ExpectedElement(table="line", kinds=("dimension",), why="Flags.", columns=flags)
    similar = BuiltElement("line", "dimension", columns=flags | {Column("line", "mode")})
    different = BuiltElement("line", "dimension", columns=frozenset({Column("line", "mode")}))
    assert _counts(score_model([expected], [similar]), "kinds") == (1, 0, 0)
    assert _counts(score_model([expected], [different]), "kinds") == (0, 1, 1)


def test_a_vault_is_scored_by_its_business_keys_and_by_what_its_links_connect():
    hub = ExpectedElement(
        table="tag", kinds=("hub", "reference"), why="A name.", keys=(frozenset({"name"}),)
    )
    link = ExpectedElement(
        table="transfer",
        kinds=("link",),
        why="An event.",
        types=("transactional",),
        parents=(("account", "account", "bank"),),
    )
    built = [
        BuiltElement("tag", "hub", key=frozenset({"id"})),
        BuiltElement("transfer", "link", type="standard", parents=("account", "bank", "person")),
    ]
    score = score_model([hub, link], built)
    assert _counts(score, "kinds") == (2, 0, 0)
    assert _counts(score, "keys") == (0, 1, 1)
    assert _counts(score, "types") == (0, 1, 1)
    assert _counts(score, "parents") == (2, 1, 1)


def test_a_keyless_table_misses_the_kind_that_is_expected():
    link = ExpectedElement(table="visit", kinds=("link",), why="An event.")
    score = score_model([link], [BuiltElement("visit", "keyless")])
    assert _counts(score, "kinds") == (0, 0, 1)


def test_a_fact_is_compared_by_columns_of_the_source():
    built = _built("dimensional")
    item = built["item", "fact"]
    assert item.grain == {"sale_id", "number"}
    assert item.date == Column("sale", "sold")
    assert item.measures == {
        Column("item", "quantity"): "additive",
        Column("item", "price"): "non-additive",
    }
    assert built["customer", "dimension"] == BuiltElement("customer", "dimension")
    assert ("", "date") in built


def test_a_vault_is_compared_by_source_tables():
    built = _built("data_vault_2")
    assert built["customer", "hub"].key == {"id"}
    assert set(built["item", "link"].parents) == {"sale", "product"}
    assert built["tag", "satellite"].parents == ("product",)
    assert built["tag", "satellite"].type == "multi_active"
    # What a table says about its own hub, and its references to others, come with the hub.
    assert ("customer", "satellite") not in built
    assert ("sale", "link") not in built


@pytest.mark.parametrize(
    "element",
    [
        {"kind": "hub", "why": "A hub of a star."},
        {"kind": "fact"},
        {"kind": "fact", "why": "A type of links.", "type": "standard"},
        {"kind": "fact", "why": "No additivity.", "measures": {"price": "sometimes"}},
        {"kind": "fact", "why": "A key that isn't known.", "grains": ["id"]},
    ],
)
def test_a_file_that_breaks_the_format_is_refused(tmp_path, element):
    document = {
        "database": "shop",
        "literature": ["A book."],
        "star": [{"table": "line", **element}],
        "vault": [],
    }
    (tmp_path / "shop.yaml").write_text(yaml.safe_dump(document))
    with pytest.raises(ExpectationError, match=r"shop\.yaml: star line"):
        read_expected_models(tmp_path)
