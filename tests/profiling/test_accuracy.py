"""Keys of real databases are found after their constraints were removed."""

import json

from bench import accuracy
from tests.shared import CORPUS, needs_shared

SMALL = ("chinook", "northwind", "pubs")
LEAST_FOREIGN = 0.96
LEAST_PRIMARY = 0.98


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
