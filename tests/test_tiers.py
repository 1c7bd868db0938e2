"""Which tests a run takes."""

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tiers import (
    DEAR_SECONDS,
    QUICK_SECONDS,
    SLOW_SECONDS,
    TEST_SECONDS,
    TESTS,
    Case,
    Tier,
    Tiers,
    read_tiers,
)

TEST = "room/test_module.py::test_it"


def tiers(seconds: float = 0.0, *promises: str, dev_only: tuple[str, ...] = ()) -> Tiers:
    return Tiers({TEST: seconds}, frozenset(promises), dev_only)


def cases(*names: str, **facts: bool) -> list[Case]:
    return [Case(f"{TEST}[{name}]", **facts) for name in names]


@pytest.mark.parametrize(
    ("seconds", "tier"),
    [
        (0.0, Tier.FAST),
        (QUICK_SECONDS, Tier.FAST),
        (QUICK_SECONDS + 0.001, Tier.TEST),
        (SLOW_SECONDS, Tier.TEST),
        (SLOW_SECONDS + 0.001, Tier.TEST),
        (DEAR_SECONDS, Tier.TEST),
        (DEAR_SECONDS + 0.001, Tier.SLOW),
    ],
)
def test_what_a_test_takes_decides_its_tier(seconds: float, tier: Tier) -> None:
    assert tiers(seconds).of([Case(TEST)]) == {TEST: tier}


@pytest.mark.parametrize(
    ("seconds", "run"), [(QUICK_SECONDS, 2), (SLOW_SECONDS, 2), (SLOW_SECONDS + 0.001, 1)]
)
def test_all_cases_are_run_of_what_is_not_slow(seconds: float, run: int) -> None:
    found = tiers(seconds).of(cases("a", "b"))
    assert sum(tier <= Tier.TEST for tier in found.values()) == run


@pytest.mark.parametrize("promise", [TEST, f"{TEST}[b]"])
def test_a_promise_is_kept_however_dear_it_is(promise: str) -> None:
    found = tiers(60.0, promise).of(cases("a", "b"))
    assert [case for case, tier in found.items() if tier is Tier.TEST] == (
        [f"{TEST}[a]", f"{TEST}[b]"] if promise == TEST else [promise]
    )


@given(names=st.lists(st.sampled_from("abcdefgh"), min_size=1, unique=True))
def test_of_a_slow_test_one_case_is_run_and_always_the_same(names: list[str]) -> None:
    found = tiers((SLOW_SECONDS + DEAR_SECONDS) / 2).of(cases(*names))
    assert Counter(found.values()) == Counter({Tier.TEST: 1} | {Tier.SLOW: len(names) - 1})
    assert found == tiers(DEAR_SECONDS).of(cases(*names))


def test_different_tests_are_run_with_different_cases() -> None:
    """So that a technique or a kind of source that is named last is tested as well."""
    names = [f"test_{number}" for number in range(50)]
    found = Tiers(dict.fromkeys(names, DEAR_SECONDS), frozenset(), ()).of(
        Case(f"{name}[{kind}]") for name in names for kind in ("flat", "vault", "star")
    )
    run = Counter(case.partition("[")[2] for case, tier in found.items() if tier is Tier.TEST)
    assert run.keys() == {"flat]", "vault]", "star]"}
    assert min(run.values()) > 5


def test_a_quick_test_is_slow_with_a_server() -> None:
    found = tiers().of([*cases("sqlite"), *cases("postgres", uses_server=True)])
    assert list(found.values()) == [Tier.FAST, Tier.TEST]


def test_what_needs_more_packages_is_no_promise() -> None:
    found = tiers(0.0, TEST).of(cases("s3", uses_server=True, needs_dev=True))
    assert list(found.values()) == [Tier.SLOW]
    assert list(tiers(dev_only=("room/",)).of(cases("a")).values()) == [Tier.SLOW]


def test_a_sweep_is_for_test_all_alone() -> None:
    assert list(tiers(0.0, TEST).of(cases("a", is_thorough=True)).values()) == [Tier.ALL]


@pytest.mark.parametrize(
    ("only", "place", "expected"),
    [
        ("room/", "room/", True),
        ("room/", "room/test_module.py", True),
        ("room/", "rooms/test_module.py", False),
        ("room/test_module.py", "room/test_module.py", True),
        ("room/test_module.py", TEST, True),
        ("room/test_mod", "room/test_module.py", False),
        ("room/test_module.py", "room/", False),
    ],
)
def test_a_module_or_folder_may_need_more_packages(only: str, place: str, expected: bool) -> None:
    assert tiers(dev_only=(only,)).is_dev_only(place) is expected


def test_lines_of_tests_that_are_gone_are_named() -> None:
    known = tiers(1.0, f"{TEST}[a]", "gone.py::test_gone", f"{TEST}[gone]")
    assert known.unmatched(cases("a")) == ["gone.py::test_gone", f"{TEST}[gone]"]


def test_tests_are_listed_once_and_in_order() -> None:
    lines = TEST_SECONDS.read_text().splitlines()
    names = [line.split()[1] for line in lines]
    assert names == sorted(set(names))
    assert all(re.fullmatch(r"\d+\.\d{3} \S+\.py::test_\w+", line) for line in lines)


def test_promises_are_slow() -> None:
    """A promise of a quick test says nothing: all of its cases are run anyway."""
    known = read_tiers()
    assert not [
        promise
        for promise in known.promises
        if "[" not in promise and known.seconds.get(promise, 0.0) <= SLOW_SECONDS
    ]


LOCKED = TESTS.parent / "requirements" / "test.txt"


def imported_at_the_top(module: Path) -> Iterator[str]:
    """Yield the packages that importing a module needs."""
    for statement in ast.parse(module.read_text(encoding="utf-8")).body:
        names = (
            [alias.name for alias in statement.names] if isinstance(statement, ast.Import) else []
        )
        if isinstance(statement, ast.ImportFrom):
            names = [f"{statement.module}.{alias.name}" for alias in statement.names]
        yield from names


def test_modules_import_only_what_make_test_installs() -> None:
    """A machine of a developer has all packages, so a missing one is noticed only elsewhere."""
    locked = set(re.findall(r"^([a-z0-9-]+)==", LOCKED.read_text(encoding="utf-8"), re.M))
    ours = {"fluid_build", "tests", "bench", "scripts", "website"} | sys.stdlib_module_names
    distributions = packages_distributions()
    missing = {
        f"{place}: {name}"
        for module in TESTS.rglob("test_*.py")
        if not read_tiers().is_dev_only(place := module.relative_to(TESTS).as_posix())
        for name in imported_at_the_top(module)
        if (package := name.partition(".")[0]) not in ours
        and not locked & {_normalised(it) for it in distributions.get(package, ())}
    }
    assert not missing


def _normalised(distribution: str) -> str:
    return re.sub(r"[-_.]+", "-", distribution).lower()


def test_the_tests_of_a_module_share_a_worker(request: pytest.FixtureRequest) -> None:
    """Its fixtures would be made in each worker otherwise, and nobody would notice."""
    if not hasattr(request.config, "workerinput"):
        pytest.skip("there are no workers in this run")
    assert request.node.nodeid.endswith("@tests/test_tiers.py")
