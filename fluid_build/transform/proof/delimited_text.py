"""Tables of delimited text held against their files, which are read a second time as bare text.

What was built is compared with the source as we read it; a wrong reading would pass on both sides.
So each value as read is compared with its text, by a way of its own: a number by its digits and
the place of its decimal mark, a date by its parts. A reading that is one of two possible ones
must be settled: by another column, or by the user's answer.
"""

import tempfile
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path

import duckdb

from fluid_build.errors import SourceChangedError
from fluid_build.modeling.element import ModelPart
from fluid_build.sources.base import Column, Source, Table
from fluid_build.sources.conventions import DATE_FORMATS, Conventions
from fluid_build.sources.delimited.files import READ_ERRORS, text_again
from fluid_build.sources.delimited.tail import spans
from fluid_build.sources.engine import DUCKDB_ERRORS, reason
from fluid_build.sources.origin import InFiles
from fluid_build.sources.sql import literal, quote
from fluid_build.sources.text_classes import DUMPED_NULL, NULL_WORDS, SPACES
from fluid_build.text import noun

_COLUMNS_A_QUERY = 200
_OPEN_NUMBER = "-?[1-9][0-9]{0,2}[.,][0-9]{3}"
_NUMBERS = ("BIGINT", "DOUBLE")
_WHAT = {
    "title": "above the table",
    "total": "a total",
    "note": "a note below the table",
    "blank": "blank below the table",
}


class TextProof(ModelPart):
    """A table as it was read, beside the text of its files.

    ``differing`` are columns whose values aren't those that the text spells, ``unsettled`` those
    whose text has a second reading that nothing rules out. ``rows`` and ``lines`` count what was
    read and what the files hold. ``left_out`` says which lines are no rows, each in a phrase.
    """

    rows: int
    lines: int
    differing: tuple[str, ...] = ()
    unsettled: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether every value is what its text spells, and could be nothing else."""
        return self.rows == self.lines and not self.differing and not self.unsettled


def prove_text(source: Source, table: Table) -> TextProof | None:
    """Hold a table against the text of its files; None where it wasn't read from delimited text.

    Raises SourceChangedError where the files can't be read any more as they were.
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
    except (*DUCKDB_ERRORS, *READ_ERRORS, ValueError) as error:
        paths = [path for part in origin.parts for path in part.paths]
        raise SourceChangedError(
            f"The files of {table.name!r} could not be read a second time: {reason(error, *paths)}",
            hint="Run it again once nobody writes to them.",
        ) from None


def _compared(source: Source, table: Table, relation: str, origin: InFiles) -> TextProof:
    pairs = [_Pair(f"c{i}", column) for i, column in enumerate(table.columns)]
    connection = source.connection
    differing: list[str] = []
    rows = lines = 0
    for start in range(0, len(pairs), _COLUMNS_A_QUERY):
        some = pairs[start : start + _COLUMNS_A_QUERY]
        lines, *spelled = _hashes(connection, relation, ", ".join(one.spelled for one in some))
        rows, *read = _hashes(connection, table.relation, ", ".join(one.read for one in some))
        if spelled != read:
            differing += _differing(connection, relation, table.relation, some)
    return TextProof(
        rows=rows,
        lines=lines,
        differing=tuple(differing),
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
        """The text, but for a word that stands for no value."""
        words = ", ".join(literal(word) for word in NULL_WORDS)
        return f"(CASE WHEN {self.text} NOT IN ({words}) THEN {self.text} END)"

    @property
    def spelled(self) -> str:
        """The value that the text spells, by the convention that the column states."""
        type_, spelling = self.column.type, self.column.spelling
        if type_ == "VARCHAR":
            return f"nullif({self.text}, {literal(DUMPED_NULL)})"
        if type_ == "BIGINT" and not spelling:
            # Only digits as DuckDB writes them are read so.
            return self.present
        if type_ in _NUMBERS:
            return _number(self.present, type_, spelling or ".")
        if spelling:
            return _date(self.present, spelling)
        return f"TRY_CAST({self.present} AS {type_})"

    @property
    def read(self) -> str:
        """The value as it was read, in a form to be compared with ``spelled``."""
        name = quote(self.column.alias)
        if self.column.type == "VARCHAR":
            return f"nullif({name}, {literal(DUMPED_NULL)})"
        if self.column.type == "DOUBLE":
            # -0.0 is written -0 as often as 0.
            return f"{name} + 0.0"
        as_text = self.column.spelling.startswith("%")
        as_text |= self.column.type == "BIGINT" and not self.column.spelling
        return f"CAST({name} AS VARCHAR)" if as_text else name


def _number(text: str, type_: str, mark: str) -> str:
    """A number put together from its digits; null where marks stand where they may not."""
    groups = SPACES + ("," if mark == "." else ".")
    whole = f"([0-9]{{1,3}}([{groups}][0-9]{{3}})+|[0-9]*)"
    sign = f"CASE WHEN starts_with({text}, '-') THEN '-' ELSE '' END"
    if type_ == "BIGINT":
        digits = f"translate({text}, {literal('-' + groups)}, '')"
        value = f"TRY_CAST(concat({sign}, {digits}) AS BIGINT)"
        return f"CASE WHEN regexp_full_match({text}, {literal(f'-?{whole}')}) THEN {value} END"
    pattern = f"-?{whole}([{mark}][0-9]*)?([eE][-+]?[0-9]+)?"
    parted = f"replace({text}, 'E', 'e')"
    bare = f"split_part({parted}, 'e', 1)"
    power = f"coalesce(TRY_CAST(nullif(split_part({parted}, 'e', 2), '') AS INTEGER), 0)"
    digits = f"translate({bare}, {literal('-' + groups + mark)}, '')"
    decimals = f"length(split_part({bare}, {literal(mark)}, 2))"
    value = f"TRY_CAST(concat({sign}, {digits}, 'e', {power} - {decimals}) AS DOUBLE) + 0.0"
    # Most numbers have neither groups nor an exponent, and take a quarter of the time.
    plain = f"-?[0-9]*[{mark}]?[0-9]*"
    bare_value = (
        f"TRY_CAST(concat(replace({text}, {literal(mark)}, ''), 'e-',"
        f" length(split_part({text}, {literal(mark)}, 2))) AS DOUBLE) + 0.0"
    )
    return (
        f"CASE WHEN regexp_full_match({text}, {literal(plain)}) THEN {bare_value}"
        f" WHEN regexp_full_match({text}, {literal(pattern)}) THEN {value} END"
    )


def _date(text: str, format_: str) -> str:
    """A date put together from its parts, as ISO spells it."""
    mark = format_[2]
    place = {letter: i + 1 for i, letter in enumerate(format_.replace("%", "").split(mark))}

    def part(letter: str) -> str:
        return f"split_part({text}, {literal(mark)}, {place[letter]})"

    return f"{part('Y')} || '-' || lpad({part('m')}, 2, '0') || '-' || lpad({part('d')}, 2, '0')"


def _hashes(connection: duckdb.DuckDBPyConnection, relation: str, values: str) -> list[int]:
    """How many rows there are, and the sum of the hashes of some values of each."""
    row = connection.execute(
        f"SELECT count(*), coalesce(sum(CAST(hash({values}) AS HUGEINT)), 0) FROM {relation}"
    ).fetchone()
    return [int(figure) for figure in row or ()]


def _differing(
    connection: duckdb.DuckDBPyConnection, text: str, table: str, pairs: Sequence[_Pair]
) -> list[str]:
    """The columns whose values differ; all, where only their rows do."""
    found = [
        one.column.name
        for one in pairs
        if _hashes(connection, text, one.spelled) != _hashes(connection, table, one.read)
    ]
    return found or [one.column.name for one in pairs]


def _unsettled(
    connection: duckdb.DuckDBPyConnection,
    relation: str,
    pairs: Sequence[_Pair],
    answers: Conventions,
) -> Iterator[str]:
    """Columns whose every value has a second reading that nothing rules out."""
    spelled = [one for one in pairs if one.column.spelling in _RIVALS]
    if not spelled:
        return
    asked = ", ".join(f"count_if({fits}), count_if({only})" for fits, only in map(_tests, spelled))
    row = connection.execute(f"SELECT {asked} FROM {relation}").fetchone() or ()
    figures = dict(zip(spelled, zip(row[::2], row[1::2], strict=True), strict=True))
    settled = {one.column.spelling for one in spelled if figures[one][1]}
    answered = {answers.decimal, *DATE_FORMATS.get(answers.date_order or "", ())}
    for one in spelled:
        stated = one.column.spelling
        fits_both, settling = figures[one]
        others = settled & _RIVALS[stated] - {stated}
        if not fits_both or settling or stated in answered:
            continue
        if stated not in settled or others:
            yield one.column.name


_RIVALS: Mapping[str, Set[str]] = {
    **{mark: {".", ","} for mark in ".,"},
    **{one: set(pair) for pair in zip(*DATE_FORMATS.values(), strict=True) for one in pair},
}
"""The spellings that a text may follow as well, by the one that it is read by."""


def _tests(one: _Pair) -> tuple[str, str]:
    """Whether a text could be read by another convention too, and whether it settles this one."""
    text, spelling = one.present, one.column.spelling
    if spelling in (".", ","):
        marked = f"regexp_matches({text}, '[.,]')"
        either = f"regexp_full_match({text}, {literal(_OPEN_NUMBER)})"
        return either, f"{marked} AND NOT {either}"
    late = [
        f"TRY_CAST(split_part({text}, {literal(spelling[2])}, {part}) AS INTEGER) > 12"
        for part in (1, 2)
    ]
    return f"NOT ({' OR '.join(late)})", " OR ".join(late)


def _left_out(origin: InFiles) -> Iterator[str]:
    lines: dict[tuple[str, str], list[int]] = {}
    for one in origin.left_out:
        lines.setdefault((one.file, _WHAT[one.what]), []).append(one.line)
    for (file, what), found in lines.items():
        yield f"{file} {noun(len(found), 'line')} {spans(found)} ({what})"
