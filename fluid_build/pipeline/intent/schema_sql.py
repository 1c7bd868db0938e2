"""An intent's entities as CREATE TABLE statements: a schema to forge where there is no data."""

from collections.abc import Iterator

from fluid_build.pipeline.intent.intent import (
    Intent,
    IntentEntity,
    IntentReference,
    reference_columns,
)
from fluid_build.sources.sql import literal, quote

_TYPES = {
    "text": "VARCHAR",
    "integer": "BIGINT",
    "decimal": "DECIMAL(18, 2)",
    "number": "DOUBLE",
    "boolean": "BOOLEAN",
    "date": "DATE",
    "timestamp": "TIMESTAMP",
}
_KEY_TYPE = "BIGINT"
"""The type of a key that isn't among the attributes: a generated number."""


def schema_sql(intent: Intent) -> str:
    """Return the DDL of an intent's entities, in their order."""
    entities = {entity.name: entity for entity in intent.entities}
    statements = [text for e in intent.entities for text in _statements(e, entities)]
    return "\n\n".join(statements) + "\n"


def _statements(entity: IntentEntity, entities: dict[str, IntentEntity]) -> Iterator[str]:
    columns = _columns(entity, entities)
    lines = [
        *(f"{quote(name)} {kind}" for name, kind in columns.items()),
        f"PRIMARY KEY ({_list(entity.key_columns)})",
        *(_foreign_key(reference, entities) for reference in entity.references),
    ]
    body = ",\n".join(f"    {line}" for line in lines)
    yield f"CREATE TABLE {quote(entity.name)} (\n{body}\n);"
    if entity.description:
        yield f"COMMENT ON TABLE {quote(entity.name)} IS {literal(entity.description)};"
    for attribute in entity.attributes:
        if attribute.description:
            column = f"{quote(entity.name)}.{quote(attribute.name)}"
            yield f"COMMENT ON COLUMN {column} IS {literal(attribute.description)};"


def _columns(entity: IntentEntity, entities: dict[str, IntentEntity]) -> dict[str, str]:
    """Return the columns with their types: keys, attributes, and what refers to others."""
    types = {
        attribute.name: _TYPES[attribute.type] + (" NOT NULL" if attribute.is_required else "")
        for attribute in entity.attributes
    }
    columns = {name: types.get(name, _KEY_TYPE) for name in entity.key_columns} | types
    for reference in entity.references:
        target = entities[reference.to]
        parent = {attribute.name: _TYPES[attribute.type] for attribute in target.attributes}
        ending = " NOT NULL" if reference.is_required else ""
        for name, key in zip(reference_columns(reference, target), target.key_columns, strict=True):
            columns.setdefault(name, parent.get(key, _KEY_TYPE) + ending)
    return columns


def _foreign_key(reference: IntentReference, entities: dict[str, IntentEntity]) -> str:
    target = entities[reference.to]
    columns = _list(reference_columns(reference, target))
    return f"FOREIGN KEY ({columns}) REFERENCES {quote(target.name)} ({_list(target.key_columns)})"


def _list(names: tuple[str, ...]) -> str:
    return ", ".join(map(quote, names))
