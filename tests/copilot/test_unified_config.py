"""One configuration: the documented file, where each setting comes from, and plain errors."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from fluid_build.copilot.cost import CostLimitExceeded, RunCostTracker
from fluid_build.copilot.llm.base import LlmConfig
from fluid_build.copilot.llm.credentials import default_key_file
from fluid_build.copilot.llm.default_config import default_llm_config
from fluid_build.copilot.unified_config import (
    ConfigError,
    Origin,
    current_config,
    list_settings,
    load_unified_config,
    migrate_legacy_to_unified,
    use_flags,
)
from fluid_build.errors import UsageError

DOCUMENTED = """\
schema_version: 1
llm:
  provider: anthropic
  model: claude-sonnet-4-6
  tiered: false
sources:
  sources:
    snowflake-prod:
      catalog: snowflake
      auth_method: key_pair
      account: myorg-abc12345
prices:
  prices:
    claude-sonnet-4-6: [2.40, 12.00]
behavior:
  quiet: false
  deterministic: false
  cost_limit_usd_per_run: 5.00
"""


def write(home: Path, **files: Any) -> None:
    for name, content in files.items():
        path = home / name.replace("__", ".")
        path.write_text(content if isinstance(content, str) else json.dumps(content))


def load(home: Path, environ: dict[str, str] | None = None, **flags: Any) -> Any:
    dotted = {key.replace("__", "."): value for key, value in flags.items()}
    return load_unified_config(home=home, flags=dotted, environ=environ or {})


def test_the_documented_file(tmp_path: Path) -> None:
    """The file of the page is read as it stands there."""
    write(tmp_path, config__yaml=DOCUMENTED)
    config = load(tmp_path)
    assert (config.llm.provider, config.llm.model) == ("anthropic", "claude-sonnet-4-6")
    assert config.llm.tiered is False
    assert config.sources.sources["snowflake-prod"]["account"] == "myorg-abc12345"
    assert config.prices.prices == {"claude-sonnet-4-6": (Decimal("2.4"), Decimal(12))}
    assert config.behavior.cost_limit_usd_per_run == Decimal(5)


def test_defaults(tmp_path: Path) -> None:
    """Without any file the defaults hold."""
    config = load(tmp_path / "none")
    assert (config.llm.provider, config.llm.tiered) == (None, False)
    assert (config.behavior.quiet, config.behavior.cost_limit_usd_per_run) == (False, None)
    assert config.sources.sources == {}


def test_precedence(tmp_path: Path) -> None:
    """Flags before environment before file before the former files before defaults."""
    write(tmp_path, ai_config__json={"provider": "legacy", "model": "legacy"})
    assert load(tmp_path).llm.model == "legacy"
    write(tmp_path, config__yaml="llm: {model: file}")
    config = load(tmp_path)
    assert (config.llm.provider, config.llm.model) == ("legacy", "file")
    environ = {"FLUID_LLM_MODEL": "environment", "FLUID_COST_LIMIT_USD": "2.5"}
    config = load(tmp_path, environ)
    assert config.llm.model == "environment"
    assert config.behavior.cost_limit_usd_per_run == Decimal("2.5")
    assert load(tmp_path, environ, llm__model="flag", llm__provider=None).llm.model == "flag"


def test_former_files_are_read(tmp_path: Path) -> None:
    """Installations with the former files go on as they were."""
    write(
        tmp_path,
        ai_config__json={"provider": "openai", "model": "gpt-4.1", "tiered": True},
        sources__yaml="prod: {catalog: snowflake}",
        prices__json={"gpt-4.1": [2, 8]},
    )
    config = load(tmp_path)
    assert (config.llm.provider, config.llm.tiered) == ("openai", True)
    assert config.sources.sources == {"prod": {"catalog": "snowflake"}}
    assert config.prices.prices == {"gpt-4.1": (2, 8)}


@pytest.mark.parametrize(
    ("text", "key", "line", "message"),
    [
        ("llm:\n  provder: x", "llm.provder", 2, "unknown setting llm.provder"),
        ("behaviour: {}", "behaviour", 1, "unknown setting behaviour"),
        ("llm:\n  model: m\n  tiered: perhaps", "llm.tiered", 3, "llm.tiered isn't valid"),
        ("\nbehavior:\n\n  cost_limit_usd_per_run: -1", None, 4, "cost_limit_usd_per_run"),
        ("prices:\n  prices:\n    a: [1, 2]\n    b: [1]", None, 4, "prices.b"),
        ("schema_version: 2", "schema_version", 1, "schema_version"),
        ("llm: [1]", "llm", 1, "llm isn't valid"),
        ("a: b\n c: {", None, 2, "isn't valid YAML"),
        ("- a", None, None, "not a list"),
        ("&a [*a]", None, None, ""),
    ],
)
def test_errors_name_the_key_and_the_line(
    tmp_path: Path, text: str, key: str | None, line: int | None, message: str
) -> None:
    """The error for an unknown setting has its key and line."""
    write(tmp_path, config__yaml=text)
    with pytest.raises(ConfigError) as caught:
        load(tmp_path)
    assert message in caught.value.message
    assert "config.yaml" in caught.value.message
    if key is not None:
        assert caught.value.key == key
    if line is not None:
        assert caught.value.line == line
        assert f"line {line}" in caught.value.message


def test_the_nearest_setting_is_named(tmp_path: Path) -> None:
    """A slip of the pen is answered with what was probably meant."""
    write(tmp_path, config__yaml="llm: {provder: x}")
    with pytest.raises(ConfigError) as caught:
        load(tmp_path)
    assert caught.value.hint == "Did you mean 'llm.provider'?"


def test_errors_elsewhere_say_where(tmp_path: Path) -> None:
    """The error for a wrong flag, variable or legacy file names it."""
    with pytest.raises(ConfigError, match=r"the command line: unknown setting llm\.x"):
        load(tmp_path, llm__x=1)
    with pytest.raises(ConfigError, match="FLUID_COST_LIMIT_USD"):
        load(tmp_path, {"FLUID_COST_LIMIT_USD": "five"})
    write(tmp_path, prices__json="{")
    with pytest.raises(ConfigError, match=r"prices.json, line 1, isn't valid JSON"):
        load(tmp_path)


def test_no_value_is_quoted(tmp_path: Path) -> None:
    """A secret that was put into the file by mistake is not in the error."""
    write(tmp_path, config__yaml="llm: {api_key: canary-secret, tiered: canary-secret}")
    with pytest.raises(ConfigError) as caught:
        load(tmp_path)
    assert "canary" not in f"{caught.value} {caught.value.hint} {caught.value!r}"


def test_migration(tmp_path: Path) -> None:
    """The former files are taken over, the new file's own settings stay, and there is a copy."""
    write(
        tmp_path,
        ai_config__json={"provider": "openai", "model": "old", "api_key": "canary", "theme": 1},
        sources__yaml="sources: {prod: {catalog: snowflake}}",
        prices__json={"m": [1, 2]},
        config__yaml="llm: {model: new}",
    )
    migration = migrate_legacy_to_unified(home=tmp_path)
    config = load(tmp_path)
    assert (config.llm.provider, config.llm.model) == ("openai", "new")
    assert config.sources.sources == {"prod": {"catalog": "snowflake"}}
    assert migration.migrated == ("llm.provider", "prices.prices.m", "sources.sources.prod")
    assert [path.read_text() for path in migration.backups] == ["llm: {model: new}"]
    assert len(migration.warnings) == 2
    assert "'theme' isn't migrated: the setting doesn't exist" in migration.warnings[1]
    text = (tmp_path / "config.yaml").read_text()
    assert "canary" not in text + str(migration)
    assert (tmp_path / "ai_config.json").exists()


def test_migration_is_idempotent(tmp_path: Path) -> None:
    """A second time nothing is done: no copy, no change."""
    write(tmp_path, ai_config__json={"provider": "openai"}, prices__json={"m": [1, 2]})
    first = migrate_legacy_to_unified(home=tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    second = migrate_legacy_to_unified(home=tmp_path)
    assert first.migrated
    assert (second.migrated, second.backups) == ((), ())
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before
    assert "Migrated nothing" in str(second)


def test_migrating_nothing_writes_nothing(tmp_path: Path) -> None:
    """Without former files no file is made."""
    assert migrate_legacy_to_unified(home=tmp_path).migrated == ()
    assert list(tmp_path.iterdir()) == []


def test_the_documented_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What the page says to type prints what was done."""
    monkeypatch.delenv("FLUID_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".fluid").mkdir()
    write(tmp_path / ".fluid", ai_config__json={"provider": "openai"})
    print(migrate_legacy_to_unified())
    assert "Migrated llm.provider" in capsys.readouterr().out


def test_former_files_that_are_wrong_are_not_taken_over(tmp_path: Path) -> None:
    """A migration of what is wrong is refused, and nothing is written."""
    write(tmp_path, prices__json={"m": "free"})
    with pytest.raises(ConfigError, match=r"prices.prices.m"):
        migrate_legacy_to_unified(home=tmp_path)
    assert not (tmp_path / "config.yaml").exists()


def test_a_pipe_in_place_of_the_file_is_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "config.yaml")
    with pytest.raises(ConfigError, match="isn't a regular file"):
        load(tmp_path)


def test_each_setting_says_where_it_came_from(tmp_path: Path) -> None:
    write(
        tmp_path,
        config__yaml=DOCUMENTED,
        ai_config__json={"model": "legacy"},
        prices__json={"gpt-4.1": [2, 8]},
        sources__yaml="sources:\n  old:\n    catalog: glue\n",
    )
    file, environ = tmp_path / "config.yaml", {"FLUID_LLM_MODEL": "m"}
    settings = list_settings(home=tmp_path, environ=environ, flags={"behavior.quiet": True})
    assert {setting.key: str(setting.origin) for setting in settings} == {
        "schema_version": f"{file}, line 1",
        "llm.provider": f"{file}, line 3",
        "llm.model": "FLUID_LLM_MODEL",
        "llm.base_url": "default",
        "llm.max_output_tokens": "default",
        "llm.tiered": f"{file}, line 5",
        "sources.sources.old": f"{tmp_path / 'sources.yaml'}, line 2",
        "sources.sources.snowflake-prod": f"{file}, line 8",
        "prices.prices.gpt-4.1": f"{tmp_path / 'prices.json'}",
        "prices.prices.claude-sonnet-4-6": f"{file}, line 14",
        "behavior.quiet": "flag",
        "behavior.deterministic": f"{file}, line 17",
        "behavior.cost_limit_usd_per_run": f"{file}, line 18",
    }
    by_key = {setting.key: setting for setting in settings}
    assert by_key["llm.model"].value == "m"
    assert by_key["llm.model"].origin == Origin("environment", "FLUID_LLM_MODEL")
    assert by_key["behavior.cost_limit_usd_per_run"].origin.line == 18


def test_a_listed_setting_shows_no_secret(tmp_path: Path) -> None:
    write(tmp_path, config__yaml="sources: {sources: {shop: {password: canary-secret}}}")
    assert "canary" not in repr(list_settings(home=tmp_path, environ={}))


def test_a_source_comes_from_one_place(tmp_path: Path) -> None:
    write(
        tmp_path,
        config__yaml="sources: {sources: {prod: {catalog: glue}}}",
        sources__yaml="prod: {catalog: snowflake, account: old}",
    )
    assert load(tmp_path).sources.sources == {"prod": {"catalog": "glue"}}


def test_a_section_whose_settings_are_commented_out_sets_nothing(tmp_path: Path) -> None:
    write(tmp_path, config__yaml="llm:\n  # model: m\nbehavior:\n  quiet:\n")
    assert load(tmp_path) == load(tmp_path / "none")


@pytest.mark.parametrize(
    ("text", "key", "line"),
    [
        ("behavior:\n  quiet: true\nbehavior:\n  quiet: false", "behavior", 3),
        ("llm:\n  model: a\n  model: b", "llm.model", 3),
        ("prices:\n  prices:\n    m: [1, -2]", "prices.prices.m.1", 3),
        ("prices:\n  prices:\n    m: [1, 2, 3, 4]", "prices.prices.m", 3),
        ("llm:\n  base_url: ftp://host", "llm.base_url", 2),
        ("llm:\n  base_url: https://user:canary@host", "llm.base_url", 2),
        ("llm:\n  base_url: 'http://[host'", "llm.base_url", 2),
        ("llm:\n  max_output_tokens: 0", "llm.max_output_tokens", 2),
        ("behavior:\n  cost_limit_usd_per_run: .nan", "behavior.cost_limit_usd_per_run", 2),
    ],
)
def test_a_setting_that_could_do_harm_later_is_refused(
    tmp_path: Path, text: str, key: str, line: int
) -> None:
    write(tmp_path, config__yaml=text)
    with pytest.raises(ConfigError) as caught:
        load(tmp_path)
    assert (caught.value.key, caught.value.line) == (key, line)
    assert "canary" not in caught.value.message


@pytest.mark.parametrize(
    "text", ["llm: &all {model: m, provider: *all}", "[" * 5000, "llm: {model: 2026-13-45}", "\t"]
)
def test_strange_yaml_is_a_typed_error(tmp_path: Path, text: str) -> None:
    write(tmp_path, config__yaml=text)
    with pytest.raises(ConfigError):
        load(tmp_path)


def test_the_home_folder_is_an_argument_or_a_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, config__yaml="llm: {model: m}")
    monkeypatch.setenv("FLUID_HOME", str(tmp_path))
    assert current_config().llm.model == "m"
    assert load_unified_config(home=tmp_path / "other").llm.model is None
    assert default_key_file() == tmp_path / "credentials.json"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that this process's settings come from."""
    monkeypatch.setenv("FLUID_HOME", str(tmp_path))
    return tmp_path


def test_a_changed_file_takes_effect_at_the_next_call(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(home, config__yaml="llm: {model: a}")
    assert current_config() is current_config()
    write(home, config__yaml="llm: {model: later}")
    assert current_config().llm.model == "later"
    monkeypatch.setenv("FLUID_LLM_MODEL", "environment")
    assert current_config().llm.model == "environment"
    with use_flags({"llm.model": "flag", "llm.provider": None}):
        assert current_config().llm.model == "flag"
    (home / "config.yaml").unlink()
    monkeypatch.delenv("FLUID_LLM_MODEL")
    assert current_config().llm.model is None


def test_the_configured_limit_stops_a_run(home: Path) -> None:
    write(home, config__yaml="prices: {prices: {m: [2, 10]}}\n")
    tracker = RunCostTracker()
    call = {"provider": "p", "model": "m"}
    tracker.reserve(**call, input_tokens=10**6, max_output_tokens=10**6)
    write(
        home,
        config__yaml="behavior: {cost_limit_usd_per_run: 20.00}\nprices: {prices: {m: [2, 10]}}\n",
    )
    assert tracker.limit_usd == 20
    with pytest.raises(CostLimitExceeded, match=r"CostLimitExceeded\(\$24.00 > \$20.00\)"):
        tracker.reserve(**call, input_tokens=10**6, max_output_tokens=10**6)


def test_what_the_caller_passes_wins_over_the_configured_limit_and_prices(home: Path) -> None:
    write(
        home,
        config__yaml="behavior: {cost_limit_usd_per_run: 1}\nprices: {prices: {m: [1000, 1000]}}\n",
    )
    tracker = RunCostTracker(5, prices={"m": (1, 1)})
    tracker.record_call(provider="p", model="m", input_tokens=10**6, output_tokens=10**6)
    assert (tracker.limit_usd, tracker.total_usd) == (5, 2)


def test_a_broken_file_stops_a_run_that_needs_a_limit(home: Path) -> None:
    """A limit that can't be read must not count as no limit."""
    write(home, config__yaml="behavior:\n  cost_limit: 5\n")
    with pytest.raises(ConfigError, match="line 2: unknown setting"):
        RunCostTracker().reserve(provider="p", model="m", input_tokens=1, max_output_tokens=1)


def test_a_file_that_breaks_during_a_call_does_not_lose_what_the_call_cost(home: Path) -> None:
    valid = "behavior: {cost_limit_usd_per_run: 20}\nprices: {prices: {m: [2, 10]}}\n"
    write(home, config__yaml=valid)
    tracker = RunCostTracker()
    call = {"provider": "p", "model": "m", "input_tokens": 10**6, "max_output_tokens": 10**6}
    with tracker.reserve(**call) as reservation:
        write(home, config__yaml="behavior: [")
        reservation.settle(10**6, 10**6)
    assert tracker.total_usd == 12
    with pytest.raises(ConfigError):
        tracker.reserve(**call)


def test_the_configured_model_is_the_default(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match=r"llm.provider isn't set"):
        default_llm_config()
    monkeypatch.setenv("FLUID_LLM_PROVIDER", "vllm")
    with pytest.raises(UsageError, match=r"llm.model isn't set"):
        default_llm_config()
    write(
        home,
        config__yaml="llm: {model: m, base_url: 'http://gpu:8000/v1', max_output_tokens: 99}",
    )
    assert default_llm_config() == LlmConfig("vllm", "m", "http://gpu:8000/v1", 99)


def test_importing_the_runtime_reads_no_file_and_no_yaml_parser(home: Path) -> None:
    write(home, config__yaml="- nonsense")
    script = (
        "import sys\n"
        "import fluid_build.copilot.agents.base, fluid_build.copilot.agents.composite\n"
        "import fluid_build.copilot.cost, fluid_build.copilot.llm.client\n"
        "import fluid_build.copilot.tools.dispatch, fluid_build.copilot.unified_config\n"
        "sys.exit('yaml' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_the_flags_in_effect_are_shown(tmp_path):
    """What is listed and loaded is what the runtime uses; other flags replace them."""
    with use_flags({"llm.model": "flag-model"}):
        assert load_unified_config(home=tmp_path).llm.model == "flag-model"
        model = next(item for item in list_settings(home=tmp_path) if item.key == "llm.model")
        assert (model.value, model.origin.place) == ("flag-model", "flag")
        assert load_unified_config(home=tmp_path, flags={}, environ={}).llm.model is None
