"""Keys are hashed by the text that their values had when their column was first loaded."""

import duckdb
import pytest

from fluid_build.changes.types import wider_type
from fluid_build.transform.plan.hashing import first_form, key_part

_VALUES = {
    "INTEGER": ("0", "7", "-12", "2147483647"),
    "BIGINT": ("7", "9007199254740992"),
    "DECIMAL(8,2)": ("0", "1", "1.5", "-999999.99"),
    "DATE": ("2024-02-29", "0001-01-01"),
    "FLOAT": ("0", "0.1", "1e30", "nan", "inf", "-inf"),
    "TIMESTAMP_S": ("2024-02-29 10:00:00",),
}
_LATER = ("DECIMAL(12,4)", "DECIMAL(38,10)", "DOUBLE", "HUGEINT", "TIMESTAMP", "VARCHAR")
_PAIRS = [
    (first, wider_type(first, later), value)
    for first, values in _VALUES.items()
    for later in _LATER
    for value in values
    if wider_type(first, later) != first
]


def _text(value: str, first: str, now: str) -> object:
    """What is hashed of a value that a column of the type ``now`` has."""
    sql, _ = first_form(value, now, first)
    row = duckdb.execute(f"SELECT CAST({sql} AS VARCHAR)").fetchone()
    assert row is not None
    return row[0]


@pytest.mark.parametrize(("first", "now", "value"), _PAIRS)
def test_a_value_has_the_text_that_it_had(first: str, now: str, value: str) -> None:
    was = f"CAST('{value}' AS {first})"
    sql, _ = key_part(was, first)
    assert (
        _text(f"CAST({was} AS {now})", first, now)
        == duckdb.execute(f"SELECT CAST({sql} AS VARCHAR)").fetchall()[0][0]
    )


@pytest.mark.parametrize(
    ("first", "now", "one", "other"),
    [
        ("INTEGER", "DECIMAL(12,2)", "1", "1.01"),
        ("INTEGER", "DECIMAL(12,2)", "9999999999", "9999999999.99"),
        ("DECIMAL(8,2)", "DECIMAL(12,4)", "1.5", "1.5001"),
        ("INTEGER", "DOUBLE", "1", "1.0000001"),
        ("INTEGER", "DOUBLE", "1e300", "1e301"),
        ("DATE", "TIMESTAMP", "2024-02-29", "2024-02-29 00:00:01"),
        ("FLOAT", "DOUBLE", "1e300", "0.1"),
    ],
)
def test_other_values_have_other_texts(first: str, now: str, one: str, other: str) -> None:
    assert _text(f"CAST('{one}' AS {now})", first, now) != _text(
        f"CAST('{other}' AS {now})", first, now
    )
