"""Tables of delimited text compared with their files: only a wrong reading fails."""

from collections.abc import Collection, Sequence
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.errors import SourceChangedError
from fluid_build.modeling.techniques import build_model
from fluid_build.profiling import profile_source
from fluid_build.sources import open_source
from fluid_build.sources.base import Source
from fluid_build.sources.text_values import conventions
from fluid_build.sources.text_values.conventions import (
    NO_ANSWERS,
    Conventions,
    DecimalMark,
    Decision,
    Reading,
)
from fluid_build.sources.text_values.text_classes import TEXT, bits
from fluid_build.transform.plan.techniques import transform_plan
from fluid_build.transform.proof.building import build_and_prove
from fluid_build.transform.proof.delimited_text import TextProof, prove_text
from fluid_build.transform.proof.proof import Proof

AMOUNTS = "no;amount;rate\n1;654.159;46,88\n2;12.500;3,5\n"
DATES = "no;day\n1;01/02/2024\n2;03/04/2024\n"


def of(path: Path, answers: Conventions = NO_ANSWERS) -> TextProof:
    with open_source(path, conventions=answers) as source:
        found = prove_text(source, source.tables[0])
    assert found is not None
    return found


def proof_of(source: Source, technique: str = "flat") -> Proof:
    model = build_model(profile_source(source), technique, None)
    return build_and_prove(source, transform_plan(model), model)


def written(folder: Path, text: str) -> Path:
    path = folder / "f.csv"
    path.write_text(text, encoding="utf-8")
    return path


def misread(monkeypatch: pytest.MonkeyPatch, *wrong: Decision | None) -> None:
    """Have the columns of a file decided on in a wrong way where one is given."""
    right = conventions.decide

    def decide(
        columns: Sequence[int], answers: Conventions, outvoted: Collection[int] = ()
    ) -> list[Decision]:
        found = right(columns, answers, outvoted)
        return [one or other for one, other in zip(wrong, found, strict=True)]

    monkeypatch.setattr("fluid_build.sources.files.delimited.text_types.decide", decide)


def number(mark: DecimalMark) -> Decision:
    """The decision to read numbers such as 654.159 by a decimal mark."""
    (found,) = conventions.decide([bits("one point")], Conventions(decimal=mark))
    return found


def test_values_that_match_their_text_are_proven(tmp_path: Path) -> None:
    """A file that settles its conventions is read as it says."""
    text = "no;amount;rate;day;on\n1;1.654.159;46,88;25/12/2024;true\n2;12.500;3,5;01/02/2024;\n"
    found = of(written(tmp_path, text))
    assert found == TextProof(rows=2, lines=2)
    assert found.holds


@pytest.mark.parametrize("technique", ["flat", "data_vault_2", "dimensional"])
def test_a_decimal_mark_that_the_file_contradicts_is_red(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, technique: str
) -> None:
    """654.159 isn't proven to be 654 and a bit if another column has a decimal comma."""
    misread(monkeypatch, None, number("."), None)
    with open_source(written(tmp_path, AMOUNTS)) as source:
        proof = proof_of(source, technique)
    assert proof.verdict == "lost"
    assert proof.tables[0].text is not None
    assert proof.tables[0].text.unsettled == ("amount",)


def test_a_decimal_mark_that_nothing_settles_is_red(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A guess isn't a reading, whichever it is."""
    for mark in get_args(DecimalMark):
        with monkeypatch.context() as patched:
            misread(patched, None, number(mark))
            found = of(written(tmp_path, "no;amount\n1;654.159\n2;12.500\n"))
        assert found.unsettled == ("amount",)
        assert not found.holds


@pytest.mark.parametrize(
    "text",
    [
        "amount;rate;grade\n654.159;46,88;1.5\n12.500;n.v.;2.5\n77.120;3,5;2.5\n",
        "amount;rate;grade\n654.159;46,88 EUR;1.5\n12.500;n.v.;2.5\n77.120;3,5;2.5\n",
        "amount;rate\n654.159;46,88\n1.5;7,10\n77.120;3,50\n",
    ],
)
def test_a_thousand_read_as_a_fraction_next_to_a_decimal_comma_is_red(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    """Evidence against a reading counts wherever it is: in text, or in other values."""
    path = written(tmp_path, text)
    with monkeypatch.context() as patched:
        misread(patched, number("."), *[None] * text.partition("\n")[0].count(";"))
        assert of(path).unsettled == ("amount",)
    assert of(path).holds


def test_an_answer_settles_what_the_file_leaves_open(tmp_path: Path) -> None:
    """What the user said is what the values are held against."""
    assert of(written(tmp_path, AMOUNTS)).holds
    assert of(written(tmp_path, "no;amount\n1;654.159\n"), Conventions(decimal=",")).holds
    assert of(written(tmp_path, DATES), Conventions(date_order="mdy")).holds


def test_times_of_any_precision_are_proven(tmp_path: Path) -> None:
    """10:00:00.5 is as long as a date."""
    times = ["10:00", "10:00:01", "10:00:00.5", "10:00:00.25", "10:00:00.123456"]
    assert of(written(tmp_path, "no;at\n" + "".join(f"1;{time}\n" for time in times))).holds


def test_dates_of_two_orders_beside_each_other_are_proven(tmp_path: Path) -> None:
    """Each column's own days above 12 leave it one order."""
    rows = "".join(
        f"{i % 12 + 1}/{i % 28 + 1}/2024;{i % 28 + 1}/{i % 12 + 1}/2024\n" for i in range(60)
    )
    assert of(written(tmp_path, f"american;british\n{rows}")).holds


def test_day_and_month_in_an_order_that_nothing_settles_are_red(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first of February may be the second of January."""
    (guess,) = conventions.decide([bits("either first /")], Conventions(date_order="dmy"))
    misread(monkeypatch, None, guess)
    assert of(written(tmp_path, DATES)).unsettled == ("day",)


@pytest.mark.parametrize(
    ("text", "change", "column"),
    [
        ("no;fee\n1;(12,50 EUR)\n2;7,00 EUR\n", "fee = abs(fee)", "fee"),
        (
            "no;day\n1;3. M\u00e4rz 2024\n2;December 31, 2024\n",
            "day = DATE '2024-12-30' WHERE no = 2",
            "day",
        ),
        ("no;day\n1;03.04.2024\n2;2024-04-05\n", "day = DATE '2024-05-04' WHERE no = 2", "day"),
        ("no;fee\n1;12,50-\n2;7,00\n", "fee = fee * 10 WHERE no = 2", "fee"),
        (AMOUNTS, "amount = amount // 1000", "amount"),
        (AMOUNTS, "rate = rate * 100", "rate"),
        ("no;day\n1;25/12/2024\n2;03/04/2024\n", "day = DATE '2024-03-04' WHERE no = 2", "day"),
        ("no;name\n1;Ann\n2;Bob\n", "name = upper(name)", "name"),
        ("no;begin\n1;2024-01-31 10:00:00\n", "begin = begin + INTERVAL 1 HOUR", "begin"),
        (
            "no;begin\n1;2024-01-31 10:00:00+02:00\n",
            "begin = begin + INTERVAL 2 HOUR",
            "begin",
        ),
        ("no;paid\n1;true\n2;false\n3;true\n", "paid = NOT paid", "paid"),
    ],
)
def test_a_value_that_is_not_what_its_text_spells_is_red(
    tmp_path: Path, text: str, change: str, column: str
) -> None:
    """Whatever bent it on the way, the column is named."""
    with open_source(written(tmp_path, text)) as source:
        source.connection.execute(f"UPDATE {source.tables[0].relation} SET {change}")
        found = prove_text(source, source.tables[0])
    assert found is not None
    assert found.differing == (column,)


WRONG = {
    "letters and digits": ("DOUBLE", "61E8", "12E3"),
    "versions": ("DOUBLE", "1.1", "1.10"),
    "a version beside its first": ("DOUBLE", "5", "5.0"),
    "a word without its opposite": ("BOOLEAN", "true", "true"),
    "the end of a day": ("TIMESTAMP", "2024-12-31 24:00:00", "2024-12-31 10:00:00"),
    "a year before the first": ("TIMESTAMP", "0000-12-31 10:00:00", "2024-12-31 10:00:00"),
    "more than microseconds": ("TIME", "10:00:00.12345678", "10:00:00"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_reading_of_text_is_red(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    """It's compared with the characters of the text, and never by the cast that read it."""
    type_, *texts = WRONG[case]
    cast = Reading(type_, TEXT, f"TRY_CAST({{c}} AS {type_})")
    path = written(tmp_path, "no;value\n" + "".join(f"{i};{t}\n" for i, t in enumerate(texts)))
    assert of(path).holds
    misread(monkeypatch, None, Decision(cast))
    assert of(path).differing == ("value",)


@given(
    moments=st.lists(st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30)), min_size=1),
    offset=st.integers(-15 * 60 - 59, 15 * 60 + 59),
)
def test_moments_with_an_offset_are_what_python_says(
    tmp_path: Path, moments: list[datetime], offset: int
) -> None:
    """In UTC, with a note that their offset isn't kept."""
    moments = [moment.replace(tzinfo=timezone(timedelta(minutes=offset))) for moment in moments]
    lines = [f"{i};{moment.isoformat(' ')}" for i, moment in enumerate(moments)]
    with open_source(written(tmp_path, "\n".join(["no;moment", *lines, ""]))) as source:
        (table,) = source.tables
        read = source.connection.execute(
            f"SELECT CAST(timezone('UTC', moment) AS VARCHAR) FROM {table.relation} ORDER BY no"
        ).fetchall()
        found = prove_text(source, table)
    in_utc = [moment.astimezone(UTC).replace(tzinfo=None) for moment in moments]
    assert [datetime.fromisoformat(text) for (text,) in read] == in_utc
    assert found is not None
    assert found.holds
    assert any(conventions.OFFSET_NOTE in note for note in table.notes) == bool(offset)


@pytest.mark.parametrize("other", ["+01:00", "Z", "+0200"])
def test_moments_with_several_offsets_stay_text(tmp_path: Path, other: str) -> None:
    """A moment in UTC doesn't say where it was."""
    lines = [f"{i};2024-01-0{i} 10:00:00{zone}" for i, zone in enumerate(["+02:00", other], 1)]
    with open_source(written(tmp_path, "\n".join(["no;moment", *lines, ""]))) as source:
        (table,) = source.tables
    assert [column.type for column in table.columns] == ["BIGINT", "VARCHAR"]
    assert any(conventions.OFFSETS_NOTE in note for note in table.notes)


def test_values_that_changed_rows_are_red(tmp_path: Path) -> None:
    """Each column alone may hold the right values, in rows that nobody wrote."""
    with open_source(written(tmp_path, "no;name\n1;Ann\n2;Bob\n")) as source:
        relation = source.tables[0].relation
        source.connection.execute(f"UPDATE {relation} SET no = 3 - no")
        found = prove_text(source, source.tables[0])
    assert found is not None
    assert not found.holds


def test_a_row_that_was_not_read_is_red(tmp_path: Path) -> None:
    """The lines of the file are counted again."""
    with open_source(written(tmp_path, AMOUNTS)) as source:
        source.connection.execute(f"DELETE FROM {source.tables[0].relation} WHERE no = 1")
        found = prove_text(source, source.tables[0])
        assert proof_of(source).verdict == "lost"
    assert found is not None
    assert (found.rows, found.lines) == (1, 2)


def test_the_proof_says_which_lines_are_no_rows(tmp_path: Path) -> None:
    """Titles and totals are left out in the open."""
    text = "Sales 2024\n\nregion;units\nNorth;3\nSouth;4\nTotal;7\n\nSource: till\n"
    with open_source(written(tmp_path, text)) as source:
        proof = proof_of(source)
    assert proof.verdict == "proven"
    assert proof.tables[0].text is not None
    assert proof.tables[0].text.left_out == (
        "f.csv lines 1 to 2 (above the table)",
        "f.csv line 6 (a total)",
        "f.csv line 8 (a note below the table)",
    )


def test_only_delimited_text_is_checked_against_its_files(tmp_path: Path) -> None:
    """JSON says itself which of its values are numbers."""
    path = tmp_path / "f.json"
    path.write_text('[{"a": 1}]')
    with open_source(path) as source:
        assert prove_text(source, source.tables[0]) is None


def test_a_file_that_changed_meanwhile_is_no_loss_but_an_error(tmp_path: Path) -> None:
    """Another file can prove nothing."""
    path = written(tmp_path, AMOUNTS)
    with open_source(path) as source:
        path.write_text("other;columns\n1;2\n")
        with pytest.raises(SourceChangedError, match="read again"):
            prove_text(source, source.tables[0])


SPELLED = """
0 -0 7 -7 1234 654.159 -654.159 654,159 46,88 12.5 -0,5 .5 ,5 5. 1.234,56 1,234.56 1.234.567 1e5
1,5E-07 1.5e300 0.0000001 007 NULL \\N NA 01/02/2024 25/12/2024 12/25/2024 01-02-2024 31-12-2024
31.12.2024 2024-12-31 2024-12-31T10:00 10:15:00 true FALSE x 1'234.5 123456789012345678
5 5.0 5.5 5. 61E8 1.10 1.1 1,10 1,1 10:15 10:15:00.250 24:00:00 2024-12-31T24:00:00
2024-12-31T10:00:00.500 2024-12-31T10:00:00Z 2024-12-31T10:00-00:30 2024-12-31T10:00:30.25+0545
2024-12-31T10:00:00-11 0000-01-01T10:00:00
"""
CELLS = st.sampled_from([*SPELLED.split(), "", "1 234", "1 234,5", " 5", '"q"', '""'])


@given(rows=st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=1, max_size=6))
def test_any_written_value_is_proven(tmp_path: Path, rows: list[tuple[str, str, str]]) -> None:
    """A reading that the rule makes is never called wrong."""
    lines = [f"{i};{';'.join(row)}" for i, row in enumerate(rows)]
    assert of(written(tmp_path, "\n".join(["no;a;b;c", *lines, ""]))).holds


@given(cell=CELLS, other=CELLS)
def test_a_single_kind_of_value_is_proven(tmp_path: Path, cell: str, other: str) -> None:
    """Columns of one spelling each have a type most often."""
    lines = [f"{i};{cell};{other}" for i in range(3)]
    assert of(written(tmp_path, "\n".join(["no;a;b", *lines, ""]))).holds


@pytest.mark.parametrize(
    "amounts",
    [
        ["0", "2'194.38", " 0"],
        ["1 234,50", " 12,00", "12,00 "],
        ["€ 1 234", "€5", "€ 5"],
        ["12 345 ", "7", " 7", "-7"],
    ],
)
def test_blanks_around_numbers_are_no_second_spelling(tmp_path: Path, amounts: list[str]) -> None:
    """Reports pad their numbers; only thousands that some numbers part tell of codes."""
    path = written(tmp_path, "no;amount\n" + "".join(f"x;{amount}\n" for amount in amounts))
    with open_source(path) as source:
        assert source.tables[0].columns[1].type in ("DOUBLE", "BIGINT")
    assert of(path).holds
