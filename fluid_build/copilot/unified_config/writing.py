"""Changing one setting of ``config.yaml``, and writing what older files said into it."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from fluid_build.copilot.unified_config.layers import (
    CONFIG_NAME,
    KeyPath,
    check_settings,
    file_layer,
    fluid_home,
    iterate_settings,
    legacy_layers,
    merge_settings,
    read_settings,
)
from fluid_build.copilot.unified_config.schema import ConfigError
from fluid_build.errors import OutputError
from fluid_build.json_types import JsonObject, JsonValue
from fluid_build.secrets import is_secret_name
from fluid_build.text import listed


@dataclass(frozen=True, slots=True)
class ConfigChange:
    """A changed setting: its file, its values before and now, and the backup, if there is one.

    A backup is made only of a file with comments, which a rewritten file doesn't have.
    """

    path: Path
    before: JsonValue
    value: JsonValue
    backup: Path | None = None


def set_setting(key: str, text: str | None, *, home: Path | None = None) -> ConfigChange:
    """Set a setting by its dotted key, as YAML reads ``text``; None removes it.

    Raises ``ConfigError`` for an unknown key, a value that isn't valid, a secret, or a file with
    another fault; ``OutputError`` where it can't be written.
    """
    if is_secret_name(key.rpartition(".")[2]):
        raise ConfigError(
            f"{key} isn't a setting: a key belongs in the environment or the keyring.",
            key=key,
            hint="Use `fluid ai setup`, which doesn't write it to a configuration file.",
        )
    path = (fluid_home() if home is None else home) / CONFIG_NAME
    settings, raw = read_settings(path)
    keys = tuple(key.split("."))
    before = _value_at(settings, keys)
    value = None if text is None else _parsed(key, text)
    changed = _without(settings, keys) if text is None else _with(settings, keys, value)
    check_settings(path, changed)
    try:
        backup = _back_up(path) if "#" in raw else None
        _write_settings(path, changed)
    except OSError as error:
        raise OutputError(
            f"{path} can't be written: {error.strerror}.", hint="Check the folder's permissions."
        ) from error
    return ConfigChange(path, before, value, backup)


def _parsed(key: str, text: str) -> JsonValue:
    import yaml

    try:
        value: JsonValue = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError, ValueError):
        raise ConfigError(
            f"{text!r} isn't a value for {key}.", key=key, hint="Quote it, or write it as YAML."
        ) from None
    return value


def _value_at(settings: JsonValue, keys: KeyPath) -> JsonValue:
    for key in keys:
        settings = settings.get(key) if isinstance(settings, dict) else None
    return settings


def _with(settings: JsonValue, keys: KeyPath, value: JsonValue) -> JsonObject:
    section = dict(settings) if isinstance(settings, dict) else {}
    first, *inner = keys
    section[first] = _with(section.get(first), tuple(inner), value) if inner else value
    return section


def _without(settings: JsonValue, keys: KeyPath) -> JsonObject:
    section = dict(settings) if isinstance(settings, dict) else {}
    first, *inner = keys
    if not inner:
        section.pop(first, None)
    elif first in section:
        section[first] = _without(section[first], tuple(inner))
    return section


@dataclass(frozen=True, slots=True)
class Migration:
    """The result of a migration: the file, the migrated settings, backups and warnings."""

    path: Path
    migrated: tuple[str, ...] = ()
    backups: tuple[Path, ...] = ()
    warnings: tuple[str, ...] = ()

    def __str__(self) -> str:
        settings = listed(self.migrated) if self.migrated else "nothing"
        backups = [f"The previous file was saved as {backup}." for backup in self.backups]
        warnings = [f"Warning: {text}" for text in self.warnings]
        return "\n".join([f"Migrated {settings} to {self.path}.", *backups, *warnings])


def migrate_legacy_to_unified(home: str | Path | None = None) -> Migration:
    """Add the legacy files' settings to ``config.yaml``. Its own settings win.

    ``home`` defaults to ``FLUID_HOME``, or ``~/.fluid``. The legacy files stay as they are;
    ``config.yaml`` is backed up before it changes. Running it twice does nothing the second time.
    Raises ``ConfigError`` for files that can't be read, ``OutputError`` if ``config.yaml`` can't
    be written.
    """
    folder = fluid_home() if home is None else Path(home).expanduser()
    path = folder / CONFIG_NAME
    warnings: list[str] = []
    legacy: JsonObject = {"schema_version": 1}
    for layer in legacy_layers(folder, warnings):
        legacy = merge_settings(legacy, layer.settings)
    current = file_layer(path).settings
    merged = merge_settings(legacy, current)
    migrated = tuple(sorted(_keys(merged) - _keys({"schema_version": 1, **current})))
    if not migrated:
        return Migration(path, warnings=tuple(warnings))
    try:
        backups = (_back_up(path),) if path.exists() else ()
        _write_settings(path, merged)
    except OSError as error:
        raise OutputError(
            f"{path} can't be written: {error.strerror}.", hint="Check the folder's permissions."
        ) from error
    return Migration(path, migrated, backups, tuple(warnings))


def _keys(settings: JsonObject) -> set[str]:
    return {".".join(path) for path, _ in iterate_settings(settings)}


def _back_up(path: Path) -> Path:
    """Copy a file next to itself, under a name that is free; return the copy."""
    number = 1
    while (backup := path.with_name(f"{path.name}.bak{number}")).exists():
        number += 1
    shutil.copy2(path, backup)
    return backup


def _write_settings(path: Path, settings: JsonObject) -> None:
    """Write settings as a file that only its owner may read. Raises ``OSError``."""
    import yaml

    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.tmp")
    try:
        temporary.write_text(
            yaml.safe_dump(dict(settings), sort_keys=False, allow_unicode=True), "utf-8"
        )
        temporary.chmod(0o600)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
