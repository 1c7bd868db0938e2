"""The configuration file ``~/.fluid/config.yaml``, which replaces several older ones.

A setting comes from the first place that has it: flags, environment, the file, the legacy files
(``ai_config.json``, ``sources.yaml``, ``prices.json``), defaults. Source: Agentic Primitives,
"Unified config".
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import TypeAlias

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from fluid_build.errors import OutputError, SourceUnreadableError, UsageError
from fluid_build.json_types import JsonObject, JsonValue
from fluid_build.regular_files import read_regular
from fluid_build.secrets import is_secret_name
from fluid_build.text import did_you_mean, listed

CONFIG_NAME = "config.yaml"

ENVIRONMENT: Mapping[str, str] = {
    "llm.provider": "FLUID_LLM_PROVIDER",
    "llm.model": "FLUID_LLM_MODEL",
    "llm.tiered": "FLUID_LLM_TIERED",
    "behavior.quiet": "FLUID_QUIET",
    "behavior.deterministic": "FLUID_DETERMINISTIC",
    "behavior.cost_limit_usd_per_run": "FLUID_COST_LIMIT_USD",
}
"""The environment variable of each setting that has one."""

_MAX_FILE_BYTES = 1_000_000
_MIGRATED = ("provider", "model", "tiered")
"""The settings of ``ai_config.json`` that still exist."""

_Lines: TypeAlias = Mapping[tuple[str, ...], int]
"""The line (from 1) of each key, by the names on the way to it."""


class ConfigError(UsageError):
    """A configuration that isn't valid; ``key`` and ``line`` (from 1) say where."""

    def __init__(
        self,
        message: str,
        *,
        key: str | None = None,
        line: int | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message, hint=hint)
        self.key = key
        self.line = line


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class LlmSettings(_Section):
    """The model to use, if any."""

    provider: str | None = None
    model: str | None = None
    tiered: bool = False


class SourcesConfig(_Section):
    """Sources by name; their settings depend on the catalog."""

    sources: dict[str, dict[str, object]] = Field(default_factory=dict)


class PricesConfig(_Section):
    """Prices by model: US dollars per million tokens of input, of output, and of cached input."""

    prices: dict[str, tuple[Decimal, Decimal] | tuple[Decimal, Decimal, Decimal]] = Field(
        default_factory=dict
    )


class BehaviorConfig(_Section):
    """The behaviour of runs. The limit is in US dollars; None means no limit."""

    quiet: bool = False
    deterministic: bool = False
    cost_limit_usd_per_run: Decimal | None = Field(default=None, ge=0, allow_inf_nan=False)


class UnifiedConfig(_Section):
    """All settings, each from the first place that has it."""

    schema_version: int = Field(default=1, ge=1, le=1)
    llm: LlmSettings = LlmSettings()
    sources: SourcesConfig = SourcesConfig()
    prices: PricesConfig = PricesConfig()
    behavior: BehaviorConfig = BehaviorConfig()


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


@dataclass(slots=True)
class _Layer:
    """Settings from one place, with the line of each key, if the place has lines."""

    name: str
    settings: JsonObject
    lines: _Lines = field(default_factory=dict)


def load_unified_config(
    *,
    home: str | Path = "~/.fluid",
    flags: Mapping[str, JsonValue] | None = None,
    environ: Mapping[str, str] = os.environ,
) -> UnifiedConfig:
    """Return the settings. ``flags`` are by dotted key (``llm.provider``); None is unset.

    Raises ``ConfigError``, with the key and the line, for anything that isn't a setting.
    """
    folder = Path(home).expanduser()
    layers = [
        _flag_layer(flags or {}),
        _environment_layer(environ),
        _file_layer(folder / CONFIG_NAME),
        _legacy_layer(folder, []),
    ]
    for layer in layers:
        _check(layer)
    merged: JsonObject = {}
    for layer in reversed(layers):
        merged = _merged(merged, layer.settings)
    return UnifiedConfig.model_validate(merged)


def migrate_legacy_to_unified(home: str | Path = "~/.fluid") -> Migration:
    """Add the legacy files' settings to ``config.yaml``, whose own settings win.

    The legacy files stay as they are; ``config.yaml`` is backed up before it changes. Running it
    twice does nothing the second time. Raises ``ConfigError`` for files that can't be read,
    ``OutputError`` if ``config.yaml`` can't be written.
    """
    folder = Path(home).expanduser()
    path = folder / CONFIG_NAME
    warnings: list[str] = []
    legacy = _legacy_layer(folder, warnings)
    _check(legacy)
    current = _file_layer(path)
    _check(current)
    merged = _merged({"schema_version": 1, **legacy.settings}, current.settings)
    migrated = tuple(sorted(_keys(merged) - _keys({"schema_version": 1, **current.settings})))
    if not migrated:
        return Migration(path, warnings=tuple(warnings))
    try:
        backups = (_back_up(path),) if path.exists() else ()
        _write(path, merged)
    except OSError as error:
        raise OutputError(
            f"{path} can't be written: {error.strerror}.", hint="Check the folder's permissions."
        ) from error
    return Migration(path, migrated, backups, tuple(warnings))


def _flag_layer(flags: Mapping[str, JsonValue]) -> _Layer:
    return _Layer("the command line", _nested(flags))


def _environment_layer(environ: Mapping[str, str]) -> _Layer:
    values = {key: environ.get(name, "").strip() or None for key, name in ENVIRONMENT.items()}
    return _Layer("the environment", _nested(values))


def _file_layer(path: Path) -> _Layer:
    text = _read_text(path)
    if text is None:
        return _Layer(str(path), {})
    settings, lines = _parse_yaml(path, text)
    return _Layer(str(path), settings, lines)


def _legacy_layer(folder: Path, warnings: list[str]) -> _Layer:
    """Return the legacy files' settings; add a warning for each that no longer exists."""
    ai_config = _parse_json(folder / "ai_config.json")
    llm = {key: ai_config[key] for key in _MIGRATED if key in ai_config}
    _warn_of("ai_config.json", ai_config.keys() - llm.keys(), warnings)
    sources_path = folder / "sources.yaml"
    sources, _ = _parse_yaml(sources_path, _read_text(sources_path) or "")
    prices = _parse_json(folder / "prices.json")
    sections = {
        "sources": _unwrapped("sources.yaml", "sources", sources, warnings),
        "prices": _unwrapped("prices.json", "prices", prices, warnings),
    }
    settings: dict[str, JsonValue] = {"llm": llm} if llm else {}
    settings |= {name: {name: section} for name, section in sections.items() if section}
    return _Layer(f"the legacy files in {folder}", settings)


def _unwrapped(file: str, name: str, settings: JsonObject, warnings: list[str]) -> JsonObject:
    """Return a legacy file's settings under ``name``, or all of them without such a key."""
    inner = settings.get(name)
    if not isinstance(inner, Mapping):
        return settings
    _warn_of(file, settings.keys() - {name}, warnings)
    return inner


def _warn_of(file: str, keys: Iterable[str], warnings: list[str]) -> None:
    for key in sorted(keys):
        reason = (
            "a key belongs in the environment or the keyring, not in a configuration file"
            if is_secret_name(key) or key.lower().endswith("key")
            else "the setting doesn't exist"
        )
        warnings.append(f"{file}: {key!r} isn't migrated: {reason}.")


def _read_text(path: Path) -> str | None:
    try:
        content = read_regular(path, _MAX_FILE_BYTES, too_large="Is it a configuration file?")
        return content.decode("utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        raise ConfigError(f"{path} isn't UTF-8 text.") from None
    except SourceUnreadableError as error:
        raise ConfigError(error.message, hint=error.hint) from None
    except OSError as error:
        raise ConfigError(f"{path} can't be read: {error.strerror}.") from error


def _parse_yaml(path: Path, text: str) -> tuple[JsonObject, _Lines]:
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        settings = yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = None if mark is None else mark.line + 1
        where = "" if line is None else f", line {line}"
        raise ConfigError(f"{path}{where} isn't valid YAML.", line=line) from None
    if settings is None:
        return {}, {}
    return _as_settings(path, settings), dict(_lines_of(root, ()))


def _lines_of(
    node: yaml.Node | None, path: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], int]]:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            key_path = (*path, str(key.value))
            yield key_path, key.start_mark.line + 1
            yield from _lines_of(value, key_path)


def _parse_json(path: Path) -> JsonObject:
    text = _read_text(path)
    if text is None:
        return {}
    try:
        settings = json.loads(text)
    except json.JSONDecodeError as error:
        line = error.lineno
        raise ConfigError(f"{path}, line {line}, isn't valid JSON.", line=line) from None
    return _as_settings(path, settings)


def _as_settings(path: Path, settings: JsonValue) -> JsonObject:
    if not isinstance(settings, Mapping):
        name = type(settings).__name__
        raise ConfigError(f"{path} must hold settings by name, not a {name}.", line=1)
    return settings


def _check(layer: _Layer) -> None:
    """Raise ``ConfigError`` for the first fault of a layer, in that layer's own terms."""
    try:
        UnifiedConfig.model_validate(layer.settings)
    except ValidationError as error:
        fault = error.errors(include_input=False, include_url=False)[0]
        path = tuple(str(part) for part in fault["loc"])
    else:
        return
    line = _line_of(path, layer.lines)
    key = ".".join(path)
    where = layer.name + ("" if line is None else f", line {line}")
    variable = ENVIRONMENT.get(key)
    if layer.name == "the environment" and variable is not None:
        where = f"{where} ({variable})"
    if fault["type"] == "extra_forbidden":
        message, hint = f"{where}: unknown setting {key}.", _known_settings(path)
    else:
        message, hint = f"{where}: {key} isn't valid: {fault['msg']}.", None
    raise ConfigError(message, key=key, line=line, hint=hint)


def _line_of(path: tuple[str, ...], lines: _Lines) -> int | None:
    enclosing = (path[:length] for length in range(len(path), 0, -1))
    return next((lines[part] for part in enclosing if part in lines), None)


def _known_settings(path: tuple[str, ...]) -> str:
    section: type[BaseModel] = UnifiedConfig
    for part in path[:-1]:
        annotation = section.model_fields[part].annotation
        assert isinstance(annotation, type)
        section = annotation
    names = section.model_fields
    return did_you_mean(path[-1], names).strip() or f"Known settings: {listed(names)}."


def _nested(dotted: Mapping[str, JsonValue]) -> JsonObject:
    """Return settings by dotted keys as nested settings; those that are None are left out."""
    settings: JsonObject = {}
    for key, value in dotted.items():
        if value is not None:
            *sections, name = key.split(".")
            nested: JsonObject = {name: value}
            for section in reversed(sections):
                nested = {section: nested}
            settings = _merged(settings, nested)
    return settings


def _merged(low: JsonObject, high: JsonObject) -> dict[str, JsonValue]:
    """Return ``high`` over ``low``: mappings are merged, anything else is replaced."""
    merged = dict(low)
    for key, value in high.items():
        below = merged.get(key)
        if isinstance(value, Mapping) and isinstance(below, Mapping):
            merged[key] = _merged(below, value)
        else:
            merged[key] = value
    return merged


def _keys(settings: JsonObject, depth: int = 3) -> set[str]:
    """Return the dotted keys down to single settings, sources and prices."""
    keys: set[str] = set()
    for key, value in settings.items():
        inner = _keys(value, depth - 1) if depth > 1 and isinstance(value, Mapping) else set()
        keys |= {f"{key}.{name}" for name in inner} or {str(key)}
    return keys


def _back_up(path: Path) -> Path:
    number = 1
    while (backup := path.with_name(f"{path.name}.bak{number}")).exists():
        number += 1
    shutil.copy2(path, backup)
    return backup


def _write(path: Path, settings: JsonObject) -> None:
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
