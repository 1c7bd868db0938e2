"""The tags of a Snowflake database, which only some roles may read.

https://docs.snowflake.com/en/sql-reference/account-usage/tag_references
"""

from fluid_build.sources.declarations.catalog_facts import TableFacts
from fluid_build.sources.declarations.catalog_labels import tagged_tables
from fluid_build.sources.servers.rows import ServerQueryError, left_out
from fluid_build.sources.servers.snowflake.catalog import Query, Row
from fluid_build.sources.sql import literal


def read_tags(
    query: Query, database: str
) -> tuple[dict[tuple[str, str], TableFacts], tuple[str, ...]]:
    """Return what tags say of tables, by schema and name; with a note where they can't be read."""
    try:
        rows = query(
            "SELECT object_schema, object_name, column_name, tag_name, tag_value"
            " FROM snowflake.account_usage.tag_references"
            f" WHERE object_database = {literal(database)} AND object_deleted IS NULL"
            " AND domain IN ('TABLE', 'COLUMN')"
        )
    except ServerQueryError as error:
        return {}, (left_out("tags", error),)
    tags = (
        (
            _text(row, "object_schema"),
            _text(row, "object_name"),
            _text(row, "column_name"),
            _text(row, "tag_name"),
            _text(row, "tag_value"),
        )
        for row in rows
    )
    return tagged_tables(tags, database), ()


def _text(row: Row, name: str) -> str:
    value = row.get(name)
    return "" if value is None else str(value)
