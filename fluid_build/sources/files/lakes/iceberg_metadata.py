"""What the newest metadata of an Iceberg table declares: nullability, comments and its key.

https://iceberg.apache.org/spec/#table-metadata-and-snapshots
"""

import gzip
import json
import re
from collections.abc import Mapping
from pathlib import Path

from fluid_build.json_types import JsonValue
from fluid_build.sources.files.lakes.schema import LakeField, LakeSchema
from fluid_build.sources.files.storage import FileStorage

_ENDING = ".metadata.json"
_NUMBER = re.compile(r"v?(\d+)")
_LARGEST = 256 * 1024 * 1024
"""Bytes of a metadata file: it lists every snapshot, and tables have thousands of them."""


def schema_of(folder: Path, storage: FileStorage) -> LakeSchema:
    """Return what the newest version declares, with its name.

    Raises OSError or ValueError where no metadata can be read.
    """
    file = _newest(folder / "metadata", storage)
    document = _document(file, storage)
    schema = _current_schema(document)
    fields = schema.get("fields")
    columns = [
        field
        for field in (fields if isinstance(fields, list) else [])
        if isinstance(field, Mapping)
    ]
    names = {field.get("id"): str(field.get("name")) for field in columns}
    identifiers = schema.get("identifier-field-ids")
    properties = document.get("properties")
    return LakeSchema(
        fields=tuple(
            LakeField(
                name=str(field.get("name")),
                nullable=field.get("required") is not True,
                comment=_text(field.get("doc")),
            )
            for field in columns
        ),
        comment=_text(properties.get("comment")) if isinstance(properties, Mapping) else None,
        primary_key=_key(identifiers if isinstance(identifiers, list) else [], names),
        version=file.name.removesuffix(".gz").removesuffix(_ENDING).removesuffix(".gz"),
    )


def _newest(metadata: Path, storage: FileStorage) -> Path:
    """Return the newest file: the one that a catalog in the file system names, or the last number.

    A file that was written and not committed has the number of one that was; the later counts.
    """
    files = list(metadata.glob(f"*{_ENDING}"))
    hint = metadata / "version-hint.text"
    if hint.is_file():
        storage.fetch([hint])
        version = hint.read_text(encoding="utf-8", errors="replace").strip()
        hinted = [file for file in files if file.name.split(".")[0] in (version, f"v{version}")]
        if hinted:
            return hinted[0]
    highest = max(map(_number, files))
    newest = [file for file in files if _number(file) == highest]
    if len(newest) == 1:
        return newest[0]
    return max(newest, key=lambda file: str(_document(file, storage).get("last-updated-ms")))


def _number(file: Path) -> int:
    match = _NUMBER.match(file.name)
    return int(match[1]) if match else -1


def _document(file: Path, storage: FileStorage) -> Mapping[str, JsonValue]:
    storage.fetch([file])
    if file.stat().st_size > _LARGEST:
        raise ValueError(f"{file.name} is too large.")
    with gzip.open(file) if ".gz." in file.name else file.open("rb") as opened:
        content = opened.read(_LARGEST + 1)
    document: JsonValue = json.loads(content)
    if not isinstance(document, Mapping):
        raise ValueError(f"{file.name} isn't the metadata of a table.")
    return document


def _current_schema(document: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
    schemas, current = document.get("schemas"), document.get("current-schema-id")
    for schema in schemas if isinstance(schemas, list) else []:
        if isinstance(schema, Mapping) and schema.get("schema-id") == current:
            return schema
    # The first version of the format has one schema.
    only = document.get("schema")
    return only if isinstance(only, Mapping) else {}


def _key(identifiers: list[JsonValue], names: Mapping[JsonValue, str]) -> tuple[str, ...]:
    """Return the identifier fields; none where one of them is nested in another column."""
    key = tuple(names.get(identifier, "") for identifier in identifiers)
    return key if all(key) else ()


def _text(value: JsonValue) -> str | None:
    return value if isinstance(value, str) and value.strip() else None
