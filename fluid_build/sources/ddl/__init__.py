"""Structure declared in SQL text. ``open_ddl(path)`` is the one way in."""

from fluid_build.sources.base import Source
from fluid_build.sources.ddl.source import open_ddl
from fluid_build.sources.options import OpenOptions
from fluid_build.sources.table_choice import TableName

__all__ = ["open_ddl", "open_structure"]


def open_structure(place: str, options: OpenOptions) -> Source:
    """Open DDL as a source of structure without rows."""
    declared = open_ddl(place, dialect=options.dialect)
    options.on_tables([TableName(t.name, t.schema, t.name) for t in declared.tables])
    return declared
