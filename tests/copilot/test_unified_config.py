"""One configuration: the documented file, where each setting comes from, and plain errors."""

from __future__ import annotations

import json
import os
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from fluid_build.copilot.unified_config import (
    ConfigError,
    load_unified_config,
    migrate_legacy_to_unified,
)

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
    assert caught.value.hint == "Did you mean 'provider'?"


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
