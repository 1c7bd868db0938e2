"""The settings of a process, each with the place that it came from.

``current_config`` is what the runtime and the commands ask. It reads the files when they are first
needed, and again only once one of them has changed.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from fluid_build.copilot.unified_config.layers import (
    CONFIG_NAME,
    LEGACY_NAMES,
    KeyPath,
    Layer,
    Place,
    environment_layer,
    file_layer,
    flag_layer,
    fluid_home,
    iterate_settings,
    legacy_layers,
    merge_settings,
)
from fluid_build.copilot.unified_config.schema import ENVIRONMENT, ConfigError, UnifiedConfig
from fluid_build.json_types import JsonObject, JsonValue
from fluid_build.secrets import redact_json


@dataclass(frozen=True, slots=True)
class Origin:
    """The place of a setting: its file and line (from 1), its variable, or neither."""

    place: Place
    name: str = ""
    line: int | None = None

    def __str__(self) -> str:
        name = self.name or self.place
        return name if self.line is None else f"{name}, line {self.line}"


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting by its dotted key, with where its value comes from."""

    key: str
    value: JsonValue
    origin: Origin


_Inputs: TypeAlias = tuple[object, ...]
"""Everything that the settings depend on, to be compared."""

_FLAGS: ContextVar[Mapping[str, JsonValue] | None] = ContextVar("fluid_flags", default=None)
_latest: tuple[_Inputs, UnifiedConfig] | None = None
"""The latest settings with their inputs. It is replaced as a whole, so it needs no lock."""


def load_unified_config(
    *,
    home: str | Path | None = None,
    flags: Mapping[str, JsonValue] | None = None,
    environ: Mapping[str, str] | None = None,
) -> UnifiedConfig:
    """Return the settings. ``flags`` are by dotted key (``llm.provider``); None is unset. By
    default they are those of ``use_flags``.

    ``home`` defaults to ``FLUID_HOME``, or ``~/.fluid``. Raises ``ConfigError``, with the key and
    the line, for anything that isn't a setting.
    """
    return _config_of(_layers(home, flags, environ))


def list_settings(
    *,
    home: str | Path | None = None,
    flags: Mapping[str, JsonValue] | None = None,
    environ: Mapping[str, str] | None = None,
) -> tuple[Setting, ...]:
    """Return every setting with its value and origin, to be shown: secrets are masked.

    The arguments and errors are those of ``load_unified_config``. Each source and each price is
    one setting.
    """
    layers = _layers(home, flags, environ)
    values: JsonObject = _config_of(layers).model_dump(mode="json")
    return tuple(
        Setting(".".join(path), redact_json(value, ()), _origin_of(path, layers))
        for path, value in iterate_settings(values)
    )


def current_config() -> UnifiedConfig:
    """Return this process's settings as they are now.

    A file is read again once its time, size or inode has changed, so a long process sees a change
    at its next call. Raises ``ConfigError`` as ``load_unified_config`` does.
    """
    global _latest
    folder = fluid_home()
    flags = _FLAGS.get()
    inputs = (
        folder,
        flags,
        tuple(os.environ.get(name) for name in ENVIRONMENT.values()),
        tuple(_state_of(f"{folder}/{name}") for name in (CONFIG_NAME, *LEGACY_NAMES)),
    )
    if _latest is None or _latest[0] != inputs:
        _latest = inputs, load_unified_config(home=folder, flags=flags)
    return _latest[1]


def credential_settings(name: str) -> Mapping[str, object]:
    """Return what the settings say of a source or credential of that name; nothing without it."""
    return current_config().sources.sources.get(name, {})


def last_valid_config() -> UnifiedConfig:
    """Return this process's settings, or the latest that were valid where they aren't now.

    For work that must not fail any more, such as recording what a call has cost. Raises
    ``ConfigError`` only if the settings were never valid.
    """
    try:
        return current_config()
    except ConfigError:
        if _latest is None:
            raise
        return _latest[1]


@contextmanager
def use_flags(flags: Mapping[str, JsonValue]) -> Generator[None]:
    """Let the flags of a command, by dotted key, win in this context and the tasks it starts."""
    token = _FLAGS.set({key: value for key, value in flags.items() if value is not None})
    try:
        yield
    finally:
        _FLAGS.reset(token)


def _layers(
    home: str | Path | None,
    flags: Mapping[str, JsonValue] | None,
    environ: Mapping[str, str] | None,
) -> list[Layer]:
    """Return the layers, those that win first."""
    folder = fluid_home(environ) if home is None else Path(home).expanduser()
    return [
        flag_layer((_FLAGS.get() if flags is None else flags) or {}),
        environment_layer(os.environ if environ is None else environ),
        file_layer(folder / CONFIG_NAME),
        *legacy_layers(folder, []),
    ]


def _config_of(layers: Sequence[Layer]) -> UnifiedConfig:
    merged: JsonObject = {}
    for layer in reversed(layers):
        merged = merge_settings(merged, layer.settings)
    return UnifiedConfig.model_validate(merged)


def _origin_of(path: KeyPath, layers: Sequence[Layer]) -> Origin:
    for layer in layers:
        if any(known == path for known, _ in iterate_settings(layer.settings)):
            if layer.place == "environment":
                return Origin("environment", ENVIRONMENT[".".join(path)])
            is_file = layer.place in ("config", "legacy")
            return Origin(layer.place, layer.name if is_file else "", layer.line_of(path))
    return Origin("default")


def _state_of(path: str) -> tuple[int, int, int] | None:
    try:
        state = os.stat(path)  # noqa: PTH116  every call asks, and a Path takes three times as long
    except OSError:  # reading it says what is wrong
        return None
    return state.st_mtime_ns, state.st_size, state.st_ino
