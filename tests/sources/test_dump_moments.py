"""Moments and floating numbers of a dump: what its session's zone and its types make of them."""

from pathlib import Path

import pytest

from fluid_build.sources import open_source
from fluid_build.sources.base import Column
from fluid_build.sources.sql_text.ddl.dialects import dialect_named
from fluid_build.sources.sql_text.ddl.session_zone import zone_after
from fluid_build.sources.sql_text.ddl.statements import split

MYSQL = "CREATE TABLE `t` (`id` int, `v` {}, KEY (`id`)) ENGINE=InnoDB;\n"
POSTGRES = "-- PostgreSQL database dump\nCREATE TABLE t (id integer, v {});\n"


def column(folder: Path, text: str) -> tuple[Column, list[str | None]]:
    path = folder / "dump.sql"
    path.write_text(text, encoding="utf-8")
    with open_source(path) as source:
        (table,) = source.tables
        query = f"SELECT v::VARCHAR FROM {table.relation} ORDER BY id"
        return table.column("v"), [v for (v,) in source.connection.execute(query).fetchall()]


@pytest.mark.parametrize(
    ("dialect", "script", "zone"),
    [
        ("mysql", "/*!40103 SET TIME_ZONE='+02:00' */;", "+02:00"),
        ("mysql", "SET TIME_ZONE='+02:00'; /*!40103 SET TIME_ZONE=@OLD_TIME_ZONE */;", ""),
        ("mysql", "SET @OLD_TIME_ZONE=@@TIME_ZONE;", ""),
        ("mysql", "SET @@session.time_zone = '+02:00';", "+02:00"),
        ("mysql", "SET NAMES utf8, time_zone = 'Europe/Rome';", "Europe/Rome"),
        ("postgres", "SET TimeZone TO 'Europe/Rome';", "Europe/Rome"),
        ("postgres", "SET TIME ZONE 'Europe/Rome'; SET TIME ZONE DEFAULT;", ""),
        ("postgres", "SET LOCAL TIME ZONE -7;", "-7"),
        ("oracle", "ALTER SESSION SET TIME_ZONE = '+01:00';", "+01:00"),
    ],
)
def test_the_zone_of_a_session_is_followed(dialect: str, script: str, zone: str) -> None:
    known = ""
    for statement in split(script, dialect_named(dialect), "f.sql"):
        known = zone_after(statement, known)
    assert known == zone


def test_the_zone_of_mysql_s_moments_is_noted(tmp_path: Path) -> None:
    rows = "INSERT INTO `t` VALUES (1,'2024-01-01 10:00:00');\n"
    text = f"{MYSQL.format('timestamp')}SET TIME_ZONE='+02:00';\n{rows}"
    read, values = column(tmp_path, text)
    assert values == ["2024-01-01 10:00:00"]
    assert read.notes == (
        "MySQL reads its moments in the session's time zone: the dump sets +02:00.",
    )
    read, _ = column(tmp_path, f"{text}SET TIME_ZONE='+00:00';\n{rows}")
    assert "sets +00:00 and +02:00." in read.notes[0]


def test_moments_without_an_offset_are_text_where_another_zone_is_set(tmp_path: Path) -> None:
    """Read as UTC they'd be other moments than the server's."""
    rows = "INSERT INTO t VALUES (1,'2024-01-01'),(2,'2024-01-01 10:00:00+01');\n"
    text = POSTGRES.format("timestamptz")
    read, values = column(tmp_path, f"{text}SET timezone = 'Europe/Rome';\n{rows}")
    assert values == ["2024-01-01", "2024-01-01 10:00:00+01"]
    assert "1 value says no offset from UTC" in read.notes[0]
    read, values = column(tmp_path, f"{text}{rows}")
    assert values == ["2024-01-01 00:00:00+00", "2024-01-01 09:00:00+00"]
    assert "read as UTC" in read.notes[0]
    read, _ = column(tmp_path, f"{text}SET timezone = 'UTC';\n{rows}")
    assert read.notes == ()


def test_an_offset_that_the_type_has_no_room_for_stays(tmp_path: Path) -> None:
    """PostgreSQL leaves it out, and DuckDB would move the moment by it."""
    text = POSTGRES.format("timestamp")
    read, values = column(tmp_path, f"{text}INSERT INTO t VALUES (1,'2024-01-01 10:00:00+02');\n")
    assert values == ["2024-01-01 10:00:00+02"]
    assert read.notes


@pytest.mark.parametrize(
    ("type_", "number", "is_rounded"),
    [
        ("float", "1.23457", False),
        ("float", "16777217", True),
        ("double", "0.30000000000000004", False),
        ("double", "0.10000000000000001", False),
        ("double", "1e300", False),
        ("double", "0.12345678901234567890", True),
        ("double", "9007199254740993", True),
    ],
)
def test_digits_that_a_floating_type_loses_are_noted(
    tmp_path: Path, type_: str, number: str, is_rounded: bool
) -> None:
    read, _ = column(tmp_path, f"{MYSQL.format(type_)}INSERT INTO `t` VALUES (1,{number});\n")
    assert [note[:29] for note in read.notes] == ["1 value has more digits than "] * is_rounded


def test_oracle_s_float_keeps_its_decimal_digits(tmp_path: Path) -> None:
    text = (
        "CREATE TABLE t (id NUMBER(10), v FLOAT(126), w VARCHAR2(5));\n"
        "INSERT INTO t VALUES (1, 0.1234567890123456789, 'x');\n"
    )
    read, values = column(tmp_path, text)
    assert values == ["0.1234567890123456789"]
    assert read.notes == ()
