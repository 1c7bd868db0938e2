"""What goes wrong: two sentences, code 2, no traceback, nothing half-written."""

import os
import resource
import socket
import subprocess
from pathlib import Path

import pytest

from fluid_build.cli import profile as profile_module
from tests.cli.running import COMMAND, Fluid, Outcome

PROFILE = ("profile",)
FORGE = ("forge", "data-model", "from-source", "-o", "result", "--uri")


def assert_two_sentences(outcome: Outcome) -> None:
    """Nothing on stdout; on stderr, after the lines of progress, the two sentences."""
    lines = outcome.err.splitlines()
    errors = [number for number, line in enumerate(lines) if line.startswith("Error: ")]
    assert (outcome.code, outcome.out, len(errors)) == (2, "", 1), outcome
    happened, *to_do = lines[errors[0] :]
    assert len(to_do) == 1
    assert to_do[0].startswith("       ")
    for sentence in (happened, *to_do):
        assert sentence.endswith((".", "?", "!")), sentence
    assert "Traceback" not in outcome.err


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")


@pytest.mark.parametrize("command", [PROFILE, FORGE], ids=["profile", "forge"])
def test_a_missing_file_is_named_and_a_near_one_suggested(
    fluid: Fluid, command: tuple[str, ...]
) -> None:
    """A path where nothing is: the error names it, and a file of nearly that name."""
    Path("shop.db").write_bytes(b"")
    outcome = fluid(*command, "shp.db")
    assert_two_sentences(outcome)
    assert "shp.db" in outcome.err
    assert "Did you mean 'shop.db'?" in outcome.err


@pytest.mark.parametrize("command", [PROFILE, FORGE], ids=["profile", "forge"])
def test_a_wrong_scheme_is_answered_with_the_nearest(
    fluid: Fluid, command: tuple[str, ...]
) -> None:
    """A scheme that is none of ours: the error names ours, and the one that was meant."""
    outcome = fluid(*command, "sqlit:///shop.db")
    assert_two_sentences(outcome)
    assert "Did you mean sqlite://?" in outcome.err


@pytest.mark.parametrize("command", [PROFILE, FORGE], ids=["profile", "forge"])
def test_an_empty_folder_is_an_error(fluid: Fluid, command: tuple[str, ...]) -> None:
    """A folder without a file that can be read is no source."""
    Path("nothing-in-it").mkdir()
    outcome = fluid(*command, "nothing-in-it")
    assert_two_sentences(outcome)
    assert not Path("result").exists()


@pytest.mark.parametrize("name", ["shop.sqlite", "shop.duckdb"])
def test_a_corrupt_database_is_an_error(fluid: Fluid, name: str) -> None:
    """A file that is no database of its kind is said to be unreadable."""
    Path(name).write_bytes(b"this was a database before the disk failed" * 50)
    outcome = fluid(*FORGE, name)
    assert_two_sentences(outcome)
    assert not Path("result").exists()


def test_a_truncated_database_is_an_error(fluid: Fluid, sqlite_shop: Path) -> None:
    """A database of which only the beginning is left is an error, not an empty source."""
    whole = sqlite_shop.read_bytes()
    sqlite_shop.write_bytes(whole[: len(whole) // 3])
    outcome = fluid(*PROFILE, sqlite_shop)
    assert outcome.code in {1, 2}
    assert "Traceback" not in outcome.err


def test_a_locked_database_is_an_error(fluid: Fluid, duckdb_shop: Path) -> None:
    """A DuckDB file that another process writes to cannot be read."""
    script = (
        "import duckdb, sys\n"
        f"connection = duckdb.connect({str(duckdb_shop)!r})\n"
        "print('locked', flush=True)\n"
        "sys.stdin.read()\n"
    )
    owner = subprocess.Popen(
        [COMMAND[0], "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with owner:
        assert owner.stdout is not None
        assert owner.stdout.readline() == "locked\n"
        outcome = fluid(*PROFILE, duckdb_shop)
        owner.communicate("")
    assert_two_sentences(outcome)


def test_a_refusing_server_is_an_error_without_its_password(fluid: Fluid) -> None:
    """Nobody listens at the port: an error, in which the password does not stand."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    outcome = fluid(*FORGE, f"postgresql://me:s3cret-word@127.0.0.1:{port}/shop")
    assert_two_sentences(outcome)
    assert "s3cret-word" not in outcome.err


def test_an_address_in_place_of_a_command_shows_no_password(fluid: Fluid) -> None:
    outcome = fluid("forge", "postgresql://alice:hunter2@localhost/shop")
    assert_two_sentences(outcome)
    assert "alice" in outcome.err
    assert "hunter2" not in outcome.err


@pytest.mark.timeout(60)
@pytest.mark.parametrize("command", [PROFILE, FORGE], ids=["profile", "forge"])
def test_a_server_that_never_answers_is_given_up(fluid: Fluid, command: tuple[str, ...]) -> None:
    """A port that is open and silent: the wait is bounded, by the URI's own bound if it has one."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        outcome = fluid(*command, f"postgresql://me@127.0.0.1:{port}/shop?connect_timeout=2")
    assert_two_sentences(outcome)


def test_an_unwritable_folder_is_an_error(
    fluid: Fluid, sqlite_shop: Path, unwritable: Path
) -> None:
    """Where the output folder cannot be made, the error says so and nothing is left."""
    command = ("forge", "data-model", "from-source", "--uri", sqlite_shop)
    outcome = fluid(*command, "-o", unwritable / "result")
    assert_two_sentences(outcome)
    assert not (unwritable / "result").exists()


def test_the_demo_needs_a_folder_it_may_write_to(fluid: Fluid, unwritable: Path) -> None:
    """The demo's database is an output like any other."""
    outcome = fluid("demo", "-o", unwritable / "demo")
    assert_two_sentences(outcome)


def test_the_demo_never_replaces_a_database_that_is_not_its_own(
    fluid: Fluid, sqlite_shop: Path
) -> None:
    """A file called shop.db that the demo did not make stays as it is."""
    mine = sqlite_shop.rename(sqlite_shop.with_name("shop.db"))
    before = mine.read_bytes()
    outcome = fluid("demo", "-o", mine.parent)
    assert_two_sentences(outcome)
    assert mine.read_bytes() == before


@pytest.mark.parametrize("command", ["forge", "demo"])
def test_a_full_disk_is_an_error_and_leaves_nothing(
    sqlite_shop: Path, tmp_path: Path, command: str
) -> None:
    """Where a file cannot grow any more, the error says so, and no part of it is left."""
    folder = tmp_path / "full"
    folder.mkdir()
    arguments = {
        "forge": ("forge", "data-model", "from-source", "--uri", str(sqlite_shop)),
        "demo": ("demo",),
    }[command]
    process = subprocess.run(
        [*COMMAND, *arguments, "-o", str(folder / "result")],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        # As a full disk does, the limit refuses the bytes that go beyond it.
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)),
    )
    assert_two_sentences(Outcome(process.returncode, process.stdout, process.stderr))
    assert list(folder.iterdir()) == []


def test_output_to_a_full_device_is_an_error(sqlite_shop: Path) -> None:
    """A result that cannot be printed is not reported as done."""
    with Path("/dev/full").open("w") as full:
        process = subprocess.run(
            [*COMMAND, "profile", str(sqlite_shop)],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
            check=False,
        )
    assert_two_sentences(Outcome(process.returncode, "", process.stderr))


def test_a_reader_that_goes_away_ends_the_command_quietly(sqlite_shop: Path) -> None:
    """``fluid profile … --json | head -1`` prints no complaint."""
    read, write = os.pipe()
    os.close(read)
    process = subprocess.run(
        [*COMMAND, "profile", str(sqlite_shop), "--json"],
        stdout=write,
        stderr=subprocess.PIPE,
        text=True,
        timeout=60,
        check=False,
    )
    os.close(write)
    assert process.returncode == 141
    assert "Error" not in process.stderr
    assert "Exception" not in process.stderr


def test_output_in_the_folder_that_is_read_is_refused(fluid: Fluid) -> None:
    """A source is never written to: not even next to the files of a source folder."""
    Path("data").mkdir()
    Path("data/a.csv").write_text("id,name\n1,x\n2,y\n")
    for place, out in (("data", "data/model"), ("data/*.csv", "data")):
        outcome = fluid("forge", "data-model", "from-source", "--uri", place, "-o", out)
        assert_two_sentences(outcome)
    assert [path.name for path in Path("data").iterdir()] == ["a.csv"]


def test_an_empty_source_is_not_the_current_folder(fluid: Fluid) -> None:
    """An empty text, as of a shell variable that is not set, names nothing."""
    Path("a.csv").write_text("id\n1\n2\n")
    assert_two_sentences(fluid("profile", ""))


def test_a_bug_is_reported(fluid: Fluid, monkeypatch: pytest.MonkeyPatch) -> None:
    """An unforeseen error is reported as a bug of ours, with how to report it and no traceback."""
    monkeypatch.setattr(profile_module, "profile_source", lambda *_, **__: 1 // 0)
    Path("a.csv").write_text("id\n1\n2\n")
    outcome = fluid("profile", "a.csv")
    assert_two_sentences(outcome)
    assert "A bug in Fluid Forge" in outcome.err
    assert "--debug" in outcome.err


def test_debug_shows_the_traceback(fluid: Fluid) -> None:
    """With ``--debug`` the two sentences come after the traceback."""
    outcome = fluid("profile", "missing.db", "--debug")
    assert outcome.code == 2
    assert outcome.err.startswith("Traceback (most recent call last):")
    assert "Error: 'missing.db' doesn't exist." in outcome.err
