"""The tables of a page."""

import pytest

from fluid_build.modeling.conceptual import EntityKey
from fluid_build.profiling.profile import Evidence, Origin
from fluid_build.report.page.page import origin_label


@pytest.mark.parametrize(
    ("origin", "reason", "label"),
    [
        ("declared", "Declared by the source.", "declared"),
        ("measured", "unique and never null", "inferred"),
        ("declared", "Decided by a person: it's on every parcel.", "decided"),
    ],
)
def test_a_key_says_who_says_so(origin: Origin, reason: str, label: str) -> None:
    """What a person decided isn't called declared by the source."""
    evidence = Evidence(origin=origin, rows=9)
    key = EntityKey(
        kind="primary", attributes=("id",), origin=origin, holds=True, evidence=evidence
    ).model_copy(update={"reason": reason})
    assert origin_label(key) == label
