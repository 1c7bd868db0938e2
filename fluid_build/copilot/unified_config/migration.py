"""The migration of the legacy files to ``config.yaml``."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from fluid_build.copilot.unified_config.layers import (
    CONFIG_NAME,
    file_layer,
    fluid_home,
    iterate_settings,
    legacy_layers,
    merge_settings,
)
from fluid_build.errors import OutputError
from fluid_build.json_types import JsonObject
from fluid_build.text import listed


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
        backups = (back_up(path),) if path.exists() else ()
        write_settings(path, merged)
    except OSError as error:
        raise OutputError(
            f"{path} can't be written: {error.strerror}.", hint="Check the folder's permissions."
        ) from error
    return Migration(path, migrated, backups, tuple(warnings))


def _keys(settings: JsonObject) -> set[str]:
    return {".".join(path) for path, _ in iterate_settings(settings)}


def back_up(path: Path) -> Path:
    """Copy a file next to itself, under a name that is free; return the copy."""
    number = 1
    while (backup := path.with_name(f"{path.name}.bak{number}")).exists():
        number += 1
    shutil.copy2(path, backup)
    return backup


def write_settings(path: Path, settings: JsonObject) -> None:
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
