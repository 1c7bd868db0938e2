"""Any schema that sqlglot writes, in any dialect, is read as it was."""

from dataclasses import dataclass

import pytest
import sqlglot
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.sources.base import Table
from fluid_build.sources.sql_text.ddl.dialects import DIALECTS
from fluid_build.sources.sql_text.ddl.files import SqlFile
from fluid_build.sources.sql_text.ddl.script import list_faults, read_script
from fluid_build.sources.sql_text.ddl.tables import declared_tables

DIALECTS_WRITTEN = (
    "bigquery", "databricks", "duckdb", "hive", "mysql", "oracle", "postgres", "redshift",
    "snowflake", "spark", "sqlite", "tsql", "trino",
)  # fmt: skip
TYPES = ("INT", "BIGINT", "TEXT", "VARCHAR(20)", "DATE", "DECIMAL(10, 2)", "DOUBLE", "BOOLEAN")
UNIQUE_IS_NOT_WRITTEN = ("databricks", "hive", "spark")
NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_ ]{0,11}[a-z0-9_]", fullmatch=True)


@dataclass(frozen=True)
class Written:
    """A table to be written; ``references`` are its columns that refer to the first table."""

    name: str
    columns: tuple[tuple[str, str, bool], ...]
    primary_key: tuple[str, ...]
    unique: tuple[str, ...]
    references: tuple[str, ...]


@st.composite
def schemas(draw: st.DrawFn) -> tuple[Written, ...]:
    names = draw(st.lists(NAMES, min_size=1, max_size=3, unique_by=str.lower))
    tables: list[Written] = []
    for name in names:
        columns = draw(st.lists(NAMES, min_size=2, max_size=5, unique_by=str.lower))
        shuffled = draw(st.permutations(columns))
        key = tuple(shuffled[: draw(st.integers(1, 2))])
        wanted = len(tables[0].primary_key) if tables else 0
        tables.append(
            Written(
                name=name,
                columns=tuple(
                    (column, draw(st.sampled_from(TYPES)), column in key or draw(st.booleans()))
                    for column in columns
                ),
                primary_key=key,
                unique=(shuffled[-1],) if draw(st.booleans()) and shuffled[-1] not in key else (),
                references=tuple(shuffled[-wanted:]) if tables and draw(st.booleans()) else (),
            )
        )
    return tuple(tables)


def _quoted(names: tuple[str, ...]) -> str:
    return ", ".join(f'"{name}"' for name in names)


def _sql(table: Written, first: Written) -> str:
    parts = [
        f'"{name}" {type_}{" NOT NULL" if required else ""}'
        for name, type_, required in table.columns
    ]
    parts.append(f"PRIMARY KEY ({_quoted(table.primary_key)})")
    if table.unique:
        parts.append(f"CONSTRAINT u UNIQUE ({_quoted(table.unique)})")
    if table.references:
        own, theirs = _quoted(table.references), _quoted(first.primary_key)
        parts.append(f'FOREIGN KEY ({own}) REFERENCES "{first.name}" ({theirs})')
    return f'CREATE TABLE "{table.name}" ({", ".join(parts)})'


def _read(text: str, dialect: str) -> list[Table]:
    script = read_script([SqlFile("x.sql", text)], DIALECTS[dialect])
    assert list_faults(script) == []
    return declared_tables(script.schema).tables


@pytest.mark.parametrize("dialect", DIALECTS_WRITTEN)
@given(schema=schemas(), pretty=st.booleans())
def test_written_schema_comes_back(dialect: str, schema: tuple[Written, ...], pretty: bool) -> None:
    """Names, order, nullability, keys and references survive being written in a dialect."""
    written_one_by_one = (
        sqlglot.transpile(_sql(table, schema[0]), "duckdb", dialect, identify=True, pretty=pretty)
        for table in schema
    )
    text = ";\n".join(statement for (statement,) in written_one_by_one)
    read = _read(text, dialect)
    assert [table.name for table in read] == [table.name for table in schema]
    for table, written in zip(read, schema, strict=True):
        assert table.notes == ()
        assert [(column.name, column.nullable) for column in table.columns] == [
            (name, not required) for name, _, required in written.columns
        ]
        assert table.primary_key == written.primary_key
        unique = written.unique if dialect not in UNIQUE_IS_NOT_WRITTEN else ()
        assert table.unique_keys == ((unique,) if unique else ())
        assert [(key.columns, key.to_table, key.to_columns) for key in table.foreign_keys] == (
            [(written.references, schema[0].name, schema[0].primary_key)]
            if written.references
            else []
        )
