"""The types that columns of text really have, judged over every value rather than a sample."""

from collections.abc import Sequence
from dataclasses import dataclass

import duckdb

from fluid_build.sources.sql import literal, quote

_SAMPLE_CELLS = 1_000_000
_SAMPLE_ROWS = (500, 10_000)
_PER_QUERY = 40
_WORTH_A_NOTE = 0.9
_EXACT_DIGITS = 15

_DUMPED_NULL = "\\N"
NULL_WORDS = (_DUMPED_NULL, "NULL", "null", "NA", "N/A", "n/a", "NaN", "nan", "#N/A")
"""Words that stand for a missing value where every other value of the column has a type."""

_FRACTION = "-?(0|[1-9][0-9]*)?([.][0-9]*)?([eE][-+]?[0-9]{1,3})?"
_ISO_DATE = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
_ZONE = " *(Z|[+-][0-9]{2}(:?[0-9]{2})?)"
_CLOCK = "[ T][0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,6})?)?"


@dataclass(frozen=True, slots=True)
class _Class:
    """A class of values: the test that a text belongs to it, and the SQL that reads it."""

    bit: int
    test: str
    said: str


_CLASSES = {
    # Only the canonical spelling counts: 007 and +7 are text.
    "integer": _Class(
        1, "CAST(TRY_CAST({c} AS BIGINT) AS VARCHAR) IS NOT DISTINCT FROM {c}", "a whole number"
    ),
    "fraction": _Class(
        2,
        f"regexp_full_match({{c}}, {literal(_FRACTION)}) AND TRY_CAST({{c}} AS DOUBLE) IS NOT NULL"
        f" AND length(regexp_replace({{c}}, '[eE].*|[^0-9]', '', 'g')) <= {_EXACT_DIGITS}",
        "a number",
    ),
    "date": _Class(4, "CAST(TRY_CAST({c} AS DATE) AS VARCHAR) IS NOT DISTINCT FROM {c}", "a date"),
    "timestamp": _Class(
        8,
        f"regexp_full_match({{c}}, {literal(_ISO_DATE + _CLOCK)})"
        " AND TRY_CAST({c} AS TIMESTAMP) IS NOT NULL",
        "a date and time",
    ),
    "zoned": _Class(
        16,
        f"regexp_full_match({{c}}, {literal(_ISO_DATE + _CLOCK + _ZONE)})"
        " AND TRY_CAST({c} AS TIMESTAMPTZ) IS NOT NULL",
        "a date and time",
    ),
    "time": _Class(
        32,
        "regexp_full_match({c}, '[0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,6})?)?')"
        " AND TRY_CAST({c} AS TIME) IS NOT NULL",
        "a time",
    ),
    "boolean": _Class(64, "lower({c}) IN ('true', 'false')", "true or false"),
    "day first": _Class(
        128,
        "try_strptime({c}, '%d/%m/%Y') IS NOT NULL AND try_strptime({c}, '%m/%d/%Y') IS NULL",
        "a date",
    ),
    "month first": _Class(
        256,
        "try_strptime({c}, '%m/%d/%Y') IS NOT NULL AND try_strptime({c}, '%d/%m/%Y') IS NULL",
        "a date",
    ),
    "either first": _Class(512, "try_strptime({c}, '%m/%d/%Y') IS NOT NULL", "a date"),
    "dotted": _Class(1024, "try_strptime({c}, '%d.%m.%Y') IS NOT NULL", "a date"),
}
_NULL_WORD, _TEXT = 2048, 4096


@dataclass(frozen=True, slots=True)
class _Type:
    """A type for a whole column: the classes it takes in, and the SQL that reads one value."""

    name: str
    classes: tuple[str, ...]
    read: str

    @property
    def mask(self) -> int:
        return sum(_CLASSES[name].bit for name in self.classes)


_TYPES = (
    _Type("BIGINT", ("integer",), "CAST({c} AS BIGINT)"),
    _Type("DOUBLE", ("integer", "fraction"), "CAST({c} AS DOUBLE)"),
    _Type("DATE", ("date",), "CAST({c} AS DATE)"),
    _Type("TIMESTAMP", ("date", "timestamp"), "CAST({c} AS TIMESTAMP)"),
    _Type("TIMESTAMP WITH TIME ZONE", ("zoned",), "CAST({c} AS TIMESTAMPTZ)"),
    _Type("TIME", ("time",), "CAST({c} AS TIME)"),
    _Type("BOOLEAN", ("boolean",), "CAST({c} AS BOOLEAN)"),
    _Type("DATE", ("day first", "either first"), "CAST(strptime({c}, '%d/%m/%Y') AS DATE)"),
    _Type("DATE", ("month first", "either first"), "CAST(strptime({c}, '%m/%d/%Y') AS DATE)"),
    _Type("DATE", ("dotted",), "CAST(strptime({c}, '%d.%m.%Y') AS DATE)"),
)


@dataclass(frozen=True, slots=True)
class TextColumn:
    """The verdict on a column: its type, and a sentence for the user.

    ``template`` is the SQL that reads a value, with ``{c}`` where the column stands, and ``plain``
    says that it is but a cast.
    """

    type: str
    template: str
    note: str = ""
    plain: bool = True

    def of(self, column: str) -> str:
        """The SQL that reads a value of a column, which is given as SQL itself."""
        return _filled(self.template, column)


def infer(
    connection: duckdb.DuckDBPyConnection, relation: str, columns: Sequence[str]
) -> list[TextColumn]:
    """The type of each text column of a relation, such that every value of it fits.

    Digits with a leading zero, and numbers of more digits than a type keeps, stay text. A date
    written with the day or the month first is one only if some value settles which.
    """
    row = connection.execute(f"SELECT count(*) FROM {relation}").fetchone()
    rows = int(row[0]) if row else 0
    least, most = _SAMPLE_ROWS
    sampled = max(least, min(most, _SAMPLE_CELLS // max(1, len(columns))))
    masks = _masks(connection, f"(FROM {relation} LIMIT {sampled})", columns)
    if rows > sampled:
        guesses = [(name, _type_of(mask), mask) for name, mask in zip(columns, masks, strict=True)]
        guessed = [(name, guess, bool(mask & _NULL_WORD)) for name, guess, mask in guesses if guess]
        wrong = [
            name
            for start in range(0, len(guessed), _PER_QUERY)
            for name in _misfitting(connection, relation, guessed[start : start + _PER_QUERY])
        ]
        again = dict(zip(wrong, _masks(connection, relation, wrong), strict=True))
        masks = [again.get(name, mask) for name, mask in zip(columns, masks, strict=True)]
    return [
        _verdict(connection, relation, name, mask)
        for name, mask in zip(columns, masks, strict=True)
    ]


def _class_sql(name: str) -> str:
    column = quote(name)
    arms = " ".join(f"WHEN {_filled(one.test, column)} THEN {one.bit}" for one in _CLASSES.values())
    words = ", ".join(literal(word) for word in NULL_WORDS)
    # Most text shows by its first character that it can be nothing else.
    plain = f"WHEN NOT regexp_matches({column}, '^[-0-9.tTfF]') THEN {_TEXT}"
    return (
        f"CASE WHEN {column} IS NULL THEN NULL WHEN {column} IN ({words}) THEN {_NULL_WORD}"
        f" {plain} {arms} ELSE {_TEXT} END"
    )


def _filled(template: str, column: str) -> str:
    return template.replace("{c}", column)


def _masks(
    connection: duckdb.DuckDBPyConnection, relation: str, columns: Sequence[str]
) -> list[int]:
    """For each column the classes that its values belong to, as a sum of bits."""
    if not columns:
        return []
    # One expression over all values, however many columns: compiling it is what takes time.
    cells = ", ".join(quote(name) for name in columns)
    rows = connection.execute(
        f"SELECT i, bit_or({_class_sql('v')}) FROM (SELECT unnest(range({len(columns)})) AS i,"
        f" unnest([{cells}]) AS v FROM {relation}) WHERE v IS NOT NULL GROUP BY i"
    ).fetchall()
    found = {int(i): int(mask) for i, mask in rows}
    return [found.get(i, 0) for i in range(len(columns))]


def _type_of(mask: int) -> _Type | None:
    """The narrowest type that takes in all classes; None for text."""
    values = mask & ~_NULL_WORD
    # 03/04/2020 alone is a date with the day first and one with the month first.
    if values == 0 or values == _CLASSES["either first"].bit:
        return None
    return next((one for one in _TYPES if values & ~one.mask == 0), None)


def _misfitting(
    connection: duckdb.DuckDBPyConnection,
    relation: str,
    guessed: Sequence[tuple[str, _Type, bool]],
) -> list[str]:
    """The columns for which the guess from the sample does not fit the whole.

    The last part of a guess says whether words for a missing value were met in the sample.
    """
    words = ", ".join(literal(word) for word in NULL_WORDS)
    tests = ", ".join(
        "coalesce(bool_or(NOT ("
        + " OR ".join(_filled(_CLASSES[one].test, quote(name)) for one in guess.classes)
        + (f") AND {quote(name)} NOT IN ({words})), false)" if with_words else ")), false)")
        for name, guess, with_words in guessed
    )
    row = connection.execute(f"SELECT {tests} FROM {relation}").fetchone()
    return [name for (name, _, _), wrong in zip(guessed, row or (), strict=True) if wrong]


def _verdict(
    connection: duckdb.DuckDBPyConnection, relation: str, name: str, mask: int
) -> TextColumn:
    column = quote(name)
    chosen = _type_of(mask)
    if chosen is None:
        note = _note_on_text(connection, relation, name, mask)
        if not mask & _NULL_WORD:
            return TextColumn("VARCHAR", "{c}", note)
        absent = _count_of(connection, relation, f"{column} = {literal(_DUMPED_NULL)}")
        missing = _missing(absent, [_DUMPED_NULL]) if absent else ""
        said = " ".join(filter(None, (note, missing)))
        if not absent:
            return TextColumn("VARCHAR", "{c}", said)
        return TextColumn("VARCHAR", f"nullif({{c}}, {literal(_DUMPED_NULL)})", said, plain=False)
    if not mask & _NULL_WORD:
        return TextColumn(chosen.name, chosen.read, plain=chosen.read.startswith("CAST({c} "))
    words = ", ".join(literal(word) for word in NULL_WORDS)
    row = connection.execute(
        f"SELECT count(*), list(DISTINCT {column} ORDER BY {column}) FROM {relation}"
        f" WHERE {column} IN ({words})"
    ).fetchone()
    count, found = row or (0, [])
    kept = f"CASE WHEN {{c}} NOT IN ({words}) THEN {{c}} END"
    template = _filled(chosen.read, kept)
    return TextColumn(chosen.name, template, _missing(count, found), plain=False)


def _missing(count: int, words: Sequence[str]) -> str:
    shown = ", ".join(f"'{word}'" for word in words)
    return f"{count:,} value{'s' if count != 1 else ''} {shown} read as missing."


def _count_of(connection: duckdb.DuckDBPyConnection, relation: str, condition: str) -> int:
    row = connection.execute(f"SELECT count(*) FROM {relation} WHERE {condition}").fetchone()
    return int(row[0]) if row else 0


def _note_on_text(
    connection: duckdb.DuckDBPyConnection, relation: str, name: str, mask: int
) -> str:
    """A sentence on the few values that keep a column from having a type."""
    values = mask & ~_NULL_WORD
    guess = _type_of(values & ~_TEXT)
    if not values & _TEXT or guess is None:
        return ""
    start = _odd_values(connection, f"(FROM {relation} LIMIT {_SAMPLE_ROWS[1]})", name)
    if not start.are_few:
        return ""
    odd = _odd_values(connection, relation, name)
    if not odd.are_few:
        return ""
    verb = "is" if odd.odd == 1 else "are"
    return (
        f"Read as text, because {odd.odd:,} of {odd.total:,} values {verb} not "
        f"{_CLASSES[guess.classes[-1]].said} (such as {_short(odd.example)!r})."
    )


@dataclass(frozen=True, slots=True)
class _Odd:
    """How many values of a column are but text, of how many, and one of them."""

    total: int
    odd: int
    example: str

    @property
    def are_few(self) -> bool:
        return self.odd <= (1 - _WORTH_A_NOTE) * self.total


def _odd_values(connection: duckdb.DuckDBPyConnection, relation: str, name: str) -> _Odd:
    column = quote(name)
    row = connection.execute(
        f"SELECT count(*), count(*) FILTER (kind = {_TEXT}),"
        f" coalesce(min({column}) FILTER (kind = {_TEXT}), '') FROM"
        f" (SELECT {column}, {_class_sql(name)} AS kind FROM {relation}"
        f" WHERE {column} IS NOT NULL)"
    ).fetchone()
    return _Odd(*row) if row else _Odd(0, 0, "")


def _short(value: str) -> str:
    return value if len(value) <= 30 else value[:29] + "…"
