"""Dates that no timestamp holds: a model that needs their week or their moment can't be built."""

from fluid_build.errors import BuildFailedError
from fluid_build.sources.base import Source
from fluid_build.sources.sql import quote
from fluid_build.text import counted
from fluid_build.transform.plan.elements import TransformPlan


def explained(source: Source, plan: TransformPlan, error: BuildFailedError) -> BuildFailedError:
    """Return the error that names the first column with such dates, or else the error itself."""
    relations = {table.name: table.relation for table in source.tables}
    for planned in plan.sources:
        for name, type_ in planned.columns:
            if type_ != "DATE" or planned.table not in relations:
                continue
            column = quote(name)
            row = source.connection.execute(
                f"SELECT count(*) FROM {relations[planned.table]}"
                f" WHERE isfinite({column}) AND TRY_CAST({column} AS TIMESTAMP) IS NULL"
            ).fetchone()
            if row is not None and row[0]:
                return BuildFailedError(
                    f"The column {name!r} of {planned.table!r} has"
                    f" {counted(int(row[0]), 'date')} outside of the years that a timestamp can"
                    " have, 290308 BC to 294246.",
                    hint="Correct them at the source, leave the table out with --exclude, or use"
                    " --technique flat.",
                )
    return error
