"""Completion, in real shells where there are such."""

import os
import pty
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from fluid_build.cli.completion import SCRIPTS, completions
from tests.cli.running import Fluid
from tests.completions import PLACE, completions_json

FLUID = Path(sys.executable).parent / "fluid"


@pytest.fixture
def environment(tmp_path: Path) -> Mapping[str, str]:
    """A shell's environment in which ``fluid`` is found, with a home of its own."""
    home = tmp_path / "home"
    home.mkdir()
    path = f"{FLUID.parent}{os.pathsep}{os.environ['PATH']}"
    kept = {name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ}
    return {**kept, "PATH": path, "HOME": str(home), "TERM": "dumb", "PS1": "$ "}


def values(*words: str) -> list[str]:
    return [value for value, _ in completions(words)]


def test_the_data_is_that_of_the_commands() -> None:
    """``python tests/documents.py`` writes it again."""
    assert PLACE.read_text(encoding="utf-8") == completions_json()


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (["pro"], ["profile"]),
        (["forge", ""], ["guided", "data-model"]),
        (["forge", "data-model", "from-"], ["from-source", "from-ddl", "from-intent"]),
        (["profile", "shop.db", "--js"], ["--json"]),
        (["forge", "data-model", "from-source", "--technique", "di"], ["dimensional"]),
        (["forge", "data-model", "from-source", "--technique", "=", "fl"], ["flat"]),
        (["forge", "data-model", "from-source", "--technique", "="],
         ["flat", "data_vault_2", "dimensional", "dv2"]),
        (["forge", "data-model", "from-source", "--technique=di"], ["--technique=dimensional"]),
        (["profile", "--decimal", ""], [".", ","]),
        (["profile", "--periods", ""], ["unite", "keep"]),
        (["forge", "data-model", "from-source", "--for", ""], ["dbt", "sqlmesh"]),
        (["decide", "shop-model", "set-k"], ["set-key"]),
        (["help", "forge", "data-model", "from-d"], ["from-ddl"]),
        (["profile", "shop"], []),
        (["verify", "shop", "--uri", "sh"], []),
        (["nothing", ""], None),
        ([], None),
    ],
)  # fmt: skip
def test_a_word_is_completed_by_what_is_before_it(
    line: list[str], expected: list[str] | None
) -> None:
    found = values(*line)
    assert found == expected if expected is not None else "profile" in found


def bash_completions(line: str, environment: Mapping[str, str]) -> list[str]:
    words = line.split(" ")
    quoted = " ".join(f"'{word}'" for word in words)
    code = (
        f"{SCRIPTS['bash']}\nCOMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}\n"
        "_fluid_completion fluid; printf '%s\\n' \"${COMPREPLY[@]}\""
    )
    process = subprocess.run(
        ["bash", "--norc", "--noprofile", "-c", code],
        env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return process.stdout.split()


def test_bash_completes_commands_options_and_values(environment: Mapping[str, str]) -> None:
    assert bash_completions("fluid pro", environment) == ["profile"]
    line = "fluid forge data-model from-source --technique "
    assert bash_completions(line, environment) == ["flat", "data_vault_2", "dimensional", "dv2"]


@pytest.mark.parametrize(
    ("shell", "options", "start"),
    [
        ("bash", ["--norc", "--noprofile", "-i"], ""),
        ("zsh", ["-f", "-i"], "autoload -Uz compinit; compinit -u -D; "),
    ],
)
def test_the_tab_key_completes(
    shell: str, options: list[str], start: str, environment: Mapping[str, str]
) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"needs {shell}")
    controller, terminal = pty.openpty()
    with subprocess.Popen(
        [shell, *options],
        stdin=terminal, stdout=terminal, stderr=terminal, env=environment, start_new_session=True,
    ) as process:  # fmt: skip
        os.close(terminal)
        script = Path(environment["HOME"]) / "script"
        script.write_text(SCRIPTS[shell])
        os.write(controller, f"{start}source {script}; echo re''ady\n".encode())
        wait_for(controller, "ready\r\n")
        os.write(controller, b"fluid verif\t")
        assert "fluid verify " in wait_for(controller, "fluid verify ")
        process.kill()
    os.close(controller)


def wait_for(terminal: int, text: str) -> str:
    """Return what a terminal shows, once the text is in it."""
    shown, end = "", time.monotonic() + 30
    while text not in shown and time.monotonic() < end:
        if select.select([terminal], [], [], 0.2)[0]:
            shown += os.read(terminal, 4096).decode()
    return shown


@pytest.mark.skipif(shutil.which("fish") is None, reason="needs fish")
def test_fish_completes_commands_and_values(environment: Mapping[str, str]) -> None:
    code = (
        f"{SCRIPTS['fish']}\ncomplete --do-complete 'fluid prof'\n"
        "complete --do-complete 'fluid forge data-model from-source --technique dim'"
    )
    process = subprocess.run(
        ["fish", "--no-config", "-c", code],
        env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert [line.partition("\t")[0] for line in process.stdout.splitlines()] == [
        "profile",
        "dimensional",
    ]


@pytest.mark.skipif(shutil.which("zsh") is None, reason="needs zsh")
def test_zsh_takes_the_script(environment: Mapping[str, str]) -> None:
    code = f"autoload -Uz compinit; compinit -u\n{SCRIPTS['zsh']}\necho ${{_comps[fluid]}}"
    process = subprocess.run(
        ["zsh", "-f", "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert process.stdout == "_fluid\n"


@pytest.mark.parametrize("shell", SCRIPTS)
def test_installing_twice_changes_nothing_more(
    fluid: Fluid, environment: Mapping[str, str], shell: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = Path(environment["HOME"])
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))
    (home / ".bashrc").write_text("alias ll='ls -l'")
    assert fluid("--install-completion", shell).code == 0
    files = {path: path.read_text() for path in home.rglob("*") if path.is_file()}
    assert SCRIPTS[shell] in files.values()
    assert fluid("--install-completion", shell).code == 0
    assert {path: path.read_text() for path in files} == files
    assert files[home / ".bashrc"].startswith("alias ll='ls -l'")


def test_bash_has_the_completion_once_it_is_installed(environment: Mapping[str, str]) -> None:
    install = [FLUID, "--install-completion", "bash"]
    subprocess.run(install, env=environment, check=True, capture_output=True)
    process = subprocess.run(
        ["bash", "-c", "source ~/.bashrc; complete -p fluid"],
        env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "-F _fluid_completion fluid" in process.stdout


def test_the_script_of_a_shell_is_shown(fluid: Fluid) -> None:
    assert fluid("--show-completion", "fish").out == SCRIPTS["fish"]
    outcome = fluid("--show-completion", "csh")
    assert outcome.code == 2
    assert "bash, zsh, fish" in outcome.err


def test_completing_imports_no_command() -> None:
    """A press of the tab key shouldn't wait for what the commands need."""
    code = (
        "import sys; sys.argv = ['fluid', 'forge', 'data-model', 'from-source', '--']\n"
        "from fluid_build.cli.main import main\n"
        "main()\n"
        "heavy = {'duckdb', 'pydantic', 'rich', 'fluid_build.cli.forging.commands'}\n"
        "sys.exit(bool(heavy & sys.modules.keys()))"
    )
    environment = {**os.environ, "_FLUID_COMPLETE": "bash"}
    process = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True)
    assert process.returncode == 0
    assert b"--technique" in process.stdout
