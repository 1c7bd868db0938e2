"""``fluid forge data-model validate`` and ``diff``."""

import json
import re
from pathlib import Path

import pytest

from tests.cli.running import Fluid
from tests.forges import forged


@pytest.mark.parametrize("technique", ["flat", "data_vault_2", "dimensional"])
def test_a_model_as_forged_is_valid(
    fluid: Fluid, sqlite_shop: Path, tmp_path: Path, technique: str
) -> None:
    folder = forged(sqlite_shop, tmp_path / "model", technique)
    outcome = fluid("forge", "data-model", "validate", folder, "--json")
    document = json.loads(outcome.out)
    assert (outcome.code, document["valid"]) == (0, True)
    assert document["conformance"]["summary"].startswith("conformance: ✓ all 2 standards clean")
    assert {finding["severity"] for finding in document["findings"]} <= {"warning", "info"}


def test_findings_are_counted_in_the_words_of_the_forge_screen(
    fluid: Fluid, sqlite_shop: Path, tmp_path: Path
) -> None:
    folder = forged(sqlite_shop, tmp_path / "model")
    screen = fluid("forge", "data-model", "validate", folder).out
    assert re.search(r"Findings  \d+ warnings?, \d+ remarks?\n", screen)


def test_a_contract_that_promises_something_else_is_not_valid(
    fluid: Fluid, sqlite_shop: Path, tmp_path: Path
) -> None:
    folder = forged(sqlite_shop, tmp_path / "model")
    contract = folder / "contract.fluid.yaml"
    contract.write_text(contract.read_text().replace("name: city", "name: town"))
    outcome = fluid("forge", "data-model", "validate", folder)
    assert outcome.code == 1
    assert "isn't valid" in outcome.out
    assert "Disagreements" in outcome.out


def test_a_broken_decision_is_reported_with_its_line(
    fluid: Fluid, sqlite_shop: Path, tmp_path: Path
) -> None:
    folder = forged(sqlite_shop, tmp_path / "model")
    (folder / "decisions.yaml").write_text("version: 1\ndecisions:\n  - decision: set_kee\n")
    outcome = fluid("forge", "data-model", "validate", folder)
    assert outcome.code == 2
    assert "line 3" in outcome.err


def test_two_models_are_compared(fluid: Fluid, sqlite_shop: Path, tmp_path: Path) -> None:
    folder = forged(sqlite_shop, tmp_path / "model")
    outcome = fluid("forge", "data-model", "diff", folder, folder)
    assert outcome.code == 0
    assert "Nothing changed" in outcome.out
