"""Tables in the contracts of a data mesh: ODCS and Data Contract Specification, as JSON.

Only the structure is read. A catalog shows contracts of every version and completeness, so what
is missing or of another type is left out, where an import of a contract would refuse it.
"""

from collections.abc import Iterator, Mapping

from fluid_build.json_types import JsonObject, JsonValue
from fluid_build.sources.catalogs.answers import member, name_of, objects_of, text_of, texts_of
from fluid_build.sources.catalogs.snapshot import (
    CatalogColumn,
    CatalogForeignKey,
    CatalogTable,
    merge_tags,
)
from fluid_build.sources.sql import quote

_DEEPEST = 20
"""Levels of nested fields that are read."""

_TYPES = {
    "array": "JSON", "bigint": "INT64", "boolean": "BOOLEAN", "bytes": "BLOB", "date": "DATE32",
    "double": "FLOAT64", "float": "FLOAT32", "int": "INT32", "integer": "INT64", "long": "INT64",
    "map": "JSON", "number": "FLOAT64", "object": "JSON", "record": "JSON", "struct": "JSON",
    "time": "TIME", "timestamp": "TIMESTAMP_NTZ", "timestamp_ntz": "TIMESTAMP_NTZ",
    "timestamp_tz": "TIMESTAMPTZ",
}  # fmt: skip
"""Types for the logical ones of both formats, which mean the same in every dialect."""


def contract_tables(contract: JsonObject, schema: str) -> Iterator[CatalogTable]:
    """Yield the tables of a contract, as tables of a schema."""
    if isinstance(member(contract, "models"), Mapping):
        yield from _models(contract, schema)
    else:
        yield from (_odcs_table(entry, schema) for entry in objects_of(contract, "schema"))


def _odcs_table(entry: JsonObject, schema: str) -> CatalogTable:
    properties = [*objects_of(entry, "properties")]
    keyed = [each for each in properties if each.get("primaryKey") is True]
    keyed.sort(key=_key_position)
    return CatalogTable(
        schema=schema,
        name=name_of(entry, "physicalName") or name_of(entry, "name"),
        columns=tuple(_odcs_column(each) for each in properties if _odcs_name(each)),
        comment=text_of(entry, "description") or text_of(entry, "businessName"),
        primary_key=tuple(map(_odcs_name, keyed)),
        unique_keys=tuple((_odcs_name(p),) for p in properties if p.get("unique") is True),
        foreign_keys=tuple(key for each in properties for key in _odcs_references(each)),
        tags=merge_tags([*texts_of(entry, "tags")]),
    )


def _odcs_name(entry: JsonObject) -> str:
    return name_of(entry, "physicalName") or name_of(entry, "name")


def _key_position(entry: JsonObject) -> int:
    position = entry.get("primaryKeyPosition")
    return position if isinstance(position, int) else 0


def _odcs_column(entry: JsonObject) -> CatalogColumn:
    physical = text_of(entry, "physicalType")
    return CatalogColumn(
        name=_odcs_name(entry),
        native_type=physical or _odcs_type(entry, 0),
        nullable=entry.get("required") is not True,
        comment=text_of(entry, "description") or text_of(entry, "businessName"),
        tags=merge_tags([*texts_of(entry, "tags"), text_of(entry, "classification")]),
    )


def _odcs_type(entry: JsonObject, depth: int) -> str:
    logical = text_of(entry, "logicalType").lower()
    fields = [*objects_of(entry, "properties")] if depth < _DEEPEST else []
    if logical == "array":
        items = member(entry, "items")
        return f"{_odcs_type(items, depth + 1)}[]" if isinstance(items, Mapping) else "JSON"
    if logical == "object" and fields:
        listed = (f"{quote(_odcs_name(f))} {_odcs_type(f, depth + 1)}" for f in fields)
        return f"STRUCT({', '.join(listed)})"
    return _TYPES.get(logical, "VARCHAR")


def _odcs_references(entry: JsonObject) -> Iterator[CatalogForeignKey]:
    for relationship in objects_of(entry, "relationships"):
        yield from _reference(_odcs_name(entry), text_of(relationship, "to"))


def _models(contract: JsonObject, schema: str) -> Iterator[CatalogTable]:
    models = member(contract, "models")
    assert isinstance(models, Mapping)
    for name, model in models.items():
        fields = member(model, "fields")
        entries = {
            str(key): value
            for key, value in (fields.items() if isinstance(fields, Mapping) else ())
            if isinstance(value, Mapping)
        }
        yield CatalogTable(
            schema=schema,
            name=str(name),
            columns=tuple(_model_column(key, entry) for key, entry in entries.items()),
            comment=text_of(model, "description") or text_of(model, "title"),
            primary_key=tuple(texts_of(model, "primaryKey"))
            or tuple(key for key, entry in entries.items() if _is_key(entry)),
            unique_keys=tuple((key,) for key, e in entries.items() if e.get("unique") is True),
            foreign_keys=tuple(
                reference
                for key, entry in entries.items()
                for reference in _reference(key, text_of(entry, "references"))
            ),
            tags=merge_tags([*texts_of(model, "tags")]),
        )


def _is_key(entry: JsonObject) -> bool:
    # The older name of the field is still in many contracts.
    return entry.get("primaryKey") is True or entry.get("primary") is True


def _model_column(name: str, entry: JsonObject) -> CatalogColumn:
    pii = ["pii"] if entry.get("pii") is True else []
    return CatalogColumn(
        name=name,
        native_type=_model_type(entry, 0),
        nullable=entry.get("required") is not True,
        comment=text_of(entry, "description") or text_of(entry, "title"),
        tags=merge_tags(pii, [*texts_of(entry, "tags"), text_of(entry, "classification")]),
    )


def _model_type(entry: JsonValue, depth: int) -> str:
    logical = text_of(entry, "type").lower()
    fields = member(entry, "fields") if depth < _DEEPEST else None
    if logical == "array":
        items = member(entry, "items")
        return f"{_model_type(items, depth + 1)}[]" if isinstance(items, Mapping) else "JSON"
    if logical in ("object", "record", "struct") and isinstance(fields, Mapping) and fields:
        listed = (f"{quote(str(k))} {_model_type(v, depth + 1)}" for k, v in fields.items())
        return f"STRUCT({', '.join(listed)})"
    if logical in ("decimal", "numeric"):
        return _decimal(member(entry, "precision"), member(entry, "scale"))
    return _TYPES.get(logical, "VARCHAR")


def _decimal(precision: JsonValue, scale: JsonValue) -> str:
    width = precision if isinstance(precision, int) else 38
    places = scale if isinstance(scale, int) else 0 if isinstance(precision, int) else 9
    return f"DECIMAL({width},{places})"


def _reference(column: str, target: str) -> Iterator[CatalogForeignKey]:
    """Yield the foreign key that ``orders.order_id`` or ``shop.orders.order_id`` names."""
    table, _, to_column = target.rpartition(".")
    if table and to_column:
        yield CatalogForeignKey((column,), "", table.rpartition(".")[2], (to_column,))
