"""What is kept of a source each night."""

import json
from datetime import datetime

from hypothesis import given
from hypothesis import strategies as st

from fluid_build.monitoring.figures import figures_of
from fluid_build.profiling.profile import ColumnProfile, Profile, TableProfile, TableSample

MOMENT = datetime(2026, 6, 1, 2)


def profile(*columns: ColumnProfile, sample: TableSample | None = None) -> Profile:
    table = TableProfile(name="t", rows=10, columns=columns, sample=sample)
    return Profile(source_kind="sqlite", source_name="s", tables=(table,))


def column(name: str, type_: str, high: str | None, **more: object) -> ColumnProfile:
    known = {"name": name, "type": type_, "rows": 10, "nulls": 1, "distinct": 9, "max": high}
    return ColumnProfile.model_validate({**known, **more})


@given(st.text(min_size=9).filter(lambda text: not text.strip().replace(".", "").isalnum()))
def test_no_text_of_a_row_is_kept(text: str) -> None:
    kept = figures_of(profile(column("c", "VARCHAR", text)), MOMENT)
    assert kept.tables["t"].columns["c"].high is None
    assert json.loads(kept.model_dump_json())["tables"]["t"]["newest"] is None


def test_the_newest_date_is_none_that_is_planned_or_personal() -> None:
    kept = figures_of(
        profile(
            column("ordered", "TIMESTAMP", "2026-05-31 18:00:00"),
            column("stored_as_text", "VARCHAR", "2026-06-01", measured_type="DATE"),
            column("due", "DATE", "2027-01-01"),
            column("born", "DATE", "2026-06-01", pii=True),
        ),
        MOMENT,
    )
    assert kept.tables["t"].newest == datetime(2026, 6, 1)


def test_a_part_of_a_table_has_no_figures() -> None:
    """They would be those of the part."""
    kept = figures_of(profile(sample=TableSample(rows=10, total=900)), MOMENT)
    assert kept.tables == {}
