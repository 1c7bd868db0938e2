"""Dates with the name of a month: ``3. März 2024``, ``15 janv. 2024``, ``1 de mayo de 2024``."""

import re
from collections.abc import Iterator, Mapping, Sequence

import duckdb

from fluid_build.sources.files.delimited.first_values import first_values
from fluid_build.sources.sql import literal, quote
from fluid_build.sources.text_values.conventions import Reading
from fluid_build.sources.text_values.text_classes import NULL_WORDS

MONTH_NAMED = "%d %B %Y"
"""The spelling of such dates, whatever is between their parts and in which order."""

# German, English, French, Spanish, Italian, Portuguese, Dutch. No name means two months.
_NAMES = (
    "januar jänner jan january janvier janv enero ene gennaio gen janeiro januari",
    "februar feb february février févr fév febrero febbraio fevereiro fev februari",
    "märz mär mrz march mar mars marzo março maart mrt",
    "april apr avril avr abril abr aprile",
    "mai may mayo maggio mag maio mei",
    "juni jun june juin junio giugno giu junho",
    "juli jul july juillet juil julio luglio lug julho",
    "august aug août agosto ago augustus",
    "september sep sept septembre septiembre settembre set setembro",
    "oktober okt october oct octobre octubre ottobre ott outubro out",
    "november nov novembre noviembre novembro",
    "dezember dez december dec décembre déc diciembre dic dicembre dezembro",
)
_MONTHS: Mapping[str, int] = {
    name: number for number, names in enumerate(_NAMES, start=1) for name in names.split()
}
_DATE = (
    "[0-9]{1,2}(?:st|nd|rd|th|er|[.\u00ba])?[ -]?(?:de )?[\\p{L}]{3,10}[.]?[ -](?:de )?[0-9]{4}"
    "|[\\p{L}]{3,10}[.]? [0-9]{1,2}(?:st|nd|rd|th)?,? [0-9]{4}"
)
_PYTHON_DATE = re.compile(_DATE.replace("[\\p{L}]", "[^\\W\\d_]"))
_USUAL = re.compile("[0-9]{1,2}-[A-Za-z]{3}-[0-9]{4}")
"""What databases write, and strptime reads: the profile finds these by itself."""


def find_named_months(
    connection: duckdb.DuckDBPyConnection, relation: str, columns: Sequence[str]
) -> dict[str, Reading]:
    """Return the columns of text that hold only such dates, each with how it's read."""
    return {
        name: reading
        for name, values in first_values(connection, relation, columns)
        if values and all(map(_PYTHON_DATE.fullmatch, values))
        if not all(map(_USUAL.fullmatch, values))
        for reading in _reading(connection, relation, name)
    }


def _reading(connection: duckdb.DuckDBPyConnection, relation: str, name: str) -> Iterator[Reading]:
    """Yield the reading of a column, if all its values are such dates, each spelled in one way."""
    column = quote(name)
    words = ", ".join(literal(word) for word in NULL_WORDS)
    template = _template()
    value = template.replace("{c}", column)
    row = connection.execute(
        f"SELECT coalesce(bool_and(regexp_full_match({column}, {literal(_DATE)}) AND"
        f" TRY_CAST({value} AS DATE) IS NOT NULL), false)"
        f" AND count(DISTINCT {column}) = count(DISTINCT TRY_CAST({value} AS DATE)) FROM {relation}"
        f" WHERE {column} NOT IN ({words})"
    ).fetchone()
    if row and row[0]:
        yield Reading("DATE", 0, f"CAST({template} AS DATE)", MONTH_NAMED)


def _template() -> str:
    month = "lower(regexp_extract({c}, '[\\p{L}]{3,10}'))"
    arms = " ".join(f"WHEN {literal(name)} THEN '{number:02}'" for name, number in _MONTHS.items())
    day = "lpad(regexp_extract({c}, '(?:^|[^0-9])([0-9]{1,2})(?:[^0-9]|$)', 1), 2, '0')"
    return f"(right({{c}}, 4) || '-' || CASE {month} {arms} END || '-' || {day})"
