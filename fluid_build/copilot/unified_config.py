"""One configuration file, ``~/.fluid/config.yaml``, in the place of several.

A setting comes from the first that has it: flags, environment, the file, the files it replaces
(``ai_config.json``, ``sources.yaml``, ``prices.json``), defaults. Source: Agentic Primitives,
"Unified config".
"""

from __future__ import annotations

import difflib
import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from fluid_build.errors import OutputError, UsageError

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
_TAKEN_OVER = ("provider", "model", "tiered")
_SECRET = re.compile(r"(?i)(key|token|secret|password)$")


class ConfigError(UsageError):
    """A configuration file says what cannot be meant; ``key`` and ``line`` (from 1) say where."""

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
    """Which model is spoken to, if any."""

    provider: str | None = None
    model: str | None = None
    tiered: bool = False


class SourcesConfig(_Section):
    """Sources by name; what a source needs depends on its catalog."""

    sources: dict[str, dict[str, Any]] = Field(default_factory=dict)


class PricesConfig(_Section):
    """Prices by model: US dollars for a million tokens of input, of output, and of cached input."""

    prices: dict[str, tuple[Decimal, Decimal] | tuple[Decimal, Decimal, Decimal]] = Field(
        default_factory=dict
    )


class BehaviorConfig(_Section):
    """How runs behave. The limit is in US dollars; None: there is none."""

    quiet: bool = False
    deterministic: bool = False
    cost_limit_usd_per_run: Decimal | None = Field(default=None, ge=0, allow_inf_nan=False)


class UnifiedConfig(_Section):
    """All settings, each from where it was found first."""

    schema_version: int = Field(default=1, ge=1, le=1)
    llm: LlmSettings = LlmSettings()
    sources: SourcesConfig = SourcesConfig()
    prices: PricesConfig = PricesConfig()
    behavior: BehaviorConfig = BehaviorConfig()


@dataclass(frozen=True, slots=True)
class Migration:
    """What a migration did: the file, what was taken over, where copies are, and warnings."""

    path: Path
    migrated: tuple[str, ...] = ()
    backups: tuple[Path, ...] = ()
    warnings: tuple[str, ...] = ()

    def __str__(self) -> str:
        if self.migrated:
            first = f"Took over {', '.join(self.migrated)} into {self.path}."
        else:
            first = f"Nothing to take over into {self.path}."
        copies = [f"A copy of the former file is {backup}." for backup in self.backups]
        return "\n".join([first, *copies, *(f"Warning: {text}" for text in self.warnings)])


@dataclass(slots=True)
class _Layer:
    """Settings from one place, with the line that each key stands on, if it has lines."""

    name: str
    settings: dict[str, Any]
    lines: dict[tuple[str, ...], int] = field(default_factory=dict)


def load_unified_config(
    *,
    home: str | Path = "~/.fluid",
    flags: Mapping[str, Any] | None = None,
    environ: Mapping[str, str] = os.environ,
) -> UnifiedConfig:
    """The settings that hold now. ``flags`` are by dotted key (``llm.provider``); None is unset.

    Raises ``ConfigError``, with the key and the line, for anything that is not a setting.
    """
    folder = Path(home).expanduser()
    layers = [
        _flag_layer(flags or {}),
        _environment_layer(environ),
        _file_layer(folder / CONFIG_NAME),
        _legacy_layer(folder, []),
    ]
    for layer in layers:
        _validated(layer)
    merged: dict[str, Any] = {}
    for layer in reversed(layers):
        merged = _merged(merged, layer.settings)
    return UnifiedConfig.model_validate(merged)


def migrate_legacy_to_unified(home: str | Path = "~/.fluid") -> Migration:
    """Takes the former files' settings over into ``config.yaml``, whose own settings stay.

    The former files stay as they are, a changed ``config.yaml`` is copied first. A second time
    there is nothing to do. Raises ``ConfigError`` for files that cannot be read, ``OutputError``
    if the new one cannot be written.
    """
    folder = Path(home).expanduser()
    path = folder / CONFIG_NAME
    warnings: list[str] = []
    legacy = _legacy_layer(folder, warnings)
    _validated(legacy)
    present = _file_layer(path)
    _validated(present)
    merged = _merged({"schema_version": 1, **legacy.settings}, present.settings)
    taken = tuple(sorted(_keys(merged) - _keys({"schema_version": 1, **present.settings})))
    if not taken:
        return Migration(path, warnings=tuple(warnings))
    try:
        backups = (_backed_up(path),) if path.exists() else ()
        _write(path, merged)
    except OSError as error:
        raise OutputError(
            f"{path} cannot be written: {error.strerror}.", hint="Check the folder's permissions."
        ) from error
    return Migration(path, taken, backups, tuple(warnings))


def _flag_layer(flags: Mapping[str, Any]) -> _Layer:
    given = {key: value for key, value in flags.items() if value is not None}
    return _Layer("the command line", _nested(given))


def _environment_layer(environ: Mapping[str, str]) -> _Layer:
    given = {
        key: environ[name].strip()
        for key, name in ENVIRONMENT.items()
        if environ.get(name, "").strip()
    }
    return _Layer("the environment", _nested(given))


def _file_layer(path: Path) -> _Layer:
    text = _read(path)
    if text is None:
        return _Layer(str(path), {})
    settings, lines = _parsed_yaml(path, text)
    return _Layer(str(path), settings, lines)


def _legacy_layer(folder: Path, warnings: list[str]) -> _Layer:
    """The former files' settings; ``warnings`` gets what is known nowhere."""
    settings: dict[str, Any] = {}
    ai_config = _parsed_json(folder / "ai_config.json")
    llm = {key: ai_config[key] for key in _TAKEN_OVER if key in ai_config}
    for key in sorted(set(ai_config) - set(llm)):
        warnings.append(f"ai_config.json: {_left_behind(key)}")
    sources_path = folder / "sources.yaml"
    sources, _ = _parsed_yaml(sources_path, _read(sources_path) or "")
    if isinstance(sources.get("sources"), dict):
        for key in sorted(set(sources) - {"sources"}):
            warnings.append(f"sources.yaml: {_left_behind(key)}")
        sources = sources["sources"]
    prices = _parsed_json(folder / "prices.json")
    if isinstance(prices.get("prices"), dict):
        for key in sorted(set(prices) - {"prices"}):
            warnings.append(f"prices.json: {_left_behind(key)}")
        prices = prices["prices"]
    if llm:
        settings["llm"] = llm
    if sources:
        settings["sources"] = {"sources": sources}
    if prices:
        settings["prices"] = {"prices": prices}
    return _Layer(f"the former files in {folder}", settings)


def _left_behind(key: str) -> str:
    if _SECRET.search(key):
        return (
            f"{key!r} is not taken over: a key belongs in the environment or the keyring, "
            "not in a configuration file."
        )
    return f"{key!r} is not known, and is not taken over."


def _read(path: Path) -> str | None:
    try:
        if path.stat().st_size > _MAX_FILE_BYTES:
            raise ConfigError(f"{path} is too large for a configuration file.")
        return path.read_text("utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        raise ConfigError(f"{path} is no UTF-8 text.") from None
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}.") from error


def _parsed_yaml(path: Path, text: str) -> tuple[dict[str, Any], dict[tuple[str, ...], int]]:
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        settings = yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = None if mark is None else mark.line + 1
        where = "" if line is None else f", line {line}"
        raise ConfigError(f"{path}{where} is no YAML.", line=line) from None
    if settings is None:
        return {}, {}
    if not isinstance(settings, dict):
        raise ConfigError(f"{path}, line 1, holds no settings but a {type(settings).__name__}.")
    return settings, dict(_lines(root, ()))


def _lines(node: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], int]]:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            here = (*path, str(key.value))
            yield here, key.start_mark.line + 1
            yield from _lines(value, here)


def _parsed_json(path: Path) -> dict[str, Any]:
    text = _read(path)
    if text is None:
        return {}
    try:
        settings = json.loads(text)
    except ValueError as error:
        line = getattr(error, "lineno", None)
        raise ConfigError(f"{path}, line {line}, is no JSON.", line=line) from None
    if not isinstance(settings, dict):
        raise ConfigError(f"{path} holds no settings but a {type(settings).__name__}.")
    return settings


def _validated(layer: _Layer) -> None:
    """Raises for the first fault of one layer, in that layer's own terms."""
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
        message, hint = f"{where}: there is no setting {key}.", _nearest(path)
    else:
        message, hint = f"{where}: {key} is wrong: {fault['msg']}.", None
    raise ConfigError(message, key=key, line=line, hint=hint)


def _line_of(path: tuple[str, ...], lines: Mapping[tuple[str, ...], int]) -> int | None:
    for length in range(len(path), 0, -1):
        if path[:length] in lines:
            return lines[path[:length]]
    return None


def _nearest(path: Sequence[str]) -> str:
    model: Any = UnifiedConfig
    for part in path[:-1]:
        model = model.model_fields[part].annotation
    allowed = list(model.model_fields)
    close = difflib.get_close_matches(path[-1], allowed, n=1)
    return f"Did you mean {close[0]}?" if close else f"There are: {', '.join(allowed)}."


def _nested(dotted: Mapping[str, Any]) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    for key, value in dotted.items():
        *sections, name = key.split(".")
        inner = settings
        for section in sections:
            inner = inner.setdefault(section, {})
        inner[name] = value
    return settings


def _merged(low: Mapping[str, Any], high: Mapping[str, Any]) -> dict[str, Any]:
    """``high`` over ``low``: mappings are joined, anything else is replaced."""
    merged = dict(low)
    for key, value in high.items():
        both = isinstance(value, Mapping) and isinstance(merged.get(key), Mapping)
        merged[key] = _merged(merged[key], value) if both else value
    return merged


def _keys(settings: Mapping[str, Any], depth: int = 3) -> set[str]:
    """Dotted keys down to single settings, sources and prices."""
    keys: set[str] = set()
    for key, value in settings.items():
        inner = _keys(value, depth - 1) if depth > 1 and isinstance(value, Mapping) else set()
        keys |= {f"{key}.{name}" for name in inner} or {str(key)}
    return keys


def _backed_up(path: Path) -> Path:
    number = 1
    while (copy := path.with_name(f"{path.name}.bak{number}")).exists():
        number += 1
    shutil.copy2(path, copy)
    return copy


def _write(path: Path, settings: Mapping[str, Any]) -> None:
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
