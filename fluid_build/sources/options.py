"""The options of opening a source, as every opener gets them."""

from dataclasses import dataclass

from fluid_build.progress import OnProgress, ignore
from fluid_build.sources.conventions import NO_ANSWERS, Conventions
from fluid_build.sources.table_choice import OnTables, any_tables


@dataclass(frozen=True, slots=True)
class OpenOptions:
    """What ``open_source`` was asked for; an opener reads what its kind of source has."""

    schemas: tuple[str, ...] = ()
    dialect: str | None = None
    conventions: Conventions = NO_ANSWERS
    memory_limit: str | None = None
    on_tables: OnTables = any_tables
    on_progress: OnProgress = ignore
