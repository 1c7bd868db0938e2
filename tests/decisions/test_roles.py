"""The roles of a table: one in a vault and another in a star."""

from pathlib import Path

import pytest

from fluid_build.decisions.editing import with_decision
from fluid_build.decisions.files import parse_decisions
from fluid_build.decisions.language import Classify
from fluid_build.forging import forge
from fluid_build.sources import open_source
from tests.decisions.shop import Shop
from tests.forges import demo_shop

IN_A_VAULT = Classify(table="customers", role="hub")
IN_A_STAR = Classify(table="customers", role="dimension")


def test_a_table_may_have_a_role_in_a_vault_and_another_in_a_star(shop: Shop) -> None:
    assert [verdict.status for verdict in shop.weigh(IN_A_VAULT, IN_A_STAR)] == ["accepted"] * 2


def test_two_roles_in_a_star_contradict_each_other(shop: Shop) -> None:
    fact = Classify(table="customers", role="fact")
    assert [verdict.status for verdict in shop.weigh(IN_A_STAR, fact)] == ["refused", "accepted"]


def test_writing_a_role_keeps_that_of_the_other_technique() -> None:
    text = with_decision(with_decision("", IN_A_VAULT), IN_A_STAR)
    assert parse_decisions(text) == (IN_A_VAULT, IN_A_STAR)


@pytest.mark.parametrize(
    ("technique", "statuses"),
    [
        ("data_vault_2", ["accepted", "unused"]),
        ("dimensional", ["unused", "accepted"]),
        ("flat", ["unused", "unused"]),
    ],
)
def test_a_forge_follows_the_role_of_its_technique(
    tmp_path: Path, technique: str, statuses: list[str]
) -> None:
    path = tmp_path / "demo.sqlite"
    demo_shop(path)
    with open_source(path) as source:
        forged = forge(source, technique=technique, decisions=[IN_A_VAULT, IN_A_STAR])
    assert [verdict.status for verdict in forged.verdicts] == statuses
