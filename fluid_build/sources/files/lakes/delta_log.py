"""What the log of a Delta table declares: nullability, comments and checks.

https://github.com/delta-io/delta/blob/master/PROTOCOL.md
"""

import json
from collections.abc import Mapping
from pathlib import Path

import duckdb

from fluid_build.json_types import JsonValue
from fluid_build.sources.files.lakes.schema import LakeField, LakeSchema
from fluid_build.sources.files.storage import FileStorage
from fluid_build.sources.uri import as_pattern

_CHECK = "delta.constraints."
_LARGEST_COMMIT = 64 * 1024 * 1024
"""Bytes of a commit that are read for the schema: more is a list of files."""


def schema_of(
    connection: duckdb.DuckDBPyConnection, folder: Path, storage: FileStorage
) -> LakeSchema:
    """Return what the newest entry on the schema declares; nothing where there is no readable one.

    Raises OSError or duckdb.Error where the log can't be read.
    """
    metadata = _metadata(connection, folder / "_delta_log", storage)
    if metadata is None:
        return LakeSchema()
    fields = _fields(metadata.get("schemaString"))
    configuration = metadata.get("configuration")
    return LakeSchema(
        fields=fields,
        comment=_text(metadata.get("description")),
        notes=_checks(configuration if isinstance(configuration, Mapping) else {}),
    )


def _metadata(
    connection: duckdb.DuckDBPyConnection, log: Path, storage: FileStorage
) -> Mapping[str, JsonValue] | None:
    """Return the newest ``metaData`` action: of a commit, or of the checkpoint before them."""
    checkpoints = sorted(log.glob("*.checkpoint*.parquet"), reverse=True)
    commits = sorted((path for path in log.glob("*.json") if path.stem.isdigit()), reverse=True)
    since = checkpoints[0].name.split(".")[0] if checkpoints else ""
    for commit in commits:
        if commit.stem <= since:
            break
        metadata = _of_commit(commit, storage)
        if metadata is not None:
            return metadata
    parts = [path for path in checkpoints if path.name.startswith(since)]
    return _of_checkpoint(connection, parts, storage) if parts else None


def _of_commit(commit: Path, storage: FileStorage) -> Mapping[str, JsonValue] | None:
    storage.fetch([commit])
    if commit.stat().st_size > _LARGEST_COMMIT:
        return None
    for line in commit.read_text(encoding="utf-8", errors="replace").splitlines():
        if '"metaData"' in line:
            action = _json(line)
            metadata = action.get("metaData") if isinstance(action, Mapping) else None
            if isinstance(metadata, Mapping):
                return metadata
    return None


def _of_checkpoint(
    connection: duckdb.DuckDBPyConnection, parts: list[Path], storage: FileStorage
) -> Mapping[str, JsonValue] | None:
    places = [as_pattern(storage.place(part)) for part in parts]
    row = connection.execute(
        "SELECT CAST(to_json(metaData) AS VARCHAR) FROM read_parquet(?, union_by_name=true)"
        " WHERE metaData IS NOT NULL",
        [places],
    ).fetchone()
    metadata = _json(row[0]) if row else None
    return metadata if isinstance(metadata, Mapping) else None


def _fields(schema: JsonValue) -> tuple[LakeField, ...]:
    document = _json(schema) if isinstance(schema, str) else None
    fields = document.get("fields") if isinstance(document, Mapping) else None
    return tuple(
        LakeField(
            name=name,
            nullable=field.get("nullable") is not False,
            comment=_text(details.get("comment")),
            generated="delta.generationExpression" in details,
        )
        for field in (fields if isinstance(fields, list) else [])
        if isinstance(field, Mapping) and isinstance(name := field.get("name"), str)
        if isinstance(details := field.get("metadata") or {}, Mapping)
    )


def _checks(configuration: Mapping[str, JsonValue]) -> tuple[str, ...]:
    return tuple(
        f"It declares the check {name.removeprefix(_CHECK)}: {rule}."
        for name, rule in configuration.items()
        if name.startswith(_CHECK)
    )


def _json(text: str) -> JsonValue:
    try:
        value: JsonValue = json.loads(text)
    except ValueError:
        return None
    return value


def _text(value: JsonValue) -> str | None:
    return value if isinstance(value, str) and value.strip() else None
