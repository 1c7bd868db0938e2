"""The way back to a table of totals that isn't built: it's computed again from its details."""

from collections.abc import Callable

from fluid_build.modeling.conceptual import Entity
from fluid_build.modeling.dimensional.elements import LeftOut
from fluid_build.observations.computations import AggregateColumn, computed_sql
from fluid_build.observations.detail_rows import detail_rows
from fluid_build.sources.sql import quote
from fluid_build.transform.plan.dimensional.entity_rows import EntityRows
from fluid_build.transform.plan.dimensional.star import Star
from fluid_build.transform.plan.sql_layout import nested


def aggregate_rows(
    star: Star, left_out: LeftOut, rows_of: Callable[[Entity], EntityRows]
) -> EntityRows:
    """Return the rows of a table of totals, computed from what the star holds of its details."""

    def relation(table: str) -> str:
        rows = rows_of(star.entities[table])
        columns = ", ".join(f"{sql} AS {quote(name)}" for name, sql in rows.expressions.items())
        return nested(f"SELECT {columns}\n{rows.from_clause}")

    used = [column.of for column in left_out.columns if column.of]
    details = detail_rows(left_out.detail, used, relation)
    computed = ", ".join(
        f"{_typed(star, left_out, column, details.column(column.of) if column.of else '')}"
        f" AS {quote(column.column)}"
        for column in left_out.columns
    )
    totals = nested(f"SELECT {computed}\nFROM {details.from_clause}\nGROUP BY ALL")
    return EntityRows(
        f"FROM {totals} AS computed",
        {column.column: f"computed.{quote(column.column)}" for column in left_out.columns},
    )


def _typed(star: Star, left_out: LeftOut, column: AggregateColumn, value: str) -> str:
    is_exact = column.of is None or not _type_of(star, left_out, column).startswith(
        ("FLOAT", "DOUBLE")
    )
    sql = computed_sql(column.function, value, column.decimals, is_exact=is_exact)
    return f"CAST({sql} AS {star.type(left_out.name, column.column)})"


def _type_of(star: Star, left_out: LeftOut, column: AggregateColumn) -> str:
    """Return the staged type of what a column is computed from."""
    if column.of is None:
        return ""
    table = column.of.path[-1].to_table if column.of.path else left_out.detail
    return star.type(table, column.of.column)
