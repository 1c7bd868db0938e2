"""Composites on DBOS: real workers, killed wherever they can be, pay for no answer twice."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from fluid_build.copilot.agents.composite import run_sync
from fluid_build.copilot.llm.testing import LoopbackServer, Reply
from fluid_build.copilot.llm.testing.server import ReceivedRequest
from fluid_build.copilot.messages import ToolCall
from tests.copilot.agents import dbos_worker

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        importlib.util.find_spec("dbos") is None,
        reason="dbos isn't installed: `make test-all` installs it",
    ),
]
ROOT = Path(__file__).parents[3]
MOST_LIVES = 60


def answer(request: ReceivedRequest) -> Reply:
    """Answer as the model of each agent; the summary depends on the whole conversation."""
    body = {key: value for key, value in request.body.items() if key != "model"}
    text = json.dumps(body)
    if "You help." in text:
        return Reply("Helped.")
    if "You review." in text:
        return Reply("Nothing is wrong.")
    if "tool_result" not in text:
        calls = [("count", {"table": "orders"}), ("helper", {"prompt": "Help."})]
        return Reply("", [ToolCall(name, name, arguments) for name, arguments in calls])
    if "Sum up." not in text:
        return Reply("Six rows.")
    return Reply(f"Done {hashlib.sha256(text.encode()).hexdigest()}")


class Provider:
    """A paid server: it counts the answers that a living worker got, by what was asked."""

    def __init__(self, *, kills: bool) -> None:
        self.kills = kills
        self.worker: subprocess.Popen[bytes] | None = None
        self.seen: set[str] = set()
        self.answered: Counter[str] = Counter()

    def __call__(self, request: ReceivedRequest) -> Reply:
        body = {key: value for key, value in request.body.items() if key != "model"}
        asked = json.dumps(body, sort_keys=True)
        if self.kills and asked not in self.seen and self.worker is not None:
            self.seen.add(asked)
            self.worker.kill()
            self.worker.wait()
        else:
            self.answered[asked] += 1
        return answer(request)


def start(
    folder: Path, server: LoopbackServer, life: int, kind: str = "immortal"
) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tests.copilot.agents.dbos_worker", folder]
    return subprocess.Popen(
        [*command, server.base_url("anthropic"), str(life), kind],
        cwd=ROOT,
        env={**os.environ, "ANTHROPIC_API_KEY": server.key},
    )


def without_dbos(folder: Path) -> tuple[object, Counter[str]]:
    """Return what the same composite responds without DBOS, and what it pays for."""
    provider = Provider(kills=False)
    with LoopbackServer(provider) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("ANTHROPIC_API_KEY", server.key)
        dbos_worker.prepare(folder, server.base_url("anthropic"))
        result = run_sync(dbos_worker.Coder(0), {"request": "Count the orders."}, width=1)
    assert result.ok, result.error
    return result.response, provider.answered


def test_a_worker_that_is_killed_everywhere_responds_alike_and_pays_for_nothing_twice(
    tmp_path: Path,
) -> None:
    """Inside each call, after each state that is saved, and before each step of the workflow."""
    expected, paid = without_dbos(tmp_path)
    (tmp_path / "counts").unlink()
    provider = Provider(kills=True)
    lives = 0
    with LoopbackServer(provider) as server:
        while not (tmp_path / "result.json").exists():
            assert lives < MOST_LIVES
            provider.worker = start(tmp_path, server, lives, "mortal")
            lives += 1
            assert provider.worker.wait(60) in (0, -9)
    ended = json.loads((tmp_path / "result.json").read_text())
    assert ended == {"response": expected, "steps": ["begin", "research", "tests, style", "sum_up"]}
    assert provider.answered == paid
    assert set(paid.values()) == {1}
    assert provider.seen == set(paid)
    assert dbos_worker.Ledger(tmp_path / "counts").lines() == ["orders"]
    deaths = dbos_worker.Ledger(tmp_path / "deaths").lines()
    assert [line for line in deaths if line.startswith("step")] == [
        f"step {n}" for n in (1, 2, 3, 4)
    ]
    assert lives == len(deaths) + len(paid) + 1
