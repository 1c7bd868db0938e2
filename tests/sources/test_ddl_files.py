"""Where DDL comes from: files, folders, patterns, and the encodings of dumps."""

import codecs
import gzip
from pathlib import Path

import pytest

from fluid_build.errors import EmptySourceError, SourceNotFoundError, SourceUnreadableError
from fluid_build.sources.sql_text.ddl import open_ddl

TEXT = "CREATE TABLE größe (id int PRIMARY KEY, ñame varchar(9));\n"


@pytest.mark.parametrize(
    "data",
    [
        TEXT.encode("utf-8"),
        codecs.BOM_UTF8 + TEXT.encode("utf-8"),
        TEXT.encode("utf-16"),
        TEXT.encode("utf-16-le"),
        TEXT.encode("utf-16-be"),
        TEXT.replace("\n", " ").encode("utf-16-le"),
        TEXT.replace("\n", " ").encode("utf-16-be"),
        codecs.BOM_UTF16_BE + TEXT.encode("utf-16-be"),
        TEXT.encode("latin-1"),
        TEXT.replace("\n", "\r\n").encode("utf-8"),
    ],
    ids=[
        "utf8",
        "utf8-bom",
        "utf16",
        "utf16-le",
        "utf16-be",
        "utf16-le-one-line",
        "utf16-be-one-line",
        "utf16-be-bom",
        "latin1",
        "crlf",
    ],
)
def test_encodings(tmp_path: Path, data: bytes) -> None:
    """Whatever encoding a dump is in, its names come out right."""
    path = tmp_path / "dump.sql"
    path.write_bytes(data)
    with open_ddl(path) as source:
        assert source.tables[0].name == "größe"
        assert [column.name for column in source.tables[0].columns] == ["id", "ñame"]


def test_binary_rows_do_not_change_the_encoding(tmp_path: Path) -> None:
    """Broken bytes in the rows of a UTF-8 dump are replaced and noted; names stay right."""
    path = tmp_path / "dump.sql"
    path.write_bytes(TEXT.encode() + b"INSERT INTO t VALUES ('\xff\xfe');\n")
    with open_ddl(path) as source:
        assert source.tables[0].name == "größe"
        assert any("2 bytes of dump.sql aren't valid UTF-8" in note for note in source.notes)


def test_quotes_in_names_are_letters_like_others(tmp_path: Path) -> None:
    path = tmp_path / "quotes.sql"
    path.write_text('create table "a""b" (id integer primary key, "x""y" text);')
    with open_ddl(path) as source:
        (table,) = source.tables
        assert (table.name, [column.name for column in table.columns]) == ('a"b', ["id", 'x"y'])
        assert source.connection.execute(f"FROM {table.relation}").fetchall() == []


def test_folder_is_one_source(tmp_path: Path) -> None:
    """The SQL files of a folder are read together, whichever comes first."""
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "keys.sql").write_text("ALTER TABLE t ADD FOREIGN KEY (u) REFERENCES u;")
    (tmp_path / "t.SQL").write_text("CREATE TABLE t (u int);")
    (tmp_path / "u.sql.gz").write_bytes(gzip.compress(b"CREATE TABLE u (id int PRIMARY KEY);"))
    (tmp_path / "notes.txt").write_text("CREATE TABLE never (id int);")
    with open_ddl(tmp_path) as source:
        assert [table.name for table in source.tables] == ["t", "u"]
        assert source.tables[0].foreign_keys[0].to_table == "u"
        assert source.name == tmp_path.name


def test_glob_chooses_files(tmp_path: Path) -> None:
    """A pattern reads the files it matches and no others."""
    for name in ("v1_a", "v1_b", "v2_a"):
        (tmp_path / f"{name}.sql").write_text(f"CREATE TABLE {name} (id int);")
    with open_ddl(str(tmp_path / "v1_*.sql")) as source:
        assert [table.name for table in source.tables] == ["v1_a", "v1_b"]


def test_name_of_the_source(tmp_path: Path) -> None:
    """A source is called after its file, without folder and ending."""
    path = tmp_path / "shop.sql"
    path.write_text(TEXT)
    with open_ddl(path) as source:
        assert (source.kind, source.name) == ("ddl", "shop")


def test_lines_name_their_file(tmp_path: Path) -> None:
    """With several files, an unreadable statement is shown with its file."""
    (tmp_path / "a.sql").write_text("CREATE TABLE a (id int);")
    (tmp_path / "b.sql").write_text("\nFROBNICATE;")
    with open_ddl(tmp_path) as source:
        assert any(note.startswith("b.sql, line 2 could not be read") for note in source.notes)


def test_no_table_is_an_error(tmp_path: Path) -> None:
    """A file without CREATE TABLE is answered with what to give instead."""
    path = tmp_path / "query.sql"
    path.write_text("SELECT 'CREATE TABLE x (id int)';")
    with pytest.raises(EmptySourceError) as caught:
        open_ddl(path)
    assert "no CREATE TABLE statement" in caught.value.message
    assert caught.value.hint


def test_empty_folder_is_an_error(tmp_path: Path) -> None:
    """A folder without SQL files is told apart from a file without tables."""
    with pytest.raises(EmptySourceError, match=r"no \.sql file"):
        open_ddl(tmp_path)


def test_missing_file_is_an_error(tmp_path: Path) -> None:
    """A path to nothing is reported as not found."""
    with pytest.raises(SourceNotFoundError):
        open_ddl(tmp_path / "gone.sql")


def test_binary_file_is_an_error(tmp_path: Path) -> None:
    """A binary file isn't SQL."""
    path = tmp_path / "x.sql"
    path.write_bytes(b"SQLite format 3\x00\x10\x00\x01\x01\x00" + bytes(range(256)))
    with pytest.raises(SourceUnreadableError):
        open_ddl(path)


def test_damaged_gzip_is_an_error(tmp_path: Path) -> None:
    """A truncated gzip file is reported as damaged."""
    path = tmp_path / "x.sql.gz"
    path.write_bytes(gzip.compress(TEXT.encode() * 100)[:-20])
    with pytest.raises(SourceUnreadableError, match="damaged"):
        open_ddl(path)


def test_closing_frees_everything(tmp_path: Path) -> None:
    """Reading twice gives the same result, and a closed source can be closed again."""
    path = tmp_path / "x.sql"
    path.write_text(TEXT)
    with open_ddl(path) as first, open_ddl(path) as second:
        assert (first.tables, first.notes) == (second.tables, second.notes)
    first.close()


@pytest.mark.timeout(60)
def test_a_large_dump_is_read_in_seconds(tmp_path: Path) -> None:
    """A dump of 5 MB and 100 tables, nearly all rows, is cut without reading the rows."""
    rows = ",".join(f"({n},'it\\'s; (\"{n}')" for n in range(2500))
    path = tmp_path / "dump.sql"
    path.write_text(
        "".join(
            f"CREATE TABLE `t{n}` (`id` int NOT NULL, PRIMARY KEY (`id`)) ENGINE=InnoDB;\n"
            f"INSERT INTO `t{n}` VALUES {rows};\n"
            for n in range(100)
        )
    )
    with open_ddl(path) as source:
        assert len(source.tables) == 100


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "text",
    ["[" * 100_000, "/* " * 50_000, "COPY t FROM stdin;\n" * 5_000,
     "CREATE TABLE u (a int DEFAULT " + "(" * 50_000, "CREATE TABLE u (a int " + "NOT " * 50_000],
    ids=["brackets", "comments", "copies", "parentheses", "words"],
)  # fmt: skip
def test_hostile_text_takes_seconds_at_most(tmp_path: Path, text: str) -> None:
    """What opens and never closes isn't searched for again and again."""
    path = tmp_path / "x.sql"
    path.write_text(f"CREATE TABLE t (id int);\n{text}")
    for dialect in (None, "tsql", "mysql"):
        with open_ddl(path, dialect=dialect) as source:
            assert source.tables[0].name == "t"
