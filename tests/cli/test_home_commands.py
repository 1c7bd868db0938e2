"""``fluid config``, ``fluid ai``, ``fluid memory`` and ``fluid doctor``."""

import io
import json
import stat
import tomllib
from contextlib import closing
from pathlib import Path

import pytest

from fluid_build.cli.ai import SUGGESTED_MODELS
from fluid_build.cli.forging.model_order import newest_first
from fluid_build.copilot.store.configured import open_store
from tests.cli.running import Fluid
from tests.distributions import install_distribution
from tests.fault_server import LoopbackServer, Reply, unauthorized

KEY = "sk-ant-test-0123456789abcdef"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's home, empty, with no key in the environment."""
    monkeypatch.setenv("FLUID_HOME", str(tmp_path / "home"))
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "FLUID_LLM_PROVIDER", "FLUID_STORE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    return tmp_path / "home"


def _document(fluid: Fluid, *arguments: str) -> dict:
    return json.loads(fluid(*arguments, "--json").out)


def test_a_setting_that_was_set_is_shown_with_its_file_and_line(fluid: Fluid, home: Path) -> None:
    assert fluid("config", "set", "behavior.cost_limit_usd_per_run", "5.00").code == 0
    settings = {s["key"]: s for s in _document(fluid, "config", "show")["settings"]}
    limit = settings["behavior.cost_limit_usd_per_run"]
    assert float(limit["value"]) == 5.0
    assert limit["origin"].startswith(str(home / "config.yaml"))


def test_an_unknown_setting_is_refused_with_the_nearest_one(fluid: Fluid, home: Path) -> None:
    outcome = fluid("config", "set", "llm.modle", "x")
    assert outcome.code == 2
    assert "Did you mean 'llm.model'?" in outcome.err
    assert not home.exists()


def test_an_unknown_provider_is_refused_before_it_is_written(fluid: Fluid, home: Path) -> None:
    outcome = fluid("config", "set", "llm.provider", "opnai")
    assert outcome.code == 2
    assert "Did you mean 'openai'?" in outcome.err
    assert not home.exists()


def test_status_says_what_is_wrong_with_a_provider_that_somebody_wrote_by_hand(
    fluid: Fluid, home: Path
) -> None:
    home.mkdir()
    (home / "config.yaml").write_text("llm: {provider: opnai}\n")
    outcome = fluid("ai", "status")
    assert outcome.code == 1
    assert "Unknown provider 'opnai'." in outcome.out
    assert "No model" not in outcome.out


def test_a_setting_can_be_removed(fluid: Fluid) -> None:
    fluid("config", "set", "llm.tiered", "true")
    assert _document(fluid, "config", "set", "llm.tiered", "--unset")["before"] is True
    settings = {s["key"]: s["value"] for s in _document(fluid, "config", "show")["settings"]}
    assert settings["llm.tiered"] is False


def test_a_broken_setting_can_be_repaired(fluid: Fluid, home: Path) -> None:
    home.mkdir()
    (home / "config.yaml").write_text("llm: {tiered: perhaps}\n")
    assert fluid("config", "show").code == 2
    assert fluid("config", "set", "llm.tiered", "false").code == 0
    assert fluid("config", "show").code == 0


def test_comments_of_a_changed_file_stay_in_a_backup(fluid: Fluid, home: Path) -> None:
    home.mkdir()
    (home / "config.yaml").write_text("# mine\nllm: {tiered: true}\n")
    backup = Path(_document(fluid, "config", "set", "llm.tiered", "false")["backup"])
    assert backup.read_text().startswith("# mine")


def test_a_key_is_never_written_to_the_configuration(fluid: Fluid, home: Path) -> None:
    outcome = fluid("config", "set", "llm.api_key", KEY)
    assert outcome.code == 2
    assert "fluid ai setup" in outcome.err
    assert not home.exists()


def test_older_files_are_migrated(fluid: Fluid, home: Path) -> None:
    home.mkdir()
    (home / "ai_config.json").write_text('{"provider": "anthropic", "model": "m"}')
    assert _document(fluid, "config", "migrate")["migrated"] == ["llm.model", "llm.provider"]


def test_setup_saves_the_key_where_only_its_owner_reads_it(
    fluid: Fluid, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(KEY + "\n"))
    outcome = fluid("ai", "setup", "--provider", "anthropic", "--key-stdin")
    assert outcome.code == 0
    assert KEY not in outcome.out + outcome.err
    file = home / "credentials.json"
    assert json.loads(file.read_text()) == {"anthropic": KEY}
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert KEY not in (home / "config.yaml").read_text()
    assert _document(fluid, "ai", "status")["key"] == str(file)


def test_setup_without_a_terminal_says_which_option_to_pass(
    fluid: Fluid, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    outcome = fluid("ai", "setup")
    assert outcome.code == 2
    assert "--provider" in outcome.err


def test_status_fails_where_no_model_is_configured(fluid: Fluid) -> None:
    outcome = fluid("ai", "status")
    assert outcome.code == 1
    assert "fluid ai setup" in outcome.out


@pytest.mark.parametrize(("script", "code"), [([Reply("yes")], 0), ([unauthorized()], 1)])
def test_status_asks_the_model_if_it_is_told_to(
    fluid: Fluid, monkeypatch: pytest.MonkeyPatch, script: list, code: int
) -> None:
    with LoopbackServer(script) as server:
        monkeypatch.setenv("ANTHROPIC_API_KEY", server.key)
        monkeypatch.setenv("FLUID_LLM_PROVIDER", "anthropic")
        monkeypatch.setenv("FLUID_LLM_MODEL", "claude-sonnet-4-6")
        monkeypatch.setenv("FLUID_LLM_BASE_URL", server.base_url("anthropic"))
        outcome = fluid("ai", "status", "--check")
        assert outcome.code == code
        assert len(server.requests) == 1
        assert server.key not in outcome.out


def test_models_are_listed_with_their_prices(fluid: Fluid) -> None:
    models = {m["model"]: m for m in _document(fluid, "ai", "models")["models"]}
    assert models["claude-sonnet-4-6"]["input_usd"] > 0
    assert models["claude-sonnet-4-6"]["window"] > 100_000


def test_suggested_models_come_first_and_are_marked(fluid: Fluid) -> None:
    models = _document(fluid, "ai", "models")["models"]
    assert [m["model"] for m in models[:3]] == list(SUGGESTED_MODELS.values())
    first_lines = fluid("ai", "models").out.splitlines()[:4]
    assert any("suggested" in line for line in first_lines)
    assert not any("tts" in m["model"] or "image" in m["model"] for m in models)


def test_the_newest_models_of_each_family_come_first() -> None:
    names = ["claude-2", "claude-3-5-sonnet", "claude-opus-5", "claude-sonnet-5-5", "gpt-oss-120b"]
    assert newest_first(names) == [
        "claude-sonnet-5-5",
        "claude-3-5-sonnet",
        "claude-opus-5",
        "claude-2",
        "gpt-oss-120b",
    ]


@pytest.fixture
def memories() -> None:
    with closing(open_store()) as store:
        store.put("memory/semantic", "shop", {"tables": 3}, text="customers orders products")
        store.put("memory/episodic", "run-1", {"ok": True}, text="forged shop")


@pytest.mark.usefixtures("memories")
def test_memory_is_listed_searched_and_shown(fluid: Fluid) -> None:
    names = [memory["name"] for memory in _document(fluid, "memory", "list")["memories"]]
    assert names == ["episodic/run-1", "semantic/shop"]
    hits = _document(fluid, "memory", "search", "orders")["memories"]
    assert [hit["name"] for hit in hits] == ["semantic/shop"]
    assert json.loads(fluid("memory", "show", "semantic/shop").out)["value"] == {"tables": 3}


@pytest.mark.usefixtures("memories")
def test_memory_is_forgotten_by_name_or_as_a_whole(fluid: Fluid) -> None:
    assert fluid("memory", "forget", "semantic/shop").code == 0
    assert [m["name"] for m in _document(fluid, "memory", "list")["memories"]] == ["episodic/run-1"]
    assert fluid("memory", "forget").code == 2
    assert fluid("memory", "forget", "--all").code == 0
    assert _document(fluid, "memory", "list") == {"memories": []}


@pytest.mark.usefixtures("memories")
def test_a_mistyped_record_is_guessed(fluid: Fluid) -> None:
    outcome = fluid("memory", "show", "semantic/shpo")
    assert outcome.code == 2
    assert "Did you mean 'semantic/shop'?" in outcome.err


def test_doctor_is_content_with_a_plain_installation(fluid: Fluid) -> None:
    document = _document(fluid, "doctor", "--offline")
    assert document["healthy"]
    assert {check["name"] for check in document["checks"]} >= {"engine", "store", "configuration"}


def test_doctor_finds_another_project_with_a_package_of_our_name(
    fluid: Fluid, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_distribution(tmp_path, "fluid-forge")
    monkeypatch.syspath_prepend(tmp_path)
    document = _document(fluid, "doctor", "--offline")
    (check,) = [check for check in document["checks"] if check["name"] == "package"]
    assert (document["healthy"], check["state"]) == (False, "failed")
    assert check["finding"].startswith("fluid-forge installed a package fluid_build too")
    assert "uninstall fluid-forge`, then install Fluid Forge again" in check["advice"]


def test_doctor_lists_every_extra(fluid: Fluid) -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    names = {check["name"] for check in _document(fluid, "doctor", "--offline")["checks"]}
    assert {f"extra {extra}" for extra in project["optional-dependencies"]} <= names


def test_doctor_says_what_is_wrong_with_the_configuration(fluid: Fluid, home: Path) -> None:
    home.mkdir()
    (home / "config.yaml").write_text("llm: {tierd: true}\n")
    outcome = fluid("doctor", "--offline")
    assert outcome.code == 1
    assert "Did you mean 'llm.tiered'?" in outcome.out


def test_doctor_finds_a_store_that_cannot_be_written(
    fluid: Fluid, monkeypatch: pytest.MonkeyPatch, unwritable: Path
) -> None:
    monkeypatch.setenv("FLUID_HOME", str(unwritable))
    failed = [
        c["name"]
        for c in _document(fluid, "doctor", "--offline")["checks"]
        if c["state"] == "failed"
    ]
    assert "store" in failed


def test_doctor_says_which_provider_it_cannot_reach(
    fluid: Fluid, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FLUID_LLM_PROVIDER", "ollama")
    monkeypatch.setenv("FLUID_LLM_MODEL", "llama3.1")
    monkeypatch.setenv("FLUID_LLM_BASE_URL", "http://127.0.0.1:9")
    checks = {check["name"]: check for check in _document(fluid, "doctor")["checks"]}
    assert checks["provider"]["state"] == "failed"
    assert "127.0.0.1:9" in checks["provider"]["finding"]
