"""The summary of a large source fits on two terminals, and says what there is besides."""

import pytest

from fluid_build.profiling.profile import Profile, SkippedTable, TableProfile
from fluid_build.report.terminal.printing import show
from fluid_build.report.terminal.summary_screen import connected_tables, summary_screen
from fluid_build.report.view import source_view
from tests.modeling.profiles import column, profile, reference, table

AREA = "partner_care"


def _messy_table(number: int) -> TableProfile:
    """A table with a key and one of the findings that tables have, in turn."""
    key = f"{AREA}_{number}_id"
    dirty = (
        column("since", "VARCHAR", measured_type="DATE (%d.%m.%Y)"),
        column("remark", "VARCHAR", nulls=100, distinct=0),
        column("code", nullable=False, nulls=3),
        column("email", "VARCHAR", pii=True),
        column("rating", notes=("Its 3 largest values are far from all others.",)),
    )[number % 5]
    return table(
        f"{AREA}_{number}",
        column(key),
        dirty,
        primary_key=None if number % 7 == 0 else (key,),
        candidate_keys=[(key,)],
        notes=("2 lines have more fields than the header.",) if number % 11 == 0 else (),
    )


@pytest.fixture
def large() -> Profile:
    """300 tables with findings of every kind; each but the first refers to one before it."""
    tables = [_messy_table(number) for number in range(299)]
    empty = table("spare", column("id", rows=0, distinct=0))
    keys = [
        reference(
            f"{AREA}_{number}",
            "code",
            f"{AREA}_{number // 40}",
            f"{AREA}_{number // 40}_id",
            orphans=number % 2,
        )
        for number in range(2, 299, 5)
    ]
    skipped = [SkippedTable(name=f"broken_{i}", reason="Its file is cut short.") for i in range(9)]
    return profile(*tables, empty, foreign_keys=keys, skipped=skipped)


def _screen(profiled: Profile, capsys: pytest.CaptureFixture[str]) -> str:
    show(summary_screen(source_view(profiled)))
    return capsys.readouterr().out


def test_a_summary_fits_on_two_terminals_whatever_is_wrong(
    large: Profile, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Findings of nine kinds and 300 tables, wrapped at 80 columns, leave room for the commands."""
    monkeypatch.setenv("COLUMNS", "80")
    lines = _screen(large, capsys).splitlines()
    assert len(lines) <= 80 - len(["", "See the rest", *range(6)])


def test_every_kind_of_finding_is_shown_with_the_number_of_the_others(
    large: Profile, capsys: pytest.CaptureFixture[str]
) -> None:
    """The most important of each kind is there, and none of the others is lost from sight."""
    screen = _screen(large, capsys)
    for kind, left in (
        ("not read", 8),
        ("orphans", 29),
        ("note on a table", 27),
        ("note on a column", 58),
        ("broken not-null", 59),
        ("no key", 42),
        ("stored as another type", 59),
        ("empty column", 59),
    ):
        assert f"and {left} more under: {kind}\n" in screen
    assert "spare: The table has no rows." in screen


def test_the_figures_count_what_the_full_screen_lists(
    large: Profile, capsys: pytest.CaptureFixture[str]
) -> None:
    """Keys, relationships, personal data and the tables that are special in some way."""
    figures = _screen(large, capsys).partition("\nFound\n")[2].partition("\n\n")[0]
    assert [" ".join(line.split()) for line in figures.splitlines()] == [
        "keys 256 of 300 tables",
        "relationships 60 (60 inferred, 30 with orphans)",
        "personal data 60 columns in 60 tables",
        "not read 9 tables",
        "no key 43 tables",
        "empty tables 1 table",
        "empty columns 60 columns in 60 tables",
    ]


def test_the_most_connected_tables_come_first(
    large: Profile, capsys: pytest.CaptureFixture[str]
) -> None:
    """A table counts by the relationships that begin or end at it."""
    first = connected_tables(source_view(large))[0]
    assert first.name == f"{AREA}_2"
    screen = _screen(large, capsys)
    assert "Most connected tables  20 of 300\n" in screen
    (row,) = (line.split() for line in screen.splitlines() if line.startswith(f"  {AREA}_2 "))
    assert row == [f"{AREA}_2", "100", "2", f"{AREA}_2_id", "8", "1"]


def test_without_relationships_the_largest_tables_are_shown(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """What nothing connects is ranked by its rows."""
    tables = [table(f"t{i}", column("id", rows=i, distinct=i)) for i in range(30)]
    screen = _screen(profile(*tables), capsys)
    assert "Largest tables  20 of 30\n" in screen
    assert screen.index("  t29 ") < screen.index("  t28 ")
    assert "  t9 " not in screen
