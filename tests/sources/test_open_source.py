"""URIs, paths and passwords; limits and interrupts."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.errors import (
    SourceError,
    SourceNotFoundError,
    SourceUnreadableError,
    UnknownSourceError,
    UsageError,
)
from fluid_build.extras import install_command
from fluid_build.sources import open_source
from fluid_build.sources.addresses.kinds import DUCKDB, SQLITE
from fluid_build.sources.declared import unique_names
from fluid_build.sources.engine import connection as extension_files
from fluid_build.sources.engine import machine
from fluid_build.sources.uri import Address, locate


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "my data" / "s%hop.db"
    path.parent.mkdir()
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE t (a INT)")
    connection.close()
    return path


def test_a_database_is_known_by_its_bytes(database: Path, tmp_path: Path) -> None:
    """The ending .db says nothing: the signature decides, and for any other ending too."""
    assert locate(str(database)).kind is SQLITE
    odd = tmp_path / "odd.bin"
    shutil.copy(database, odd)
    assert locate(str(odd)).kind is SQLITE
    duckdb.connect(str(tmp_path / "d.db")).close()
    assert locate(str(tmp_path / "d.db")).kind is DUCKDB


@pytest.mark.parametrize("form", ["sqlite:///{}", "sqlite:////{}", "sqlite:{}", "{}", "file://{}"])
def test_every_way_to_write_a_path_is_taken(database: Path, form: str) -> None:
    """Three slashes, four, none, a bare path and file:// all reach the file."""
    path = str(database)
    if form.startswith(("sqlite", "file")):
        path = path.replace("%", "%25").replace(" ", "%20")
    written = form.format(path if "////" not in form else path.removeprefix("/"))
    if form == "sqlite:///{}":
        written = form.format(path)
    assert locate(written) == Address(SQLITE, str(database))


def test_a_relative_path_in_a_uri_is_taken(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """``sqlite:///name`` finds the file in the working folder, as other tools do."""
    monkeypatch.chdir(database.parent)
    shutil.copy(database, "plain.db")
    assert locate("sqlite:///plain.db") == Address(SQLITE, "plain.db")
    assert locate("plain.db") == Address(SQLITE, "plain.db")


def test_an_unknown_scheme_names_the_known_ones() -> None:
    """The error lists what can be read, guesses what was meant, and hides the password."""
    with pytest.raises(UnknownSourceError) as caught:
        open_source("postgress://u:s3cret@h/db")
    assert "s3cret" not in str(caught.value)
    assert caught.value.hint
    assert "Did you mean postgres" in caught.value.hint
    assert "duckdb://" in caught.value.hint


@pytest.mark.parametrize("uri", ["postgresql:/u:s3cret@h/d", "mysql:u:s3cret@h/d", "glue:/eu"])
def test_a_uri_without_its_slashes_is_refused_without_its_password(uri: str) -> None:
    with pytest.raises(UnknownSourceError, match="Two slashes are missing") as caught:
        locate(uri)
    assert "s3cret" not in f"{caught.value} {caught.value.hint}"
    assert f"{uri.partition(':')[0]}://" in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("uri", "hint"),
    [
        ("jdbc:postgresql://h/d", "Leave out jdbc:"),
        ("postgresql+psycopg2://h/d", "Leave out +psycopg2: postgresql://"),
    ],
)
def test_a_uri_of_another_library_is_refused_with_what_to_write(uri: str, hint: str) -> None:
    with pytest.raises(UnknownSourceError) as caught:
        locate(uri)
    assert (caught.value.hint or "").startswith(hint)


def test_a_folder_is_no_database(tmp_path: Path) -> None:
    """A folder where a database file was asked for is told apart from a missing file."""
    with pytest.raises(SourceNotFoundError, match="is a folder"):
        open_source(f"duckdb:///{tmp_path}")


def test_options_that_do_not_fit_are_refused(database: Path) -> None:
    """A schema of a SQLite file, a dialect of a database, a memory limit that is none."""
    with pytest.raises(UsageError, match="no schemas"):
        open_source(database, schemas=["main"])
    with pytest.raises(UsageError, match="no SQL dialect"):
        open_source(database, dialect="mysql")
    with pytest.raises(UsageError, match="isn't a valid memory size"):
        open_source(database, memory_limit="plenty")


def test_memory_is_bounded(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By default it's a share of what there is; an option or the environment sets another limit."""

    def limit(memory_limit: str | None = None) -> str:
        with open_source(database, memory_limit=memory_limit) as source:
            row = source.connection.execute("SELECT current_setting('memory_limit')").fetchone()
            return str(row[0]) if row else ""

    monkeypatch.setattr(machine, "SHARE", 0.0001)
    assert "MiB" in limit()
    assert limit("1GiB") == "1.0 GiB"
    monkeypatch.setenv("FLUID_MEMORY_LIMIT", "500MiB")
    assert limit() == "500.0 MiB"


def test_no_extension_is_ever_fetched(database: Path) -> None:
    """Neither installing nor loading happens by itself, and variables are not tables."""
    with open_source(database) as source:
        settings = source.connection.execute(
            "SELECT current_setting('autoinstall_known_extensions'),"
            " current_setting('autoload_known_extensions'),"
            " current_setting('python_enable_replacements')"
        ).fetchone()
    assert settings == (False, False, False)


def test_a_missing_scanner_is_told_with_the_remedy(
    monkeypatch: pytest.MonkeyPatch, database: Path
) -> None:
    """Without the scanner's wheel the error says what to install."""
    monkeypatch.setattr(extension_files.importlib.util, "find_spec", lambda _: None)
    with pytest.raises(SourceError, match="isn't installed") as caught:
        open_source("postgresql://u:s3cret@h/db")
    assert caught.value.command == install_command("postgres")
    with pytest.raises(SourceError, match="isn't installed"):
        open_source(database)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_a_file_without_permission_is_told(database: Path) -> None:
    """A file that this user may not read is reported as such."""
    database.chmod(0)
    with pytest.raises(SourceUnreadableError, match="Permission denied"):
        open_source(f"sqlite:///{database}")


def test_opening_a_file_does_not_load_the_sql_parser(tmp_path: Path) -> None:
    """Not for DDL either, and the front door imports no engine."""
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    (tmp_path / "a.sql").write_text("CREATE TABLE t (a int NOT NULL REFERENCES t);")
    script = (
        "import sys; from fluid_build.sources import open_source; assert 'duckdb' not in"
        " sys.modules; [open_source(a).close() for a in sys.argv[1:]];"
        " assert 'sqlglot' not in sys.modules"
    )
    files = (str(tmp_path / "a.csv"), str(tmp_path / "a.sql"))
    subprocess.run([sys.executable, "-c", script, *files], check=True)


@pytest.mark.parametrize("after", [0.1, 0.7])
def test_ctrl_c_ends_a_long_reading_at_once(tmp_path: Path, after: float) -> None:
    """An interrupt early or late in a large file ends the process soon, and cleans up."""
    with duckdb.connect() as connection:
        connection.execute(
            "COPY (SELECT i, i * 1.5 AS x, 'text ' || i AS t, hash(i) AS h"
            f" FROM range(1_000_000) r(i)) TO '{tmp_path}/big.csv' (HEADER)"
        )
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    script = (
        "import sys; from fluid_build.sources import open_source\n"
        "try:\n    open_source(sys.argv[1], on_progress=lambda _: print('go', flush=True))\n"
        "except KeyboardInterrupt:\n    sys.exit(130)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path / "big.csv")],
        stdout=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(temporary)},
    ) as reader:
        assert reader.stdout
        reader.stdout.readline()
        time.sleep(after)
        assert reader.poll() is None, "the file was read before it could be interrupted"
        reader.send_signal(signal.SIGINT)
        assert reader.wait(timeout=20) == 130
    assert list(temporary.iterdir()) == []


def test_ctrl_c_during_a_query_is_an_interrupt(database: Path) -> None:
    """DuckDB's own error for it leaves the block as a KeyboardInterrupt."""
    timer = threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT))
    with pytest.raises(KeyboardInterrupt), open_source(database) as source:
        timer.start()
        source.connection.execute("SELECT max(hash(range)) FROM range(1_000_000_000_000)")


@given(
    names=st.lists(st.sampled_from(["a", "A", "a_2", "A_2", "b", "", "é", "É", "ß"]), max_size=8)
)
def test_unique_names_are_unique_and_kept_where_they_can_be(names: list[str]) -> None:
    """DuckDB can tell all names apart, and the first of several twins keeps its spelling."""
    found = unique_names(names)
    assert len({name.lower() for name in found}) == len(names)
    if names and names[0]:
        assert found[0] == names[0]


@pytest.mark.parametrize("place", ["", "*.sql"])
def test_a_folder_or_glob_of_ddl_is_read_as_ddl(tmp_path: Path, place: str) -> None:
    """A note beside the statements does not make data of them."""
    (tmp_path / "a.sql").write_text("CREATE TABLE a (id INT PRIMARY KEY);")
    (tmp_path / "b.sql").write_text("CREATE TABLE b (id INT PRIMARY KEY, a_id INT REFERENCES a);")
    (tmp_path / "readme.txt").write_text("How to load this.")
    with open_source(str(tmp_path / place)) as source:
        assert (source.kind, [table.name for table in source.tables]) == ("ddl", ["a", "b"])


def test_a_folder_of_data_stays_data_beside_ddl(tmp_path: Path) -> None:
    """A script that made the data does not stand in for it."""
    (tmp_path / "a.csv").write_text("id\n1\n")
    (tmp_path / "make.sql").write_text("CREATE TABLE a (id INT PRIMARY KEY);")
    with open_source(tmp_path) as source:
        assert source.kind == "files"
