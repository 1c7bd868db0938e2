"""Dates and times that a server writes as text get the type that keeps every value."""

import duckdb
import pytest

from fluid_build.sources.text_values.timestamps import Moment, settle_moment

DAY = "2024-03-01 12:00:00"


def settled(moment: Moment, *values: str | None) -> tuple[str, str]:
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE t (v VARCHAR)")
        connection.executemany("INSERT INTO t VALUES (?)", [(value,) for value in values])
        found = settle_moment(connection, "t", "v", moment)
    return found.type, found.note


@pytest.mark.parametrize(
    ("offsets", "type_"),
    [
        (("+01:00",), "TIMESTAMP WITH TIME ZONE"),
        (("+01:00", "+01:00", "+01:00"), "TIMESTAMP WITH TIME ZONE"),
        (("+00:00", "+00:00"), "TIMESTAMP WITH TIME ZONE"),
        (("+01:00", "+02:00"), "VARCHAR"),
        (("+01:00", "+01:00", "-01:00"), "VARCHAR"),
    ],
)
def test_moments_of_one_offset_are_moments_in_utc_and_of_several_stay_text(
    offsets: tuple[str, ...], type_: str
) -> None:
    """However many rows have the offset."""
    assert settled("timestamp with offset", *(f"{DAY}{o}" for o in offsets), None)[0] == type_


def test_the_offset_of_all_values_is_said_unless_it_is_none() -> None:
    assert "+01:00" in settled("timestamp with offset", f"{DAY}+01:00", f"{DAY}+01:00")[1]
    assert settled("timestamp with offset", f"{DAY}+00:00") == ("TIMESTAMP WITH TIME ZONE", "")


@pytest.mark.parametrize(
    ("fraction", "type_"),
    [("", "TIMESTAMP"), (".123456", "TIMESTAMP"), (".1234560", "TIMESTAMP"),
     (".1234561", "TIMESTAMP_NS"), (".123456789", "TIMESTAMP_NS")],
)  # fmt: skip
def test_digits_beyond_microseconds_need_the_finer_type(fraction: str, type_: str) -> None:
    assert settled("timestamp", DAY, DAY + fraction)[0] == type_
