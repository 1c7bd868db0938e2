"""The faults that bench/mutation.py injects still are in the code that they're about."""

from pathlib import Path

import pytest

from bench.mutation import Fault, FaultError, mutated, read_faults

_ROOT = Path(__file__).parents[1]
_FAULTS = read_faults()


@pytest.mark.parametrize("fault", _FAULTS, ids=lambda fault: fault.id)
def test_a_fault_applies_and_its_nearest_tests_exist(fault: Fault) -> None:
    assert fault.new in mutated(fault, _ROOT)
    assert fault.tests
    assert all((_ROOT / name).exists() for name in fault.tests)


def _fault(old: str, new: str) -> Fault:
    return Fault("wrong", "code.py", "boundary", old, new, "It's wrong.", ())


@pytest.mark.parametrize(
    ("old", "new"),
    [("b", "c"), ("a", "c"), ("a = 1", "a = ("), ("a = 1", "a = 1")],
    ids=["not there", "there twice", "no Python", "no change"],
)
def test_a_fault_that_does_not_apply_is_named(tmp_path: Path, old: str, new: str) -> None:
    (tmp_path / "code.py").write_text("a = 1\nprint(a)\n")
    with pytest.raises(FaultError, match=r"^wrong: "):
        mutated(_fault(old, new), tmp_path)
