"""Keys of real databases whose constraints were taken off are found again."""

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
CORPUS = ROOT.parent / "shared" / "corpus"
SMALL = ("chinook", "northwind", "pubs")
LEAST_FOREIGN = 0.96
LEAST_PRIMARY = 0.98


@pytest.fixture(scope="module")
def accuracy() -> ModuleType:
    spec = importlib.util.spec_from_file_location("accuracy", ROOT / "bench" / "accuracy.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["accuracy"] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.skipif(not CORPUS.exists(), reason="the corpus is not beside the repository")
def test_small_real_databases_reach_the_goal(accuracy: ModuleType) -> None:
    """On three small real databases together, foreign and primary keys reach their goals."""
    foreign, primary = accuracy.Score(), accuracy.Score()
    for name in SMALL:
        truth = json.loads((CORPUS / name / "truth.json").read_text())
        names = accuracy.renaming("as-is", truth)
        profile = accuracy.profile_database(CORPUS / name, truth, names)
        foreign.add(accuracy.score_foreign_keys(profile, truth, names)[0])
        primary.add(accuracy.score_primary_keys(profile, truth, names))
    assert foreign.f1 >= LEAST_FOREIGN
    assert primary.f1 >= LEAST_PRIMARY
