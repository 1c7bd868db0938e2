"""``fluid mcp``: servers that can't start, and what an editor is told."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from fluid_build.cli.interrupts import Interrupts
from fluid_build.cli.main import run
from tests.cli.running import Fluid


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--workspace", "nowhere"], "isn't a folder"),
        (["--http", "--host", "0.0.0.0"], "Other machines can reach 0.0.0.0"),
        (["--source", "postgresql://reader:pw-canary-1@host/db"], "has no name"),
        (["--source", "crm=nothing.db"], "doesn't exist"),
    ],
)
def test_a_server_that_cannot_start_says_why(
    fluid: Fluid, options: list[str], expected: str
) -> None:
    outcome = fluid("mcp", "serve", *options)
    assert outcome.code == 2
    assert expected in outcome.err
    assert "pw-canary" not in outcome.err
    assert outcome.out == ""


def test_a_short_token_is_refused(fluid: Fluid, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLUID_MCP_TOKEN", "short")
    outcome = fluid("mcp", "serve", "--http")
    assert (outcome.code, "at least 16" in outcome.err) == (2, True)


def test_a_missing_extra_says_what_to_install() -> None:
    code = (
        "import sys; sys.modules['mcp'] = None; sys.argv = ['fluid', 'mcp', 'serve'];"
        "from fluid_build.cli.main import main; main()"
    )
    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60
    )
    assert process.returncode == 2
    assert "MCP needs the extra mcp, which isn't installed." in process.stderr
    assert "pip install" in process.stderr
    assert process.stdout == ""


@pytest.mark.parametrize(
    ("editor", "key"),
    [("claude-code", "mcpServers"), ("cursor", "mcpServers"), ("vscode", "servers")],
)
def test_the_configuration_of_an_editor_starts_a_server(
    fluid: Fluid, tmp_path: Path, editor: str, key: str
) -> None:
    options = ["--allow-write", "--schema", "sales"]
    outcome = fluid("mcp", "config", "--editor", editor, "--workspace", tmp_path, *options)
    server = json.loads(outcome.out)[key]["fluid-forge"]
    assert server["args"] == ["mcp", "serve", "--workspace", str(tmp_path), *options]
    assert Path(server["command"]).name
    assert "Put this into" in outcome.err


def test_no_password_is_put_into_a_configuration(fluid: Fluid) -> None:
    source = "crm=postgresql://reader:pw-canary-1@host/crm"
    outcome = fluid("mcp", "config", "--source", source)
    assert "crm=postgresql://reader@host/crm" in outcome.out
    assert "pw-canary-1" not in outcome.out + outcome.err
    assert "The password is left out" in outcome.err


def test_a_configuration_holds_no_path_that_depends_on_the_folder(
    fluid: Fluid, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bin").mkdir()
    command = tmp_path / "bin" / "fluid"
    command.touch(mode=0o755)
    (tmp_path / "orders.csv").write_text("a,b\n1,2\n")
    monkeypatch.chdir(tmp_path / "bin")
    monkeypatch.setattr("sys.argv", ["../bin/fluid"])
    outcome = fluid("mcp", "config", "--source", "orders=../orders.csv")
    server = json.loads(outcome.out)["mcpServers"]["fluid-forge"]
    assert server["command"] == str(command)
    assert f"orders={tmp_path}/orders.csv" in server["args"]


def test_an_unknown_editor_is_an_error_with_the_known_ones() -> None:
    assert run(["mcp", "config", "--editor", "cursr"], Interrupts()) == 2
