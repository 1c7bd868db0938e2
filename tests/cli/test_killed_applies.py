"""A few applies killed at random moments; ``bench/evolution.py kills`` has a hundred of each."""

import random
from pathlib import Path

import pytest

from bench.evolution import PLACES, kills
from bench.warm_processes import warm_processes


@pytest.mark.usefixtures("dbt")
@pytest.mark.parametrize("engine", PLACES)
def test_the_next_apply_leaves_what_an_undisturbed_one_does(engine: str, tmp_path: Path) -> None:
    with warm_processes() as warm, PLACES[engine]("data_vault_2", tmp_path, warm) as place:
        assert [kill.fault for kill in kills(place, warm, 2, random.Random(7))] == ["", ""]
