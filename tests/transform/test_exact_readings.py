"""Text that is read as numbers, dates and truths keeps every value, whatever kind of source has it.

The test reads the text itself, by Python's ``Decimal`` and ``str``: no cast of ours takes part.
"""

import csv
import json
import sqlite3
import string
from collections.abc import Callable, Sequence
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from uuid import UUID

import duckdb
import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.modeling.techniques import build_model
from fluid_build.profiling import profile_source
from fluid_build.sources import open_source
from fluid_build.transform.plan.execution import built
from fluid_build.transform.plan.techniques import transform_plan
from fluid_build.transform.proof.proof import Proof, prove

COLUMN = "value"


def to_csv(folder: Path, name: str, texts: Sequence[str]) -> Path:
    path = folder / "things.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["no", name])
        writer.writerows([f"n{number}", text] for number, text in enumerate(texts))
    return path


def to_json(folder: Path, name: str, texts: Sequence[str]) -> Path:
    path = folder / "things.json"
    rows = [{"no": f"n{number}", name: text} for number, text in enumerate(texts)]
    path.write_text(json.dumps(rows), encoding="utf-8")
    return path


def to_sqlite(folder: Path, name: str, texts: Sequence[str]) -> Path:
    path = folder / "things.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute(f'CREATE TABLE things (no TEXT, "{name}" TEXT)')
        rows = [(f"n{number}", text) for number, text in enumerate(texts)]
        connection.executemany("INSERT INTO things VALUES (?, ?)", rows)
    connection.close()
    return path


def to_duckdb(folder: Path, name: str, texts: Sequence[str]) -> Path:
    path = folder / "things.duckdb"
    path.unlink(missing_ok=True)
    with duckdb.connect(str(path)) as connection:
        connection.execute(f'CREATE TABLE things (no VARCHAR, "{name}" VARCHAR)')
        rows = [[f"n{number}", text] for number, text in enumerate(texts)]
        connection.executemany("INSERT INTO things VALUES (?, ?)", rows)
    return path


def to_parquet(folder: Path, name: str, texts: Sequence[str]) -> Path:
    path = folder / "things.parquet"
    columns = {"no": [f"n{number}" for number in range(len(texts))], name: list(texts)}
    pq.write_table(pa.table(columns), path)
    return path


def to_workbook(folder: Path, name: str, texts: Sequence[str]) -> Path:
    path = folder / "things.xlsx"
    workbook = openpyxl.Workbook()
    sheet = workbook.worksheets[0]
    sheet.append(["no", name])
    for number, text in enumerate(texts):
        sheet.append([f"n{number}", text])
    workbook.save(path)
    return path


def to_dump(folder: Path, name: str, texts: Sequence[str]) -> Path:
    path = folder / "things.sql"
    rows = ",\n".join(f"('n{number}', '{text}')" for number, text in enumerate(texts))
    path.write_text(
        f'CREATE TABLE things (no text, "{name}" text);\nINSERT INTO things VALUES {rows};\n',
        encoding="utf-8",
    )
    return path


Writer = Callable[[Path, str, Sequence[str]], Path]
KINDS: dict[str, Writer] = {
    "csv": to_csv, "json": to_json, "sqlite": to_sqlite, "duckdb": to_duckdb,
    "parquet": to_parquet, "workbook": to_workbook, "dump": to_dump,
}  # fmt: skip


def forged(path: Path) -> tuple[list[object], Proof]:
    """The values of the second column in the flat model, in the source's order, and the proof."""
    with open_source(path) as source:
        model = build_model(profile_source(source), "flat", None)
        plan = transform_plan(model)
        with built(source, plan) as database:
            (relation,) = plan.published
            first, second = (column.name for column in relation.columns)
            rows = database.connection.execute(
                f"SELECT {second} FROM model.{relation.name} ORDER BY CAST({first}[2:] AS INTEGER)"
            ).fetchall()
            proof = prove(database, model)
    return [value for (value,) in rows], proof


def says(value: object, text: str) -> bool:
    """Whether a value is what a text says."""
    match value:
        case str():
            return value == text
        case bool():
            return text.strip().lower() in (("true", "t", "yes") if value else ("false", "f", "no"))
        case int() | float() | Decimal():
            return Decimal(str(value)) == Decimal(text.strip())
        case datetime():
            return value.isoformat(" ").startswith(text.strip().replace("T", " ")[:16])
        case date():
            return value.isoformat() == text.strip()
        case UUID():
            return str(value) == text.strip().lower()
        case _:
            return False


def assert_kept(values: Sequence[object], texts: Sequence[str]) -> None:
    assert len(values) == len(texts)
    differing = [(v, t) for v, t in zip(values, texts, strict=True) if not says(v, t)]
    assert not differing, f"{len(differing)} of {len(texts)}: {differing[:3]}"
    if all(isinstance(v, int | float | Decimal) and not isinstance(v, bool) for v in values):
        assert len(set(values)) == len({normal(t) for t in texts}), "two texts became one number"


def normal(number: str) -> str:
    """A number as its column would write it: no sign of zero, and a digit before the point."""
    sign, digits = ("-", number.strip()[1:]) if number.strip()[0] == "-" else ("", number.strip())
    plain = f"0{digits}" if digits[0] == "." else digits
    return plain if "e" not in plain.lower() and not Decimal(plain) else sign + plain


LONG_NUMBERS = {
    "22 digits": [str(9_400_100_000_000_000_000_000 + i) for i in range(50)],
    "19 digits": [str(1_700_000_000_000_000_000 + i) for i in range(50)],
    "20 digits": [str(10_000_000_000_000_000_000 + i) for i in range(50)],
    "ICCIDs": [str(89_490_200_001_000_000_000 + 7 * i) for i in range(50)],
    "long amounts": [f"{100_000_000_000_000_000 + i}.01" for i in range(50)],
    "many decimals": [f"0.{i:020d}" for i in range(1, 50)],
    "50 digits": [str(10**49 + i) for i in range(50)],
    "one decimal above 2^53": [str(2**53 + i) for i in range(50)] + ["0.5"],
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("case", LONG_NUMBERS)
def test_numbers_of_many_digits_keep_them(tmp_path: Path, kind: str, case: str) -> None:
    """Tracking numbers and long amounts stay different, and are what their text says."""
    texts = LONG_NUMBERS[case]
    values, proof = forged(KINDS[kind](tmp_path, COLUMN, texts))
    assert_kept(values, texts)
    assert proof.verdict == "proven"


UUID_TEXT = "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"
STAY_TEXT = {
    "one false word": ("country", ["NO"] * 20),
    "a country among others": ("country", ["NO", "NO", "SE", "DK"] * 5),
    "sex": ("sex", ["F"] * 20),
    "sex of both letters": ("sex", ["F", "T"] * 10),
    "a language": ("lang", ["no", "yes"] * 5),
    "a true word": ("flag", ["T"] * 10),
    "letters and digits": ("code", ["61E8", "12E3", "45E1", "99E2"]),
    "versions": ("version", ["1.1", "1.10", "1.2", "2.0"]),
    "a version beside its first": ("version", ["5", "5.0", "5.1"]),
    "uniform decimals, and none": ("version", ["5", "5.00", "5.25"]),
    "versions without a pair": ("version", ["1.10", "1.2", "1.3"]),
    "numbers of two spellings": ("size", [".5", "0.5", "1.5e3", "1500"]),
    "moments of two spellings": ("seen", ["2024-01-01 00:00:00", "2024-01-01T00:00:00"]),
    "dates of two spellings": ("day", ["2024-1-1", "2024-01-01", "2024-01-02"]),
    "days of two spellings": ("day", ["13/1/2024", "13/01/2024", "2/1/2024"]),
    "UUIDs of two spellings": ("ref", [UUID_TEXT, UUID_TEXT.upper()]),
    "account numbers": ("account", ["0012345678", "1234567890", "9876543210"]),
    "phone numbers": ("phone", ["+4930123456", "+4940123457"]),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("case", STAY_TEXT)
def test_codes_and_words_stay_text(tmp_path: Path, kind: str, case: str) -> None:
    """What only looks like a number or a truth is no other thing than its text."""
    name, texts = STAY_TEXT[case]
    values, proof = forged(KINDS[kind](tmp_path, name, texts))
    assert values == texts
    assert proof.verdict == "proven"


def test_truths_in_several_spellings_are_noted(tmp_path: Path) -> None:
    """Whatever the source is: each is one value of the column."""
    with open_source(to_json(tmp_path, "paid", ["true", "True", "false"])) as source:
        column = profile_source(source).table("things").column("paid")
    assert column.measured_type == "BOOLEAN"
    assert any("several spellings" in note for note in column.notes)


TYPED = {
    "prices": (["1.50", "2.00", "12.25", "3.10"], float),
    "Python's floats": (["1.0", "2.5", "0.25", "1e-05"], float),
    "whole numbers": (["1", "20", "-3", "400"], int),
    "truths": (["true", "false", "true", "false"], bool),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("case", TYPED)
def test_what_comes_back_is_typed(tmp_path: Path, kind: str, case: str) -> None:
    """Numbers with decimals of one length, and words with their opposite, aren't left as text."""
    texts, type_ = TYPED[case]
    values, proof = forged(KINDS[kind](tmp_path, COLUMN, texts))
    assert {type(value) for value in values} == {type_}
    assert_kept(values, texts)
    assert proof.verdict == "proven"


@pytest.mark.parametrize("case", LONG_NUMBERS)
def test_numbers_of_a_json_file_keep_their_digits(tmp_path: Path, case: str) -> None:
    """Numbers without quotes as well, which JSON readers take for doubles."""
    texts = LONG_NUMBERS[case]
    rows = ", ".join(f'{{"no": "n{i}", "value": {text}}}' for i, text in enumerate(texts))
    path = tmp_path / "things.json"
    path.write_text(f"[{rows}]", encoding="utf-8")
    values, proof = forged(path)
    assert [Decimal(str(value)) for value in values] == [Decimal(text) for text in texts]
    assert proof.verdict == "proven"


json_numbers = st.one_of(
    st.integers(-(10**25), 10**25).map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.decimals(-(10**12), 10**12, places=18).map(str),
)


@given(numbers=st.lists(json_numbers, min_size=1, max_size=8), nested=st.booleans())
def test_any_number_of_a_json_file_keeps_its_value(
    tmp_path_factory: pytest.TempPathFactory, numbers: list[str], nested: bool
) -> None:
    """Read back from the source, alone or in an object, each number is what the file says."""
    path = tmp_path_factory.mktemp("json") / "things.jsonl"
    template = '{{"value": {{"inner": {}}}}}\n' if nested else '{{"value": {}}}\n'
    path.write_text("".join(template.format(number) for number in numbers), encoding="utf-8")
    with open_source(path, nested="keep") as source:
        (table,) = source.tables
        value = "value.inner" if nested else "value"
        read = source.connection.execute(
            f"SELECT CAST({value} AS VARCHAR) FROM {table.relation}"
        ).fetchall()
    assert [Decimal(text) for (text,) in read] == [Decimal(number) for number in numbers]


digits = st.integers(1, 40).flatmap(lambda n: st.text(string.digits, min_size=n, max_size=n))
whole = st.integers(-(10**20), 10**40).map(str)
decimals = st.builds(lambda w, d: f"{w}.{d}", st.integers(-(10**20), 10**20), digits)
exponents = st.builds(
    "{}{}{}{}".format,
    st.sampled_from(["1", "12", "1.5", "-2.25", "0.001"]),
    st.sampled_from(["e", "E"]),
    st.sampled_from(["", "+", "-"]),
    st.integers(0, 30),
)
words = st.sampled_from(["true", "false", "t", "f", "T", "F", "yes", "no", "NO", "Yes"])
dates = st.dates(date(1900, 1, 1), date(2100, 1, 1)).map(str)
moments = st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1)).map(
    lambda moment: moment.replace(microsecond=0).isoformat(" ")
)
like_numbers = st.sampled_from(
    ["1.10", "1.1", "007", "+5", ".5", "5.", "-0", "1.000", "12E3", "5", "5.0", "7", "0.5"]
)
columns = st.sampled_from([digits, whole, decimals, exponents, words, dates, moments]).flatmap(
    lambda first: (
        st.lists(st.one_of(first, first, first, like_numbers), min_size=1, max_size=12)
        | st.lists(first, min_size=1, max_size=12)
    )
)


@pytest.mark.parametrize("kind", KINDS)
@given(texts=columns)
def test_any_text_keeps_its_value(
    tmp_path_factory: pytest.TempPathFactory, kind: str, texts: list[str]
) -> None:
    """Whatever a column of text is read as, each value is what its text says, or it's the text."""
    folder = tmp_path_factory.mktemp("texts")
    values, proof = forged(KINDS[kind](folder, COLUMN, texts))
    assert_kept(values, texts)
    assert proof.verdict == "proven"
