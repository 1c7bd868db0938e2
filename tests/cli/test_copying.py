"""What is printed can be copied: commands, names and queries, on any terminal and in pipes."""

import os
import pty
import re
import shlex
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from fluid_build.extras import NEWEST_PYTHON, runs_here
from fluid_build.report.terminal.printing import sql_lines
from tests.cli.running import Fluid

FLUID = Path(sys.executable).with_name("fluid")
LONG = "customer_identification_number_as_given_by_the_registry_of_the_country_of_residence"
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def environment(**changes: str) -> dict[str, str]:
    """The environment of a shell that found the command itself, and of a browser that opens."""
    kept = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "UV", "_")}
    return {**kept, "TERM": "xterm-256color", "BROWSER": "true", **changes}


def on_terminal(command: Sequence[str], folder: Path, columns: int, **changes: str) -> str:
    """What a command writes to a terminal of that width, run in a folder; without colours."""
    leader, follower = pty.openpty()
    size = {"COLUMNS": str(columns)}
    process = subprocess.Popen(
        command,
        cwd=folder,
        stdin=follower,
        stdout=follower,
        stderr=subprocess.DEVNULL,
        env=environment(**size, **changes),
    )
    os.close(follower)
    written = b""
    try:
        while chunk := os.read(leader, 65536):
            written += chunk
    except OSError:  # Linux says so when the last writer has gone.
        pass
    os.close(leader)
    process.wait(timeout=120)
    return ESCAPES.sub("", written.decode()).replace("\r\n", "\n")


def next_steps(output: str) -> list[str]:
    """The command lines below "Next"."""
    _, _, steps = output.partition("\nNext\n")
    lines = [line.strip() for line in steps.splitlines()]
    return [line for line in lines if line and not line.startswith("#")]


def paste(command: str, folder: Path, **changes: str) -> subprocess.CompletedProcess[str]:
    """Run a line in a shell, in the folder that the user is in."""
    return subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=environment(**changes),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        stdin=subprocess.DEVNULL,
    )


@pytest.fixture
def place(sqlite_shop: Path, tmp_path: Path) -> Path:
    """A folder with an awkward name, in it the source, and an environment that is not on PATH."""
    folder = tmp_path / "my data (new)"
    folder.mkdir()
    sqlite_shop.rename(folder / "two shops.sqlite")
    (folder / ".venv").symlink_to(FLUID.parent.parent)
    return folder


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
@pytest.mark.parametrize("technique", ["flat", "dv2", "kimball"])
def test_every_next_step_can_be_pasted(place: Path, technique: str) -> None:
    """Printed on a terminal of 40 columns, run line by line in a shell: each works."""
    command = [".venv/bin/fluid", "forge", "data-model", "from-source"]
    options = ["--uri", "two shops.sqlite", "--technique", technique, "-o", "new model"]
    steps = next_steps(on_terminal([*command, *options], place, 40))
    assert steps[:2] == [
        ".venv/bin/fluid report 'new model' --open",
        ".venv/bin/fluid verify 'new model'",
    ]
    database = "'new model/dbt/two_shops.duckdb'"
    assert steps[-1] == f".venv/bin/fluid verify 'new model' --warehouse {database}"
    # dbt takes long, and does the same for each technique.
    tried = steps if technique == "flat" else [step for step in steps if "/dbt" not in step]
    for step in tried:
        outcome = paste(step, place)
        assert outcome.returncode == 0, (step, outcome.stdout, outcome.stderr)


@pytest.mark.parametrize(
    ("command", "called"),
    [
        ([".venv/bin/fluid"], ".venv/bin/fluid"),
        ([str(FLUID)], str(FLUID)),
        (
            [sys.executable, "-m", "fluid_build.cli.main"],
            f"{sys.executable} -m fluid_build.cli.main",
        ),
    ],
    ids=["relative", "absolute", "module"],
)
def test_a_command_is_printed_as_it_was_called(
    place: Path, command: list[str], called: str
) -> None:
    """The user needn't know where it's installed."""
    nowhere = {"PATH": "/usr/bin:/bin"}
    arguments = ["forge", "data-model", "from-source", "--uri", "two shops.sqlite", "-o", "out"]
    steps = next_steps(paste(shlex.join([*command, *arguments]), place, **nowhere).stdout)
    assert steps[1] == f"{called} verify out"
    assert paste(steps[1], place, **nowhere).returncode == 0


def test_a_source_far_from_the_folder_is_named_again(place: Path) -> None:
    """A folder may only choose files in it or next to it, so the printed command has the path."""
    forge = ".venv/bin/fluid forge data-model from-source --uri 'two shops.sqlite' -o far/out"
    (place / "far").mkdir()
    steps = next_steps(paste(forge, place).stdout)
    assert steps[1] == ".venv/bin/fluid verify far/out --uri 'two shops.sqlite'"
    if runs_here("dbt"):
        assert steps[-1].startswith(f"{steps[1]} --warehouse ")
    outcome = paste(steps[1], place)
    assert outcome.returncode == 0, outcome.stderr


def test_what_the_shell_finds_is_called_by_its_name(place: Path) -> None:
    """With the environment active, ``fluid`` is enough; a hint for wrong usage says the same."""
    active = {"PATH": f"{FLUID.parent}:/usr/bin:/bin"}
    arguments = "fluid forge data-model from-source --uri 'two shops.sqlite' -o out"
    assert next_steps(paste(arguments, place, **active).stdout)[1] == "fluid verify out"
    assert "`fluid profile --help`" in paste("fluid profile", place, **active).stderr
    inactive = paste(".venv/bin/fluid profile", place, PATH="/usr/bin:/bin").stderr
    assert "`.venv/bin/fluid profile --help`" in inactive


def test_dbt_is_not_offered_where_it_cannot_be_read(fluid: Fluid, sqlite_shop: Path) -> None:
    """What another warehouse builds can't be verified from here."""
    uri = ("--uri", sqlite_shop, "-o", sqlite_shop.parent / "out")
    outcome = fluid("forge", "data-model", "from-source", *uri, "--target", "snowflake")
    _, prove, review = next_steps(outcome.out)
    assert " verify " in prove
    assert " review " in review
    assert "README.md says how to build it in snowflake" in outcome.out


def test_dbt_is_installed_first_where_it_is_missing(
    fluid: Fluid, sqlite_shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Into the environment that runs the command, so that the next line finds it there."""
    monkeypatch.delitem(NEWEST_PYTHON, "dbt")
    monkeypatch.setattr("fluid_build.cli.invocation._dbt", lambda: Path("/opt/env/bin/dbt"))
    outcome = fluid(
        "forge", "data-model", "from-source", "--uri", sqlite_shop, "-o", sqlite_shop.parent / "out"
    )
    _, _, _, install, build, _ = next_steps(outcome.out)
    assert "install 'dbt-core>=1.11,<1.12' 'dbt-duckdb>=1.11,<1.12'" in install
    assert build.endswith("/opt/env/bin/dbt build)")


def test_dbt_is_not_offered_where_python_is_too_new_for_it(
    fluid: Fluid, sqlite_shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(NEWEST_PYTHON, "dbt", (3, 10))
    out = sqlite_shop.parent / "out"
    outcome = fluid("forge", "data-model", "from-source", "--uri", sqlite_shop, "-o", out)
    _, prove, review = next_steps(outcome.out)
    assert " verify " in prove
    assert " review " in review
    assert "README.md says how to build it, with a dbt of Python 3.10 or earlier." in outcome.out


def test_ddl_is_not_to_be_verified(fluid: Fluid, tmp_path: Path) -> None:
    """There is no data to prove anything on; the offered commands work."""
    script = tmp_path / "a.sql"
    script.write_text("CREATE TABLE a (id INT PRIMARY KEY)")
    outcome = fluid("forge", "data-model", "from-ddl", script, "-o", tmp_path / "out")
    for step in next_steps(outcome.out):
        assert "verify" not in step
        assert fluid(*shlex.split(step)[1:]).code == 0


@pytest.fixture
def long_names(tmp_path: Path) -> Path:
    """Tables and columns with long names and blanks, one of them with orphans."""
    path = tmp_path / "long.sqlite"
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(f'CREATE TABLE "All {LONG}" ("{LONG}" INTEGER, city TEXT)')
        database.execute(f'CREATE TABLE "Order Details" (id INTEGER, "{LONG}" INTEGER)')
        for i in range(300):
            database.execute(f'INSERT INTO "All {LONG}" VALUES (?, ?)', (i * 7 + 1000, f"c{i % 5}"))
        for i in range(900):
            parent = 7 if i % 100 == 0 else (i % 300) * 7 + 1000
            database.execute('INSERT INTO "Order Details" VALUES (?, ?)', (i + 50_000, parent))
    return path


def test_nothing_is_wrapped_in_a_pipe(long_names: Path) -> None:
    """Each name, sentence and query is on one line, whatever its length."""
    outcome = paste(f"{FLUID} profile {long_names} | cat", long_names.parent)
    screen = outcome.stdout
    assert f"  All {LONG}  " in screen
    assert f"Order Details.{LONG}  → All {LONG}.{LONG}" in screen
    assert re.search(r"^    SELECT c\..*;$", screen, re.MULTILINE)
    assert f"9 of 900 rows (1.0%) have no match in All {LONG}. The relationship isn't" in screen


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
@pytest.mark.parametrize("columns", [40, 80, 120])
def test_names_are_whole_on_any_terminal(long_names: Path, columns: int) -> None:
    """The terminal may wrap them at its edge, and copies them whole."""
    screen = on_terminal([str(FLUID), "profile", str(long_names)], long_names.parent, columns)
    assert f"Order Details.{LONG}" in screen
    assert f"→ All {LONG}.{LONG}" in screen
    sentences = screen.partition("Needs attention")[2].splitlines()
    assert max(len(line) for line in sentences if LONG not in line) <= columns


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
@pytest.mark.parametrize("columns", [40, 80, 200])
def test_a_query_that_is_shown_runs_as_it_is_copied(long_names: Path, columns: int) -> None:
    """However it is wrapped, it is the same query, and finds the reported rows."""
    screen = on_terminal([str(FLUID), "profile", str(long_names)], long_names.parent, columns)
    query = re.search(r"^    SELECT c\..*?;$", screen, re.MULTILINE | re.DOTALL)
    assert query is not None
    with closing(sqlite3.connect(long_names)) as database:
        assert len(database.execute(query[0]).fetchall()) == 9


@pytest.mark.parametrize("width", [None, 1, 20, 80])
def test_a_wrapped_query_has_the_same_words(width: int | None) -> None:
    """Names and texts in quotes are never broken, not even at their blanks."""
    sql = """SELECT "a  b", 'it''s  a' FROM "x ""y"" z" AS t LEFT JOIN u ON t."a b" = u.c WHERE 1"""
    lines = sql_lines(sql, width)
    assert " ".join(lines) == f"{sql};"
    assert (len(lines) == 1) == (width is None)
