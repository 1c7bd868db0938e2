"""Every command starts with a valid ``~/.fluid/config.yaml``, and follows it."""

from pathlib import Path

import pytest

from tests.cli.running import Fluid

COMMANDS = (
    ("demo",),
    ("profile", "shop.db"),
    ("forge", "data-model", "from-source", "--uri", "shop.db"),
    ("forge", "data-model", "from-ddl", "shop.sql"),
    ("validate", "contract.yaml"),
    ("test", "--uri=shop.db", "contract.yaml"),
    ("diff", "a", "b"),
    ("verify", "folder"),
    ("export", "odcs", "contract.yaml"),
    ("import", "odcs", "contract.yaml"),
)


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's configuration file; the test writes it."""
    monkeypatch.setenv("FLUID_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "home").mkdir()
    return tmp_path / "home" / "config.yaml"


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_broken_configuration_stops_a_command_before_it_does_anything(
    fluid: Fluid, config: Path, command: tuple[str, ...]
) -> None:
    config.write_text("behavior:\n  cost_limit_usd_per_run: five\n")
    outcome = fluid(*command)
    assert (outcome.code, outcome.out) == (2, "")
    message = " ".join(outcome.err.split())
    assert f"{config}, line 2: behavior.cost_limit_usd_per_run isn't valid" in message
    assert [path.name for path in config.parent.parent.iterdir()] == ["home"]


@pytest.mark.parametrize(
    "arguments",
    [("--version",), ("--help",), *((*c[:3], "--help") for c in COMMANDS)],
    ids=" ".join,
)
def test_help_and_version_need_no_configuration(
    fluid: Fluid, config: Path, arguments: tuple[str, ...]
) -> None:
    config.write_text("behavior: [")
    assert fluid(*arguments).code == 0


def test_quiet_turns_progress_off(
    fluid: Fluid, config: Path, sqlite_shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "Reading tables ..." in fluid("profile", sqlite_shop).err
    config.write_text("behavior: {quiet: true}")
    assert "Reading tables" not in fluid("profile", sqlite_shop).err
    monkeypatch.setenv("FLUID_QUIET", "0")
    assert "Reading tables ..." in fluid("profile", sqlite_shop).err
