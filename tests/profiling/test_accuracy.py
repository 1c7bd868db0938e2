"""Keys of real databases are found after their constraints were removed."""

import json

import pytest

from bench import accuracy
from fluid_build.profiling.weights import DEFAULT_WEIGHTS
from tests.shared import CORPUS, needs_shared

SMALL = ("chinook", "northwind", "pubs")
LEAST_FOREIGN = 0.96
LEAST_PRIMARY = 0.96


@needs_shared
def test_small_real_databases_reach_the_goal() -> None:
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


def test_a_weight_can_be_changed_by_its_name() -> None:
    """Only the named weight differs."""
    weights = accuracy.changed_weights(["reference.name=6", "composite.accepted=0.5"])
    assert (weights.reference.name, weights.composite.accepted) == (6.0, 0.5)
    assert weights.names == DEFAULT_WEIGHTS.names


@pytest.mark.parametrize("change", ["reference.nam=6", "other.name=6", "name=6", "reference.name"])
def test_an_unknown_weight_is_refused(change: str) -> None:
    """A typo never goes unnoticed."""
    with pytest.raises(ValueError, match=r"weight|convert"):
        accuracy.changed_weights([change])
