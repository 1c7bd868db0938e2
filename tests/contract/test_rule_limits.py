"""How much of the data must satisfy a rule, in words."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.contract.fluid import DqRule
from fluid_build.contract.rule_limits import (
    UnclearLimitError,
    is_kept,
    limit_of,
    limit_with_room,
    percent,
)


def rule(**fields: object) -> DqRule:
    return DqRule.model_validate({"id": "r", "type": "valid_values", "severity": "error", **fields})


@pytest.mark.parametrize(
    ("share", "shown"),
    [(1.0, "100%"), (0.5, "50%"), (0.29, "29%"), (120 / 121, "99.17%"), (0.999987, "99.9987%")],
)
def test_a_share_reads_as_a_percentage_with_few_decimals(share: float, shown: str) -> None:
    """Two decimals, and more where only nines would be left."""
    assert percent(share) == shown


@given(st.integers(1, 10**9), st.data())
def test_a_broken_share_never_reads_as_the_whole(rows: int, data: st.DataObject) -> None:
    """A single violation among many rows still shows."""
    violations = data.draw(st.integers(1, rows))
    assert percent((rows - violations) / rows) != "100%"


@pytest.mark.parametrize(
    ("threshold", "share"),
    [(0, 0.0), (0.5, 0.5), (1, 1.0), (1.0, 1.0), (1.01, 0.0101), (2, 0.02), (97, 0.97), (100, 1.0)],
)
def test_a_threshold_is_a_share_up_to_1_and_a_percentage_above(
    threshold: float, share: float
) -> None:
    assert limit_of(rule(threshold=threshold)).share == pytest.approx(share)


@pytest.mark.parametrize("threshold", [-0.01, 100.01])
def test_a_threshold_that_is_no_share_is_refused(threshold: float) -> None:
    with pytest.raises(UnclearLimitError):
        limit_of(rule(threshold=threshold))


@pytest.mark.parametrize(
    ("operator", "allowed"),
    [
        (None, [2, 3]), (">=", [2, 3]), (">", [2]), ("<=", [3, 4]), ("<", [4]), ("==", [3]),
        ("!=", [2, 4]),
    ],
)  # fmt: skip
def test_a_share_at_its_threshold_keeps_the_rule_as_the_operator_says(
    operator: str | None, allowed: list[int]
) -> None:
    """Of 100 rows, 3 violations are just at 97 percent."""
    limit = limit_of(rule(threshold=0.97, operator=operator))
    assert [violations for violations in (2, 3, 4) if limit.allows(100, violations)] == allowed


@pytest.mark.parametrize(("most", "violations", "allowed"), [(3, 3, True), (3, 4, False)])
def test_a_limit_in_rows_is_kept_up_to_its_number(
    most: int, violations: int, allowed: bool
) -> None:
    limit = limit_of(rule(labels={"max-violations": str(most)}))
    assert limit.allows(1000, violations) is allowed


@given(st.integers(1, 10**9), st.data())
def test_a_limit_has_room_for_a_night_like_the_others(rows: int, data: st.DataObject) -> None:
    """It's kept by what was measured and by a little more, and is a round share."""
    broken = data.draw(st.integers(1, rows))
    limit = limit_with_room(broken, rows)
    assert limit is not None
    allowed = limit_of(rule(threshold=limit, operator=">="))
    assert allowed.allows(rows, broken)
    assert allowed.allows(rows, min(rows, broken + math.isqrt(broken)))
    assert f"{1 - limit:.9f}".strip("0.") in {"", "1", "2", "5"}


@pytest.mark.parametrize(
    ("broken", "limit"), [(0, None), (1, 0.995), (4, 0.99), (6, 0.98), (94, 0.8), (900, 0.0)]
)
def test_a_limit_is_rounded_down(broken: int, limit: float | None) -> None:
    """To 1, 2 or 5 of a power of ten that may break it, of 1,000 rows."""
    assert limit_with_room(broken, 1000) == limit


@pytest.mark.parametrize(
    ("limit", "fresh", "kept"),
    [(0.98, 0.99, True), (0.99, 0.98, False), (0.9, 0.99, False), (0.91, 0.99, True)],
)
def test_a_limit_stays_unless_it_is_too_tight_or_far_too_lax(
    limit: float, fresh: float, kept: bool
) -> None:
    """Ten times what fits today is far too lax."""
    assert is_kept(limit, fresh) is kept
