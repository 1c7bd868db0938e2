"""Each kind of source, forged from start to written files by the real command."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest
import yaml

from tests.cli.running import STATEMENTS, Fluid

FILES = {
    "MODEL.md",
    "contract.fluid.yaml",
    "dbt/dbt_project.yml",
    "dbt/profiles.yml",
    "forge.json",
    "model.json",
    "plan.json",
    "profile.json",
    "proof.json",
    "schema.sql",
}
FROM_SOURCE = ("forge", "data-model", "from-source")
FROM_DDL = ("forge", "data-model", "from-ddl")


def forged(fluid: Fluid, folder: Path, *arguments: str | Path) -> dict[str, Any]:
    """Forge, check what every forge must have left, and return the profile it wrote."""
    outcome = fluid(*arguments, "-o", folder, "--json")
    assert outcome.code == 0, outcome.err
    assert all((folder / name).is_file() for name in FILES)
    document = json.loads(outcome.out)
    assert set(document["files"]) >= {str(folder / name) for name in FILES}
    validated = fluid("validate", folder / "contract.fluid.yaml")
    assert validated.code == 0, validated.out
    model = json.loads((folder / "model.json").read_text())
    assert model["technique"] == "flat"
    assert "erDiagram" in (folder / "MODEL.md").read_text()
    profile: dict[str, Any] = json.loads((folder / "profile.json").read_text())
    return profile


def assert_two_tables(profile: dict[str, Any], contract: Path) -> None:
    """The keys of both tables, and the relationship between them."""
    tables = {table["name"].rpartition(".")[2]: table for table in profile["tables"]}
    assert tables["customer"]["primary_key"] == ["customer_id"]
    assert tables["orders"]["primary_key"] == ["order_id"]
    (key,) = profile["foreign_keys"]
    assert (key["from_columns"], key["to_columns"]) == (["customer_id"], ["customer_id"])
    exposes = yaml.safe_load(contract.read_text())["exposes"]
    assert len(exposes) == 2


def as_files(folder: Path, write: str, ending: str) -> Path:
    """The two tables as one file each, written by DuckDB."""
    folder.mkdir()
    with duckdb.connect() as database:
        database.execute(";".join(STATEMENTS))
        for table in ("customer", "orders"):
            database.execute(f"COPY {table} TO '{folder}/{table}.{ending}' ({write})")
    return folder


def test_sqlite(fluid: Fluid, sqlite_shop: Path, tmp_path: Path) -> None:
    """An SQLite file, by URI."""
    uri = f"sqlite:///{sqlite_shop}"
    profile = forged(fluid, tmp_path / "out", *FROM_SOURCE, "--source", "sqlite", "--uri", uri)
    assert_two_tables(profile, tmp_path / "out" / "contract.fluid.yaml")
    assert {table["rows"] for table in profile["tables"]} == {40, 120}


def test_duckdb(fluid: Fluid, duckdb_shop: Path, tmp_path: Path) -> None:
    """A DuckDB file, by its bare path and with its schema named."""
    arguments = ("--uri", duckdb_shop, "--schema", "main")
    profile = forged(fluid, tmp_path / "out", *FROM_SOURCE, *arguments)
    assert_two_tables(profile, tmp_path / "out" / "contract.fluid.yaml")


def test_postgres(fluid: Fluid, postgres: Any, tmp_path: Path) -> None:
    """A PostgreSQL database on a real server."""
    postgres.run(";".join(STATEMENTS))
    arguments = ("--source", "postgres", "--uri", postgres.uri)
    profile = forged(fluid, tmp_path / "out", *FROM_SOURCE, *arguments)
    assert_two_tables(profile, tmp_path / "out" / "contract.fluid.yaml")


def test_a_postgres_schema_is_chosen(fluid: Fluid, postgres: Any) -> None:
    """Only the schema that was named is read; one that is not there is an error."""
    postgres.run("CREATE SCHEMA sales; CREATE TABLE sales.a (id int); CREATE TABLE b (id int)")
    outcome = fluid("profile", postgres.uri, "--schema", "sales", "--json")
    assert [table["name"] for table in json.loads(outcome.out)["tables"]] == ["a"]
    assert fluid("profile", postgres.uri, "--schema", "sale").code == 2


def test_a_refused_password_is_an_error(fluid: Fluid, postgres: Any) -> None:
    """A user that the server does not know: two sentences, and not the password."""
    outcome = fluid("profile", postgres.uri_of("nobody", "hunter2-secret"))
    assert outcome.code == 2
    assert outcome.err.splitlines()[-2].startswith("Error: ")
    assert "hunter2-secret" not in outcome.err + outcome.out


@pytest.mark.parametrize(
    ("kind", "write", "ending"),
    [
        ("csv", "FORMAT csv, HEADER", "csv"),
        ("csv", "FORMAT csv, HEADER, DELIMITER '\t', COMPRESSION gzip", "tsv.gz"),
        ("parquet", "FORMAT parquet", "parquet"),
        ("json", "FORMAT json, ARRAY true", "json"),
        ("json", "FORMAT json", "jsonl"),
    ],
    ids=["csv", "gzipped tsv", "parquet", "json", "jsonl"],
)
def test_files(fluid: Fluid, tmp_path: Path, kind: str, write: str, ending: str) -> None:
    """A folder of files, one a table."""
    folder = as_files(tmp_path / "two", write, ending)
    arguments = ("--source", kind, "--uri", folder)
    profile = forged(fluid, tmp_path / "out", *FROM_SOURCE, *arguments)
    assert_two_tables(profile, tmp_path / "out" / "contract.fluid.yaml")


def test_ddl(fluid: Fluid, tmp_path: Path) -> None:
    """A script of CREATE TABLE statements: declared keys, and no rows."""
    script = tmp_path / "schema.sql"
    script.write_text(
        "CREATE TABLE customer (customer_id INTEGER PRIMARY KEY, email TEXT NOT NULL);\n"
        "CREATE TABLE orders (order_id INTEGER PRIMARY KEY,\n"
        "  customer_id INTEGER REFERENCES customer (customer_id));\n"
    )
    profile = forged(fluid, tmp_path / "out", *FROM_DDL, script, "--dialect", "postgres")
    assert_two_tables(profile, tmp_path / "out" / "contract.fluid.yaml")
    assert profile["foreign_keys"][0]["origin"] == "declared"
    assert fluid("profile", script).code == 0


def test_statements_that_could_not_be_read_are_on_every_screen(
    fluid: Fluid, tmp_path: Path
) -> None:
    """How DDL was read, and what wasn't, is reported with JSON and without, never dropped."""
    script = tmp_path / "schema.sql"
    script.write_text("CREATE TABLE a (id INT PRIMARY KEY);\nALTER TABLE a FROBNICATE;\n")
    forge = (*FROM_DDL, script, "-o", tmp_path / "out")
    for output in (
        fluid("profile", script).out,
        fluid("profile", script, "--json").err,
        fluid(*forge).out,
        fluid(*forge, "--json").err,
        (tmp_path / "out" / "MODEL.md").read_text(),
    ):
        assert "2 statements" in output
        assert "FROBNICATE" in output


SOURCES: dict[str, Callable[[Path], Path]] = {
    "csv": lambda folder: as_files(folder / "data", "FORMAT csv, HEADER", "csv"),
    "parquet": lambda folder: as_files(folder / "data", "FORMAT parquet", "parquet"),
}


@pytest.mark.parametrize("kind", SOURCES)
def test_the_same_input_gives_the_same_bytes(fluid: Fluid, tmp_path: Path, kind: str) -> None:
    """Forged twice, into different places: not one byte differs."""
    source = SOURCES[kind](tmp_path)
    for out in ("one", "two"):
        assert fluid(*FROM_SOURCE, "--uri", source, "-o", tmp_path / out).code == 0
    for name in FILES:
        one, two = ((tmp_path / out / name).read_bytes() for out in ("one", "two"))
        assert one == two
        assert str(tmp_path).encode() not in one


def test_the_files_go_to_a_folder_named_after_the_source(
    fluid: Fluid, sqlite_shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without ``-o`` the folder is NAME-model, where the command runs."""
    monkeypatch.chdir(tmp_path)
    assert fluid(*FROM_SOURCE, "--uri", sqlite_shop).code == 0
    folder = tmp_path / "two-model"
    assert all((folder / name).is_file() for name in FILES)


@pytest.mark.parametrize(
    ("arguments", "output"),
    [
        (("--source", "duckdb"), "is a SQLite database. Use --source sqlite"),
        (("--source", "csv"), "is a SQLite database."),
        (("--source", "sqlit"), "Did you mean 'sqlite'?"),
        (("--technique", "flatt"), "Did you mean 'flat'?"),
        (("--schema", "main"), "has no schemas to choose from."),
    ],
    ids=" ".join,
)
def test_options_that_cannot_be_meant_are_refused(
    fluid: Fluid, sqlite_shop: Path, tmp_path: Path, arguments: tuple[str, ...], output: str
) -> None:
    """An option must agree with what is at the URI; otherwise nothing is written."""
    outcome = fluid(*FROM_SOURCE, "--uri", sqlite_shop, "-o", tmp_path / "out", *arguments)
    assert outcome.code == 2
    assert output in " ".join(outcome.err.split())
    assert not (tmp_path / "out").exists()


def test_a_format_that_is_not_there_is_refused(fluid: Fluid, tmp_path: Path) -> None:
    """``--source parquet`` on a folder of CSV files is no agreement."""
    folder = as_files(tmp_path / "two", "FORMAT csv, HEADER", "csv")
    outcome = fluid(*FROM_SOURCE, "--source", "parquet", "--uri", folder, "-o", tmp_path / "out")
    assert outcome.code == 2
    assert "--source says parquet" in outcome.err


def test_data_and_ddl_are_reported_apart(fluid: Fluid, sqlite_shop: Path, tmp_path: Path) -> None:
    """Each of the two commands names the other where the other is meant."""
    script = tmp_path / "a.sql"
    script.write_text("CREATE TABLE a (id INT PRIMARY KEY)")
    assert "from-ddl" in fluid(*FROM_SOURCE, "--uri", script).err
    assert "from-source" in fluid(*FROM_DDL, sqlite_shop).err


def test_a_forge_is_shown_with_figures_and_files(
    fluid: Fluid, sqlite_shop: Path, tmp_path: Path
) -> None:
    """Without ``--json`` the command says what it found and what each file is for."""
    outcome = fluid(*FROM_SOURCE, "--uri", sqlite_shop, "-o", tmp_path / "out")
    output = " ".join(outcome.out.split())
    assert "2 primary keys (0 composite), 1 relationship, 1 column of personal data." in output
    assert "contract.fluid.yaml the data contract, FLUID 0.7.2" in output


def test_what_is_not_certain_is_asked(fluid: Fluid, tmp_path: Path) -> None:
    """A possible relationship isn't modelled; model, document and screen show it as a question."""
    database, out = tmp_path / "trips.duckdb", tmp_path / "out"
    with duckdb.connect(str(database)) as connection:
        connection.execute(
            "CREATE TABLE country AS SELECT 1 + i AS country_id, 'c' || i AS name"
            " FROM range(60) t(i);"
            "CREATE TABLE colour AS SELECT 1 + i AS colour_id FROM range(60) t(i);"
            "CREATE TABLE visit AS SELECT 1000 + 7 * i AS visit_id,"
            " 1 + CAST(hash(i) % 60 AS INTEGER) AS origin_id FROM range(500) t(i);"
        )
    outcome = fluid(*FROM_SOURCE, "--uri", database, "-o", out)
    assert outcome.code == 0, outcome.err
    conceptual = json.loads((out / "model.json").read_text())["conceptual"]
    assert conceptual["relationships"] == []
    (candidate,) = conceptual["candidates"]
    assert candidate["from_attributes"] == ["origin_id"]
    assert 0.2 <= candidate["confidence"] < 0.8
    assert len(json.loads((out / "profile.json").read_text())["candidates"]) >= 1
    assert "candidates" not in json.loads(fluid("profile", database, "--json").out)
    assert "| `visit` (`origin_id`) |" in (out / "MODEL.md").read_text()
    assert "1 possible relationship wasn't certain enough to use: see MODEL.md." in outcome.out
    assert fluid("verify", out).code == 0


def test_the_installed_command_is_the_same(sqlite_shop: Path) -> None:
    """The console script runs the same command lines."""
    process = subprocess.run(
        [Path(sys.executable).with_name("fluid"), "profile", sqlite_shop],
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0
    assert "two  SQLite" in process.stdout
