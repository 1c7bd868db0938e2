"""Databases: dbt attaches them, reads the very rows that the forge read, and fails without them."""

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
import yaml

from fluid_build.sources import open_source
from fluid_build.sources.uri import locate
from fluid_build.transform.dbt.running import run_dbt
from fluid_build.transform.dbt.source_access import source_access
from tests.dbt_server import skip_where_dbt_does_not_run
from tests.postgres import PostgresDatabase
from tests.transform.dbt.opened_projects import built_alike, project_of

HOSTILE = 'a"b {{ x }} $y'


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "out" / "dbt"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    # An empty home: no extension of DuckDB's was ever installed there.
    monkeypatch.setenv("HOME", str(tmp_path))
    return folder


@pytest.fixture
def sqlite_file(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "it's a shop.sqlite"
    with sqlite3.connect(path) as connection:
        connection.executescript(f"""
            CREATE TABLE clean (id INTEGER PRIMARY KEY, price NUMERIC(10,2), name TEXT, ok BOOLEAN);
            INSERT INTO clean VALUES (1, 2.5, 'x', 1), (2, 0.1, NULL, 0);
            CREATE TABLE dirty (id INTEGER, day DATE, amount INTEGER, any, t TIME, b BLOB);
            INSERT INTO dirty VALUES (1, '2024-01-02 10:00:00', 7, 'x', '10:00', x'01ff'),
                (9007199254740993, NULL, 'n/a', 1.5, '11:30:00', NULL),
                (3, '2024-01-03', 2, x'c3', NULL, 'text');
            CREATE TABLE "{HOSTILE.replace('"', '""')}" ("select" INTEGER, "{{{{ y }}}}" TEXT);
            INSERT INTO "{HOSTILE.replace('"', '""')}" VALUES (1, 'p'), (2, NULL);
        """)
    connection.close()
    yield path


def test_a_sqlite_file_is_attached_and_read_alike(sqlite_file: Path, project: Path) -> None:
    """Clean tables are attached as they are, dirty ones queried so that no value is bent."""
    with project_of(f"sqlite:///{sqlite_file}", project) as made:
        assert made.external("clean") == ""
        wheel = f"duckdb-extension-sqlite-scanner=={duckdb.__version__}"
        assert wheel in (project / "README.md").read_text()
        assert "sqlite_query('source_data'" in made.external("dirty")
        for one in made.plan.sources:
            assert made.differing(one.id) == 0


@pytest.mark.usefixtures("dbt")
def test_dbt_builds_from_sqlite_without_a_network(sqlite_file: Path, project: Path) -> None:
    """In an empty home dbt finds the scanner in its wheel, and builds what the direct run does."""
    with project_of(f"sqlite:///{sqlite_file}", project) as made:
        made.source.connection.execute("DETACH source_data")
        built_alike(made, run_dbt(project), published=3)
        assert not (project.parent.parent / ".duckdb").exists()


def test_a_missing_sqlite_file_is_not_made(sqlite_file: Path, project: Path) -> None:
    """Reading fails by the file's name, and no empty file comes into being in its place."""
    with project_of(f"sqlite:///{sqlite_file}", project) as made:
        made.source.connection.execute("DETACH source_data")
        sqlite_file.unlink()
        made.attach()
        with pytest.raises(duckdb.Error, match=r"Unable to open database .*shop\.sqlite"):
            made.differing("clean")
    assert not sqlite_file.exists()


def test_the_scanner_missing_is_said_with_its_remedy(sqlite_file: Path, project: Path) -> None:
    """Without the wheel, and with none installed in DuckDB, the error names what to install."""
    skip_where_dbt_does_not_run()
    with project_of(f"sqlite:///{sqlite_file}", project):
        pass
    program = """
import importlib.util, sys
sys.path.insert(0, "plugins")
import duckdb, fluid_extension
find = importlib.util.find_spec
importlib.util.find_spec = lambda name: None if "duckdb_extension" in name else find(name)
fluid_extension.Plugin("x", {}).configure_connection(duckdb.connect())
"""
    command = [sys.executable, "-W", "ignore", "-c", program]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
    assert "extension sqlite_scanner is missing" in done.stderr
    assert f"pip install duckdb-extension-sqlite-scanner=={duckdb.__version__}" in done.stderr


def test_a_sqlite_file_in_wal_mode_is_said_to_be_one(tmp_path: Path, project: Path) -> None:
    """Reading such a file makes another next to it, which the user must know."""
    path = tmp_path / "wal.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE t (id INTEGER)")
    connection.close()
    with project_of(f"sqlite:///{path}", project) as made:
        assert "WAL mode" in made.access.notes[0]


@pytest.mark.usefixtures("dbt")
def test_dbt_builds_from_schemas_of_a_duckdb_file(tmp_path: Path, project: Path) -> None:
    """Each schema is a source of its own; names that need quotes get them."""
    path = tmp_path / "source data.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute('CREATE SCHEMA "s ""2"""')
        connection.execute("CREATE TABLE main AS SELECT 1 AS id, {'a': [1, 2]} AS nested")
        connection.execute('CREATE TABLE "s ""2""".t AS SELECT 5::HUGEINT AS x, \'q\' AS "{{ z }}"')
    with project_of(f"duckdb:///{path}", project) as made:
        for one in made.plan.sources:
            assert made.differing(one.id) == 0
        sources = yaml.safe_load((project / "models/staging/_sources.yml").read_text())["sources"]
        assert len({source["name"] for source in sources}) == len(sources) == 2
        built_alike(made, run_dbt(project), published=3)


ALL_TYPES = """
    CREATE TYPE mood AS ENUM ('a', 'b');
    CREATE DOMAIN price AS numeric(8,2);
    CREATE TABLE plain (a int2, b int4, c int8, d bool, e float4, f float8, g text, h varchar(5),
        i char(5), j uuid, k date, l timestamp, m timestamptz, n time, o timetz, p interval,
        q bytea, r numeric(10,2), s int4[], t text[], u json, v jsonb);
    INSERT INTO plain VALUES (1, 2, 3, true, 1.5, 2.5, 'x', 'ab', 'ab',
        '0e37df36-f698-11e6-8dd4-cb9ced3df976', '2020-01-01', '2020-01-01 10:00:00.123',
        '2020-01-01 10:00+02', '10:00:00.5', '10:00+02', '1 mon 2 days 3 hours', '\\x01ff', 1.25,
        '{1,2}', '{a,NULL}', '{"a":1}', '{"a": 1}');
    INSERT INTO plain (g) VALUES (''), (NULL);
    CREATE TABLE bent (n numeric, m money, w mood, x price, y inet, "Z z" int, "z Z" int);
    INSERT INTO bent VALUES (1.123456789012345678901, 5, 'a', 1.5, '10.0.0.1', 1, 2),
        (2, NULL, NULL, NULL, NULL, NULL, NULL);
    CREATE SCHEMA "Other";
    CREATE TABLE "Other"."T" (id int PRIMARY KEY);
    INSERT INTO "Other"."T" VALUES (1);
"""


def test_postgres_is_attached_and_read_alike(postgres: PostgresDatabase, project: Path) -> None:
    """Types that DuckDB reads exactly are attached; the others are asked for as the forge asked."""
    postgres.run(ALL_TYPES)
    with project_of(postgres.uri, project, nested="keep") as made:
        ids = {one.table: one.id for one in made.plan.sources}
        assert made.external(ids["public.plain"]) == ""
        assert "postgres_query('source_data'" in made.external(ids["public.bent"])
        for one in made.plan.sources:
            assert made.differing(one.id) == 0
        assert "NaN" in made.access.notes[0]


@pytest.mark.usefixtures("dbt")
def test_dbt_builds_from_postgres_without_a_network(
    postgres: PostgresDatabase, project: Path
) -> None:
    """The connection string comes from the environment, and what is built is what we build."""
    postgres.run(ALL_TYPES)
    with project_of(postgres.uri, project) as made:
        made.source.connection.execute("DETACH source_data")
        result = run_dbt(project, environment={"FLUID_SOURCE_DSN": postgres.uri})
        built_alike(made, result, published=5)


def test_no_password_gets_into_the_project(postgres: PostgresDatabase, project: Path) -> None:
    """Neither a URI's nor a connection string's password is in any file."""
    postgres.run("CREATE TABLE t (id int); CREATE ROLE reader LOGIN PASSWORD 'hush-hush'")
    postgres.run("GRANT SELECT ON t TO reader")
    keywords = f"host='{postgres.folder}' dbname={postgres.name} user=reader password='hush-hush'"
    for uri in (postgres.uri_of("reader", "hush-hush"), keywords):
        with open_source(uri) as source, project_of(postgres.uri, project) as made:
            access = source_access(source, made.plan, locate(uri), project_dir=project)
            assert "hush" not in repr(access)
            assert "reader" in access.profiles_yml
            assert "isn't stored in the project" in access.variables["PGPASSWORD"]
            made.source.connection.execute("DETACH source_data")
        (project / "land").rmdir()


@pytest.mark.usefixtures("dbt")
def test_dbt_builds_in_the_postgres_that_it_reads(
    postgres: PostgresDatabase, project: Path
) -> None:
    """With that target the tables are read from their own schemas, by libpq's variables."""
    postgres.run('''
        CREATE SCHEMA "Own ""x""";
        CREATE TABLE "Own ""x"""."T" (id int PRIMARY KEY, "{{ n }}" text);
        INSERT INTO "Own ""x"""."T" VALUES (1, 'a'), (2, NULL);
        CREATE TABLE u (id int);
        INSERT INTO u VALUES (7);
    ''')
    with project_of(postgres.uri, project, target="postgres") as made:
        assert made.access.schema == f"{made.plan.name}_model"
        environment = {"PGHOST": str(postgres.folder), "PGDATABASE": postgres.name}
        result = run_dbt(project, environment=environment)
        assert result.ok and result.warnings == ()
        names = [build.name for build in made.plan.published]
    counts = [postgres.run(f"SELECT count(*) FROM {made.access.schema}.{n}") for n in names]
    assert sorted(counts) == ["1", "2"]
