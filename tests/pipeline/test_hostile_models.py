"""Forges with hostile models: they end, stay as true as the draft, and act nowhere else."""

from contextlib import closing
from pathlib import Path

import pytest

from fluid_build.sources import open_source
from fluid_build.verification import read_folder, verify
from tests.pipeline.demo_shop import small_demo
from tests.pipeline.hostile_models import (
    CHARACTERS,
    LONE_SURROGATE,
    READABLE_ATTACKS,
    attack_everything,
)
from tests.pipeline.hostile_runs import ACTING, TECHNIQUES, Scene, Tally, forge_with
from tests.pipeline.lies import believable_liar
from tests.pipeline.small_runs import small_shop
from tests.shared import CORPUS, on_databases

_USUAL = {
    ("random", "flat"),
    ("liar", "flat"),
    ("believable liar", "data_vault_2"),
    ("attacker", "dimensional"),
}
"""Every character once, and every technique; ``make test-all`` has the whole product."""
PAIRS = [
    pytest.param(
        character,
        technique,
        marks=() if (character, technique) in _USUAL else pytest.mark.thorough,
    )
    for character in CHARACTERS
    for technique in TECHNIQUES
]


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Scene:
    folder = tmp_path_factory.mktemp("demo")
    return Scene(small_demo(folder / "shop.db"), folder)


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Scene:
    folder = tmp_path_factory.mktemp("shop")
    return Scene(small_shop(folder / "shop.db"), folder)


@pytest.mark.parametrize(("character", "technique"), PAIRS)
def test_the_demo_is_as_true_as_the_draft(
    demo: Scene, tmp_path: Path, character: str, technique: str
) -> None:
    model = CHARACTERS[character](demo.lies, 0)
    tally = Tally()
    assert forge_with(demo, technique, model, tmp_path, tally).faults == []
    if character == "believable liar":
        assert tally.lies["refused"] > 20
        with closing(open_source(str(demo.source))) as source:
            assert verify(read_folder(tmp_path / "out"), source).holds


@pytest.mark.thorough
@on_databases("pubs jaffle_shop world car_dealership broker chinook northwind sakila")
def test_a_real_database_is_as_true_as_its_draft(name: str, tmp_path: Path) -> None:
    real = Scene(CORPUS / name / "data", tmp_path)
    for technique in TECHNIQUES:
        real.draft(technique)
    for technique in TECHNIQUES:
        for character, model in CHARACTERS.items():
            folder = tmp_path / f"{technique} {character}"
            folder.mkdir()
            assert forge_with(real, technique, model(real.lies, 1), folder).faults == []


@pytest.mark.thorough
@pytest.mark.parametrize("technique", TECHNIQUES)
def test_many_lies_about_the_demo_come_to_nothing(
    demo: Scene, tmp_path: Path, technique: str
) -> None:
    for seed in range(2, 22):
        folder = tmp_path / str(seed)
        folder.mkdir()
        assert forge_with(demo, technique, believable_liar(demo.lies, seed), folder).faults == []


@pytest.mark.thorough
@pytest.mark.parametrize("technique", TECHNIQUES)
@pytest.mark.parametrize(
    "attack", [a for a in READABLE_ATTACKS if len(a) < 200 and not ACTING.search(a)]
)
def test_an_attack_in_every_text_acts_nowhere(
    shop: Scene, tmp_path: Path, technique: str, attack: str
) -> None:
    model = attack_everything((attack,), "customer", "city")
    assert forge_with(shop, technique, model, tmp_path).faults == []


def test_all_attacks_at_once_are_read_one_by_one(shop: Scene, tmp_path: Path) -> None:
    model = attack_everything(READABLE_ATTACKS, "customer", "city")
    result = forge_with(shop, "data_vault_2", model, tmp_path)
    assert result.faults == []
    assert not result.receipt.fallback_used
    assert len(result.receipt.invalid_proposals) > 50


def test_jinja_in_a_description_is_printed_by_dbt_and_not_run(shop: Scene, tmp_path: Path) -> None:
    attack = "{{ env_var('HOME') }}{% set x = run_query('drop table customers') %}{# #}"
    model = attack_everything((attack,), "customer", "city")
    result = forge_with(shop, "flat", model, tmp_path)
    assert result.faults == []
    assert "accepted" in {proposal.status for proposal in result.receipt.proposed}


def test_an_answer_with_half_a_character_leaves_the_draft_and_is_reported(
    shop: Scene, tmp_path: Path
) -> None:
    """No reader of JSON has to accept half of a pair of surrogates, and ours doesn't."""
    model = attack_everything((LONE_SURROGATE,), "customer", "city")
    result = forge_with(shop, "flat", model, tmp_path)
    assert result.faults == []
    assert result.receipt.fallback_used
    assert "violates the schema" in result.receipt.fallback_reasons[0]
    contract = (tmp_path / "out" / "contract.fluid.yaml").read_bytes()
    assert contract == (shop.draft_folder("flat") / "contract.fluid.yaml").read_bytes()
