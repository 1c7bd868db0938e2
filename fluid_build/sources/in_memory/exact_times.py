"""Columns of Arrow and polars in nanoseconds, given types from which DuckDB cuts nothing.

DuckDB makes microseconds of moments with a zone, durations and intervals. A column that loses
nothing by it stays as it is.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

from fluid_build.sources.text_values.nanoseconds import AS_TEXT, CUT, IN_UTC, whole_durations

_MOMENT = re.compile(r"timestamp\[ns, tz=|Datetime\(time_unit='ns', time_zone='")
_DURATION = re.compile(r"duration\[ns\]|Duration\(time_unit='ns'\)")
_INTERVAL = "month_day_nano_interval"
_NANOSECONDS = 1_000_000_000


def with_exact_times(table: Any) -> tuple[Any, Mapping[int, tuple[str, ...]]]:
    """Return a table whose times are read as they are, and notes by the position of a column."""
    is_polars = type(table).__module__.startswith("polars.")
    schema = table.schema.dtypes() if is_polars else _arrow_types(table)
    finer = [
        i
        for i, type_ in enumerate(map(str, schema))
        if _MOMENT.search(type_) or _DURATION.search(type_) or _INTERVAL in type_
    ]
    if not finer:
        return table, {}
    return _exact_polars(table, finer) if is_polars else _exact_arrow(table, finer)


def _arrow_types(table: Any) -> list[object]:
    return [getattr(field, "type", None) for field in getattr(table, "schema", ())]


def _notes(type_: object) -> tuple[str, ...]:
    moments = (IN_UTC,) if _MOMENT.search(str(type_)) else ()
    durations = (whole_durations("nanoseconds"),) if _DURATION.search(str(type_)) else ()
    return (*moments, *durations)


def _exact_polars(frame: Any, finer: list[int]) -> tuple[Any, dict[int, tuple[str, ...]]]:
    notes: dict[int, tuple[str, ...]] = {}
    for i in finer:
        column = frame.to_series(i)
        coarse = column.cast(_polars_type(column.dtype, _coarse_polars))
        if not coarse.cast(column.dtype).equals(column):
            exact = column.cast(_polars_type(column.dtype, _exact_polars_leaf))
            frame = frame.with_columns(exact)
            notes[i] = _notes(column.dtype)
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


def _coarse_polars(type_: Any) -> Any:
    if _MOMENT.match(str(type_)):
        return type(type_)("us", type_.time_zone)
    return type(type_)("us") if _DURATION.match(str(type_)) else type_


def _exact_polars_leaf(type_: Any) -> Any:
    import polars

    if _MOMENT.match(str(type_)):
        return polars.Datetime("ns")
    return polars.Int64() if _DURATION.match(str(type_)) else type_


def _exact_arrow(table: Any, finer: list[int]) -> tuple[Any, dict[int, tuple[str, ...]]]:
    import pyarrow

    if not isinstance(table, pyarrow.Table):
        table = pyarrow.RecordBatchReader.from_stream(table).read_all()
    notes: dict[int, tuple[str, ...]] = {}
    for i in finer:
        field, column = table.field(i), table.column(i)
        exact, note = _exact_column(column)
        if note:
            notes[i] = note
            table = table.set_column(i, pyarrow.field(field.name, exact.type), exact)
    return table, notes


def _exact_column(column: Any) -> tuple[Any, tuple[str, ...]]:
    """Return a column without loss and the notes on it; none where it may be read as it is."""
    import pyarrow

    if str(column.type) == _INTERVAL:
        values = column.to_pylist()
        if not any(value.nanoseconds % 1000 for value in values if value is not None):
            return column, ()
        return pyarrow.chunked_array([pyarrow.array(map(_iso, values), pyarrow.string())]), (
            AS_TEXT,
        )
    if pyarrow.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    exact_type = _arrow_type(column.type, _exact_arrow_leaf)
    # An interval within another type, and a type of lists that isn't known here, stay as they are.
    may_be_cut = (CUT,) if _INTERVAL in str(exact_type) or _notes(exact_type) else ()
    try:
        column.cast(_arrow_type(column.type, _coarse_arrow))
    except pyarrow.ArrowNotImplementedError:
        return column, (CUT,)
    except pyarrow.ArrowInvalid:  # It would lose digits.
        return column.cast(exact_type), (*_notes(column.type), *may_be_cut)
    return column, may_be_cut


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


def _coarse_arrow(type_: Any) -> Any:
    import pyarrow

    if _MOMENT.match(str(type_)):
        return pyarrow.timestamp("us", type_.tz)
    return pyarrow.duration("us") if _DURATION.match(str(type_)) else type_


def _exact_arrow_leaf(type_: Any) -> Any:
    import pyarrow

    if _MOMENT.match(str(type_)):
        return pyarrow.timestamp("ns")
    return pyarrow.int64() if _DURATION.match(str(type_)) else type_


def _iso(interval: Any) -> str | None:
    """Return an interval of months, days and nanoseconds as ISO 8601 writes it."""
    if interval is None:
        return None
    sign = "-" if interval.nanoseconds < 0 else ""
    seconds, fraction = divmod(abs(interval.nanoseconds), _NANOSECONDS)
    return f"P{interval.months}M{interval.days}DT{sign}{seconds}.{fraction:09}S"
