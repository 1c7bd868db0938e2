"""The tags of a catalog of Databricks.

https://docs.databricks.com/en/sql/language-manual/information-schema/column_tags.html
"""

from collections.abc import Sequence

from fluid_build.sources.declarations.catalog_facts import TableFacts
from fluid_build.sources.declarations.catalog_labels import TaggedPlace, tagged_tables
from fluid_build.sources.servers.databricks.catalog import Query, quoted
from fluid_build.sources.servers.rows import ServerQueryError, left_out
from fluid_build.sources.sql import literal


def read_tags(
    query: Query, catalog: str, schemas: Sequence[str]
) -> tuple[dict[tuple[str, str], TableFacts], tuple[str, ...]]:
    """Return what tags say of tables, by schema and name; with a note where they can't be read."""
    if not schemas:
        return {}, ()
    try:
        tags = [
            *_tags(query, catalog, schemas, "table_tags", "'' AS column_name"),
            *_tags(query, catalog, schemas, "column_tags", "column_name"),
        ]
    except ServerQueryError as error:
        return {}, (left_out("tags", error),)
    return tagged_tables(tags, catalog), ()


def _tags(
    query: Query, catalog: str, schemas: Sequence[str], view: str, column: str
) -> list[TaggedPlace]:
    chosen = ", ".join(literal(schema) for schema in schemas)
    rows = query(
        f"SELECT schema_name, table_name, {column}, tag_name, tag_value"
        f" FROM {quoted(catalog)}.information_schema.{view} WHERE schema_name IN ({chosen})"
    )
    return [
        (
            str(row["schema_name"]),
            str(row["table_name"]),
            str(row["column_name"]),
            str(row["tag_name"]),
            str(row["tag_value"] or ""),
        )
        for row in rows
    ]
