"""``fluid profile`` on the screen, in pipes, and as JSON."""

import json
import os
import pty
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from fluid_build.cli.next_steps import after_summary
from fluid_build.report.view import source_view
from fluid_build.sources.options import ReadOptions
from tests.cli.running import COMMAND, Fluid
from tests.modeling.profiles import column, profile, table

HOSTILE = "evil\x1b[31m\x9b2J[bold red]\u202e\n:skull:"


@pytest.fixture
def dirty(tmp_path: Path) -> Path:
    """Orders of customers who are gone, personal data, a date in text, an empty table."""
    path = tmp_path / "dirty.sqlite"
    with closing(sqlite3.connect(path)) as database, database:
        database.executescript(
            "CREATE TABLE customer (customer_id INTEGER, email TEXT, since TEXT);"
            "CREATE TABLE orders (order_id INTEGER, customer_id INTEGER);"
            "CREATE TABLE spare (x INTEGER);"
        )
        for i in range(300):
            row = (i * 7 + 1000, f"ann.person{i}@mail.example", f"2024-03-{i % 28 + 1:02d}")
            database.execute("INSERT INTO customer VALUES (?, ?, ?)", row)
        for i in range(900):
            customer = 7 if i % 100 == 0 else (i % 300) * 7 + 1000
            database.execute("INSERT INTO orders VALUES (?, ?)", (i + 50_000, customer))
    return path


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A table and a column whose names try to act on the terminal."""
    path = tmp_path / "hostile.sqlite"
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(f'CREATE TABLE "{HOSTILE}" ("{HOSTILE}" INTEGER, "b" TEXT)')
        database.executemany(
            f'INSERT INTO "{HOSTILE}" VALUES (?, ?)', [(i, HOSTILE) for i in range(9)]
        )
    return path


def test_the_screen_shows_keys_relationships_dirt_and_personal_data(
    fluid: Fluid, dirty: Path
) -> None:
    """The findings come in sections, with orphans counted and the query that shows them."""
    outcome = fluid("profile", dirty)
    assert outcome.code == 0
    output = " ".join(outcome.out.split())
    assert "dirty SQLite · 3 tables · 6 columns · 1,200 rows" in output
    assert "customer 300 3 customer_id" in output
    assert "orders.customer_id → customer.customer_id" in output
    assert "9 of 900 rows (1.0%) have no match in" in output
    assert "LEFT JOIN" in output
    assert "Personal data 1 column customer email" in output
    assert "customer.since: Stored as text, but every value is a DATE." in output
    assert "spare: The table has no rows." in output


def test_no_line_ends_in_blanks(fluid: Fluid, dirty: Path) -> None:
    """What is piped to a file holds no blanks that only fill a table."""
    outcome = fluid("profile", dirty)
    assert all(line == line.rstrip() for line in outcome.out.splitlines())


def test_json_alone_is_on_stdout(fluid: Fluid, dirty: Path) -> None:
    """Machines get the documented shape, and nothing but it."""
    outcome = fluid("profile", dirty, "--json")
    document = json.loads(outcome.out)
    assert set(document) == {"tables", "foreign_keys"}
    (key,) = document["foreign_keys"]
    assert key["evidence"]["orphans"] == 9
    assert key["evidence"]["matched"] + 9 == key["evidence"]["rows"]
    assert [table["name"] for table in document["tables"]] == ["customer", "orders", "spare"]
    assert outcome.err.splitlines()[0] == "Reading tables ..."


def test_what_json_has_no_place_for_is_reported_on_stderr(fluid: Fluid, tmp_path: Path) -> None:
    """Ragged lines are no part of the shape, and are not kept from the user either."""
    ragged = tmp_path / "ragged.csv"
    ragged.write_text("id,name\n" + "".join(f"{i},n{i}\n" for i in range(40)) + "40\n")
    outcome = fluid("profile", ragged, "--json")
    assert outcome.code == 0
    assert "Note on ragged: " in outcome.err


def test_one_table_is_shown_without_personal_values(fluid: Fluid, dirty: Path) -> None:
    """The detail of a table shows figures and values, but no value of a personal column."""
    outcome = fluid("profile", dirty, "--table", "customer")
    assert outcome.code == 0
    assert "email · personal, so values are hidden" in outcome.out
    assert "mail.example" not in outcome.out
    assert "2024-03-01 … 2024-03-28" in outcome.out


def test_a_table_that_cannot_be_read_is_skipped_and_the_code_says_so(
    fluid: Fluid, tmp_path: Path
) -> None:
    """The other tables are profiled, the bad one is listed with the reason, the code is 1."""
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "good.csv").write_text("id,name\n1,a\n2,b\n3,c\n")
    (folder / "bad.parquet").write_bytes(b"PAR1 and then nothing")
    outcome = fluid("profile", folder)
    assert outcome.code == 1
    assert "good" in outcome.out
    assert "bad: It was skipped:" in " ".join(outcome.out.split())
    as_json = fluid("profile", folder, "--json")
    assert as_json.code == 1
    assert "Skipped bad" in as_json.err
    assert [table["name"] for table in json.loads(as_json.out)["tables"]] == ["good"]


@pytest.mark.parametrize("arguments", [(), ("--json",), ("--table", HOSTILE)], ids=str)
def test_names_from_data_do_not_act_on_the_terminal(
    fluid: Fluid, hostile: Path, arguments: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Control characters are written out, and markup is text like any other."""
    monkeypatch.setenv("COLUMNS", "200")
    outcome = fluid("profile", hostile, *arguments)
    assert outcome.code == 0
    for act in ("\x1b", "\x9b", "\u202e"):
        assert act not in outcome.out + outcome.err
    assert "[bold red]\\u202e\\n:skull:" in outcome.out


@pytest.mark.parametrize("encoding", ["ascii", "cp437"])
def test_a_terminal_that_is_not_utf8_gets_what_it_can_show(
    fluid_process: Fluid, tmp_path: Path, encoding: str
) -> None:
    """Our signs become ASCII, and names that the encoding lacks are escaped; nothing crashes."""
    (tmp_path / "Ψάρια.csv").write_text("id,größe\n1,Ä\n2,ß\n", encoding="utf-8")
    outcome = fluid_process("profile", tmp_path / "Ψάρια.csv", PYTHONIOENCODING=encoding)
    assert outcome.code == 0, outcome.err
    assert "files - 1 table" in outcome.out or "files · 1 table" in outcome.out
    assert "\\u03a8" in outcome.out or "Ψ" in outcome.out


@pytest.mark.parametrize("columns", ["80", "200"])
def test_no_line_is_wider_than_the_terminal(
    fluid: Fluid, dirty: Path, columns: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Long parts are folded, not cut off and not left to the terminal."""
    monkeypatch.setenv("COLUMNS", columns)
    outcome = fluid("profile", dirty)
    assert max(map(len, outcome.out.splitlines())) <= int(columns)


def on_a_terminal(*arguments: str | Path, **environment: str) -> str:
    """All that the command writes to a terminal."""
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, *map(str, arguments)],
        stdin=follower,
        stdout=follower,
        stderr=follower,
        env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "80", **environment},
    )
    os.close(follower)
    written = b""
    while chunk := _read(leader):
        written += chunk
    os.close(leader)
    process.wait(timeout=30)
    return written.decode()


def _read(leader: int) -> bytes:
    try:
        return os.read(leader, 4096)
    except OSError:  # Linux says so when the last writer has gone.
        return b""


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_a_terminal_shows_a_bar_that_goes_away(dirty: Path) -> None:
    """Progress is drawn while the work is done, and the cursor is there again afterwards."""
    written = on_a_terminal("profile", dirty)
    assert "Measuring columns" in written
    assert written.count("\x1b[?25l") == written.count("\x1b[?25h") == 1
    assert "\x1b[1mRelationships\x1b[0m" in written


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_no_color_is_respected(dirty: Path) -> None:
    """With ``NO_COLOR`` no colour is written, results and errors alike."""
    written = on_a_terminal("profile", dirty, NO_COLOR="1")
    failed = on_a_terminal("profile", "missing.db", NO_COLOR="1")
    for code in range(30, 38):
        assert f"\x1b[{code}m" not in written + failed
        assert f"\x1b[1;{code}m" not in written + failed


@pytest.fixture
def many_tables(tmp_path: Path) -> Path:
    """One table more than the full screen is for, in SQL, each but the first with a parent."""
    path = tmp_path / "many tables.sql"
    first = "CREATE TABLE t00 (id INT PRIMARY KEY);\n"
    path.write_text(
        first
        + "".join(
            f"CREATE TABLE t{i:02d} (id INT PRIMARY KEY, parent INT REFERENCES t{i // 2:02d});\n"
            for i in range(1, 26)
        )
    )
    return path


def test_above_25_tables_there_is_a_summary_that_says_how_to_see_the_rest(
    fluid: Fluid, many_tables: Path
) -> None:
    """Figures and the most connected tables; each printed command has the options of this one."""
    outcome = fluid("profile", many_tables, "--dialect", "postgres")
    assert outcome.code == 0
    assert "  relationships  25 (25 declared)\n" in outcome.out
    assert "Most connected tables  20 of 26\n" in outcome.out
    _, _, rest = outcome.out.partition("\nSee the rest\n")
    commands = [line.strip() for line in rest.splitlines() if "#" not in line]
    same = f"fluid profile '{many_tables}' --dialect postgres"
    assert [command.partition(same)[2] for command in commands] == [
        " --table t01",
        " --all",
        " --html many-tables.html",
    ]


def test_up_to_25_tables_are_shown_in_full(fluid: Fluid, many_tables: Path) -> None:
    """A screen that lists 25 tables is still read."""
    smaller = many_tables.with_name("fewer.sql")
    smaller.write_text("\n".join(many_tables.read_text().splitlines()[:25]))
    outcome = fluid("profile", smaller)
    assert "\nRelationships  24 found\n" in outcome.out
    assert "See the rest" not in outcome.out


def test_all_shows_every_table_relationship_and_finding(fluid: Fluid, many_tables: Path) -> None:
    """However many there are: nothing is only counted."""
    with many_tables.open("a") as script:
        script.writelines(f"CREATE TABLE keyless_{i:02d} (word TEXT);\n" for i in range(12))
    outcome = fluid("profile", many_tables, "--all")
    assert "\nRelationships  25 found\n" in outcome.out
    assert outcome.out.count(": No key is declared.\n") == 12
    assert " more under: " not in outcome.out


@pytest.mark.parametrize("other", [("--json",), ("--table", "t01")], ids=str)
def test_all_is_refused_with_another_form_of_the_result(
    fluid: Fluid, many_tables: Path, other: tuple[str, ...]
) -> None:
    """They contradict each other; nothing is read."""
    outcome = fluid("profile", many_tables, "--all", *other)
    message = f"{other[0]} and --all can't be combined."
    assert outcome.code == 2
    assert message in outcome.err
    said = json.loads(outcome.out)["message"] if "--json" in other else outcome.out
    assert said == (message if "--json" in other else "")


@pytest.mark.parametrize(
    ("source", "repeated", "remark"),
    [
        (
            "postgresql://ann:secret-1@db/shop?sslmode=require",
            "'postgresql://ann@db/shop?sslmode=require'",
            " (add the password)",
        ),
        ("postgresql://ann@db/shop", "postgresql://ann@db/shop", ""),
    ],
    ids=["with a password", "without one"],
)
def test_a_password_is_not_repeated(source: str, repeated: str, remark: str) -> None:
    """The other options are, and the comment says what's missing."""
    view = source_view(profile(*(table(f"t{number}", column("id")) for number in range(30))))
    steps = after_summary(view, source, read=ReadOptions(schemas=("sales",)))
    assert steps[1].command == f"fluid profile {repeated} --schema sales --all"
    assert steps[1].remark == f"every table, relationship and finding{remark}"
    assert "secret-1" not in repr(steps)
