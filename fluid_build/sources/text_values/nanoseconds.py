"""What readers say of times in nanoseconds, which DuckDB has in microseconds only.

These are moments with a zone, and intervals. DuckDB has moments and times without one in
nanoseconds.
"""

CUT = "Its values are stored in nanoseconds; what is finer than a microsecond was cut."
IN_UTC = "Some of its moments are finer than a microsecond; read in UTC, to the nanosecond."
AS_TEXT = "Some of its values are finer than a microsecond; read as text."


def whole_durations(unit: str) -> str:
    """Return the note on durations that are read as whole numbers of a unit."""
    return f"It holds durations, as whole numbers of {unit}."
