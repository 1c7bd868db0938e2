"""Data files: dbt reads the very rows that the forge read, or says that it reads a copy."""

import gzip
import json
from pathlib import Path

import duckdb
import pytest

from fluid_build.transform.dbt import file_access
from fluid_build.transform.dbt.file_access import ReadingCheck
from fluid_build.transform.dbt.running import run_dbt
from tests.transform.dbt.opened_projects import built_alike, project_of


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    return folder


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "out" / "dbt"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    return folder


CLEAN = 'id,name,at,ok\n1,Ann,2024-01-02,true\n2,"B, ""b""",2024-02-03,false\n3,,,\n'

AS_THEY_ARE = {
    "plain": ("t.csv", CLEAN.encode(), "'BIGINT'"),
    "with a byte order mark": ("t.csv", b"\xef\xbb\xbf" + CLEAN.encode(), "columns="),
    "with carriage returns": ("t.csv", CLEAN.replace("\n", "\r\n").encode(), "columns="),
    "in latin-1 with semicolons": (
        "t.csv",
        "id;name\n1;Zoë\n2;Groß\n3;Ænon\n".encode("latin-1"),
        "encoding='latin-1'",
    ),
    "in utf-16": ("t.csv", "id,name\n1,Zoë\n2,日本\n".encode("utf-16"), "encoding='utf-16'"),
    "with words for what is missing": (
        "t.csv",
        b"id,amount,day\n1,2.50,31/12/2023\n2,NULL,01/02/2024\n3,n/a,\n",
        "REPLACE",
    ),
    "with dumped nulls": ("t.tsv", b"id\tname\n1\tx\n2\t\\N\n3\ty\n", "REPLACE"),
    "without a header": ("t.csv", b"1,2024-01-01\n2,2024-01-02\n", "header=false"),
    "with a preamble": ("t.csv", b"Report\n\nid,a,b\n1,x,2\n2,y,3\n", "skip=2"),
    "with hostile names": (
        "t.csv",
        b'"a""b",\'{{ x }}\',$y,{%z,{#,%s,id,ID\n1,2,3,4,5,6,7,8\n2,3,4,5,6,7,8,9\n',
        "$$y",
    ),
    "with one column": ("t.csv", b"name\nAnn\nBob's\n", "delim="),
    "with backslashes for escapes": (
        "t.csv",
        b'id,a,b\n1,"x \\"y\\" z",p\n2,"p",q\n3,"a \\"b\\", c",r\n',
        "escape='\\'",
    ),
    "with zones and times": (
        "t.csv",
        b"id,at,t\n1,2024-01-02 03:04:05+02:00,10:00:00\n2,2024-01-02 04:04:05+02:00,11:30:15.5\n",
        "TIMESTAMP WITH TIME ZONE",
    ),
    "compressed": ("t.csv.gz", gzip.compress(CLEAN.encode(), mtime=0), "compression='gzip'"),
    "of short lines": ("t.csv", CLEAN.encode() + b"4,Dan\n", "null_padding=true"),
    "of long lines": ("t.csv", CLEAN.encode() + b"4,Dan,,true,more\n", "strict_mode=false"),
    "of JSON lines": (
        "t.jsonl",
        b'{"id": 1, "a": {"b": [1, 2]}, "at": "2024-01-02"}\n{"id": 2, "c": null}\n',
        "STRUCT",
    ),
    "of a JSON array": (
        "t.json",
        json.dumps([{"id": 1, "x y": 1.5}, {"id": 2, "x y": None}]).encode(),
        "read_json(",
    ),
    "of JSON with odd dates": (
        "t.json",
        b'[{"id": 1, "d": "03/25/2024 10:00:00"}, {"id": 2, "d": "03/26/2024 11:00:00"}]',
        "read_json(",
    ),
    "of compressed JSON": (
        "t.json.gz",
        gzip.compress(b'[{"id": 1}, {"id": 2}]', mtime=0),
        "read_json(",
    ),
}


def test_folders_at_several_depths_are_read_by_a_call_for_each(data: Path, project: Path) -> None:
    """DuckDB refuses to read files by one call whose paths have other keys."""
    for i, place in enumerate(("", "d=2024-01-01", "d=2024-01-02/e=1")):
        (data / "s" / place).mkdir(parents=True, exist_ok=True)
        (data / "s" / place / "f.csv").write_text(f"id,v\n{i},x\n")
    with project_of(str(data), project) as made:
        assert made.access.copies == ()
        assert made.external("s").count("read_csv(") == 3
        assert made.differing("s") == 0


@pytest.mark.parametrize("name", AS_THEY_ARE)
def test_a_file_is_read_in_place(data: Path, project: Path, name: str) -> None:
    """DuckDB reads the same rows from the file itself, with the options that the forge found."""
    file, content, expected = AS_THEY_ARE[name]
    (data / file).write_bytes(content)
    with project_of(str(data), project) as made:
        assert made.access.copies == ()
        assert expected in made.external("t")
        assert made.differing("t") == 0


COPIED = {
    "an open quote": ("t.csv", b'id,a,b\n1,x,"y\n2,p,q\n3,r,s\n4,t,u\n', "repaired"),
    "UTF-16 of the other order": ("t.csv", b"\xfe\xff" + CLEAN.encode("utf-16-be"), "encoding"),
    "bytes that only Windows-1252 has": (
        "t.csv",
        "id,price\n1,5 €\n2,7 €\n".encode("cp1252"),
        "encoding",
    ),
    "JSON in Latin-1": ("t.json", '[{"id": 1, "a": "Zoë"}]'.encode("latin-1"), "encoding"),
}


@pytest.mark.parametrize("name", COPIED)
def test_what_duckdb_reads_differently_is_read_from_a_copy(
    data: Path, project: Path, name: str
) -> None:
    """The copy holds the rows that the forge read, and the notes say why it is there."""
    file, content, reason = COPIED[name]
    (data / file).write_bytes(content)
    with project_of(str(data), project) as made:
        assert "/land/t.parquet')" in made.external("t")
        assert made.access.variables == {}
        (note,) = made.access.notes
        assert reason in note and "Run `fluid forge` again to refresh it" in note
        assert made.differing("t") == 0


def test_a_copy_of_personal_data_is_said_to_be_one(data: Path, project: Path) -> None:
    """The note on a copy names the columns of it that are personal."""
    rows = "".join(f"{i};anna{i}@example.org;€\n" for i in range(30))
    (data / "people.csv").write_bytes(f"id;email;sign\n{rows}".encode("cp1252"))
    with project_of(str(data), project) as made:
        assert "It holds personal data (email)." in made.access.notes[0]


def test_copies_have_the_same_bytes_each_time(data: Path, project: Path) -> None:
    """Two forges of the same files write the same copy, byte for byte."""
    rows = "".join(f"{i},{i * 7 % 13},x{i}\n" for i in range(30_000))
    (data / "t.csv").write_bytes(f"id,n,s\n{rows}1,2,y €\n".encode("cp1252"))
    found = set()
    for number in range(2):
        folder = project / str(number)
        folder.mkdir()
        with project_of(str(data), folder) as made:
            assert made.access.copies
            found.add((folder / "land" / "t.parquet").read_bytes())
    assert len(found) == 1


def test_lines_that_are_no_json_do_not_change_the_rows(data: Path, project: Path) -> None:
    """Broken lines are left out by dbt as by the forge, or a copy is read."""
    (data / "t.jsonl").write_bytes(b'{"id": 1, "a": "x"}\n{oops\n{"id": 2, "a": "y"}\n')
    with project_of(str(data), project) as made:
        assert made.differing("t") == 0


@pytest.mark.parametrize("kind", ["parquet", "csv", "json"])
def test_partitions_are_read_by_one_pattern(data: Path, project: Path, kind: str) -> None:
    """A folder of key=value folders becomes one glob, its keys columns of the same type."""
    options = {"parquet": "parquet", "csv": "csv, HEADER", "json": "json"}[kind]
    with duckdb.connect() as connection:
        for year in (2023, 2024):
            folder = data / "sales" / f"year={year}" / "half=0 1"
            folder.mkdir(parents=True)
            connection.execute(
                f"COPY (SELECT i AS id, i * 1.5 AS amount FROM range(3) r(i))"
                f" TO '{folder}/a.{kind}' (FORMAT {options})"
            )
    with project_of(str(data / "sales"), project) as made:
        assert f"/**/*.{kind}'" in made.external("sales")
        assert made.differing("sales") == 0


def test_what_is_large_is_compared_by_its_count_and_start(
    data: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beyond the bound the notes say that not every row was read a second time."""
    monkeypatch.setattr(file_access, "WHOLE_UP_TO", 0)
    (data / "t.csv").write_bytes(CLEAN.encode())
    with project_of(str(data), project) as made:
        assert "only its row count and first rows were compared" in made.access.notes[0]
        assert made.differing("t") == 0


@pytest.mark.parametrize("whole", [True, False])
def test_a_reading_with_other_rows_is_different(data: Path, project: Path, whole: bool) -> None:
    """A value, a count, a text of another type or an error: each tells two readings apart."""
    (data / "t.csv").write_bytes(b"id,s\n1,x\n2,y\n2,y\n")
    with project_of(str(data), project) as made:
        (table,) = made.source.tables
        columns = made.plan.sources[0].columns
        comparison = ReadingCheck(made.source.connection, table, columns)
        others = [
            "(VALUES (1, 'x'), (2, 'y'), (2, 'z')) t(id, s)",
            "(VALUES (1, 'x'), (2, 'y')) t(id, s)",
            "(VALUES (1, 1), (2, 2), (2, 2)) t(id, s)",
            "(VALUES (1, 'x'), (2, 'y'), (2, 'y')) t(id, other)",
            "read_csv('no such file')",
        ]
        for relation in others:
            assert comparison.with_reading(relation, whole=whole) == "different"
        same = "(VALUES ('2', 'y'), ('1', 'x'), ('2', 'y')) t(id, s)"
        assert comparison.with_reading(same, whole=whole) != "different"


def test_parts_with_other_columns_are_put_together(data: Path, project: Path) -> None:
    """Files of one table that are not written alike are read by one call for each way."""
    folder = data / "t"
    (folder / "k=1").mkdir(parents=True)
    (folder / "k=2").mkdir()
    (folder / "k=1" / "a.csv").write_text("id,a\n1,x\n2,y\n", encoding="utf-8")
    (folder / "k=2" / "b.csv").write_text("b;id\n7;3\n8;4\n", encoding="utf-8")
    with project_of(str(folder), project) as made:
        assert "UNION ALL BY NAME" in made.external("t")
        assert made.differing("t") == 0


def test_parquet_is_read_in_place(data: Path, project: Path) -> None:
    """Parquet parts in a folder are one glob, united by name."""
    with duckdb.connect() as connection:
        for i in (1, 2):
            connection.execute(
                f"COPY (SELECT {i} AS id, {i} AS \"x{i}\") TO '{data}/part-{i}.parquet'"
            )
        connection.execute(f"COPY (SELECT 1 AS id) TO '{data}/other name.parquet'")
    (data / "t").mkdir()
    for i in (1, 2):
        (data / f"part-{i}.parquet").rename(data / "t" / f"k{i}.parquet")
    with project_of(str(data), project) as made:
        for one in made.plan.sources:
            assert made.differing(one.id) == 0
        assert "read_parquet(" in made.external("other_name")


def test_a_single_file_in_a_hostile_folder_is_found(tmp_path: Path, project: Path) -> None:
    """Quotes, wildcards, dollars and Jinja in a path stay what they are."""
    folder = tmp_path / "Bob's [1] {{ d }} $HOME {% x"
    folder.mkdir()
    (folder / "a*b'c.csv").write_text("id,n\n1,x\n2,y\n", encoding="utf-8")
    (folder / "axb'c.csv").write_text("id,n\n9,z\n", encoding="utf-8")
    with project_of(str(folder), project) as made:
        for one in made.plan.sources:
            assert made.differing(one.id) == 0


def test_braces_in_a_folder_are_no_placeholder(tmp_path: Path, project: Path) -> None:
    """A reading without a brace of its own is formatted by dbt-duckdb as any other is."""
    folder = tmp_path / "{a} {{b}} $c"
    folder.mkdir()
    with duckdb.connect() as connection:
        connection.execute(
            "COPY (SELECT 1 AS id) TO ? (FORMAT parquet)", [f"{folder}/{{t}}.parquet"]
        )
    with project_of(str(folder), project) as made:
        (one,) = made.plan.sources
        assert made.differing(one.id) == 0
        assert made.differing(one.id, {"FLUID_SOURCE_PATH": str(folder)}) == 0


def test_the_source_may_move(data: Path, project: Path, tmp_path: Path) -> None:
    """FLUID_SOURCE_PATH names the moved folder; the project has no path of this machine."""
    (data / "t.csv").write_bytes(CLEAN.encode())
    with project_of(str(data), project) as made:
        assert str(tmp_path) not in made.external("t") + made.access.profiles_yml
        moved = tmp_path / "moved"
        data.rename(moved)
        assert made.differing("t", {"FLUID_SOURCE_PATH": str(moved)}) == 0
        with pytest.raises(duckdb.IOException, match="No files found"):
            made.differing("t")


def test_a_glob_is_read_from_the_folder_below_which_it_matches(data: Path, project: Path) -> None:
    """The variable stands for the folder before the first wildcard."""
    (data / "a.csv").write_bytes(CLEAN.encode())
    (data / "b.csv").write_bytes(CLEAN.encode())
    with project_of(f"{data}/*.csv", project) as made:
        assert "~ '/../../data')" in made.external("a")
        assert made.external("a").count("/a.csv'") == 1
        assert made.differing("a") == 0


@pytest.mark.usefixtures("dbt")
def test_dbt_builds_from_files_of_every_kind(data: Path, project: Path) -> None:
    """Messy text, nested JSON, partitions and a copy: dbt builds what the direct run does."""
    messy = 'id;"a""b";\'{{ x }}\';$y;k;K\n1;Zoë;NULL;31/12/2023;1;2\n2;b;1.5;;3;4\n'
    (data / "messy.csv").write_bytes(messy.encode("latin-1"))
    (data / "copied.csv").write_bytes("id,price\n1,5 €\n2,7 €\n".encode("cp1252"))
    (data / "lines.jsonl").write_bytes(b'{"id": 1, "a": {"b": [1]}}\n{"id": 2}\n')
    for year in (2023, 2024):
        (data / "sales" / f"year={year}").mkdir(parents=True)
        (data / "sales" / f"year={year}" / "a.csv.gz").write_bytes(
            gzip.compress(CLEAN.encode(), mtime=0)
        )
    with project_of(str(data), project) as made:
        assert [one.id for one in made.access.copies] == ["copied"]
        built_alike(made, run_dbt(project), published=5)
