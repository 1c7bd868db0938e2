"""Tables of delimited text checked against their files, which are read again as plain text.

The rest of the proof compares with the source as we read it, so a misreading would pass on both
sides. Here each value is compared with its text, by separate rules: a number by its digits
(``canonical_text``), a date by its parts. Where text has two possible readings, something
must decide: another column, or the user's answer.
"""

import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import duckdb

from fluid_build.errors import SourceChangedError
from fluid_build.modeling.element import ModelPart
from fluid_build.sources.base import Column, Source, Table
from fluid_build.sources.engine.connection import DUCKDB_ERRORS, reason
from fluid_build.sources.files.delimited.files import READ_ERRORS, text_again
from fluid_build.sources.files.delimited.month_names import MONTH_NAMED
from fluid_build.sources.files.delimited.tail import spans
from fluid_build.sources.origin import InFiles
from fluid_build.sources.sql import literal, quote
from fluid_build.sources.text_values.canonical_text import canonical_number
from fluid_build.sources.text_values.conventions import DATE_FORMATS, Conventions
from fluid_build.sources.text_values.exact_numbers import are_codes_sql, are_unevenly_spaced_sql
from fluid_build.sources.text_values.text_classes import DUMPED_NULL, NULL_WORDS, SPACES
from fluid_build.text import noun
from fluid_build.transform.plan.execution import build_failure

_COLUMNS_A_QUERY = 200
"""Columns checked in one query: DuckDB takes time to plan thousands of expressions at once."""

_OPEN_NUMBER = "[1-9][0-9]{0,2}[.,][0-9]{3}"
_FIRST_TO_LAST_DIGIT = "[.,]?[0-9](?:.*[0-9])?[.,]?"
_BLANK_OR_SIGN = "[-+\u2212\u2013()% \t\u00a0\u202f]"
_AROUND_A_NUMBER = "(?:[$€£¥₹₽₺₩₪₫₴₦฿]|R\\$|[A-Z]{3}|z\u0142|K\u010d|kr[.]?|Fr[.]|Rs[.]?)?"
"""What may be left of a text without its digits, blanks and signs: a currency."""
_AROUND_EVIDENCE = "(?:[$€£¥]|EUR|USD|GBP|CHF)?"
_ONE_READING = {
    mark: f"(?:0|[1-9][0-9]{{0,11}}|[1-9][0-9]{{0,2}}([{group}][0-9]{{3}}){{1,3}})[{mark}]"
    "[0-9]{1,2}"
    for mark, group in ((".", ","), (",", "."))
}
"""Numbers that can't be meant by the other decimal mark, whatever the column they're in."""
_SHORT = 40
"""Bytes that no number with a currency has; longer text isn't taken apart."""
_NUMBERS_CLEARLY, _DATES_CLEARLY = 9, 1 / 9
"""So many values must allow one reading for each that allows two, where another column of the file
has the other convention. Three dates in five allow one, if days aren't chosen."""
_NUMBERS = ("BIGINT", "DOUBLE")
_WHAT = {
    "title": "above the table",
    "units": "units",
    "header": "the header again",
    "subtotal": "a subtotal",
    "total": "a total",
    "note": "a note below the table",
    "blank": "blank below the table",
}


class TextProof(ModelPart):
    """A table as it was read, compared with the text of its files.

    ``differing`` are columns whose values aren't what their text says, ``unsettled`` those whose
    text has a second possible reading. ``rows`` and ``lines`` count what was read and what the
    files have. ``left_out`` says which lines aren't rows, each in a phrase.
    """

    rows: int
    lines: int
    differing: tuple[str, ...] = ()
    unsettled: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether every value is what its text says, and could be nothing else."""
        return self.rows == self.lines and not self.differing and not self.unsettled


def prove_text(source: Source, table: Table) -> TextProof | None:
    """Check a table against the text of its files; None where it wasn't read from delimited text.

    Raises SourceChangedError where the files can't be read again, and BuildFailedError where
    memory or disk isn't enough.
    """
    origin = table.origin
    if not isinstance(origin, InFiles) or origin.format != "csv":
        return None
    names = [column.name for column in table.columns]
    try:
        with (
            tempfile.TemporaryDirectory(prefix="fluid-") as folder,
            text_again(source.connection, origin, names, Path(folder)) as relation,
        ):
            return _compared(source, table, relation, origin)
    except duckdb.InterruptException:
        raise
    except duckdb.OutOfMemoryException as error:
        what = f"The files of {table.name!r} couldn't be compared"
        raise build_failure(source.connection, what, error) from error
    except (*DUCKDB_ERRORS, *READ_ERRORS, ValueError) as error:
        paths = [path for part in origin.parts for path in part.paths]
        raise SourceChangedError(
            f"The files of {table.name!r} couldn't be read again: {reason(error, *paths)}",
            hint="Try again when no program is writing to them.",
        ) from None


def _compared(source: Source, table: Table, relation: str, origin: InFiles) -> TextProof:
    pairs = [_Pair(f"c{i}", column) for i, column in enumerate(table.columns)]
    connection = source.connection
    differing: list[str] = []
    rows = lines = 0
    for start in range(0, len(pairs), _COLUMNS_A_QUERY):
        some = pairs[start : start + _COLUMNS_A_QUERY]
        lines, *spelled = _hashes(connection, *_spelled(relation, some))
        rows, *read = _hashes(connection, table.relation, ", ".join(pair.read for pair in some))
        if spelled != read:
            differing += _differing(connection, relation, table.relation, some)
        differing += _codes(connection, relation, some)
    return TextProof(
        rows=rows,
        lines=lines,
        differing=tuple(dict.fromkeys(differing)),
        unsettled=tuple(_unsettled(connection, relation, pairs, source.conventions)),
        left_out=tuple(_left_out(origin)),
    )


@dataclass(frozen=True, slots=True)
class _Pair:
    """A column of text, and what it was read as."""

    text: str
    column: Column

    @property
    def present(self) -> str:
        """The text; null where it's a word for a missing value."""
        if self.column.type == "VARCHAR":
            return f"nullif({self.text}, {literal(DUMPED_NULL)})"
        words = ", ".join(literal(word) for word in NULL_WORDS)
        return f"(CASE WHEN {self.text} NOT IN ({words}) THEN {self.text} END)"

    @property
    def said(self) -> str:
        """What the text says by the convention of the column, numbers with a decimal point.

        It's SQL on ``present``, under the name of the text.
        """
        type_, spelling = self.column.type, self.column.spelling
        if type_ == "VARCHAR" or (type_ == "BIGINT" and not spelling):
            # Only digits that DuckDB writes the same way are read as whole numbers.
            return self.text
        if type_ in _NUMBERS:
            return _surrounded_number(self.text, spelling or ".")
        if spelling == MONTH_NAMED:
            return _date_with_name(self.text)
        if spelling:
            return _date(f"trim({self.text})", spelling)
        match type_:
            case "TIMESTAMP" | "TIME":
                return _clock(self.text)
            case "TIMESTAMP WITH TIME ZONE":
                return _moment_in_utc(self.text)
            case "BOOLEAN":
                return f"lower({self.text})"
            case _:
                return self.text

    @property
    def spelled(self) -> str:
        """What compares with ``read``: SQL on ``said``, under the name of the text."""
        return canonical_number(self.text) if self.column.type == "DOUBLE" else self.text

    @property
    def read(self) -> str:
        """The value as it was read, in a form that compares with ``spelled``."""
        name = quote(self.column.alias)
        if self.column.type == "VARCHAR":
            return f"nullif({name}, {literal(DUMPED_NULL)})"
        if self.column.type == "DOUBLE":
            return canonical_number(f"CAST({name} AS VARCHAR)")
        if self.column.type == "TIMESTAMP WITH TIME ZONE":
            return f"CAST(timezone('UTC', {name}) AS VARCHAR)"
        return f"CAST({name} AS VARCHAR)"


def _spelled(relation: str, pairs: Sequence[_Pair]) -> tuple[str, str]:
    """Return a relation, and the values of some columns that their text says.

    Each step has its own query, so that no step repeats the SQL of the one before it.
    """
    present = ", ".join(f"{pair.present} AS {pair.text}" for pair in pairs)
    said = ", ".join(f"{pair.said} AS {pair.text}" for pair in pairs)
    relation = f"(SELECT {said} FROM (SELECT {present} FROM {relation}))"
    return relation, ", ".join(pair.spelled for pair in pairs)


def _surrounded_number(text: str, mark: str) -> str:
    """Return a number that may have a currency, a percent sign or its minus sign around it.

    The number is what stands from the first digit to the last.
    """
    core = _core(text)
    is_negative = (
        f"regexp_matches({text}, '^[^0-9]*[-\u2212\u2013(]') OR"
        f" regexp_matches({text}, '[-\u2212\u2013][^0-9]*$')"
    )
    signed = f"concat(CASE WHEN {is_negative} THEN '-' ELSE '' END, {core})"
    return (
        f"CASE WHEN regexp_full_match({text}, '-?[0-9.,]*([eE][-+]?[0-9]+)?')"
        f" THEN {_number(text, mark)}"
        f" WHEN {_has_only(text, core, _AROUND_A_NUMBER)} THEN {_number(signed, mark)} END"
    )


def _core(text: str) -> str:
    """Return what stands from the first digit to the last, with marks on its outside."""
    # The point of Rs.500 is of the currency.
    bare = f"regexp_replace({text}, '(kr|Fr|Rs)[.]', '\\1')"
    return f"regexp_extract({bare}, {literal(_FIRST_TO_LAST_DIGIT)})"


def _has_only(text: str, core: str, around: str) -> str:
    """Return whether nothing but blanks, signs and a pattern is around the core of a text."""
    outside = f"regexp_replace(replace({text}, {core}, ''), {literal(_BLANK_OR_SIGN)}, '', 'g')"
    return f"regexp_full_match({outside}, {literal(around)})"


def _number(text: str, mark: str) -> str:
    """Return a number with a decimal point and no groups; null where a mark is out of place."""
    groups = SPACES + ("," if mark == "." else ".")
    lakhs = "|[0-9]{1,2}(,[0-9]{2})+,[0-9]{3}" if mark == "." else ""
    whole = f"([0-9]{{1,3}}([{groups}][0-9]{{3}})+{lakhs}|[0-9]*)"
    pattern = f"-?{whole}([{mark}][0-9]*)?([eE][-+]?[0-9]+)?"
    # Most numbers have no groups; for them this takes a quarter of the time.
    plain = f"-?(?:[0-9]+[{mark}]?[0-9]*|[{mark}][0-9]+)"
    bare = f"translate({text}, {literal(groups)}, '')"

    def pointed(number: str) -> str:
        return number if mark == "." else f"replace({number}, {literal(mark)}, '.')"

    return (
        f"CASE WHEN regexp_full_match({text}, {literal(plain)}) THEN {pointed(text)}"
        f" WHEN regexp_full_match({text}, {literal(pattern)}) THEN {pointed(bare)} END"
    )


def _date(text: str, format_: str) -> str:
    """Return a date composed of its parts, in ISO format."""
    mark = format_[2]
    place = {letter: i + 1 for i, letter in enumerate(format_.replace("%", "").split(mark))}

    def part(letter: str) -> str:
        return f"split_part({text}, {literal(mark)}, {place[letter]})"

    composed = (
        f"{part('Y')} || '-' || lpad({part('m')}, 2, '0') || '-' || lpad({part('d')}, 2, '0')"
    )
    if mark == "-":
        return composed
    # A date in ISO's format may be among those of another one, and can't be taken for them.
    return f"CASE WHEN {text}[5] = '-' THEN {text} ELSE {composed} END"


def _clock(text: str) -> str:
    """Return a time, with or without a date, as DuckDB writes it; a date alone at midnight."""
    parted = f"replace({text}, 'T', ' ')"
    fraction = f"regexp_replace({parted}, '[.]0*$|([.][0-9]*[1-9])0+$', '\\1')"
    return (
        f"CASE strlen({text}) WHEN 8 THEN {text} WHEN 19 THEN {parted}"
        f" WHEN 10 THEN CASE WHEN contains({text}, ':') THEN {fraction}"
        f" ELSE concat({text}, ' 00:00:00') END"
        f" WHEN 5 THEN concat({text}, ':00') WHEN 16 THEN concat({parted}, ':00')"
        f" ELSE {fraction} END"
    )


def _moment_in_utc(text: str) -> str:
    """Return a date and time in UTC: what stands before the offset, less the offset."""
    local = f"regexp_replace({text}, ' *(Z|[-+][0-9:]*)$', '')"
    offset = f"regexp_extract({text}, '[-+][0-9:]*$')"
    ahead = f"CAST(concat('0', {offset}[2:3]) AS INTEGER) * 60"
    minutes = f"{ahead} + CAST(concat('0', right(replace({offset}, ':', ''), -3)) AS INTEGER)"
    sign = f"CASE WHEN {offset}[1] = '-' THEN -1 ELSE 1 END"
    moment = f"CAST({_clock(local)} AS TIMESTAMP)"
    return f"CAST({moment} - to_minutes({sign} * ({minutes})) AS VARCHAR)"


_LANGUAGES = ("de", "de_AT", "en", "fr", "es", "it", "pt", "nl")


def _date_with_name(text: str) -> str:
    """Return a date composed of its numbers and the name of a month, as CLDR has the names."""
    from babel.dates import get_month_names

    widths: tuple[Literal["wide"], Literal["abbreviated"]] = ("wide", "abbreviated")
    contexts: tuple[Literal["format"], Literal["stand-alone"]] = ("format", "stand-alone")
    numbers = {
        name.lower().rstrip("."): number
        for language in _LANGUAGES
        for width in widths
        for context in contexts
        for number, name in get_month_names(width, context, language).items()
    }
    numbers |= {"mrz": 3, "m\u00e4r": 3}
    arms = " ".join(f"WHEN {literal(name)} THEN '{n:02}'" for name, n in numbers.items())
    others = "[0-9]+(?:st|nd|rd|th|er)?\\b|[^\\p{L} ]|\\bde\\b"
    name = f"trim(regexp_replace(lower({text}), {literal(others)}, ' ', 'g'))"
    parts = f"regexp_extract_all({text}, '[0-9]+')"
    return f"{parts}[2] || '-' || CASE {name} {arms} END || '-' || lpad({parts}[1], 2, '0')"


def _hashes(connection: duckdb.DuckDBPyConnection, relation: str, values: str) -> list[int]:
    """Return how many rows there are, and the sum of the hashes of some values of each."""
    row = connection.execute(
        f"SELECT count(*), coalesce(sum(CAST(hash({values}) AS HUGEINT)), 0) FROM {relation}"
    ).fetchone()
    return [int(figure) for figure in row or ()]


def _differing(
    connection: duckdb.DuckDBPyConnection, text: str, table: str, pairs: Sequence[_Pair]
) -> list[str]:
    """Return the columns whose values differ; all of them where only the rows differ."""
    columns = [
        pair.column.name
        for pair in pairs
        if _hashes(connection, *_spelled(text, [pair])) != _hashes(connection, table, pair.read)
    ]
    return columns or [pair.column.name for pair in pairs]


def _codes(
    connection: duckdb.DuckDBPyConnection, relation: str, pairs: Sequence[_Pair]
) -> list[str]:
    """Return the columns that were read as numbers or truths although their text is codes."""
    questions = {pair.column.name: question for pair in pairs if (question := _are_codes_sql(pair))}
    if not questions:
        return []
    row = connection.execute(f"SELECT {', '.join(questions.values())} FROM {relation}").fetchone()
    return [name for name, are_codes in zip(questions, row or (), strict=True) if are_codes]


def _are_codes_sql(pair: _Pair) -> str:
    """Return an SQL aggregate: whether a column's text is codes; "" where its type says it isn't.

    Numbers with something around them are no codes, nor are those whose thousands are all parted.
    """
    if pair.column.type == "BOOLEAN":
        # A word without its opposite may say anything.
        return f"count(DISTINCT lower({pair.present})) = 1"
    # Blanks around a number part no thousands.
    spaced = are_unevenly_spaced_sql(_core(pair.present)) if pair.column.spelling else "FALSE"
    if pair.column.type == "BIGINT":
        return spaced if pair.column.spelling else ""
    if pair.column.type != "DOUBLE":
        return ""
    mark = pair.column.spelling or "."
    plain = f"-?[0-9]*[{mark}]?[0-9]*(?:[eE][-+]?[0-9]+)?"
    text = pair.present
    is_plain = f"regexp_full_match({text}, {literal(plain)})"
    return f"({are_codes_sql(f'(CASE WHEN {is_plain} THEN {text} END)', mark)} OR {spaced})"


def _unsettled(
    connection: duckdb.DuckDBPyConnection,
    relation: str,
    pairs: Sequence[_Pair],
    answers: Conventions,
) -> Iterator[str]:
    """Return the columns whose values have a second reading that nothing rules out."""
    spelled = [pair for pair in pairs if pair.column.spelling in _RIVALS]
    if not spelled:
        return
    figures = dict(zip(spelled, _counts(connection, relation, map(_tests, spelled)), strict=True))
    answered = {answers.decimal, *DATE_FORMATS.get(answers.date_order or "", ())}
    open_ = [pair for pair in spelled if figures[pair][0] and pair.column.spelling not in answered]
    by_others = any(not figures[pair][1] for pair in open_)
    in_text = _marks_in_text(connection, relation, pairs) if by_others else set()
    for pair in open_:
        spelling = pair.column.spelling
        fits_both, settling = figures[pair]
        settled = {
            other.column.spelling for other in spelled if other is not pair and figures[other][1]
        }
        rivals = _RIVALS[spelling] - {spelling}
        if settling:
            clearly = _NUMBERS_CLEARLY if spelling in (".", ",") else _DATES_CLEARLY
            is_unsettled = bool(settled & rivals) and settling < clearly * fits_both
        else:
            is_unsettled = spelling not in settled or bool((settled | in_text) & rivals)
        if is_unsettled:
            yield pair.column.name


def _counts(
    connection: duckdb.DuckDBPyConnection, relation: str, conditions: Iterable[tuple[str, str]]
) -> list[tuple[int, int]]:
    """Return how many rows meet each condition of some pairs."""
    counts = ", ".join(f"count_if({first}), count_if({second})" for first, second in conditions)
    row = connection.execute(f"SELECT {counts} FROM {relation}").fetchone() or ()
    return list(zip(row[::2], row[1::2], strict=True))


def _marks_in_text(
    connection: duckdb.DuckDBPyConnection, relation: str, pairs: Sequence[_Pair]
) -> set[str]:
    """Return the decimal marks that numbers in columns of text can't be without."""
    texts = [pair.present for pair in pairs if pair.column.type == "VARCHAR"]
    counts = _counts(connection, relation, map(_evident_marks, texts)) if texts else []
    return {
        mark for of_a_text in counts for mark, count in zip(".,", of_a_text, strict=True) if count
    }


def _evident_marks(text: str) -> tuple[str, str]:
    core = f"regexp_extract({text}, {literal(_FIRST_TO_LAST_DIGIT)})"
    alone = _has_only(text, core, _AROUND_EVIDENCE)
    point, comma = (
        f"strlen({text}) < {_SHORT} AND regexp_full_match({core}, {literal(_ONE_READING[mark])})"
        f" AND {alone}"
        for mark in ".,"
    )
    return point, comma


_RIVALS: Mapping[str, Set[str]] = {
    **{mark: {".", ","} for mark in ".,"},
    **{one: set(pair) for pair in zip(*DATE_FORMATS.values(), strict=True) for one in pair},
}
"""By the convention that a text is read by, those that it may follow too."""


def _tests(pair: _Pair) -> tuple[str, str]:
    """Return conditions: the text fits another convention too; it only fits this one."""
    text, spelling = pair.present, pair.column.spelling
    if spelling in (".", ","):
        core = f"regexp_extract({text}, {literal(_FIRST_TO_LAST_DIGIT)})"
        marked = f"regexp_matches({core}, '[.,]')"
        either = f"regexp_full_match({core}, {literal(_OPEN_NUMBER)})"
        return either, f"{marked} AND NOT {either}"
    late = [
        f"TRY_CAST(split_part(trim({text}), {literal(spelling[2])}, {part}) AS INTEGER) > 12"
        for part in (1, 2)
    ]
    return f"NOT ({' OR '.join(late)})", " OR ".join(late)


def _left_out(origin: InFiles) -> Iterator[str]:
    lines: dict[tuple[str, str], list[int]] = {}
    for left_out in origin.left_out:
        lines.setdefault((left_out.file, _WHAT[left_out.what]), []).append(left_out.line)
    for (file, what), numbers in lines.items():
        yield f"{file} {noun(len(numbers), 'line')} {spans(numbers)} ({what})"
