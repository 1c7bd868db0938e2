"""Declared types, in the words of each dialect, and what DuckDB reads them as."""

from pathlib import Path

import duckdb
import pytest

from fluid_build.sources.sql_text.ddl import open_ddl
from fluid_build.sources.sql_text.ddl.dialects import DIALECTS
from fluid_build.sources.sql_text.ddl.files import SqlFile
from fluid_build.sources.sql_text.ddl.script import read_script
from fluid_build.sources.sql_text.ddl.tables import declared_tables


def typed(text: str, dialect: str) -> str | None:
    """Return the DuckDB type of a column declared so; None if the type isn't known."""
    file = SqlFile("x.sql", f"CREATE TABLE t (c {text})")
    (table,) = declared_tables(read_script([file], DIALECTS[dialect]).schema).tables
    (column,) = table.columns
    assert table.notes == ()
    return None if column.notes else column.type


TYPES = [
    ("postgres", "character varying(45)", "VARCHAR"),
    ("postgres", "timestamp(3) without time zone", "TIMESTAMP"),
    ("postgres", "timestamp with time zone", "TIMESTAMP WITH TIME ZONE"),
    ("postgres", "double precision", "DOUBLE"),
    ("postgres", "real", "FLOAT"),
    ("postgres", "numeric", "DOUBLE"),
    ("postgres", "numeric(10,2)", "DECIMAL(10,2)"),
    ("postgres", "numeric(50,2)", "DOUBLE"),
    ("postgres", "numeric(5,-2)", "DOUBLE"),
    ("postgres", "integer[]", "INTEGER[]"),
    ("postgres", "text[3][]", "VARCHAR[][]"),
    ("postgres", "int ARRAY[4]", "INTEGER[]"),
    ("postgres", "pg_catalog.int4", "INTEGER"),
    ("postgres", "interval year to month", "INTERVAL"),
    ("postgres", "bit varying(5)", "BIT"),
    ("postgres", "jsonb", "JSON"),
    ("postgres", "geometry(Point, 4326)", "VARCHAR"),
    ("mysql", "int(10) unsigned zerofill", "UINTEGER"),
    ("mysql", "tinyint(1)", "BOOLEAN"),
    ("mysql", "tinyint(4)", "TINYINT"),
    ("mysql", "decimal(10,2) unsigned", "DECIMAL(10,2)"),
    ("mysql", "decimal", "DECIMAL(10,0)"),
    ("mysql", "double(8,2)", "DOUBLE"),
    ("mysql", "enum('a','b, c')", "VARCHAR"),
    ("mysql", "varchar(20) binary", "VARCHAR"),
    ("mysql", "mediumtext", "VARCHAR"),
    ("mysql", "year", "SMALLINT"),
    ("tsql", "[nvarchar](max)", "VARCHAR"),
    ("tsql", "bit", "BOOLEAN"),
    ("tsql", "tinyint", "UTINYINT"),
    ("tsql", "datetime2(7)", "TIMESTAMP"),
    ("tsql", "datetimeoffset(7)", "TIMESTAMP WITH TIME ZONE"),
    ("tsql", "timestamp", "BLOB"),
    ("tsql", "money", "DECIMAL(19,4)"),
    ("tsql", "float(53)", "DOUBLE"),
    ("tsql", "float(24)", "FLOAT"),
    ("tsql", "uniqueidentifier", "UUID"),
    ("oracle", "NUMBER", "DOUBLE"),
    ("oracle", "NUMBER(9)", "INTEGER"),
    ("oracle", "NUMBER(10,0)", "BIGINT"),
    ("oracle", "NUMBER(*,0)", "HUGEINT"),
    ("oracle", "NUMBER(10,2)", "DECIMAL(10,2)"),
    ("oracle", "NUMBER(5,-2)", "DOUBLE"),
    ("oracle", "VARCHAR2(20 CHAR)", "VARCHAR"),
    ("oracle", "DATE", "TIMESTAMP"),
    ("oracle", "LONG RAW", "BLOB"),
    ("oracle", "TIMESTAMP (6) WITH LOCAL TIME ZONE", "TIMESTAMP WITH TIME ZONE"),
    ("oracle", "INTERVAL DAY (2) TO SECOND (6)", "INTERVAL"),
    ("sqlite", "", "VARCHAR"),
    ("sqlite", "UNSIGNED BIG INT", "BIGINT"),
    ("sqlite", "FLOATING POINT", "BIGINT"),
    ("sqlite", "NVARCHAR(160)", "VARCHAR"),
    ("bigquery", "STRUCT<a INT64 NOT NULL, b ARRAY<STRING>>", 'STRUCT("a" BIGINT, "b" VARCHAR[])'),
    ("bigquery", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE"),
    ("bigquery", "NUMERIC", "DECIMAL(38,9)"),
    ("snowflake", "NUMBER(38,0)", "HUGEINT"),
    ("snowflake", "VARIANT", "JSON"),
    ("snowflake", "TIMESTAMP_NTZ(9)", "TIMESTAMP"),
    ("hive", "MAP<STRING, ARRAY<INT>>", "MAP(VARCHAR, INTEGER[])"),
    ("hive", "STRUCT<a:INT, b:STRUCT<c:DATE>>", 'STRUCT("a" INTEGER, "b" STRUCT("c" DATE))'),
    ("clickhouse", "LowCardinality(Nullable(String))", "VARCHAR"),
    ("clickhouse", "Nullable(UInt32)", "UINTEGER"),
    ("clickhouse", "DateTime64(3, 'UTC')", "TIMESTAMP"),
    ("clickhouse", "Decimal64(4)", "DECIMAL(18,4)"),
    ("trino", "array(row(a integer, b varchar))", 'STRUCT("a" INTEGER, "b" VARCHAR)[]'),
    ("duckdb", "STRUCT(a INTEGER, b VARCHAR[])[]", 'STRUCT("a" INTEGER, "b" VARCHAR[])[]'),
    ("duckdb", "DECIMAL", "DECIMAL(18,3)"),
    ("db2", "CHAR(8) FOR BIT DATA", "BLOB"),
    ("db2", "DECFLOAT(34)", "DOUBLE"),
    ("postgres", "no_such_type", None),
    ("postgres", "int b text", None),
]


@pytest.mark.parametrize(("dialect", "declared", "expected"), TYPES)
def test_types(dialect: str, declared: str, expected: str | None) -> None:
    """A declared type has the DuckDB type that holds its values, or none if it isn't known."""
    assert typed(declared, dialect) == expected


def test_duckdb_knows_every_type() -> None:
    """Every type is mapped to one that DuckDB has."""
    with duckdb.connect() as connection:
        for type_ in sorted({expected for _, _, expected in TYPES if expected}):
            connection.execute(f"SELECT CAST(NULL AS {type_})")


def test_names_inside_a_type_are_quoted() -> None:
    """A field's name never becomes SQL."""
    assert typed('STRUCT("a"" INT); DROP TABLE x; --" INT)', "duckdb") == (
        'STRUCT("a"" INT); DROP TABLE x; --" INTEGER)'
    )


def test_endless_nesting_ends() -> None:
    """A type nested hundreds of times doesn't crash the reader."""
    assert typed("ARRAY<" * 500 + "INT64" + ">" * 500, "bigquery") is not None


def test_types_that_mean_themselves_are_not_known(tmp_path: Path) -> None:
    """Domains based on each other have no base type, and their columns are text."""
    path = tmp_path / "x.sql"
    path.write_text("CREATE DOMAIN a AS b; CREATE DOMAIN b AS a; CREATE TABLE t (x a);")
    with open_ddl(path) as source:
        assert source.tables[0].columns[0].type == "VARCHAR"


def test_unknown_types_are_shown(tmp_path: Path) -> None:
    """An unknown type is read as text, and the notes and the column say so."""
    path = tmp_path / "x.sql"
    path.write_text("CREATE TABLE t (id int, x foo.bar(3), y foo.bar(3));")
    with open_ddl(path) as source:
        column = source.tables[0].columns[1]
        assert (column.declared_type, column.type) == ("foo.bar(3)", "VARCHAR")
        assert column.notes == ("Its type foo.bar(3) isn't known and is read as text.",)
        assert source.notes[-1] == (
            "These types aren't known and are read as text: foo.bar(3) (2)."
        )
