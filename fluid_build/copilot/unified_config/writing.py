"""Changing one setting of ``config.yaml``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fluid_build.copilot.unified_config.layers import (
    CONFIG_NAME,
    KeyPath,
    check_settings,
    fluid_home,
    read_settings,
)
from fluid_build.copilot.unified_config.migration import back_up, write_settings
from fluid_build.copilot.unified_config.schema import ConfigError
from fluid_build.errors import OutputError
from fluid_build.json_types import JsonObject, JsonValue
from fluid_build.secrets import is_secret_name


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
        backup = back_up(path) if "#" in raw else None
        write_settings(path, changed)
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
