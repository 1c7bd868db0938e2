"""How much of the data must satisfy a rule, in words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.contract.rule_limits import percent


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
