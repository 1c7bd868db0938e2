"""Every row that a dump brings is read, or named: no statement loses one in silence."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.errors import EmptySourceError
from fluid_build.sources import ddl, dumps, open_source
from fluid_build.sources.dumps import row_count
from fluid_build.sources.dumps import source as dump_source
from fluid_build.sources.dumps.row_count import count_rows

TABLE = "CREATE TABLE t (id integer, name text);\n"
POSSESSIVE = re.compile(r"(?<!\\)[*+?}]\+(?!\\)")


def names(folder: Path, statements: str) -> list[str | None]:
    path = folder / "dump.sql"
    path.write_text(TABLE + statements, encoding="utf-8")
    with open_source(path) as source:
        (table,) = source.tables
        rows = source.connection.execute(f"SELECT name FROM {table.relation} ORDER BY id")
        return [name for (name,) in rows.fetchall()]


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO t OVERRIDING SYSTEM VALUE VALUES (1,'a'),(2,'b');",
        "INSERT INTO t (id, name) OVERRIDING USER VALUE VALUES (1,'a'),(2,'b');",
        "INSERT INTO t VALUES /* it's (x) */ (1,'a'), -- (y)\n (2,'b');",
        "INSERT INTO t VALUES (1,'a'),(2,'b') ON CONFLICT (id) DO NOTHING;",
        "INSERT INTO t VALUES ROW(1,'a'), ROW(2,'b');",
        "INSERT INTO t VALUES (1,'a') , (2,'b') RETURNING (id);",
    ],
)
def test_rows_are_found_around_the_words_of_a_statement(tmp_path: Path, statement: str) -> None:
    assert names(tmp_path, statement) == ["a", "b"]


texts = st.text(st.sampled_from("ab'();,-/*\\ \nE\"`"), max_size=12)
gaps = st.sampled_from([",", ", ", ",\n", ", -- it's (a) note;\n", ", /* don't; ( */ "])


@given(rows=st.lists(st.tuples(texts, gaps), min_size=1, max_size=8), ending=gaps)
def test_any_rows_are_read_and_counted(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]], ending: str
) -> None:
    """Whatever texts hold and comments say, both counts agree, and each text is as it was."""
    said = [text for text, _ in rows]
    quoted = [
        f"({number}, '{text.replace(chr(39), chr(39) * 2)}')" for number, text in enumerate(said)
    ]
    body = "".join(f"{row}{gap}" for row, (_, gap) in zip(quoted, rows, strict=True))
    statement = f"INSERT INTO t VALUES {body}{ending.strip(', ')}(9, 'end');\n"
    assert names(tmp_path_factory.mktemp("dump"), statement) == [*said, "end"]
    start = len("INSERT INTO t VALUES")
    assert count_rows(statement, start, statement.rindex(";"), backslash=False) == len(said) + 1


def test_a_count_goes_on_where_a_reader_stopped(tmp_path: Path) -> None:
    """A reader that ends too early is found out by the semicolon that isn't there."""
    statement = "INSERT INTO t VALUES (1,'a'),(2,'b'),(3,'c');"
    start = len("INSERT INTO t VALUES")
    assert count_rows(statement, start, statement.index(",(2"), backslash=False) == 3


def test_a_table_of_which_two_counts_differ_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows that were lost between the statement and the reader don't pass for a whole table."""
    right = dump_source.read_rows
    monkeypatch.setattr(dump_source, "read_rows", lambda *arguments: list(right(*arguments))[:-1])
    with pytest.raises(EmptySourceError, match="has 2 rows by one count, and 1 by another"):
        names(tmp_path, "INSERT INTO t VALUES (1,'a'),(2,'b');")


def test_no_pattern_of_a_dump_is_possessive() -> None:
    """Python 3.11.2 stops too early in a group with such a quantifier."""
    folders = [Path(str(package.__file__)).parent for package in (ddl, dumps)]
    files = [file for folder in folders for file in folder.glob("*.py")]
    assert Path(str(row_count.__file__)) in files
    found = [file.name for file in files if POSSESSIVE.search(file.read_text(encoding="utf-8"))]
    assert not found
