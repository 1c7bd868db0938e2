"""Workbooks checked before they're opened: passwords, and what would take too much memory.

A sheet is read into memory as a rectangle from its first cell to its last, so two cells far apart
cost as much as all between them. What has only a format, and no value, doesn't count.
"""

import re
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, time, timedelta
from decimal import Decimal
from math import isinf
from pathlib import Path
from typing import TypeAlias
from xml.etree import ElementTree

from fluid_build import limits

_COMPOUND_FILE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
PROTECTED = (
    "It is protected with a password. Save a copy without one (in Excel: File, Info, Protect"
    " Workbook, Encrypt with Password), and pass that."
)
_BROKEN = "It isn't a workbook that can be read: the file is damaged, or has the wrong extension."
_BLOCK = 4 * 1024 * 1024
_LONGEST_TAG = 4096
_GIGABYTE = 1024**3
_CELL = re.compile(
    rb"(<(?:\w+:)?c\s[^>]*?\br=\"([A-Z]{1,3})([0-9]{1,7})\"(?:[^>]*[^/>])?>)(<(?:\w+:)?f\b[^>]*?"
    rb"(?:/>|>[^<]*</(?:\w+:)?f>)(?:<(?:\w+:)?v\s*/>|<(?:\w+:)?v></(?:\w+:)?v>)?</(?:\w+:)?c>)?"
)
_RESULT = re.compile(rb"<(?:\w+:)?v\b")
_LONG_NUMBER = re.compile(
    rb"<(?:\w+:)?c\s(?![^>]*\bt=\"(?!n\"))[^>]*?\br=\"([A-Z]{1,3})[0-9]{1,7}\"[^>]*>"
    rb"(?:<(?:\w+:)?f\b[^>]*?(?:/>|>[^<]*</(?:\w+:)?f>))?"
    rb"<(?:\w+:)?v>(-?(?:[0-9.]{16,}|[0-9]*\.[0-9]{6,})(?:[eE][-+]?[0-9]{1,3})?"
    rb"|-?[0-9.]+[eE][-+]?[0-9]{1,3})</"
)
_LATE = re.compile(
    rb"<(?:\w+:)?c\s(?![^>]*\bt=\"(?!n\"))[^>]*?\br=\"([A-Z]{1,3})([0-9]{1,7})\"[^>]*>"
    rb"(?:<(?:\w+:)?f\b[^>]*?(?:/>|>[^<]*</(?:\w+:)?f>))?<(?:\w+:)?v>(0?\.99999999[0-9]*)</"
)
_NEGATIVE = (
    '<(?:\\w+:)?c\\s(?=[^>]*\\bs="(?:{styles})")(?![^>]*\\bt="(?!n"))[^>]*?\\br="([A-Z]{{1,3}})'
    '([0-9]{{1,7}})"[^>]*>(?:<(?:\\w+:)?f\\b[^>]*?(?:/>|>[^<]*</(?:\\w+:)?f>))?'
    "<(?:\\w+:)?v>(-(?:[0-9]+[.]?[0-9]*|[.][0-9]+)(?:[eE][-+]?[0-9]{{1,3}})?)</"
)
"""A number before the first moment that spreadsheets have, in a style of moments."""
_MOMENT_FORMATS = frozenset((*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)))
"""The formats of dates and times that have a number only (ECMA-376, 18.8.30)."""
_NO_PART_OF_A_MOMENT = re.compile(r'"[^"]*"|\\.|\[[^\]]*\]')
"""Texts and colours in the code of a format."""
_ROUNDED_UP = 1 - 0.0005 / 86_400
"""From this part of a day on, the nearest millisecond, which times are read to, is midnight."""
_MICROS_OF_A_DAY = 86_400_000_000
_MOST_NOISE = 0.01
"""A millisecond's part up to which a moment's number of 15 digits may differ from what it's of."""
_LAST_MOMENT = 2_958_466
"""The day after 9999-12-31, the last that spreadsheets have."""
_DIGITS_OF_A_DOUBLE = 17
"""So many digits tell every double from its neighbours, and spreadsheets write no more."""
_ERROR = re.compile(rb"<(?:\w+:)?c\s[^>]*?\bt=\"e\"")
_REPEATED_ROWS = re.compile(
    rb"<table:table-row\b[^>]*number-rows-repeated=\"([0-9]+)\"[^>]*>(.*?)</table:table-row>",
    re.DOTALL,
)
_REPEATED_CELLS = re.compile(
    rb"<table:table-cell\b([^>]*)number-columns-repeated=\"([0-9]+)\"([^>]*)>"
)
_VALUE = re.compile(rb"office:(?:value|string-value|date-value|time-value|boolean-value)|<text:p")
_RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"


Place: TypeAlias = tuple[int, int]
"""The row and column of a cell, from 0."""


@dataclass(frozen=True, slots=True)
class SheetFacts:
    """What the reader of cells doesn't say of a sheet: errors, and formulas without a result.

    ``rounded`` are the letters of columns with numbers that a double doesn't have, and ``finer``
    those with numbers that are finer than a millisecond, if they are times. ``misread`` are numbers
    that the reader takes for another time, if they are times: it rounds those just before midnight
    up to it, and takes six hours less than nothing for 18:00.
    """

    errors: int = 0
    uncalculated: int = 0
    rounded: tuple[str, ...] = ()
    finer: frozenset[str] = frozenset()
    misread: Mapping[Place, time | timedelta] = field(default_factory=dict)


def check_workbook(path: Path) -> Mapping[str, SheetFacts]:
    """Return facts on the sheets of a workbook by name, as far as its format has them.

    Raises ValueError where it's protected, damaged, or would take too much memory.
    """
    with path.open("rb") as file:
        start = file.read(len(_COMPOUND_FILE))
        if start == _COMPOUND_FILE and path.suffix.lower() != ".xls":
            is_encrypted = _ENCRYPTED in start + file.read()
            raise ValueError(PROTECTED if is_encrypted else _BROKEN)
    if not zipfile.is_zipfile(path):
        if path.suffix.lower() == ".xls" and start == _COMPOUND_FILE:
            return {}
        raise ValueError(_BROKEN)
    try:
        with zipfile.ZipFile(path) as archive:
            _check_size(archive, path.stat().st_size)
            if "content.xml" in archive.namelist():
                _check_open_document(archive)
                return {}
            negative = _negative_moment(archive)
            return {name: _facts(archive, part, negative) for name, part in _sheet_parts(archive)}
    except (zipfile.BadZipFile, ElementTree.ParseError, KeyError, NotImplementedError):
        raise ValueError(_BROKEN) from None
    except RuntimeError:
        # What zipfile says of an archive whose entries are encrypted.
        raise ValueError(PROTECTED) from None


def _check_size(archive: zipfile.ZipFile, packed: int) -> None:
    """Refuse an archive that expands far more than spreadsheets do; its own figures may lie."""
    most = max(_GIGABYTE, packed * limits.EXPANSION.value)
    size = sum(entry.file_size for entry in archive.infolist())
    if size > most:
        raise ValueError(
            f"It expands to more than {most // 1024**2:,} MB. {limits.EXPANSION.how_to_raise}"
        )


def _check_open_document(archive: zipfile.ZipFile) -> None:
    manifest = archive.read("META-INF/manifest.xml") if _has_manifest(archive) else b""
    if b"encryption-data" in manifest:
        raise ValueError(PROTECTED)
    # Repeated cells are written once, so that a short file may say it has millions.
    rows = columns = 1
    for block in _blocks(archive, "content.xml"):
        for repeated, cells in _REPEATED_ROWS.findall(block):
            if _VALUE.search(cells):
                rows = max(rows, int(repeated))
        for before, repeated, after in _REPEATED_CELLS.findall(block):
            if _VALUE.search(before + after):
                columns = max(columns, int(repeated))
    _check_area(rows, columns)


def _has_manifest(archive: zipfile.ZipFile) -> bool:
    return "META-INF/manifest.xml" in archive.namelist()


def _check_area(rows: int, columns: int) -> None:
    limits.CELLS.check(rows * columns, "cells between the first and the last of a sheet")


def _sheet_parts(archive: zipfile.ZipFile) -> Iterator[tuple[str, str]]:
    """Yield the sheets of an Office Open XML workbook, each with the part that has its cells."""
    names = set(archive.namelist())
    if "xl/workbook.xml" not in names:
        # Binary workbooks (.xlsb) have the same parts in another format.
        return
    relations = ElementTree.fromstring(archive.read("xl/_rels/workbook.xml.rels"))
    targets = {relation.get("Id"): relation.get("Target", "") for relation in relations}
    for element in ElementTree.fromstring(archive.read("xl/workbook.xml")).iter():
        if element.tag.endswith("}sheet"):
            target = targets.get(element.get(_RELATION), "")
            part = target.removeprefix("/") if target.startswith("/") else f"xl/{target}"
            if part in names:
                yield element.get("name", ""), part


def _negative_moment(archive: zipfile.ZipFile) -> re.Pattern[bytes] | None:
    """Return what finds negative numbers that are formatted as moments; None where nothing is."""
    if "xl/styles.xml" not in archive.namelist():
        return None
    styles = ElementTree.fromstring(archive.read("xl/styles.xml"))
    formats = {
        element.get("numFmtId", ""): _NO_PART_OF_A_MOMENT.sub("", element.get("formatCode", ""))
        for element in styles.iter()
        if element.tag.endswith("}numFmt")
    }
    of_moments = {number for number, code in formats.items() if re.search("[dmyhs]", code.lower())}
    of_moments |= {str(number) for number in _MOMENT_FORMATS} - formats.keys()
    cells = next((e for e in styles.iter() if e.tag.endswith("}cellXfs")), ())
    numbers = [str(i) for i, style in enumerate(cells) if style.get("numFmtId") in of_moments]
    return re.compile(_NEGATIVE.format(styles="|".join(numbers)).encode()) if numbers else None


def _facts(archive: zipfile.ZipFile, part: str, negative: re.Pattern[bytes] | None) -> SheetFacts:
    errors = uncalculated = 0
    columns: set[bytes] = set()
    rounded: set[bytes] = set()
    finer: set[bytes] = set()
    misread: dict[Place, time | timedelta] = {}
    first, last = 1 << 30, 0
    for block in _blocks(archive, part):
        errors += len(_ERROR.findall(block))
        numbers = _LONG_NUMBER.findall(block)
        rounded |= {column for column, text in numbers if _is_rounded(text)}
        finer |= {column for column, text in numbers if column not in finer and _is_finer(text)}
        misread |= _late_times(block)
        if negative and b"v>-" in block:
            misread |= _durations_below_zero(block, negative)
        for cell, column, row, formula in _CELL.findall(block):
            columns.add(column)
            # An empty text is a result: IF(A1>0, A1, "").
            is_empty_text = b't="str"' in cell and _RESULT.search(formula)
            uncalculated += bool(formula) and not is_empty_text
            number = int(row)
            first, last = min(first, number), max(last, number)
    if columns:
        places = [_column_number(column) for column in columns]
        _check_area(last - first + 1, max(places) - min(places) + 1)
    letters = (column.decode() for column in sorted(rounded, key=_column_number))
    of_finer = frozenset(column.decode() for column in finer)
    return SheetFacts(errors, uncalculated, tuple(letters), of_finer, misread)


def _late_times(block: bytes) -> dict[Place, time]:
    """Return the cells whose numbers would be rounded up to midnight, as times."""
    if b".99999999" not in block:
        return {}
    return {
        (int(row) - 1, _column_number(column) - 1): _time_of(float(part))
        for column, row, part in _LATE.findall(block)
        if _ROUNDED_UP <= float(part) < 1
    }


def _durations_below_zero(block: bytes, negative: re.Pattern[bytes]) -> dict[Place, timedelta]:
    """Return the cells with negative numbers that are formatted as moments, as what they last."""
    return {
        (int(row) - 1, _column_number(column) - 1): timedelta(days=float(days))
        for column, row, days in negative.findall(block)
        if float(days) > -_LAST_MOMENT
    }


def _time_of(part: float) -> time:
    """Return the time at a part of a day, which is less than 1."""
    micros = min(round(part * _MICROS_OF_A_DAY), _MICROS_OF_A_DAY - 1)
    return (datetime.min + timedelta(microseconds=micros)).time()


def _is_rounded(text: bytes) -> bool:
    """Return whether a number, as it's stored, is another one as a double."""
    stored = text.decode()
    try:
        number = float(stored)
    except ValueError:
        return False
    if isinf(number):
        return True
    mantissa, _, _ = stored.lower().partition("e")
    digits = len(mantissa.replace(".", "").strip("-0"))
    is_whole = mantissa == stored and "." not in stored
    return (digits > _DIGITS_OF_A_DOUBLE or is_whole) and Decimal(stored) != Decimal(number)


def _is_finer(text: bytes) -> bool:
    """Return whether a number is finer than a millisecond, if it's one of days."""
    try:
        days = float(text)
    except ValueError:
        return False
    if abs(days) >= _LAST_MOMENT:
        return False
    millis = days * (_MICROS_OF_A_DAY / 1000)
    return abs(millis - round(millis)) > _MOST_NOISE


def _column_number(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = 26 * number + letter - ord("A") + 1
    return number


def _blocks(archive: zipfile.ZipFile, part: str) -> Iterator[bytes]:
    """Yield the bytes of a part in blocks that end between two rows, where there are rows."""
    rest = b""
    with archive.open(part) as file:
        while block := file.read(_BLOCK):
            joined = rest + block
            end = joined.rfind(b"row>")
            cut = end + len(b"row>") if end >= 0 else max(0, len(joined) - _LONGEST_TAG)
            yield joined[:cut]
            rest = joined[cut:]
    yield rest
