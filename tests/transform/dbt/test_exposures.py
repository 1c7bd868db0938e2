"""What reads a model is an exposure of the dbt project, as a person said it."""

from pathlib import Path

import pytest
import yaml

from fluid_build.decisions.language import AnyDecision, Exposure
from fluid_build.forging.forging import forge
from fluid_build.sources import open_source
from tests.transform.databases import database
from tests.transform.dbt.projects import manifest

SHOP = (
    "CREATE TABLE customer (id INTEGER PRIMARY KEY, name VARCHAR)",
    "CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customer,"
    " placed DATE)",
    "INSERT INTO customer SELECT i, 'n' || i FROM range(1, 30) r(i)",
    "INSERT INTO orders SELECT i, 1 + i % 29, DATE '2024-01-01' + i::INTEGER FROM range(90) r(i)",
)
SALES = Exposure(
    name="sales",
    type="dashboard",
    models=("hub_orders", "sat_orders"),
    owner="Ann {{ 7 * 7 }}",
    email="ann@example.org",
    title="Sales: of the week",
)


def forged_with(folder: Path, *decisions: AnyDecision) -> tuple[Path, tuple[str, ...]]:
    """The folder of a vault with these decisions, and what became of them."""
    with open_source(database(folder / "shop.duckdb", *SHOP)) as source:
        done = forge(source, technique="dv2", out=folder / "out", decisions=decisions)
    return folder / "out" / "dbt", tuple(f"{v.status}: {v.message}" for v in done.verdicts)


def test_what_a_person_says_is_an_exposure(tmp_path: Path) -> None:
    """With its owner, whatever the name looks like."""
    project, (verdict,) = forged_with(tmp_path, SALES)
    assert verdict.startswith("accepted")
    (entry,) = yaml.safe_load((project / "models" / "exposures.yml").read_text("utf-8"))[
        "exposures"
    ]
    assert entry["depends_on"] == ["ref('hub_orders')", "ref('sat_orders')"]
    assert entry["label"] == "Sales: of the week"


def test_a_relation_that_isnt_there_is_refused_with_the_nearest(tmp_path: Path) -> None:
    """And nothing is written that dbt couldn't read."""
    wrong = SALES.model_copy(update={"models": ("hub_order", "sat_orders")})
    project, verdicts = forged_with(tmp_path, wrong)
    assert verdicts == ("refused: The model has no `hub_order`. The nearest: `hub_orders`.",)
    assert not (project / "models" / "exposures.yml").exists()


def test_a_model_doesnt_say_who_reads_it(tmp_path: Path) -> None:
    """It can't know."""
    _, (verdict,) = forged_with(tmp_path, SALES.model_copy(update={"by": "model"}))
    assert verdict.startswith("refused: Only a person")


@pytest.mark.usefixtures("dbt")
def test_dbt_reads_the_exposure(tmp_path: Path) -> None:
    """As the reader of the models that it names, and no text of it as Jinja."""
    project, _ = forged_with(tmp_path, SALES)
    exposures = manifest(project, tmp_path / "target")["exposures"]
    assert isinstance(exposures, dict)
    (entry,) = exposures.values()
    assert entry["depends_on"]["nodes"] == ["model.shop.hub_orders", "model.shop.sat_orders"]
    assert entry["owner"]["name"] == "Ann {{ 7 * 7 }}"
