"""The narrowest type that holds numbers written as text, digit for digit."""

from dataclasses import dataclass

import duckdb

_MAX_DIGITS = 38
_EXACT_DIGITS_IN_DOUBLE = 15


@dataclass(frozen=True, slots=True)
class Settled:
    """A type, and a sentence where it is not a DECIMAL although all values are numbers."""

    type: str
    note: str = ""


def settle_decimal(
    connection: duckdb.DuckDBPyConnection, relation: str, column: str, declared: str | None
) -> Settled:
    """Return a type for a text column of plain decimal numbers, NaN and Infinity.

    ``declared`` is a DECIMAL type that is kept where nothing but NaN or Infinity stands against
    it. ``column`` is quoted SQL. Without it: DECIMAL wide enough for all digits; DOUBLE where
    there is a NaN or Infinity and every number fits a DOUBLE exactly; else VARCHAR.
    """
    finite = f"regexp_full_match({column}, '-?[0-9]*\\.?[0-9]*')"
    whole = f"length(ltrim(split_part(ltrim({column}, '-'), '.', 1), '0'))"
    scale = f"length(split_part({column}, '.', 2))"
    row = connection.execute(
        f"SELECT count({column}), count(*) FILTER (NOT {finite}),"
        f" coalesce(max({whole}) FILTER ({finite}), 0),"
        f" coalesce(max({scale}) FILTER ({finite}), 0) FROM {relation}"
    ).fetchone()
    values, special, digits, decimals = row or (0, 0, 0, 0)
    if not special and declared:
        return Settled(declared)
    if values == 0:
        return Settled(declared or "DOUBLE")
    width = digits + decimals
    if not special and width <= _MAX_DIGITS:
        return Settled(f"DECIMAL({18 if width <= 18 else _MAX_DIGITS},{decimals})")
    if special:
        note = f"{special:,} of {values:,} values are NaN or infinite"
        if width <= _EXACT_DIGITS_IN_DOUBLE:
            return Settled("DOUBLE", f"{note}; read as DOUBLE.")
        return Settled("VARCHAR", f"{note}, and others too long for DOUBLE; read as text.")
    return Settled("VARCHAR", f"Values of up to {width} digits fit no number type; read as text.")


def settle_whole(
    connection: duckdb.DuckDBPyConnection, relation: str, column: str
) -> Settled | None:
    """Return BIGINT for a column of whole numbers that all fit it; None where one doesn't.

    Some servers have one type for all whole numbers, of 38 digits, and every identifier has it.
    """
    row = connection.execute(
        f"SELECT count(*) FROM {relation} WHERE {column} NOT BETWEEN {-(2**63)} AND {2**63 - 1}"
    ).fetchone()
    return Settled("BIGINT") if row == (0,) else None
