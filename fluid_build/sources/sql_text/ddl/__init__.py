"""Structure declared in SQL text. ``open_ddl(path)`` is the one way in.

The text is cut into statements, so that a bad one doesn't take the others with it. ``detection``
finds the dialect by headers, line ends, quoting and phrases, and ``statements`` cuts. ``reading``
(with ``create`` and ``alter``) applies each statement to ``schema``, where ``changes`` alters
tables. ``elements`` reads columns, keys and references, ``types`` has DuckDB's name for each type,
and ``tables`` makes tables of the result. docs/dependencies.md says why sqlglot reads none of it.
"""

from fluid_build.sources.base import Source
from fluid_build.sources.declared import settle_foreign_keys
from fluid_build.sources.options import OpenOptions
from fluid_build.sources.selection import selected_tables
from fluid_build.sources.sql_text.ddl.source import declared_name, open_ddl

__all__ = ["open_ddl", "open_structure"]


def open_structure(place: str, options: OpenOptions) -> Source:
    """Open DDL as a source of structure without rows."""
    declared = open_ddl(place, dialect=options.dialect, schemas=options.schemas)
    try:
        if options.schemas or options.include or options.exclude:
            tables = selected_tables(declared.tables, declared_name, options)
            declared.tables = settle_foreign_keys(tables)
        options.on_tables([declared_name(table) for table in declared.tables])
    except BaseException:
        declared.close()
        raise
    return declared
