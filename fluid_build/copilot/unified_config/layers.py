"""The places that settings come from, each read and checked as a layer.

PyYAML is imported only where there is a YAML file to read: it takes longer than everything else
here, and most processes have no file.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from pydantic import BaseModel, ValidationError

from fluid_build.copilot.unified_config.schema import ENVIRONMENT, ConfigError, UnifiedConfig
from fluid_build.errors import SourceUnreadableError
from fluid_build.json_types import JsonObject, JsonValue
from fluid_build.regular_files import read_regular
from fluid_build.secrets import is_secret_name
from fluid_build.text import did_you_mean, listed

if TYPE_CHECKING:
    from yaml import Node

HOME_VARIABLE = "FLUID_HOME"
CONFIG_NAME = "config.yaml"
LEGACY_NAMES = ("ai_config.json", "sources.yaml", "prices.json")

Place: TypeAlias = Literal["flag", "environment", "config", "legacy", "default"]
"""The places, those that win first."""

KeyPath: TypeAlias = tuple[str, ...]
"""The names on the way to a setting: ``("llm", "model")``."""

_Lines: TypeAlias = Mapping[KeyPath, int]
"""The line (from 1) of each key."""

_DEPTH = 3
"""Names on the way to a single setting at most: ``sources.sources.NAME`` is one setting."""
_MAX_FILE_BYTES = 1_000_000
_LEGACY_LLM = ("provider", "model", "tiered")
"""The settings of ``ai_config.json`` that still exist."""


@dataclass(frozen=True, slots=True)
class Layer:
    """Settings from one place, with the line of each key, if the place has lines."""

    place: Place
    name: str
    settings: JsonObject
    lines: _Lines = field(default_factory=dict)

    def line_of(self, path: KeyPath) -> int | None:
        """Return the line of a key, or of the section that it would be in."""
        enclosing = (path[:length] for length in range(len(path), 0, -1))
        return next((self.lines[part] for part in enclosing if part in self.lines), None)


def fluid_home(environ: Mapping[str, str] | None = None) -> Path:
    """Return the folder of the user's own files: ``FLUID_HOME``, or ``~/.fluid``.

    Raises ``ConfigError`` where the user has no home folder.
    """
    variables = os.environ if environ is None else environ
    folder = variables.get(HOME_VARIABLE, "").strip()
    try:
        return Path(folder).expanduser() if folder else Path.home() / ".fluid"
    except RuntimeError:
        raise ConfigError(
            "The home folder of this user is unknown.", hint=f"Set {HOME_VARIABLE} to a folder."
        ) from None


def flag_layer(flags: Mapping[str, JsonValue]) -> Layer:
    """Return settings by dotted key; those that are None aren't set."""
    return _check_layer(Layer("flag", "the command line", _nested(flags)))


def environment_layer(environ: Mapping[str, str]) -> Layer:
    """Return the settings of the environment's variables; an empty one isn't set."""
    values = {key: environ.get(name, "").strip() or None for key, name in ENVIRONMENT.items()}
    return _check_layer(Layer("environment", "the environment", _nested(values)))


def file_layer(path: Path) -> Layer:
    """Return the settings of ``config.yaml``, none if there is no file."""
    settings, lines = _read_yaml(path)
    return _check_layer(Layer("config", str(path), settings, lines))


def read_settings(path: Path) -> tuple[JsonObject, str]:
    """Return the settings of ``config.yaml`` before they are checked, and its text.

    Raises ``ConfigError`` for a file that isn't YAML.
    """
    return _read_yaml(path)[0], _read_text(path) or ""


def check_settings(path: Path, settings: JsonObject) -> None:
    """Raise ``ConfigError`` for the first of the settings that isn't valid."""
    _check_layer(Layer("config", str(path), settings))


def legacy_layers(folder: Path, warnings: list[str]) -> list[Layer]:
    """Return the legacy files' settings; add a warning for each that no longer exists."""
    ai_config_name, sources_name, prices_name = LEGACY_NAMES
    ai_config = _read_json(folder / ai_config_name)
    llm = {key: ai_config[key] for key in _LEGACY_LLM if key in ai_config}
    _warn_about(ai_config_name, ai_config.keys() - llm.keys(), warnings)
    sources, lines = _read_yaml(folder / sources_name)
    sections = [
        (ai_config_name, "llm", llm, {}),
        (sources_name, "sources", *_wrapped(sources_name, "sources", sources, lines, warnings)),
        (
            prices_name,
            "prices",
            *_wrapped(prices_name, "prices", _read_json(folder / prices_name), {}, warnings),
        ),
    ]
    return [
        _check_layer(
            Layer(
                "legacy",
                str(folder / name),
                {section: settings} if settings else {},
                {(section, *path): line for path, line in key_lines.items()},
            )
        )
        for name, section, settings, key_lines in sections
    ]


def merge_settings(low: JsonObject, high: JsonObject, depth: int = _DEPTH) -> dict[str, JsonValue]:
    """Return ``high`` over ``low``; a single setting is replaced as a whole."""
    merged = dict(low)
    for key, value in high.items():
        below = merged.get(key)
        if depth > 1 and isinstance(value, Mapping) and isinstance(below, Mapping):
            merged[key] = merge_settings(below, value, depth - 1)
        else:
            merged[key] = value
    return merged


def iterate_settings(
    settings: JsonObject, path: KeyPath = ()
) -> Iterator[tuple[KeyPath, JsonValue]]:
    """Yield each single setting with its path, each source and each price as one."""
    for key, value in settings.items():
        key_path = (*path, str(key))
        if len(key_path) < _DEPTH and isinstance(value, Mapping):
            yield from iterate_settings(value, key_path)
        else:
            yield key_path, value


def _wrapped(
    file: str, name: str, settings: JsonObject, lines: _Lines, warnings: list[str]
) -> tuple[JsonObject, _Lines]:
    """Return a legacy file's settings under ``name``, where it may have them already."""
    inner = settings.get(name)
    if isinstance(inner, Mapping):
        _warn_about(file, settings.keys() - {name}, warnings)
        return {name: inner}, lines
    return ({name: settings} if settings else {}), {(name, *p): n for p, n in lines.items()}


def _warn_about(file: str, keys: Iterable[str], warnings: list[str]) -> None:
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
        raise ConfigError(f"{path} isn't UTF-8 text.", hint="Save it as UTF-8.") from None
    except SourceUnreadableError as error:
        raise ConfigError(error.message, hint=error.hint) from None
    except OSError as error:
        raise ConfigError(
            f"{path} can't be read: {error.strerror}.",
            hint=f"Check its permissions, or set {HOME_VARIABLE} to another folder.",
        ) from error


def _read_yaml(path: Path) -> tuple[JsonObject, _Lines]:
    text = _read_text(path)
    if not text:
        return {}, {}
    import yaml

    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        settings = yaml.safe_load(text)
        lines = dict(_lines_of(path, root, (), set()))
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        # ValueError: PyYAML lets it through for a date such as 2026-13-45.
        if isinstance(error, ConfigError):
            raise
        mark = getattr(error, "problem_mark", None)
        line = None if mark is None else mark.line + 1
        raise ConfigError(
            f"{_at(path, line)} isn't valid YAML.", line=line, hint="Correct it, or remove it."
        ) from None
    return ({}, {}) if settings is None else (_as_settings(path, settings), lines)


def _lines_of(
    path: Path, node: Node | None, parents: KeyPath, visited: set[int]
) -> Iterator[tuple[KeyPath, int]]:
    """Yield the line of each key. An alias is visited once: it may be inside itself."""
    if getattr(node, "id", None) != "mapping" or id(node) in visited:
        return
    visited.add(id(node))
    known: set[str] = set()
    for key, value in node.value:  # type: ignore[union-attr]
        name, line = str(key.value), key.start_mark.line + 1
        key_path = (*parents, name)
        if name in known and name != "<<":
            # PyYAML keeps the last, and a cost limit in the first would be lost silently.
            dotted = ".".join(key_path)
            raise ConfigError(
                f"{_at(path, line)}: {dotted} is set twice.",
                key=dotted,
                line=line,
                hint="Keep one of them.",
            )
        known.add(name)
        yield key_path, line
        yield from _lines_of(path, value, key_path, visited)


def _read_json(path: Path) -> JsonObject:
    text = _read_text(path)
    if text is None:
        return {}
    try:
        settings = json.loads(text)
    except json.JSONDecodeError as error:
        line = error.lineno
        raise ConfigError(f"{_at(path, line)}, isn't valid JSON.", line=line) from None
    except RecursionError:
        raise ConfigError(f"{path} isn't valid JSON.") from None
    return _as_settings(path, settings)


def _as_settings(path: Path, settings: JsonValue) -> JsonObject:
    if not isinstance(settings, Mapping):
        name = type(settings).__name__
        raise ConfigError(f"{path} must hold settings by name, not a {name}.", line=1)
    return _without_nulls(settings)


def _without_nulls(settings: JsonObject, depth: int = 2) -> JsonObject:
    """Leave out empty keys: a section whose settings are all commented out sets nothing."""
    return {
        key: _without_nulls(value, depth - 1) if depth > 1 and isinstance(value, Mapping) else value
        for key, value in settings.items()
        if value is not None
    }


def _check_layer(layer: Layer) -> Layer:
    """Return the layer. Raises ``ConfigError`` for its first fault, in that layer's own terms."""
    try:
        UnifiedConfig.model_validate(layer.settings)
    except ValidationError as error:
        fault = error.errors(include_input=False, include_url=False)[0]
        path = tuple(str(part) for part in fault["loc"])
    else:
        return layer
    line, key = layer.line_of(path), ".".join(path)
    where = _at(layer.name, line)
    variable = ENVIRONMENT.get(key)
    if layer.place == "environment" and variable is not None:
        where = f"{where} ({variable})"
    if fault["type"] == "extra_forbidden":
        message, hint = f"{where}: unknown setting {key}.", _known_settings(path)
    else:
        message = f"{where}: {key} isn't valid: {fault['msg']}."
        hint = "Correct it, or remove it."
    raise ConfigError(message, key=key, line=line, hint=hint)


def _at(place: str | Path, line: int | None) -> str:
    return str(place) if line is None else f"{place}, line {line}"


def _known_settings(path: KeyPath) -> str:
    section: type[BaseModel] = UnifiedConfig
    for part in path[:-1]:
        annotation = section.model_fields[part].annotation
        assert isinstance(annotation, type)
        section = annotation
    names = [".".join((*path[:-1], name)) for name in section.model_fields]
    return did_you_mean(".".join(path), names).strip() or f"Known settings: {listed(names)}."


def _nested(dotted: Mapping[str, JsonValue]) -> JsonObject:
    """Return settings by dotted keys as nested settings; those that are None are left out."""
    settings: JsonObject = {}
    for key, value in dotted.items():
        if value is not None:
            *sections, name = key.split(".")
            nested: JsonObject = {name: value}
            for section in reversed(sections):
                nested = {section: nested}
            settings = merge_settings(settings, nested)
    return settings
