"""Columns of Arrow and polars in types that DuckDB reads with every digit, at any depth.

DuckDB makes microseconds of moments with a zone, durations and intervals, and reads days of 64 bits
towards 1970; it has no numbers of 16 or 256 bits. A column that loses nothing by the nearest
type of DuckDB has that; another has one that keeps all of it, and a note.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from fluid_build.sources.in_memory.scalar_types import MOST_DIGITS
from fluid_build.sources.text_values.nanoseconds import AS_TEXT, CUT, IN_UTC, whole_durations

_MOMENT = re.compile(r"timestamp\[ns, tz=|Datetime\(time_unit='ns', time_zone='")
_DURATION = re.compile(r"duration\[ns\]|Duration\(time_unit='ns'\)")
_INTERVAL = "month_day_nano_interval"
_DAY = re.compile(r"date64\[")
_WIDE = re.compile(r"decimal256\(|decimal\d+\(\d+, -|\bU?Int128\b")
_HALF = re.compile(r"\bhalffloat\b|\bFloat16\b")
_PARTLY_USED = re.compile(r"\btime(32|64)\[|\bdate64\[")
"""Types that are numbers of which not every one is a time of the day, or a day."""
_INNER_DICTIONARY = re.compile(r"(?<=.)dictionary<|(?<=.)\b(Categorical|Enum\()")
"""Dictionaries within another type: DuckDB takes entries for others, or ends the process."""
_INEXACT = (_MOMENT, _DURATION, re.compile(_INTERVAL), _DAY, _WIDE, _HALF, _INNER_DICTIONARY)
_NOTES = (
    (_MOMENT, IN_UTC),
    (_DURATION, whole_durations("nanoseconds")),
    (_WIDE, "Its numbers need more digits than a number has in SQL; read as text."),
)
_NANOSECONDS = 1_000_000_000


def with_exact_types(
    table: Any, labels: Sequence[str]
) -> tuple[Any, Mapping[int, tuple[str, ...]]]:
    """Return a table whose values are read as they are, and notes by the position of a column.

    Raises ValueError for a time that isn't within a day, and a day that isn't whole.
    """
    is_polars = type(table).__module__.startswith("polars.")
    schema = [str(type_) for type_ in (table.schema.dtypes() if is_polars else _arrow_types(table))]
    inexact = [i for i, type_ in enumerate(schema) if any(each.search(type_) for each in _INEXACT)]
    if is_polars:
        return _exact_polars(table, inexact)
    partly_used = [i for i, type_ in enumerate(schema) if _PARTLY_USED.search(type_)]
    if not inexact and not partly_used:
        return table, {}
    import pyarrow

    if not isinstance(table, pyarrow.Table):
        table = pyarrow.RecordBatchReader.from_stream(table).read_all()
    for i in partly_used:
        try:
            table.column(i).validate(full=True)
        except pyarrow.ArrowInvalid:
            message = f"Its column {labels[i]} has values that {schema[i]} hasn't."
            raise ValueError(message) from None
    return _exact_arrow(table, inexact)


def _arrow_types(table: Any) -> list[object]:
    return [getattr(field, "type", None) for field in getattr(table, "schema", ())]


def _notes(type_: object) -> tuple[str, ...]:
    return tuple(note for pattern, note in _NOTES if pattern.search(str(type_)))


def _exact_polars(frame: Any, inexact: list[int]) -> tuple[Any, dict[int, tuple[str, ...]]]:
    notes: dict[int, tuple[str, ...]] = {}
    for i in inexact:
        column = frame.to_series(i)
        exact = column.cast(
            _polars_type(column.dtype, lambda leaf: _polars_choices(leaf)[0]), strict=False
        )
        if not exact.cast(column.dtype).equals(column):
            exact = column.cast(_polars_type(column.dtype, lambda leaf: _polars_choices(leaf)[1]))
            notes[i] = _notes(column.dtype)
        frame = frame.with_columns(exact)
    return frame, notes


def _polars_type(type_: Any, leaf: Callable[[Any], Any]) -> Any:
    import polars

    if isinstance(type_, polars.List):
        return polars.List(_polars_type(type_.inner, leaf))
    if isinstance(type_, polars.Array):
        inner = type_.inner if len(type_.shape) == 1 else polars.Array(type_.inner, type_.shape[1:])
        return polars.Array(_polars_type(inner, leaf), type_.shape[0])
    if isinstance(type_, polars.Struct):
        fields = {field.name: _polars_type(field.dtype, leaf) for field in type_.fields}
        return polars.Struct(fields)
    return leaf(type_)


def _polars_choices(type_: Any) -> tuple[Any, Any]:
    """Return the nearest type of DuckDB for a type, and one that has a place for all values."""
    import polars

    if _MOMENT.match(str(type_)):
        return polars.Datetime("us", type_.time_zone), polars.Datetime("ns")
    if _DURATION.match(str(type_)):
        return polars.Duration("us"), polars.Int64()
    if type_ in (polars.Categorical, polars.Enum):
        return polars.String(), polars.String()
    if _WIDE.match(str(type_)):
        return polars.Decimal(MOST_DIGITS, 0), polars.String()
    return (polars.Float32(),) * 2 if _HALF.match(str(type_)) else (type_, type_)


def _exact_arrow(table: Any, inexact: list[int]) -> tuple[Any, dict[int, tuple[str, ...]]]:
    import pyarrow

    notes: dict[int, tuple[str, ...]] = {}
    for i in inexact:
        exact, note = _exact_column(table.column(i))
        if note:
            notes[i] = note
        if exact is not table.column(i):
            field = pyarrow.field(table.field(i).name, exact.type)
            table = table.set_column(i, field, exact)
    return table, notes


def _exact_column(column: Any) -> tuple[Any, tuple[str, ...]]:
    """Return a column without loss, and the notes on it."""
    import pyarrow

    if str(column.type) == _INTERVAL:
        values = column.to_pylist()
        if not any(value.nanoseconds % 1000 for value in values if value is not None):
            return column, ()
        texts = pyarrow.array(map(_iso, values), pyarrow.string())
        return pyarrow.chunked_array([texts]), (AS_TEXT,)
    if pyarrow.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    exact_type = _arrow_type(column.type, lambda leaf: _arrow_choices(leaf)[1])
    # An interval within another type, and a type of lists that isn't known here, stay as they are.
    may_be_cut = (CUT,) if _INTERVAL in str(exact_type) or _notes(exact_type) else ()
    try:
        return column.cast(
            _arrow_type(column.type, lambda leaf: _arrow_choices(leaf)[0])
        ), may_be_cut
    except pyarrow.ArrowNotImplementedError:
        if _INNER_DICTIONARY.search(str(column.type)):
            raise
        return column, (CUT,)
    except pyarrow.ArrowInvalid:  # It would lose digits.
        return column.cast(exact_type), (*_notes(column.type), *may_be_cut)


def _arrow_type(type_: Any, leaf: Callable[[Any], Any]) -> Any:
    import pyarrow

    types = pyarrow.types
    if types.is_map(type_):
        key, item = _arrow_type(type_.key_type, leaf), _arrow_type(type_.item_type, leaf)
        return pyarrow.map_(key, item)
    fields = [type_.field(i) for i in range(type_.num_fields)]
    fields = [field.with_type(_arrow_type(field.type, leaf)) for field in fields]
    if types.is_struct(type_):
        return pyarrow.struct(fields)
    if types.is_fixed_size_list(type_):
        return pyarrow.list_(fields[0], type_.list_size)
    if types.is_large_list(type_):
        return pyarrow.large_list(fields[0])
    return pyarrow.list_(fields[0]) if types.is_list(type_) else leaf(type_)


def _arrow_choices(type_: Any) -> tuple[Any, Any]:
    """Return the nearest type of DuckDB for a type, and one that has a place for all values."""
    import pyarrow

    if _MOMENT.match(str(type_)):
        return pyarrow.timestamp("us", type_.tz), pyarrow.timestamp("ns")
    if _DURATION.match(str(type_)):
        return pyarrow.duration("us"), pyarrow.int64()
    if pyarrow.types.is_dictionary(type_):
        return type_.value_type, type_.value_type
    if _WIDE.match(str(type_)):
        scale = min(max(type_.scale, 0), MOST_DIGITS)
        return pyarrow.decimal128(MOST_DIGITS, scale), pyarrow.string()
    if _DAY.match(str(type_)):
        return pyarrow.date32(), pyarrow.date32()
    return (pyarrow.float32(),) * 2 if _HALF.match(str(type_)) else (type_, type_)


def _iso(interval: Any) -> str | None:
    """Return an interval of months, days and nanoseconds as ISO 8601 writes it."""
    if interval is None:
        return None
    sign = "-" if interval.nanoseconds < 0 else ""
    seconds, fraction = divmod(abs(interval.nanoseconds), _NANOSECONDS)
    return f"P{interval.months}M{interval.days}DT{sign}{seconds}.{fraction:09}S"
