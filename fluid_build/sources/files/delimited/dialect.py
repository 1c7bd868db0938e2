"""How a delimited text file is written: its delimiter, quoting, and header."""

import csv
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

_DELIMITERS = (",", "\t", ";", "|", "\x1f", "\x01", "^", "~")
_NO_DELIMITER = "\x1f"
# A sample is split by a delimiter if so many of its records have the same number of fields, or so
# many have any delimiter at all: ragged files are still tables.
_LEAST_AGREEMENT = 0.6
_ALMOST_ALL = 0.95
_NUMBER = re.compile(
    r"[(]?[-+]?[$€£]?[ ]?[0-9][0-9.,]*(?:[eE][-+]?[0-9]+)?"
    r"(?:[ ]?(?:%|[€$£]|EUR|USD|GBP|CHF))?[)]?-?"
)
_DATE = re.compile(r"[0-9]{1,4}[-/.][0-9]{1,2}[-/.][0-9]{1,4}([ T][0-9:.,Z+-]*)?")
# Where quotes are doubled, a backslashed one is followed by its twin or by the field's end.
_BACKSLASHED = re.compile(r"""\\"(?!["\s,;|^~\x1f\x01]|$)""")
_DECIMAL_COMMA = re.compile(r"[0-9],[0-9]")
_WITH_COMMA = re.compile(r"-?[0-9.]*[0-9](,[0-9]+)?")
_PARTING_COMMA = re.compile(r"(?<![0-9]),|,(?![0-9])")
# Excel's way of naming the delimiter; a tab may be spelled out.
_SEPARATOR_LINE = re.compile(r"\"?sep=([^\w\s\"]|\t)\"?[ ]*(?:\r\n|\n|\r|\Z)", re.IGNORECASE)
# More lines of a single field than these aren't titles and notes; they are the table.
_MOST_TITLES = 30
_MOST_NOTES = 10
_WORDS = ("true", "false", "null", "na", "n/a", "nan", "\\n")
# A cell of these in a first row without names says only that its value is missing.
_MISSING = ("unknown", "missing", "none", "-", "--", "?", ".", "#n/a")
_YEAR = re.compile(r"(?:19|20)[0-9]{2}")

# Sampled fields may be long; the module's default of 128 KB would refuse them.
csv.field_size_limit(1 << 30)


@dataclass(frozen=True, slots=True)
class Dialect:
    """``names`` has one entry a column, empty where there is no name for it.

    ``preamble`` is how many lines stand before the header (or the data, if ``header`` is False);
    ``declared`` says that the first of them, such as ``sep=;``, names the delimiter, and ``groups``
    how many of the last of them are part of the header. ``unheaded`` columns, the last ones, have
    no cell in the header at all. ``overlong`` is the share of the sample's rows that have more
    values than there are columns. ``undivided`` is what else would part the lines of a single
    column, if its name were a title.
    """

    delimiter: str
    escape: str
    header: bool
    preamble: int
    names: tuple[str, ...]
    declared: bool = False
    groups: int = 0
    unheaded: int = 0
    overlong: float = 0.0
    undivided: str = ""


def sniff(sample: str, *, complete: bool) -> Dialect | None:
    """Return the dialect of a sample from a file's start; None where the sample holds nothing.

    ``complete`` says that the sample is the whole file; otherwise its last record is not trusted.
    """
    sample = sample.removeprefix("\ufeff")
    declared = _SEPARATOR_LINE.match(sample)
    if declared:
        return _declared(sample[declared.end() :], declared[1], complete=complete)
    if not sample.strip():
        return None
    readings = [
        reading
        for rank, delimiter in enumerate(_DELIMITERS)
        if delimiter in sample
        for escape in ('"', "\\")
        if escape == '"' or _BACKSLASHED.search(sample)
        if (reading := _split(sample, rank, delimiter, escape, complete=complete)).is_plausible
    ]
    if not readings or _is_one_column(sample, readings):
        return _single_column(sample)
    best = max(_without_decimal_comma(sample, readings), key=lambda reading: reading.merit)
    if _may_be_text_below_its_name(best):
        return replace(_single_column(sample), undivided=best.delimiter)
    return _with_header(best.records, best.width, best.delimiter, best.escape)


def _declared(sample: str, delimiter: str, *, complete: bool) -> Dialect | None:
    """Return the dialect of what follows the line that names the delimiter."""
    if not sample.strip():
        return None
    escapes = ('"', "\\") if _BACKSLASHED.search(sample) else ('"',)
    best = max(
        (_split(sample, 0, delimiter, escape, complete=complete) for escape in escapes),
        key=lambda reading: reading.merit,
    )
    dialect = _with_header(best.records, best.width, delimiter, best.escape)
    return replace(dialect, preamble=dialect.preamble + 1, declared=True)


def _is_one_column(sample: str, readings: Sequence["_Split"]) -> bool:
    """Say whether only commas split lines, and every line below a single name is a number."""
    first, *below = [line.strip() for line in _lines(sample) if line.strip()]
    only_commas = all(reading.delimiter == "," for reading in readings)
    return only_commas and "," not in first and all(map(_WITH_COMMA.fullmatch, below))


def _may_be_text_below_its_name(reading: "_Split") -> bool:
    """Say whether a title right above a table may as well be the name of a column of text.

    ``address`` over ``Main Street 1, Berlin`` would lose its name, and its first value would name
    columns. Read as one column, the lines of a table with a title lose nothing.
    """
    records = reading.records
    start = table_start(records, reading.width)
    title = records[0][0].strip() if len(records[0]) == 1 else ""
    if start.titles != 1 or start.rows > 1 or is_value(title) or title[:1] in ("", "#"):
        return False
    first, *below = [record for record in records[1:] if record]
    return not any(
        _are_values(column) and (not start.header or not is_value(first[i].strip()))
        for i, column in enumerate(_columns(below if start.header else [first, *below], len(first)))
    )


def _columns(records: Sequence[Sequence[str]], width: int) -> list[list[str]]:
    """Return what stands in each column of some records, blank cells left out."""
    return [
        [row[i].strip() for row in records[:200] if i < len(row) and row[i].strip()]
        for i in range(width)
    ]


def _are_values(column: Sequence[str]) -> bool:
    return bool(column) and all(map(is_value, column))


def _without_decimal_comma(sample: str, readings: Sequence["_Split"]) -> Sequence["_Split"]:
    """Leave out the readings by comma where commas are decimal marks: only between digits, with
    another delimiter that splits the lines as well.
    """
    by_comma = [reading for reading in readings if reading.delimiter == ","]
    by_another = [reading for reading in readings if reading.delimiter != ","]
    if not by_comma or not by_another or not _DECIMAL_COMMA.search(sample):
        return readings
    comma, another = (max(r.usual for r in group) for group in (by_comma, by_another))
    is_decimal = another >= comma and not _PARTING_COMMA.search(sample)
    return by_another if is_decimal else readings


@dataclass(frozen=True, slots=True)
class _Split:
    """A sample read with one delimiter: the usual width of its records, and how usual it is.

    Between titles and notes ``agreement`` is the share of records of that width, and ``parted`` of
    those with any delimiter; ``usual`` is the former with titles and notes. ``well_quoted`` is the
    share of those in which quotes end where fields do, if backslashes leave a doubt.
    """

    delimiter: str
    escape: str
    rank: int
    records: Sequence[Sequence[str]]
    width: int
    agreement: float
    parted: float
    usual: float
    well_quoted: float

    @property
    def is_plausible(self) -> bool:
        enough = self.agreement >= _LEAST_AGREEMENT or self.parted >= _ALMOST_ALL
        return self.width > 1 and enough

    @property
    def merit(self) -> tuple[float, int, float, bool, int]:
        usual = round(self.usual, 3)
        return usual, self.width, self.well_quoted, self.escape == '"', -self.rank


def _split(sample: str, rank: int, delimiter: str, escape: str, *, complete: bool) -> _Split:
    records = list(records_of(sample, delimiter, escape))
    if not complete and len(records) > 1:
        records.pop()
    full = [record for record in records if record]
    table = _without_titles(full)
    agreement, width = _agreement(table)
    parted = sum(len(record) > 1 for record in table) / len(table) if table else 0.0
    usual = sum(len(record) == width for record in full) / len(full) if full else 0.0
    well_quoted = _well_quoted(sample, delimiter, escape) if _BACKSLASHED.search(sample) else 1.0
    return _Split(delimiter, escape, rank, records, width, agreement, parted, usual, well_quoted)


def _well_quoted(sample: str, delimiter: str, escape: str) -> float:
    """Return the share of a sample's records in which no quote ends before its field does."""
    records = _reader(sample, delimiter, escape, strict=True)
    good = bad = 0
    while True:
        try:
            if next(records, None) is None:
                return good / max(1, good + bad)
            good += 1
        except csv.Error:
            bad += 1


def agreement_of(sample: str, dialect: Dialect) -> float:
    """Return the share of a sample's records that have the dialect's number of fields."""
    records = records_of(sample, dialect.delimiter, dialect.escape)
    table = _without_titles([record for record in records if record])
    fitting = sum(len(record) == len(dialect.names) for record in table)
    return fitting / len(table) if table else 0.0


def _without_titles(records: Sequence[Sequence[str]]) -> Sequence[Sequence[str]]:
    """Leave out the few records of one field before the first full record and after the last."""
    full = [i for i, record in enumerate(records) if len(record) > 1]
    if len(full) < 2 or full[0] > _MOST_TITLES or len(records) - full[-1] > _MOST_NOTES:
        return records
    return records[full[0] : full[-1] + 1]


def records_of(text: str, delimiter: str, escape: str) -> Iterator[list[str]]:
    """Return the records of a text, each a list of fields; a blank line is an empty list."""
    return _reader(text, delimiter, escape, strict=False)


def _reader(text: str, delimiter: str, escape: str, *, strict: bool) -> Iterator[list[str]]:
    # str.splitlines would part at U+2028 and others as well, which no writer of CSV means.
    lines = _ENDED_LINE.findall(text)
    if escape == "\\":
        return csv.reader(
            lines, delimiter=delimiter, doublequote=False, escapechar="\\", strict=strict
        )
    return csv.reader(lines, delimiter=delimiter, strict=strict)


def has_blanks_around_quotes(text: str, delimiter: str) -> bool:
    """Return whether blanks stand before or behind a value in quotes, which readers leave out."""
    mark = re.escape(delimiter)
    quoted = '"(?:[^"]|"")*"'
    field = rf"(?:(?P<spaced> +{quoted} *|{quoted} +)(?={mark}|[\r\n]|\Z)|{quoted}|[^{mark}\r\n]*)"
    fields = re.finditer(rf"(?:\A|{mark}|[\r\n]){field}", text)
    return any(match["spaced"] for match in fields)


_ENDED_LINE = re.compile("[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
"""A line with its end, which is part of a value in quotes."""


def _lines(text: str) -> list[str]:
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return lines if lines[-1] else lines[:-1]


def _agreement(records: Sequence[Sequence[str]]) -> tuple[float, int]:
    widths = Counter(len(record) for record in records)
    if not widths:
        return 0.0, 0
    width, times = max(widths.items(), key=lambda item: (item[1], item[0]))
    # Where no two records agree, the header decides.
    return times / widths.total(), width if times > 1 else len(records[0])


def _single_column(sample: str) -> Dialect:
    records = [[line] for line in _lines(sample) if line.strip()]
    return _with_header(records, 1, _NO_DELIMITER, '"')


def _with_header(
    records: Sequence[Sequence[str]], width: int, delimiter: str, escape: str
) -> Dialect:
    start = table_start(records, width)
    # Lines before the table are counted as lines, blank ones included.
    above = records[: start.titles + start.rows - 1]
    lines = sum(max(1, sum(field.count("\n") for field in row) + 1) for row in above)
    headed = len(records[start.titles + start.rows - 1]) if start.header else width
    rows = [row for row in records[start.titles + start.rows :] if row] if start.header else []
    overlong = sum(any(field.strip() for field in row[len(start.names) :]) for row in rows)
    return Dialect(
        delimiter,
        escape,
        start.header,
        lines,
        start.names,
        groups=start.rows - 1,
        unheaded=max(0, width - headed),
        overlong=overlong / len(rows) if rows else 0.0,
    )


@dataclass(frozen=True, slots=True)
class TableStart:
    """Where a table begins: the records above it, whether a header follows, and its names.

    ``names`` has one entry a column, empty where there is no name for it. ``rows`` are those of
    the header: two where groups of columns have a name as well.
    """

    titles: int
    header: bool
    names: tuple[str, ...]
    rows: int = 1


def table_start(records: Sequence[Sequence[str]], width: int) -> TableStart:
    """Return where the table begins among records, at least one of which isn't blank.

    Blank columns say nothing about where that is.
    """
    full = [record for record in records if len(record) > 1]
    used = [i for i in range(width) if any(i < len(row) and row[i].strip() for row in full)]
    if not 1 < len(used) < width:
        return _table_start(records, width)
    dense = [
        [row[i] if i < len(row) else "" for i in used] if len(row) > 1 else row for row in records
    ]
    start = _table_start(dense, len(used))
    named = dict(zip(used, start.names, strict=True))
    return replace(start, names=tuple(named.get(i, "") for i in range(width)))


def _table_start(records: Sequence[Sequence[str]], width: int) -> TableStart:
    titles = _preamble(records, width)
    for row in (titles - 1, titles):
        names = _grouped_names(records, row) if row >= 0 else ()
        if names:
            return TableStart(row, True, names, rows=2)
    rows = [record for record in records[titles:] if record]
    first, below = rows[0], rows[1:]
    if not is_header(first, below):
        return TableStart(titles, False, ("",) * width)
    names_read = [field.strip() for field in first]
    while len(names_read) > width and not names_read[-1]:
        names_read.pop()
    names_read += [""] * (width - len(names_read))
    return TableStart(titles, True, tuple(names_read))


def _grouped_names(records: Sequence[Sequence[str]], row: int) -> tuple[str, ...]:
    """Return the names of a header of two rows; empty where those there aren't one.

    The first row has groups, each over several names of the second: ``2023`` over ``Q1``, ``Q2``.
    """
    if row + 2 >= len(records) or len(records[row]) != len(records[row + 1]):
        return ()
    groups, cells = ([cell.strip() for cell in records[at]] for at in (row, row + 1))
    below = [record for record in records[row + 2 :] if record][:200]
    named = [i for i, cell in enumerate(cells) if cell]
    under_blank = [i for i in named if not groups[i]]
    starts = [i for i in named if groups[i] and i + 1 in under_blank]
    # What stands over all columns is a title.
    if (
        not starts
        or (groups[named[0]] and len(under_blank) == len(named) - 1)
        or any(is_value(cells[i]) and not _YEAR.fullmatch(cells[i]) for i in named)
    ):
        return ()
    columns = [[r[i].strip() for r in below if i < len(r) and r[i].strip()] for i in named]
    if not all(map(_are_values, columns)):
        return ()
    names, group = [], ""
    for i, cell in enumerate(cells):
        group = groups[i] or (group if cell else "")
        names.append(" ".join(filter(None, (group, cell))))
    return tuple(names) if len(set(names)) == len(names) and all(names) else ()


def _preamble(records: Sequence[Sequence[str]], width: int) -> int:
    """Say how many records (titles, dates, blank lines) stand before the table.

    They are those before the first record that names most columns, where they fill but a few cells,
    as a report's title and its particulars do, or have too many or too few fields and are set apart
    by a blank line or a #. Where that first full record doesn't look like a header, only records of
    a single field are titles.
    """
    count = 0
    if records and _filled(records[0]) and not records[0][0].strip():
        # A header may lack the names of its first columns; a title begins at the left.
        return 0
    while count < min(len(records), _MOST_TITLES) and _may_be_title(records[count], width):
        count += 1
    if count and count < len(records) and _fits(records[count], width):
        above, below = records[:count], [row for row in records[count + 1 :] if row]
        if _are_titles(above, width) and is_header(records[count], below):
            return count
    return _single_fields(records, width)


def _are_titles(above: Sequence[Sequence[str]], width: int) -> bool:
    """Say whether records above a header surely belong to no table: bare, sparse, or set apart."""
    if any(_filled(row) == 0 for row in above) or all(len(row) <= 1 for row in above):
        return True
    return width > 2 and all(_is_sparse(row, width) or row[0].startswith("#") for row in above)


def _single_fields(records: Sequence[Sequence[str]], width: int) -> int:
    if width < 3:
        return 0
    count = 0
    while count < len(records) and len(records[count]) <= 1:
        count += 1
    return count if count < len(records) and len(records[count]) >= width else 0


def _may_be_title(record: Sequence[str], width: int) -> bool:
    """Return whether a record is sparse, or has another number of fields than the table."""
    return width > 1 and (_is_sparse(record, width) or len(record) != width)


def _is_sparse(record: Sequence[str], width: int) -> bool:
    """Return whether a record fills at most half of its cells."""
    return _filled(record) <= width // 2


def _fits(record: Sequence[str], width: int) -> bool:
    return len(record) >= width and _filled(record) > width // 2


def _filled(record: Sequence[str]) -> int:
    return sum(bool(cell.strip()) for cell in record)


def is_header(first: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Return whether a record names columns, judged by the records below it."""
    cells = [cell.strip() for cell in first]
    names = [cell for cell in cells if cell]
    if not names:
        return False
    if any(is_value(cell) for cell in names):
        return _has_odd_names(cells, below)
    if not below:
        return len(names) == len(cells)
    # A printed list repeats its header on each page.
    others = [row for row in below if list(row) != list(first)]
    for i in range(len(cells)):
        column = [row[i].strip() for row in others if i < len(row) and row[i].strip()]
        if cells[i] and column and all(is_value(value) for value in column[:200]):
            return True
    if len({cell.lower() for cell in names}) < len(names):
        return False
    # All text: a heading doesn't turn up again among its own column's values.
    return not any(
        cells[i] and any(i < len(row) and row[i].strip() == cells[i] for row in below)
        for i in range(len(cells))
    )


def _has_odd_names(cells: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Return whether a record with cells such as ``$1`` or ``2020`` is a header all the same.

    It is where most cells are plain names, one of them over nothing but values, or where the odd
    ones count up evenly, as years do; and where none turns up again in its own column.
    """
    columns = _columns(below, len(cells))
    headed = [(cell, column) for cell, column in zip(cells, columns, strict=True) if cell]
    names = {cell.lower() for cell, _ in headed}
    if len(names) < len(headed) or any(cell in column for cell, column in headed):
        return False
    plain = [(cell, column) for cell, column in headed if not is_value(cell)]
    odd = [cell for cell, _ in headed if is_value(cell)]
    heads_values = any(
        cell.lower() not in _MISSING and _are_values(column) for cell, column in plain
    )
    return bool(plain) and ((len(plain) > len(odd) and heads_values) or _counts_up(odd))


def _counts_up(cells: Sequence[str]) -> bool:
    """Return whether cells are three or more years, evenly apart.

    Two may be dates of a row by chance.
    """
    if len(cells) < 3 or not all(_YEAR.fullmatch(cell) for cell in cells):
        return False
    steps = {int(after) - int(before) for before, after in pairwise(cells)}
    return len(steps) == 1 and steps != {0}


def is_value(cell: str) -> bool:
    """Return whether a cell holds a number, a date or the like rather than a name or a heading."""
    return bool(_NUMBER.fullmatch(cell) or _DATE.fullmatch(cell) or cell.lower() in _WORDS)
