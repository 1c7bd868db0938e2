"""What every element of a logical model says of itself: where it came from, and why it is there."""

from functools import lru_cache

from pydantic import BaseModel, ConfigDict


class ModelPart(BaseModel):
    """A piece of a logical model: never changed after it is made, and with no unknown field."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class SourceColumn(ModelPart):
    """A column of a source table, each by its own name there."""

    table: str
    column: str


class Element(ModelPart):
    """A piece that was made of something in the source.

    ``mapped_source_tables`` are the tables it stands for, ``source_columns`` the columns it is
    made of, ``reason`` one sentence that says why it is there and looks the way it does.
    """

    mapped_source_tables: tuple[str, ...] = ()
    source_columns: tuple[SourceColumn, ...] = ()
    reason: str = ""


def source_columns(table: str, columns: tuple[str, ...]) -> tuple[SourceColumn, ...]:
    """Columns of one table, as the sources of an element."""
    return tuple(_source_column(table, column) for column in columns)


@lru_cache(maxsize=65_536)
def _source_column(table: str, column: str) -> SourceColumn:
    """A column of a source table: in a vault a dozen elements are made of the same one."""
    return SourceColumn(table=table, column=column)
