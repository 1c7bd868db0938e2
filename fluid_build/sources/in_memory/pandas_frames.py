"""pandas data frames: index, names and dtypes that DuckDB doesn't read by itself."""

import json
import math
import sys
import uuid
from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from numbers import Integral, Real
from typing import Any, TypeGuard

import duckdb

from fluid_build.sources.in_memory.prepared import PreparedColumn, PreparedTable, distinct_names
from fluid_build.sources.sql import literal, quote
from fluid_build.sources.text_values.nanoseconds import AS_TEXT, IN_UTC, whole_durations
from fluid_build.sources.text_values.personal_text import holds_personal
from fluid_build.text import listed

_READABLE_KINDS = frozenset("biufMm")
"""NumPy's letters of boolean, whole, unsigned, floating, datetime and timedelta."""
_LARGEST_EXACT = 2**53
"""Whole numbers up to here are exact in a float64."""
_MOST_DIGITS = 38
"""Digits of the widest DECIMAL."""
_MONTH_OF_DAYS = 30
"""Days that DuckDB takes for a month in a column of durations; in an object column it doesn't."""
_PYTHON_TYPES: Mapping[str, type] = {"boolean": bool, "whole number": int, "number": float}
"""What DuckDB knows of values that NumPy has types of its own for."""
_FAMILIES: tuple[tuple[type | tuple[type, ...], str], ...] = (
    (bool, "boolean"),
    (Integral, "whole number"),
    (Real, "number"),
    (Decimal, "decimal"),
    (str, "text"),
    ((bytes, bytearray, memoryview), "bytes"),
    (datetime, "timestamp"),
    (date, "date"),
    (time, "time"),
    (timedelta, "duration"),
    (uuid.UUID, "UUID"),
    ((dict, list, tuple, set, frozenset), "nested value"),
)
"""What an object column may hold, the narrower types before those that include them."""
_NUMPY_FAMILIES = {"ndarray": "nested value", "bool": "boolean", "bool_": "boolean"}
"""The types of NumPy that are none of Python's."""


def is_pandas_frame(table: object) -> TypeGuard[Any]:
    """Return whether an object is a pandas data frame; pandas isn't imported for that."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(table, pandas.DataFrame)


def prepare_pandas(connection: duckdb.DuckDBPyConnection, frame: Any) -> PreparedTable:
    """Return a frame whose columns DuckDB reads with the values that they have.

    A named index is data, so it's read as columns. The frame itself isn't changed.
    """
    frame = _with_named_index(frame)
    names, notes = distinct_names([_label(label) for label in frame.columns])
    frame = frame.set_axis([f"c{position}" for position in range(len(names))], axis=1)
    new_columns: dict[str, Any] = {}
    expressions: dict[str, str] = {}
    remarks: dict[str, str] = {}
    for column in frame.columns:
        values = _dense_column(frame[column])
        readable, expression, remark = _readable_column(values)
        _check_text(readable, names[len(expressions)])
        if readable is not frame[column]:
            new_columns[column] = readable
        expressions[column], remarks[column] = expression or quote(column), remark
    frame = frame.assign(**new_columns) if new_columns else frame
    # DuckDB types an object column by a sample, and a value further down may not fit.
    connection.execute(f"SET pandas_analyze_sample = {len(frame)}")
    connection.register(_REGISTERED, frame)
    try:
        for column, better in _better_expressions(connection, frame, expressions):
            expressions[column], remark = better
            remarks[column] = remark or remarks[column]
    finally:
        connection.unregister(_REGISTERED)
    columns = tuple(
        PreparedColumn(name, expressions[column], (remarks[column],) if remarks[column] else ())
        for name, column in zip(names, frame.columns, strict=True)
    )
    return PreparedTable(frame, columns, notes)


_REGISTERED = "frame_to_prepare"
_JSON = "CAST({} AS JSON)"


def _with_named_index(frame: Any) -> Any:
    if all(name is None for name in frame.index.names):
        return frame
    levels = frame.index.to_frame(index=False)
    unnamed = [position for position, name in enumerate(frame.index.names) if name is None]
    levels = levels.drop(columns=levels.columns[unnamed])
    pandas = sys.modules["pandas"]
    return pandas.concat([levels, frame.reset_index(drop=True)], axis=1)


def _label(label: object) -> str:
    """Return a column's label as a name: levels of a MultiIndex are joined with a dot."""
    if isinstance(label, tuple):
        return ".".join(filter(None, map(_label, label)))
    return "" if label is None or label != label else str(label)


def _dense_column(values: Any) -> Any:
    return values.sparse.to_dense() if hasattr(values.dtype, "fill_value") else values


def _readable_column(values: Any) -> tuple[Any, str, str]:
    """Return a column as DuckDB can read it, an expression over it or "", and a note or ""."""
    dtype = values.dtype
    if str(dtype) == "category" and _is_text(dtype.categories.dtype):
        return values, f"CAST({quote(str(values.name))} AS VARCHAR)", ""
    if str(dtype) in ("category", "object") or hasattr(dtype, "pyarrow_dtype"):
        # DuckDB converts a whole frame with pyarrow if one of its columns is of pyarrow's.
        return _readable_object_column(values.astype(object))
    numpy_kind = getattr(getattr(dtype, "numpy_dtype", dtype), "kind", "")
    if hasattr(dtype, "tz") and values.dt.nanosecond.any():
        return values.dt.tz_convert("UTC").dt.tz_localize(None), "", IN_UTC
    if numpy_kind == "m" and values.dt.nanoseconds.mod(1000).any():
        whole = f"CAST({quote(str(values.name))} AS BIGINT)"
        return _whole_nanoseconds(values), whole, whole_durations("nanoseconds")
    if numpy_kind == "m" and (values.dt.days.abs() >= _MONTH_OF_DAYS).any():
        return _converted_objects(values, lambda value: value.to_pytimedelta()), "", ""
    if numpy_kind in _READABLE_KINDS or _is_text(dtype) or hasattr(dtype, "tz"):
        return values, "", ""
    text = values.astype(object).map(str, na_action="ignore")
    return text, "", f"Its pandas type {dtype} has no counterpart in SQL, so it's read as text."


def _check_text(values: Any, name: str) -> None:
    """Raise ValueError for text that isn't Unicode, which leaves DuckDB unusable.

    Only Python's own strings can hold such text: half of a surrogate pair.
    """
    if str(values.dtype) == "object" or getattr(values.dtype, "storage", "") == "python":
        try:
            for value in values:
                if isinstance(value, str) and not value.isascii():
                    value.encode()
        except UnicodeEncodeError:
            raise ValueError(f"Its column {name} has text that isn't valid Unicode.") from None


def _is_text(dtype: Any) -> bool:
    return str(dtype) in ("str", "string") or str(dtype).startswith("string[")


def _readable_object_column(values: Any) -> tuple[Any, str, str]:
    present = values[values.notna()]
    families = {_family(kind) for kind in set(map(type, present))}
    if families == {"nested value"}:
        as_json = values.map(_json, na_action="ignore")
        return as_json, _JSON.format(quote(str(values.name))), ""
    if len(families) > 1 and not _are_plain_numbers(families, present):
        note = f"It holds {listed(sorted(families))} values; read as text."
        return values.map(str, na_action="ignore"), "", note
    if families == {"other"}:
        kind = type(present.iloc[0]).__name__
        return values.map(str, na_action="ignore"), "", f"Its {kind} values are read as text."
    if families == {"timestamp"} and len({each.tzinfo is None for each in present}) > 1:
        note = "Some of its times have a time zone and some haven't; read as text."
        return values.map(str, na_action="ignore"), "", note
    if families <= {"timestamp", "duration"} and any(map(_is_finer, present)):
        return values.map(lambda value: value.isoformat(), na_action="ignore"), "", AS_TEXT
    if families == {"decimal"}:
        return _readable_decimals(values, present)
    numeric = _PYTHON_TYPES.get("number" if "number" in families else "".join(families))
    return values if numeric is None else _converted_objects(values, numeric), "", ""


def _converted_objects(values: Any, convert: Callable[[Any], object]) -> Any:
    """Return a column of converted objects; ``map`` would make whole numbers with nulls floats."""
    converted = [
        convert(value) if is_present else None
        for value, is_present in zip(values, values.notna(), strict=True)
    ]
    return type(values)(converted, index=values.index, name=values.name, dtype=object)


def _whole_nanoseconds(values: Any) -> Any:
    """Return durations as whole numbers, as an object column: nulls would make them floats."""
    numbers = values.astype("int64").astype(object)
    return numbers.where(values.notna(), None)


def _is_finer(value: Any) -> bool:
    """Return whether one of pandas' moments or durations has more than Python's own can have."""
    return bool(getattr(value, "nanosecond", 0) or getattr(value, "nanoseconds", 0) % 1000)


def _readable_decimals(values: Any, present: Any) -> tuple[Any, str, str]:
    """Return decimals as texts, and the cast to the type that has a place for each digit.

    DuckDB takes ``1.2E+3`` for 1.200, cuts digits where a column needs more than it has, and makes
    floats of one with a decimal that isn't finite.
    """
    if not all(value.is_finite() for value in present):
        note = "Some of its decimals are infinite; read as text."
        return values.map(str, na_action="ignore"), "", note
    whole = max((value.adjusted() + 1 for value in present if value), default=1)
    behind = max((-value.as_tuple().exponent for value in present), default=0)
    digits = max(whole, 1) + max(behind, 0)
    if digits > _MOST_DIGITS:
        note = f"Its decimals need {digits:,} digits, more than a number has; read as text."
        return values.map(str, na_action="ignore"), "", note
    type_ = f"DECIMAL({digits}, {max(behind, 0)})"
    texts = _converted_objects(values, lambda value: f"{value:f}")
    return texts, f"CAST({quote(str(values.name))} AS {type_})", ""


def _family(kind: type) -> str:
    if kind.__module__ == "numpy" and kind.__name__ in _NUMPY_FAMILIES:
        return _NUMPY_FAMILIES[kind.__name__]
    return next((family for types, family in _FAMILIES if issubclass(kind, types)), "other")


def _are_plain_numbers(families: set[str], present: Iterable[Any]) -> bool:
    """Return whether whole and other numbers can be one column without losing a digit."""
    if families != {"whole number", "number"}:
        return False
    return all(abs(int(v)) <= _LARGEST_EXACT for v in present if isinstance(v, Integral))


def _json(value: object) -> str:
    return json.dumps(_json_value(value), ensure_ascii=False, allow_nan=False)


def _json_value(value: Any) -> object:
    """Return a nested value with nothing in it but what JSON has."""
    if isinstance(value, dict):
        return {str(key): _json_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_json_value(item) for item in value]
    if hasattr(value, "tolist"):  # NumPy's arrays and numbers
        return _json_value(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, str | int) else str(value)


def _better_expressions(
    connection: duckdb.DuckDBPyConnection, frame: Any, expressions: dict[str, str]
) -> Iterable[tuple[str, tuple[str, str]]]:
    """Yield better expressions for columns, by all of their values, each with a note or ""."""
    for column in frame.columns:
        if expressions[column] == _JSON.format(quote(column)):
            structure = _structure(connection, expressions[column])
            if structure is not None:
                yield column, (f"from_json({quote(column)}, {literal(structure)})", "")
        elif getattr(frame[column].dtype, "kind", "") == "f" and _holds_whole_numbers(
            connection, column
        ):
            note = (
                "Its values are whole numbers, which pandas keeps as float64 because some are"
                " missing; read as whole numbers."
            )
            yield column, (f"CAST({quote(column)} AS BIGINT)", note)


def _structure(connection: duckdb.DuckDBPyConnection, expression: str) -> str | None:
    """Return the structure that JSON values share; None where there's none, or it's personal."""
    (structure,) = connection.execute(
        f"SELECT json_group_structure({expression}) FROM {_REGISTERED}"
    ).fetchall()[0]
    if structure is None or '"JSON"' in structure or '"NULL"' in structure:
        return None
    # The keys of an object become part of the type, which is no secret.
    return None if holds_personal(structure) else str(structure)


def _holds_whole_numbers(connection: duckdb.DuckDBPyConnection, column: str) -> bool:
    """Return whether a column of floats has missing values, and only whole numbers besides."""
    name = quote(column)
    is_exact = f"abs({name}) <= {_LARGEST_EXACT} AND {name} = trunc({name})"
    query = (
        f"SELECT count({name}) BETWEEN 1 AND count(*) - 1 AND coalesce(bool_and({is_exact}), false)"
        f" FROM {_REGISTERED}"
    )
    return bool(connection.execute(query).fetchall()[0][0])
