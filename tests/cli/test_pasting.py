"""Every command that is printed works as it stands, pasted where the user is."""

import json
import os
import re
import shlex
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.running import COMMAND
from tests.cli.test_copying import FLUID, paste

CALL = shlex.quote(str(FLUID))
"""As a user calls it whose shell doesn't find it."""
NOWHERE = {"PATH": "/usr/bin:/bin", "BROWSER": "true"}
_SECTIONS = ("\nNext\n", "\nSee the rest\n")


@pytest.fixture
def place(sqlite_shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the user is: a folder with an awkward name, next to the source and not around it."""
    monkeypatch.setenv("FLUID_HOME", str(tmp_path / "home"))
    folder = tmp_path / "Ann's data" / "work in progress"
    folder.mkdir(parents=True)
    sqlite_shop.rename(folder.parent / "two shops.sqlite")
    return folder


def run(command: str, folder: Path) -> str:
    """Paste a command that has to succeed, and return what it prints."""
    outcome = paste(command, folder, **NOWHERE)
    assert outcome.returncode == 0, (command, outcome.stdout, outcome.stderr)
    return outcome.stdout


def printed_commands(screen: str) -> list[str]:
    """Return the command lines that a screen ends with."""
    (section,) = (title for title in _SECTIONS if title in screen)
    lines = [line.strip() for line in screen.partition(section)[2].splitlines()]
    return [line for line in lines if line and not line.startswith("#")]


def without_dbt(commands: list[str]) -> list[str]:
    """Leave out what waits for dbt, which has a test of its own."""
    return [command for command in commands if "/dbt" not in command]


def test_the_commands_below_a_summary_have_the_options_of_the_profile(place: Path) -> None:
    """Seen from a folder next to the source, with a decimal mark that the numbers need."""
    source = place.parent / "many tables.sqlite"
    with closing(sqlite3.connect(source)) as database, database:
        for number in range(30):
            database.execute(f'CREATE TABLE "the {number}th" (id INTEGER, price TEXT)')
            rows = [(i, f"1.{i + 100}") for i in range(9)]
            database.executemany(f'INSERT INTO "the {number}th" VALUES (?, ?)', rows)
    screen = run(f"{CALL} profile '../many tables.sqlite' --decimal ,", place)
    commands = printed_commands(screen)
    assert [command.split(" --")[1] for command in commands] == ["decimal ,"] * 3
    table, everything, page = (run(command, place) for command in commands)
    assert "the 0th  9 rows" in table
    assert "  the 29th  " in everything
    assert "many-tables.html" in page
    assert (place / "many-tables.html").is_file()


@pytest.mark.parametrize("technique", ["flat", "dv2"])
def test_each_command_of_a_forge_leads_to_the_next(place: Path, technique: str) -> None:
    """Forge, then look, prove, review and decide, each as the command before it says."""
    source = "--uri '../two shops.sqlite'"
    options = f"--technique {technique} -o '../the model'"
    screen = run(f"{CALL} forge data-model from-source {source} {options}", place)
    commands = without_dbt(printed_commands(screen))
    assert {command.removeprefix(CALL).split()[0] for command in commands} == {
        "report",
        "verify",
        "review",
    }
    for command in commands:
        run(command, place)
    for command in (
        f"{CALL} forge data-model validate '../the model'",
        f"{CALL} decide '../the model' owner Sales",
    ):
        for next_command in printed_commands(run(command, place)):
            run(next_command, place)


def test_an_answer_is_given_as_the_review_says(place: Path) -> None:
    """Only the id and the choice are to be filled in."""
    forge = "forge data-model from-source --uri '../two shops.sqlite' -o ../model"
    run(f"{CALL} {forge}", place)
    screen = run(f"{CALL} review ../model", place)
    answer = re.search(r"Answer with `([^`]*) ID=CHOICE`", screen)
    assert answer is not None
    (again,) = printed_commands(run(f"{answer[1]} owner=Sales", place))
    run(again, place)
    assert "owner" not in run(f"{CALL} review ../model", place)


def test_a_forge_is_repeated_with_all_of_its_options(place: Path) -> None:
    """The command after an answer makes the same star, with what was answered."""
    rows = "".join(f"{i};2024-03-{i:02};2024-04-{i:02};{i},5\n" for i in range(1, 29))
    (place / "new orders.csv").write_text(f"id;ordered;shipped;amount\n{rows}")
    options = "--technique star --decimal , --fiscal-year-start 7 --locale de"
    choice = "--event-date 'new orders=shipped' -o '../the star'"
    forge = f"{CALL} forge data-model from-source --uri 'new orders.csv'"
    run(f"{forge} {options} {choice}", place)
    model = place.parent / "the star" / "model.json"
    star = json.loads(model.read_text())["dimensional"]
    answered = run(f"{CALL} review '../the star' --answer owner=Sales", place)
    (again,) = printed_commands(answered)
    for option in ("--locale de", "--event-date 'new orders=shipped'", "--fiscal-year-start 7"):
        assert option in again
    run(again, place)
    forged_again = json.loads(model.read_text())
    assert forged_again["dimensional"] == star
    assert forged_again["product"] == {"team": "Sales"}


@pytest.mark.skipif(sys.platform == "win32", reason="a process can't be killed in this way")
def test_a_run_that_is_resumed_elsewhere_is_reported_from_there(place: Path) -> None:
    """Its paths begin in the folder where it was started, and its commands where it's resumed."""
    arguments = ["--uri", "../two shops.sqlite", "-o", "the model", "--json-lines"]
    command = [*COMMAND, "forge", "data-model", "from-source", *arguments]
    with subprocess.Popen(
        command, cwd=place, stdout=subprocess.PIPE, text=True, env=os.environ
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            event = json.loads(line)
            if (event["stage"], event["state"]) == ("builder", "started"):
                break
        process.send_signal(signal.SIGKILL)
    elsewhere = place.parent / "another folder"
    elsewhere.mkdir()
    (run_,) = json.loads(run(f"{CALL} runs list --json", elsewhere))["runs"]
    (resume,) = printed_commands(run(f"{CALL} runs show {run_['run']}", elsewhere))
    commands = without_dbt(printed_commands(run(resume, elsewhere)))
    assert any("'../work in progress/the model'" in command for command in commands)
    for command in commands:
        run(command, elsewhere)


@pytest.mark.thorough
def test_each_command_of_the_demo_can_be_pasted(place: Path) -> None:
    """In a folder of the user's choice, with the whole shop."""
    for command in printed_commands(run(f"{CALL} demo -o '../my shop'", place)):
        run(command, place)
