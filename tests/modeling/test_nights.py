"""Nights of inserts, updates and deletes change no name, no role and no column of a model."""

from pathlib import Path

import pytest

from bench.look_once.databases import LOOK_ONCE, build_database
from tests.modeling.evolved import SHOP, run
from tests.modeling.nights import nights_that_changed

_SCRIPTS = sorted(LOOK_ONCE.glob("*.sql"))[:10]
_NIGHTS = 10
"""For each database; `bench/evolution_histories.py` loads sixty."""


def test_two_nights_change_no_relation_of_a_shop(tmp_path: Path) -> None:
    run(tmp_path / "shop.duckdb", SHOP)
    assert nights_that_changed(tmp_path / "shop.duckdb", "dimensional", 2, seed=7) == []


@pytest.mark.slow
@pytest.mark.parametrize("technique", ["data_vault_2", "dimensional"])
@pytest.mark.parametrize("script", _SCRIPTS, ids=lambda path: path.stem)
def test_many_nights_change_no_relation(tmp_path: Path, script: Path, technique: str) -> None:
    database = tmp_path / "source.duckdb"
    build_database(script, database)
    assert nights_that_changed(database, technique, _NIGHTS, seed=11) == []
