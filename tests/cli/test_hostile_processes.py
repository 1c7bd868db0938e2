"""The command in a process of its own, with hostile models: surroundings, screen and exit code."""

import json
import os
import pty
import subprocess
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pytest

from fluid_build.cli.interrupts import Interrupts
from fluid_build.cli.main import run
from fluid_build.copilot.messages import ToolCall
from tests.cli.running import COMMAND
from tests.copilot.llm.characters import ATTACKS
from tests.fault_server import LoopbackServer, Reply
from tests.folders import every_file
from tests.pipeline.hostile_models import CHARACTERS, READABLE_ATTACKS, attack_everything
from tests.pipeline.hostile_runs import ACTING, TECHNIQUES, Scene
from tests.pipeline.lies import believable_liar
from tests.pipeline.small_runs import small_shop

CANARY = "canary7391"
FROM_SOURCE = ("forge", "data-model", "from-source", "--uri", "shop.db", "-o", "out")
AGENT_LOOP = ("forge", "--agent-loop", "--yes", "-o", "out")
TARGETS = ("/tmp/owned", "/tmp/stolen.db", "/tmp/stolen.csv", "/etc/cron.d/fluid")
"""Files that the attacks would make."""


CODE_FOR_DBT = "{{ env_var('HOME') }}{% set x = run_query('drop table s') %}{{ 1 / 0 }} \"'; --"


def thorough_but(names: Iterable[str], *usual: str) -> list[object]:
    """Return the names as parameters; all but the usual ones are left to ``make test-all``."""
    marks = pytest.mark.thorough
    return [pytest.param(name, marks=() if name in usual else marks) for name in names]


@dataclass(frozen=True)
class Place:
    """A folder to work in, and files next to it that no command may touch."""

    root: Path

    @property
    def work(self) -> Path:
        return self.root / "work"

    def foreign_files(self) -> dict[str, bytes]:
        """Return all files but those of the output folder and the home."""
        own = ("work/out/", "home/.fluid/")
        files = every_file(self.root)
        return {name: content for name, content in files.items() if not name.startswith(own)}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    place = Place(tmp_path)
    place.work.mkdir()
    (tmp_path / "tmp").mkdir()
    small_shop(place.work / "shop.db")
    (tmp_path / "secret.csv").write_text(f"id,secret\n1,{CANARY}\n")
    (place.work / "link.csv").symlink_to(tmp_path / "secret.csv")
    (place.work / "mine.txt").write_text("untouched")
    assert not any(Path(target).exists() for target in TARGETS)
    return place


@dataclass(frozen=True)
class Ended:
    """What a process left: its exit code and all that it wrote to the screen."""

    code: int
    screen: str


def run_process(
    place: Place, server: LoopbackServer, *arguments: str, on_terminal: bool = False
) -> Ended:
    """Run the command in the place's folder, with a home and a temporary folder of its own."""
    environment = {
        **os.environ,
        "OPENAI_API_KEY": server.key,
        "HOME": str(place.root / "home"),
        "FLUID_HOME": str(place.root / "home" / ".fluid"),
        "TMPDIR": str(place.root / "tmp"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "TERM": "xterm-256color",
    }
    model = ("--llm-provider", "openai", "--llm-model", "gpt-4.1")
    line = [*COMMAND, *arguments, *model, "--llm-endpoint", server.base_url("openai")]
    if on_terminal:
        return _run_on_terminal(line, environment, place.work)
    process = subprocess.run(
        line,
        cwd=place.work,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=120,
        check=False,
    )
    return Ended(process.returncode, process.stdout.decode())


def _run_on_terminal(line: list[str], environment: dict[str, str], cwd: Path) -> Ended:
    ours, theirs = pty.openpty()
    output = bytearray()

    def read() -> None:
        while True:
            try:
                output.extend(os.read(ours, 65536))
            except OSError:  # Linux reports the closed other side as an error.
                return

    process = subprocess.Popen(
        line, cwd=cwd, env=environment, stdin=theirs, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    reader = threading.Thread(target=read)
    reader.start()
    try:
        code = process.wait(timeout=120)
    finally:
        process.kill()
        reader.join(timeout=10)
        os.close(ours)
    return Ended(code, output.decode())


@pytest.mark.parametrize("technique", thorough_but(TECHNIQUES, "data_vault_2"))
def test_an_attacker_changes_nothing_outside_the_folder(place: Place, technique: str) -> None:
    before = place.foreign_files()
    attack = attack_everything(READABLE_ATTACKS, "customer", "city")
    with LoopbackServer(attack) as server:
        ended = run_process(place, server, *FROM_SOURCE, "--technique", technique)
        assert server.requests
    assert ended.code == 0
    assert not ACTING.search(ended.screen)
    assert place.foreign_files() == before
    assert not any(Path(target).exists() for target in TARGETS)


def test_an_attacker_steers_no_terminal(place: Place) -> None:
    attack = attack_everything(READABLE_ATTACKS, "customer", "city")
    with LoopbackServer(attack) as server:
        ended = run_process(place, server, *FROM_SOURCE, on_terminal=True)
    assert ended.code == 0
    assert "out" in ended.screen
    for text in ("\x1b]0;", "\x1b[2J", "\x07", "\u202e", "\x00"):
        assert text not in ended.screen


def test_a_required_model_that_answers_rubbish_exits_with_1_and_writes_nothing(
    place: Place,
) -> None:
    before = place.foreign_files()
    with LoopbackServer(lambda _: Reply("\x1b[2J" + ATTACKS[0])) as server:
        ended = run_process(place, server, *FROM_SOURCE, "--require-llm")
    assert ended.code == 1
    assert not ACTING.search(ended.screen)
    assert not (place.work / "out").exists()
    assert place.foreign_files() == before


@pytest.mark.parametrize("character", thorough_but(CHARACTERS, "liar", "attacker"))
def test_an_agent_loop_ends_and_touches_nothing_else(place: Place, character: str) -> None:
    before = place.foreign_files()
    lies = Scene(place.work / "shop.db", place.root).lies
    with LoopbackServer(CHARACTERS[character](lies, 4)) as server:
        ended = run_process(place, server, *AGENT_LOOP, "--max-iterations", "8")
        assert 0 < len(server.requests) <= 20
        assert not [r for r in server.requests if CANARY.encode() in r.raw]
    assert ended.code in {0, 1, 2}
    assert (ended.code == 0) == (place.work / "out" / "contract.fluid.yaml").exists()
    assert "Traceback" not in ended.screen
    assert not ACTING.search(ended.screen)
    assert place.foreign_files() == before


def test_tool_calls_outside_the_workspace_get_nothing(place: Place) -> None:
    """The model asks its tools for all that isn't there for it, and then answers well."""
    secret = place.root / "secret.csv"
    paths = ("../secret.csv", "link.csv", str(secret), f"file://{secret}", "/etc/passwd", "\x1b[2J",
             "postgresql://localhost/x", "https://evil.example/x.csv", "shop.db/../../secret.csv",
             "*", "../*.csv")  # fmt: skip
    answer = {"source": "shop.db", "technique": "flat", "summary": "\x1b[2Jx", "decisions": []}
    tools = ("read_sample_schema", "profile_source", "check_key", "\x1b[2Jnone", "shell")
    turns = [
        Reply(
            "",
            [
                ToolCall(f"{turn}-{n}", tool, {"path": path, "source": path})
                for n, path in enumerate(paths)
            ],
        )
        for turn, tool in enumerate(tools)
    ]
    before = place.foreign_files()
    with LoopbackServer([*turns, Reply(json.dumps(answer))]) as server:
        ended = run_process(place, server, *AGENT_LOOP)
        sent = b"".join(request.raw for request in server.requests)
        assert len(server.requests) > len(turns)
    assert CANARY.encode() not in sent
    assert b"root:x:" not in sent
    assert not ACTING.search(ended.screen)
    assert ended.code == 0
    assert place.foreign_files() == before
    assert not any(Path(target).exists() for target in TARGETS)


@pytest.mark.parametrize(
    ("character", "technique"),
    [
        ("attacker", "flat"),
        pytest.param("attacker", "data_vault_2", marks=pytest.mark.thorough),
        pytest.param("believable liar", "dimensional", marks=pytest.mark.thorough),
    ],
)
def test_a_folder_forged_with_a_hostile_model_builds_with_dbt(
    dbt: None, place: Place, character: str, technique: str
) -> None:
    lies = Scene(place.work / "shop.db", place.root).lies
    attack = attack_everything((CODE_FOR_DBT,), "customer", "city")
    with LoopbackServer(attack if character == "attacker" else believable_liar(lies, 7)) as server:
        ended = run_process(place, server, *FROM_SOURCE, "--technique", technique)
    assert ended.code == 0
    folder, source = place.work / "out", place.work / "shop.db"
    if character == "attacker":
        assert "run_query" in (folder / "decisions.yaml").read_text()
    line = ["verify", str(folder), "--uri", str(source), "--dbt", "--trust"]
    assert run(line, Interrupts()) == 0
