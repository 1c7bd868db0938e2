"""Numbers and dates that fit two conventions: read where the file settles it, else text."""

from collections.abc import Sequence
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.sources import open_source
from fluid_build.sources.origin import InFiles
from fluid_build.sources.text_values.conventions import NO_ANSWERS, Conventions

COMMA = Conventions(decimal=",")
POINT = Conventions(decimal=".")


def columns(
    folder: Path, *texts: Sequence[str], answers: Conventions = NO_ANSWERS
) -> list[tuple[str, list[str | None], str]]:
    """The type, the values as text and the notes of each column of a file with these columns."""
    path = folder / "f.csv"
    names = ["line", *(f"c{i}" for i in range(len(texts)))]
    lines = [str(i) for i in range(len(texts[0]))]
    rows = [names, *zip(lines, *texts, strict=True)]
    path.write_text("".join(";".join(row) + "\n" for row in rows), encoding="utf-8")
    with open_source(path, conventions=answers) as source:
        (table,) = source.tables
        values = source.connection.execute(
            f"SELECT COLUMNS(*)::VARCHAR FROM {table.relation}"
        ).fetchall()
        return [
            (column.type, [row[i] for row in values], " ".join(column.notes))
            for i, column in enumerate(table.columns)
        ][1:]


@pytest.mark.parametrize(
    ("texts", "type_", "values"),
    [
        (["46,88", "3,5"], "DOUBLE", ["46.88", "3.5"]),
        (["0,125", "12,250"], "DOUBLE", ["0.125", "12.25"]),
        (["1.234,56", "7"], "DOUBLE", ["1234.56", "7.0"]),
        (["1,234.56", "654.159"], "DOUBLE", ["1234.56", "654.159"]),
        (["-1.234.567", "654.159"], "BIGINT", ["-1234567", "654159"]),
        (["1,234,567", "7"], "BIGINT", ["1234567", "7"]),
        (["1.5", "12.25", "654.159"], "DOUBLE", ["1.5", "12.25", "654.159"]),
        (["0.125", "654.159"], "DOUBLE", ["0.125", "654.159"]),
        (["-0.125", "-654.159"], "DOUBLE", ["-0.125", "-654.159"]),
        (["1234.567", "654.159"], "DOUBLE", ["1234.567", "654.159"]),
        (["1 234,5", "12"], "DOUBLE", ["1234.5", "12.0"]),
        (["1'234.5", "12"], "DOUBLE", ["1234.5", "12.0"]),
        (["1\u00a0234", "\u202f".join(("5", "678")), "9"], "BIGINT", ["1234", "5678", "9"]),
        (["1,5E+03", "2,25"], "DOUBLE", ["1500.0", "2.25"]),
        (["25/12/2024", "01/02/2024"], "DATE", ["2024-12-25", "2024-02-01"]),
        (["12/25/2024", "01/02/2024"], "DATE", ["2024-12-25", "2024-01-02"]),
        (["25-12-2024", "01-02-2024"], "DATE", ["2024-12-25", "2024-02-01"]),
        (["12-25-2024", "01-02-2024"], "DATE", ["2024-12-25", "2024-01-02"]),
        (["31.12.2024", "01.02.2024"], "DATE", ["2024-12-31", "2024-02-01"]),
        (["31.12.2024", "2024-02-01"], "DATE", ["2024-12-31", "2024-02-01"]),
        (["3. M\u00e4rz 2024", "15. Mai 2024"], "DATE", ["2024-03-03", "2024-05-15"]),
        (["3 mars 2024", "1er ao\u00fbt 2024"], "DATE", ["2024-03-03", "2024-08-01"]),
        (["1 de mayo de 2024", "3 dic. 2024"], "DATE", ["2024-05-01", "2024-12-03"]),
        (["March 3, 2024", "Dec 31, 2024"], "DATE", ["2024-03-03", "2024-12-31"]),
    ],
)
def test_a_column_that_settles_its_convention_is_read_by_it(
    tmp_path: Path, texts: list[str], type_: str, values: list[str]
) -> None:
    """One value that fits a single convention is enough."""
    ((found, read, _),) = columns(tmp_path, texts)
    assert (found, read) == (type_, values)


@pytest.mark.parametrize(
    "texts",
    [
        ["654.159", "12.500"],
        ["654,159", "12,500"],
        ["654.159", "12"],
        ["654.159", "-0", "1e+5"],
        ["654.159", "1,234"],
        ["123.456.789", "987.654.321"],
        ["52.520", "48.137"],
        ["-654.159", "-1.000"],
    ],
)
def test_numbers_that_fit_both_conventions_stay_text_with_a_question(
    tmp_path: Path, texts: list[str]
) -> None:
    """Nothing says whether the mark parts thousands, so the user is asked."""
    ((found, read, note),) = columns(tmp_path, texts)
    assert (found, read) == ("VARCHAR", texts)
    assert note.endswith('Pass --decimal "." or --decimal ",".')


@pytest.mark.parametrize(
    "texts",
    [
        ["1,5", "1.5"],
        ["1.2.3", "10.20.30"],
        ["012.345", "1.5"],
        ["732 829 320", "552 100 554"],
        ["12/25/2024", "25/12/2024"],
        ["25/12/2024", "25-12-2024"],
        ["25/12/24", "26/12/24"],
        ["1.234,5678901234567", "1,5"],
        ["0.123.456", "1,5"],
    ],
)
def test_what_no_single_convention_explains_stays_text(tmp_path: Path, texts: list[str]) -> None:
    """Contradictions, versions, codes, years of two digits and too many digits aren't read."""
    ((found, read, _),) = columns(tmp_path, texts)
    assert (found, read) == ("VARCHAR", texts)


def test_another_column_of_the_file_settles_the_decimal_mark(tmp_path: Path) -> None:
    """Where a column shows a decimal comma, 654.159 beside it is over a thousand."""
    amounts, rates = columns(tmp_path, ["654.159", "120.300"], ["46,88", "3,5"])
    assert amounts[:2] == ("BIGINT", ["654159", "120300"])
    assert rates[:2] == ("DOUBLE", ["46.88", "3.5"])
    assert "another column of the table: `c1` has values spelled like 12,34" in amounts[2]
    assert rates[2] == "Decimal comma: values spelled like 12,34 allow no other reading."
    amounts, rates = columns(tmp_path, ["654.159", "120.300"], ["46.88", "3.5"])
    assert amounts[:2] == ("DOUBLE", ["654.159", "120.3"])


def test_columns_that_disagree_settle_nothing(tmp_path: Path) -> None:
    """A file with both conventions leaves a third column open."""
    open_one, *_ = columns(tmp_path, ["654.159", "120.300"], ["46,88", "3,5"], ["46.88", "3.5"])
    assert open_one[0] == "VARCHAR"
    assert "--decimal" in open_one[2]


@pytest.mark.parametrize(
    "others",
    [
        (["46,88", "n.v.", "3,5"], ["1.5", "2.5", "2.5"]),
        (["46,88 EUR", "n.v.", "3,5 EUR"], ["1.5", "2.5", "2.5"]),
        (["46,88 EUR", "7,00 EUR", "3,5 EUR"], ["1.5", "2.5", "2.5"]),
        (["ca. 1", "46,88", "-"], ["1.5", "2.5", "2.5"]),
    ],
)
def test_any_value_of_the_file_may_contradict_what_another_column_settles(
    tmp_path: Path, others: tuple[list[str], ...]
) -> None:
    """A comma in text says as much as one in a number: 654.159 isn't surely 654 and a bit."""
    amounts, *_ = columns(tmp_path, ["654.159", "12.500", "77.120"], *others)
    assert amounts[0] == "VARCHAR"
    assert "both conventions" in amounts[2]


def test_a_few_points_next_to_a_decimal_comma_settle_nothing(tmp_path: Path) -> None:
    """1.5 may be mistyped where 654.159 and 46,88 say that the file has decimal commas."""
    amounts, _ = columns(tmp_path, ["654.159", "1.5", "77.120"], ["46,88", "7,10", "3,50"])
    assert amounts[0] == "VARCHAR"
    assert "--decimal" in amounts[2]


def test_a_large_file_is_read_again_where_a_column_is_contested(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the start of a column settles may be contradicted by the rest of the file."""
    monkeypatch.setattr("fluid_build.sources.files.delimited.files.WORTH_A_GUESS", 0)
    amounts, rates = columns(tmp_path, ["654.159", "1.5", "77.120"], ["46,88", "7,10", "3,50"])
    assert (amounts[0], rates[0]) == ("VARCHAR", "DOUBLE")


def test_dates_of_two_orders_beside_each_other_follow_their_own(tmp_path: Path) -> None:
    """Three days in five are above 12, and leave a column no other order."""
    days = [date(2024, 1, 1) + timedelta(days=37 * i) for i in range(60)]
    american, british, clear_of_both = columns(
        tmp_path,
        [f"{day:%m/%d/%Y}" for day in days],
        [f"{day:%d/%m/%Y}" for day in days],
        [f"{day:%m/%m/%Y}" for day in days],
    )
    assert american[:2] == british[:2] == ("DATE", [str(day) for day in days])
    assert clear_of_both[0] == "VARCHAR"


def test_one_date_in_twenty_settles_no_order_that_another_column_contradicts(
    tmp_path: Path,
) -> None:
    """It's rather mistyped."""
    british = [f"{day % 28 + 1}/{day % 12 + 1}/2024" for day in range(40)]
    mistyped, other = columns(tmp_path, ["1/13/2024", *["1/2/2024"] * 39], british)
    assert (mistyped[0], other[0]) == ("VARCHAR", "DATE")
    assert "--date-order" in mistyped[2]


@pytest.mark.parametrize(
    "texts",
    [
        ["123 456", "234 567", "5551234"],
        ["1 000", "1000", "2 500"],
        ["1.50e3", "1.5e3", "1500.0"],
        ["12 345", "1234", "9"],
        ["4 711", "1000"],
        ["4 711,5", "4711,5"],
        ["1,000", "1000", "1,234,567"],
        ["1e+3", "1000", "2.5"],
        ["1.5e+3", "1500", "2.25"],
        ["1.5e3", "1.5E3"],
        [".5", "0.5", "2.5"],
        ["-.5", "-0.5"],
        ["5.", "5.0", "2.5"],
        ["1,5E3", "1500", "2,25"],
        ["12-", "14", "-15"],
        ["12-", "(14)", "15"],
    ],
)
def test_numbers_in_two_spellings_stay_text(tmp_path: Path, texts: list[str]) -> None:
    """One of them is dialled, or two would become one."""
    ((type_, values, _),) = columns(tmp_path, texts)
    assert (type_, values) == ("VARCHAR", texts)


@pytest.mark.parametrize(
    "texts",
    [
        ["10:00", "10:00:00"],
        ["2024-01-01", "2024-01-01 00:00:00"],
        ["2024-01-01 10:00:00", "2024-01-01T10:00:00"],
        ["2024-01-01 10:00:00.5", "2024-01-01 10:00:00.50"],
        ["2024-01-01 10:00:00Z", "2024-01-01 10:00:00+00:00"],
        ["1/13/2024", "01/13/2024"],
        ["01.02.2024", "2024-02-01"],
    ],
)
def test_moments_in_two_spellings_stay_text(tmp_path: Path, texts: list[str]) -> None:
    """Two texts would become one value; a word for a missing value is none of them."""
    ((type_, values, note),) = columns(tmp_path, [*texts, "NULL"])
    assert (type_, values) == ("VARCHAR", [*texts, "NULL"])
    assert "two spellings" in note


def test_named_months_in_two_spellings_stay_text(tmp_path: Path) -> None:
    texts = ["1 January 2024", "01-Jan-2024", "2 Feb 2024"]
    ((type_, values, _),) = columns(tmp_path, texts)
    assert (type_, values) == ("VARCHAR", texts)


@pytest.mark.parametrize(
    ("texts", "type_"),
    [
        (["10:00", "11:00:00"], "TIME"),
        (["2024-01-01 10:00:00", "2024-01-02T10:00:00"], "TIMESTAMP"),
        (["1/13/2024", "12/1/2024"], "DATE"),
    ],
)
def test_moments_that_stay_apart_are_read(tmp_path: Path, texts: list[str], type_: str) -> None:
    """However they are spelled, and beside words for a missing value."""
    ((found, values, _),) = columns(tmp_path, [*texts, "NULL"])
    assert found == type_
    assert len(set(values)) == 3


def test_unusual_signs_of_negative_numbers_are_noted(tmp_path: Path) -> None:
    ((_, values, note),) = columns(tmp_path, ["(12)", "14"])
    assert values == ["-12", "14"]
    assert note == "Numbers in parentheses are negative: (7) is read as -7."
    ((type_, values, note),) = columns(tmp_path, ["12-", "14"])
    assert (type_, values) == ("BIGINT", ["-12", "14"])
    assert note == "Numbers with a minus after them are negative: 7- is read as -7."


def test_files_of_a_table_with_different_conventions_settle_nothing(tmp_path: Path) -> None:
    """A German and an American month: the amounts of neither can be read for sure."""
    folder = tmp_path / "sales"
    folder.mkdir()
    (folder / "part_1.csv").write_text("no;amount;rate\n1;654.159;46,88\n")
    (folder / "part_2.csv").write_text("no;amount;rate\n2;1.5;46.88\n")
    with open_source(tmp_path) as source:
        (table,) = source.tables
        assert [column.type for column in table.columns] == ["BIGINT", "VARCHAR", "VARCHAR"]


def test_coordinates_next_to_amounts_follow_their_own_point(tmp_path: Path) -> None:
    """Where nearly all values have a decimal point, the one with three decimals has it too."""
    degrees = [*(f"52.5{i:03d}8" for i in range(20)), "13.405"]
    places, _ = columns(tmp_path, degrees, ["46,88"] * 21)
    assert (places[0], places[1][-1]) == ("DOUBLE", "13.405")


@pytest.mark.parametrize(
    ("texts", "values"),
    [
        (["€ 12,50", "€ 1.234,00"], ["12.5", "1234.0"]),
        (["12,50 EUR", "-7,00 EUR"], ["12.5", "-7.0"]),
        (["Rs.500", "Rs.-250.5", "- Rs.125", "Rs. 75"], ["500.0", "-250.5", "-125.0", "75.0"]),
        (["kr.500", "kr. 125,50"], ["500.0", "125.5"]),
        (["12,50€", "1.000,00€"], ["12.5", "1000.0"]),
        (["CHF 1'234.50", "CHF 7.25"], ["1234.5", "7.25"]),
        (["$1,234.00", "$(1,234.50)"], ["1234.0", "-1234.5"]),
        (["(1.234,00)", "17,50"], ["-1234.0", "17.5"]),
        (["12,5-", "7,25"], ["-12.5", "7.25"]),
        (["\u221212,5", "7,25"], ["-12.5", "7.25"]),
        (["7,5 %", "12,25 %"], ["7.5", "12.25"]),
        (["+7,5", "-12,25", "+0,5"], ["7.5", "-12.25", "0.5"]),
        (["7,5", "#DIV/0!", "#NV"], ["7.5", None, None]),
        ([" 46,88", "3,5 "], ["46.88", "3.5"]),
        (["12,34,567.89", "1,234.5"], ["1234567.89", "1234.5"]),
        (["1\u202f234,56", "7,25"], ["1234.56", "7.25"]),
    ],
)
def test_numbers_are_read_without_what_surrounds_them(
    tmp_path: Path, texts: list[str], values: list[str | None]
) -> None:
    """Currencies, percent signs, trailing minus signs and parentheses are a spreadsheet's dress."""
    ((found, read, _),) = columns(tmp_path, texts)
    assert (found, read) == ("DOUBLE", values)


@pytest.mark.parametrize(
    "texts",
    [
        ["€ 12,50", "$ 7,25"],
        ["7,5 %", "0,25"],
        ["(1)", "(2)"],
        ["+49 170 123 456", "+49 170 654 321"],
        ["00123", "00456"],
        ["12 ABC", "17 ABC"],
    ],
)
def test_text_that_only_resembles_such_numbers_stays_text(tmp_path: Path, texts: list[str]) -> None:
    """Several currencies, some percentages among shares, footnotes, phone numbers, codes."""
    ((found, read, _),) = columns(tmp_path, texts)
    assert (found, read) == ("VARCHAR", texts)


@pytest.mark.parametrize(
    ("answers", "type_", "values"),
    [(COMMA, "BIGINT", ["654159", "12500"]), (POINT, "DOUBLE", ["654.159", "12.5"])],
)
def test_the_user_s_answer_decides_what_is_open(
    tmp_path: Path, answers: Conventions, type_: str, values: list[str]
) -> None:
    """An answer goes before what other columns say, and never against a column's own values."""
    own, other = columns(tmp_path, ["654.159", "12.500"], ["1.5", "2.25"], answers=answers)
    assert own[:2] == (type_, values)
    assert other[:2] == ("DOUBLE", ["1.5", "2.25"])


def test_dates_that_fit_both_orders_stay_text_with_a_question(tmp_path: Path) -> None:
    """The first of February or the second of January: the user is asked."""
    ((found, read, note),) = columns(tmp_path, ["01/02/2024", "03/04/2024"])
    assert (found, read) == ("VARCHAR", ["01/02/2024", "03/04/2024"])
    assert "--date-order" in note


@pytest.mark.parametrize("texts", [["03.04.24", "13.05.24"], ["03/04/24", "04/05/24"]])
def test_years_of_two_digits_stay_text_with_a_question(tmp_path: Path, texts: list[str]) -> None:
    """Nobody but the user knows the century."""
    ((found, read, note),) = columns(tmp_path, texts)
    assert (found, read) == ("VARCHAR", texts)
    assert "years of two digits" in note


def test_words_that_only_resemble_months_are_text(tmp_path: Path) -> None:
    """The second value is no date, so neither is one."""
    ((found, _, _),) = columns(tmp_path, ["3. M\u00e4rz 2024", "4. Etage 2024"])
    assert found == "VARCHAR"


def test_dates_with_other_marks_settle_nothing(tmp_path: Path) -> None:
    """What is parted by dashes was written by another hand than what is parted by slashes."""
    own, other = columns(tmp_path, ["01/02/2024", "03/04/2024"], ["13-02-2024", "03-04-2024"])
    assert (own[0], other[0]) == ("VARCHAR", "DATE")


def test_another_column_of_the_file_settles_the_order_of_its_dates(tmp_path: Path) -> None:
    """One program wrote both columns, and the note says where the order comes from."""
    own, _ = columns(tmp_path, ["01/02/2024", "03/04/2024"], ["13/02/2024", "03/04/2024"])
    assert own[:2] == ("DATE", ["2024-02-01", "2024-04-03"])
    assert "another column" in own[2]


def test_the_user_s_answer_decides_the_order_of_dates(tmp_path: Path) -> None:
    """Both answers are taken."""
    texts = ["01/02/2024", "03/04/2024"]
    ((_, day_first, _),) = columns(tmp_path, texts, answers=Conventions(date_order="dmy"))
    ((_, month_first, _),) = columns(tmp_path, texts, answers=Conventions(date_order="mdy"))
    assert day_first == ["2024-02-01", "2024-04-03"]
    assert month_first == ["2024-01-02", "2024-03-04"]


@pytest.mark.parametrize("settling", ["13/02/2024", "02/13/2024"])
@pytest.mark.parametrize("order", ["dmy", "mdy"])
def test_the_user_s_answer_counts_before_what_another_column_settles(
    tmp_path: Path, settling: str, order: str
) -> None:
    (_, days, note), _ = columns(
        tmp_path,
        ["01/02/2024", "03/04/2024"],
        [settling, "03/04/2024"],
        answers=Conventions(date_order=order),
    )
    assert days[0] == ("2024-02-01" if order == "dmy" else "2024-01-02")
    assert "as --date-order says" in note


def test_a_late_value_settles_what_the_sample_left_open(tmp_path: Path) -> None:
    """All values count, not the first ten thousand alone."""
    numbers = [f"{i % 900 + 100}.{i % 1000:03d}" for i in range(12_000)]
    dates = ["01/02/2024"] * 12_000
    open_ones = columns(tmp_path, numbers, dates)
    assert [found for found, _, _ in open_ones] == ["VARCHAR", "VARCHAR"]
    settled = columns(tmp_path, [*numbers, "46,88"], [*dates, "25/12/2024"])
    assert [found for found, _, _ in settled] == ["DOUBLE", "DATE"]
    assert settled[0][1][1] == "101001.0"


def test_a_later_value_of_another_convention_is_not_read_as_a_number(tmp_path: Path) -> None:
    """What dbt reads next month fails the build rather than lose its decimal mark."""
    path = tmp_path / "f.csv"
    path.write_text("a;b\n1,234.5;x\n1,234.5;y\n")
    with open_source(path) as source:
        (table,) = source.tables
        assert isinstance(table.origin, InFiles)
        ((_, expression),) = table.origin.parts[0].expressions
        with pytest.raises(duckdb.ConversionException):
            source.connection.execute(f"SELECT {expression} FROM (SELECT '46,88' AS a)")


def grouped(number: Decimal, decimal: str, group: str) -> str:
    """A number as a convention writes it."""
    return f"{number:,f}".translate(str.maketrans({",": group, ".": decimal}))


@given(
    numbers=st.lists(
        st.decimals(-(10**8), 10**8, places=3, allow_nan=False), min_size=1, max_size=6
    ),
    places=st.integers(0, 3),
    convention=st.sampled_from(
        [(".", ","), (",", "."), (",", " "), (".", "'"), (".", ""), (",", "")]
    ),
)
def test_a_number_is_read_as_the_one_that_was_written_or_stays_text(
    tmp_path: Path, numbers: list[Decimal], places: int, convention: tuple[str, str]
) -> None:
    """Whatever the convention, no number comes back as another."""
    written = [round(number, places) + 0 for number in numbers]
    texts = [grouped(number, *convention) for number in written]
    ((found, read, _),) = columns(tmp_path, texts)
    if found == "VARCHAR":
        assert read == texts
    else:
        assert [float(value or "nan") for value in read] == [float(number) for number in written]


@given(
    days=st.lists(st.integers(0, 40_000), min_size=1, max_size=6),
    format_=st.sampled_from(
        ["%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%Y-%m-%d", "%d-%m-%Y", "%d/%m/%y"]
    ),
)
def test_a_date_is_read_as_the_one_that_was_written_or_stays_text(
    tmp_path: Path, days: list[int], format_: str
) -> None:
    """Whatever the order of day and month, no date comes back as another."""
    written = [date(1930, 1, 1) + timedelta(days=day) for day in days]
    texts = [day.strftime(format_) for day in written]
    ((found, read, _),) = columns(tmp_path, texts)
    assert read == (texts if found == "VARCHAR" else [day.isoformat() for day in written])
