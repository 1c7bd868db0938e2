"""What is said of a scan before it runs."""

import pytest

from fluid_build.errors import ScanTooLargeError
from fluid_build.sources.scan_estimate import MOST_BYTES, ScanEstimate, check_scan


@pytest.mark.parametrize(
    ("estimate", "sentence"),
    [
        (
            ScanEstimate(tables=2, bytes=24_700_000, rows=1500, basis="a dry run"),
            "Reading 2 tables scans about 24.7 MB (a dry run), 1,500 rows.",
        ),
        (
            ScanEstimate(tables=1, bytes=900, is_at_most=True, compute="the warehouse WH"),
            "Reading 1 table scans at most 900 bytes, on the warehouse WH.",
        ),
        (
            ScanEstimate(tables=3, bytes=None, rows=7),
            "Reading 3 tables, 7 rows; how much that scans isn't known.",
        ),
        (
            ScanEstimate(tables=1, bytes=2**40, price=6.25, price_source="list price"),
            "Reading 1 table scans about 1.1 TB. On demand that costs about $6.25 (list price).",
        ),
    ],
)
def test_a_scan_is_described_in_a_line(estimate: ScanEstimate, sentence: str) -> None:
    """With as much as is known of it."""
    assert estimate.sentence == sentence


@pytest.mark.parametrize(("sample", "full"), [(1000, False), (None, True)])
def test_a_large_scan_that_was_asked_for_is_made(sample: int | None, full: bool) -> None:
    """Either option says so in so many words."""
    large = ScanEstimate(tables=1, bytes=MOST_BYTES + 1)
    check_scan(large, sample=sample, full=full)
    with pytest.raises(ScanTooLargeError, match=r"10\.0 GB"):
        check_scan(large, sample=None, full=False)


def test_a_small_scan_needs_no_option() -> None:
    """Nor does one of unknown size."""
    for size in (MOST_BYTES, None):
        check_scan(ScanEstimate(tables=1, bytes=size), sample=None, full=False)
