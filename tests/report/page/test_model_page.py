"""The model and the contract in the page, of a small database in each technique."""

import base64
import gzip
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from fluid_build.forging import Forged, forge
from fluid_build.report.page.content import BuiltContent, PageContent
from fluid_build.report.page.lineage import lineage
from fluid_build.report.page.model import ModelPage, model_page
from fluid_build.report.page.page import contract_page, packed
from fluid_build.report.view import source_view
from fluid_build.sources import open_source

TECHNIQUES = ("flat", "data_vault_2", "dimensional")


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("shop") / "shop.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE customers (id INTEGER PRIMARY KEY, name VARCHAR)")
        connection.execute("INSERT INTO customers SELECT i, 'Shop ' || i FROM range(1, 41) t(i)")
        connection.execute(
            "CREATE TABLE orders (id INTEGER PRIMARY KEY, placed DATE, amount DECIMAL(10,2),"
            " customer_id INTEGER REFERENCES customers (id))"
        )
        connection.execute(
            "INSERT INTO orders SELECT i, DATE '2024-01-01' + CAST(i AS INTEGER), i * 1.5,"
            " 1 + i % 40 FROM range(1, 201) t(i)"
        )
    return path


@pytest.fixture(scope="module", params=TECHNIQUES)
def forged(shop: Path, request: pytest.FixtureRequest) -> Iterator[Forged]:
    with open_source(str(shop)) as source:
        yield forge(source, technique=request.param)


def page_of(forged: Forged) -> ModelPage:
    view = source_view(forged.profile, forged.model, forged.plan, forged.proof)
    built = BuiltContent(forged.model, forged.plan, "kind: DataProduct\n", {})
    return model_page(PageContent(view, built), built)


def test_every_published_relation_has_a_card(forged: Forged) -> None:
    """No relation is left out, and none is there twice."""
    names = [card.name for card in page_of(forged).relations]
    assert sorted(names) == sorted(build.name for build in forged.plan.published)


def test_the_queries_are_those_that_build_the_relations(forged: Forged) -> None:
    """The SQL of each relation is the plan's, where no project was written."""
    queries = {card.name: card.query for card in page_of(forged).relations}
    assert queries == {build.name: build.sql for build in forged.plan.published}


def test_lineage_leads_from_a_source_column_to_the_model_and_back(forged: Forged) -> None:
    """What a source column becomes names that column as its source."""
    lines = {
        (card.name, line.name): line for card in page_of(forged).relations for line in card.columns
    }
    becomes = lineage(forged.plan)["orders", "amount"]
    assert becomes
    for column in becomes:
        sources = {source[:2] for source in lines[column.relation, column.column].sources}
        assert ("orders", "amount") in sources


def test_every_fact_of_the_model_is_shown(forged: Forged) -> None:
    """What the model states of its elements is with the relation, or in the list of the rest."""
    page = page_of(forged)
    tables = [*page.facts, *(fact for card in page.relations for fact in card.facts)]
    shown = sum(len(table.group.elements) for table in tables)
    model = source_view(forged.profile, forged.model, forged.plan).model
    assert model is not None
    assert shown == sum(len(group.elements) for group in model.groups)


def test_a_contract_comes_out_as_it_went_in(forged: Forged) -> None:
    """Packing a text loses nothing, whatever its characters, and gives the same bytes each time."""
    text = "description: Größe ✓\nexposes:\n- exposeId: orders\n"
    page = contract_page(BuiltContent(forged.model, forged.plan, text))
    assert gzip.decompress(base64.b64decode(page.text)).decode() == text
    assert page.lines == 3
    assert packed(text) == page.text
