"""A promise of a source column is found in every technique, or listed with the reason why not."""

from pathlib import Path

import pytest

from fluid_build.modeling.techniques import build_model
from fluid_build.profiling import profile_source
from fluid_build.profiling.profile import Profile
from fluid_build.sources import open_source
from fluid_build.transform.plan.elements import TransformPlan
from fluid_build.transform.plan.techniques import transform_plan
from tests.forges import demo_shop
from tests.shared import CORPUS, on_databases

TAKEN_APART = ("data_vault_2", "dimensional")


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's database."""
    path = tmp_path_factory.mktemp("shop") / "shop.db"
    demo_shop(path)
    return path


@pytest.fixture(scope="module")
def profile(shop: Path) -> Profile:
    """What was measured of it."""
    with open_source(shop) as source:
        return profile_source(source)


def made(plan: TransformPlan) -> list[str]:
    """The promises of the source that published relations make, each as often as it is made."""
    return [test.promise for build in plan.published for test in build.tests if test.promise]


def check_all_are_accounted_for(profile: Profile) -> None:
    """No promise of the flat model is missing, made twice, or both made and listed."""
    expected = sorted(made(transform_plan(build_model(profile, "flat"))))
    for technique in TAKEN_APART:
        plan = transform_plan(build_model(profile, technique))
        listed = [one.promise for one in plan.unstated]
        assert sorted([*made(plan), *listed]) == expected, technique
        assert all(one.reason for one in plan.unstated)


def test_no_promise_of_the_demo_is_lost(profile: Profile) -> None:
    """What is not null, unique, of a closed domain or referred to is so in each technique."""
    check_all_are_accounted_for(profile)


@on_databases("chinook", thorough="northwind sakila")
def test_no_promise_of_a_corpus_database_is_lost(name: str) -> None:
    """The same of databases that others made."""
    folder = CORPUS / name / "data"
    with open_source(folder) as source:
        check_all_are_accounted_for(profile_source(source))


@pytest.mark.parametrize("technique", TAKEN_APART)
def test_accepted_values_follow_their_column(profile: Profile, technique: str) -> None:
    """Every closed domain of the source is one where the column went."""
    flat = transform_plan(build_model(profile, "flat"))
    plan = transform_plan(build_model(profile, technique))
    wanted = {name for name in made(flat) if name.startswith("accepted_values")}
    assert wanted
    assert wanted <= set(made(plan))


@pytest.mark.parametrize("technique", TAKEN_APART)
def test_every_promise_has_a_name_of_its_own(profile: Profile, technique: str) -> None:
    """A contract identifies its rules by their names."""
    for build in transform_plan(build_model(profile, technique)).published:
        names = [test.name for test in build.tests]
        assert len(names) == len(set(names)), build.name
