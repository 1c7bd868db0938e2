"""Whether a key of several columns holds for a reason, or only because there are few rows.

Two columns drawn at random seldom agree in both on any two of a few rows. The number of pairs of
rows that would agree if the columns were independent says how hard a key was tested: with 50
expected and none found it holds for a reason, with 0.1 expected that none was found says nothing.
"""

from collections.abc import Iterable, Sequence
from math import prod

from fluid_build.lexicon import ends, starts, terms
from fluid_build.profiling.measure.figures import ColumnStats
from fluid_build.profiling.measure.schema import MeasuredColumn

_ENOUGH_REPEATS = 3.0
"""With so many expected repeats, finding none by chance happens in one of twenty tables (e^-3)."""
_DATES = terms("date", "day", "month", "year", "period", "since")
_SEQUENCES = terms("line", "sequence", "position", "step", "version")
_LINES = terms("line", "sequence", "position", "line_number")
"""Words that number the rows below a parent and mean nothing else."""
_FIRST_NUMBERS = frozenset({0, 1, 10})
"""Where people start counting rows; by tens to leave room for more."""
_QUANTITY_CONCEPTS = frozenset({"money", "measure", "percent"})


def only_just_holds(key: Sequence[MeasuredColumn]) -> bool:
    """Return whether so few repeats were to be expected that finding none means little."""
    return expected_repeats([column.stats for column in key]) < _ENOUGH_REPEATS


def expected_repeats(columns: Sequence[ColumnStats]) -> float:
    """Return how many pairs of rows would agree in all columns if these were independent."""
    rows = columns[0].rows
    return rows * (rows - 1) / 2 * prod(map(_agreeing_share, columns))


def _agreeing_share(column: ColumnStats) -> float:
    """Return the share of pairs of rows that agree in a column.

    Values too rare to be listed are taken as equally frequent.
    """
    sampled, rows = column.sample_rows, column.rows
    if min(sampled, rows) < 2:
        return 0.0
    counts = [count for _, count in column.values]
    share = sum(count * (count - 1) for count in counts) / (sampled * (sampled - 1))
    rare_rows = rows * (1 - sum(counts) / sampled)
    rows_a_value = rare_rows / max(column.distinct - len(counts), 1)
    return min(1.0, share + max(rows_a_value - 1, 0.0) * rare_rows / (rows * (rows - 1)))


def has_date_or_sequence(key: Iterable[MeasuredColumn], referring: Iterable[str]) -> bool:
    """Return whether a date or sequence number is in a key, which makes new rows differ.

    ``referring`` names the columns that refer to a parent; they don't count, except for days, which
    may be in a calendar. Nor does the moment at which a row was written, since it says nothing
    about what the row describes.
    """
    references = set(referring)
    return any(
        (_is_date(column) and (column.name not in references or column.key_kind == "date"))
        or (
            column.name not in references
            and (_SEQUENCES & set(column.parsed_name.bare) or is_line(column))
        )
        for column in key
    )


def is_line(column: MeasuredColumn) -> bool:
    """Return whether a name says that the column numbers the rows below a parent."""
    if column.key_kind != "integer":
        return False
    words = column.parsed_name.bare
    return any(word in _LINES or word.endswith(ends("line_number")) for word in words)


def numbers_rows(column: MeasuredColumn, parent: MeasuredColumn) -> bool:
    """Return whether a column has its first number once for each value of the parent column.

    Line numbers do: whatever has a second line has a first one. The two columns are a key
    together. False if the sample doesn't hold every row.
    """
    stats = column.stats
    if stats.bounds is None or stats.bounds[0] not in _FIRST_NUMBERS or stats.kind != "integer":
        return False
    if not column.table.stats.is_complete or 2 * stats.distinct > stats.rows:
        return False
    is_flag = stats.bounds == (0, 1)
    if is_flag:
        return False
    return dict(stats.values).get(str(stats.bounds[0])) == parent.stats.distinct


def _is_date(column: MeasuredColumn) -> bool:
    """Return whether a column dates what its row is about; ``created_at`` dates the record."""
    words = column.parsed_name.bare
    if any(_without_date(word).startswith(starts("written")) for word in words):
        return False
    measured_type = column.stats.measured_type or ""
    if column.stats.kind == "temporal" or measured_type.startswith(("DATE", "TIMESTAMP")):
        return True
    return bool(_DATES & set(words))


def _without_date(word: str) -> str:
    """Return a word without a word for a date in front, if more follows."""
    for date_word in starts("date"):
        if word.startswith(date_word) and word != date_word:
            return word.removeprefix(date_word)
    return word


def is_quantity(column: MeasuredColumn) -> bool:
    """Return whether a column holds amounts, counts or percentages, which repeat by chance."""
    if column.is_measure:
        return True
    is_number = column.stats.kind in {"integer", "float", "decimal"}
    if not is_number or column.parsed_name.has_key_word:
        return False
    words = set(column.parsed_name.bare)
    return bool(column.amount_concepts & _QUANTITY_CONCEPTS or terms("key_quantity") & words)
