"""Which schemas of a database are read."""

from collections.abc import Iterable, Sequence

from fluid_build.errors import EmptySourceError, SourceNotFoundError
from fluid_build.sources.selection import Placed, matching_positions
from fluid_build.text import did_you_mean, listed

DEPLOYMENTS = "fluid_deployments"
"""The table of a warehouse that says what was applied to it."""
MIGRATIONS = "fluid_migrations"
"""The table of a warehouse that says which migrations it has seen, beside its relations."""


def chosen_schemas(
    requested: Sequence[str], existing: Sequence[str], source: str, *, folds_case: bool = True
) -> list[str]:
    """Return the schemas that the requested names and globs choose, once each, in that order.

    Without any, all are. ``folds_case`` is as in ``selected_tables``. Raises SourceNotFoundError
    for one that no schema matches.
    """
    chosen: list[str] = []
    for schema in requested:
        positions = matching_positions(
            schema, [(name,) for name in existing], folds_case=folds_case
        )
        if not positions:
            guess = did_you_mean(schema, existing).rstrip()
            raise SourceNotFoundError(
                f"{source} has no schema {schema!r}.",
                hint=guess or f"It has {', '.join(existing) or 'none'}.",
            )
        chosen += [existing[position] for position in sorted(positions)]
    return list(dict.fromkeys(chosen if requested else existing))


def without_warehouses(
    chosen: Sequence[str], requested: Sequence[str], tables: Iterable[Placed]
) -> tuple[list[str], list[str]]:
    """Return the chosen schemas that are read, and those that are left out.

    A schema that a model is loaded into is no source of it, nor of another one: it's read only
    where it's requested by its name and not by a glob, or where nothing else is there to read.
    ``tables`` are those of the database.
    """
    named = {name.lower() for name in requested}
    tables = [table for table in tables if table.schema in chosen]
    warehouses = {
        table.schema for table in tables if table.name.lower() in (DEPLOYMENTS, MIGRATIONS)
    }
    if all(table.schema in warehouses for table in tables):
        return list(chosen), []
    left_out = [name for name in chosen if name in warehouses and name.lower() not in named]
    return [name for name in chosen if name not in left_out], left_out


def warehouses_left_out(schemas: Sequence[str]) -> tuple[str, ...]:
    """Return the note on schemas that weren't read because warehouses are in them."""
    if not schemas:
        return ()
    what = "schema" if len(schemas) == 1 else "schemas"
    aren = "isn't" if len(schemas) == 1 else "aren't"
    return (
        f"The {what} {listed(schemas)} {aren} read: a warehouse that Fluid Forge loads is in"
        f" {'it' if len(schemas) == 1 else 'each'}. Add --schema {schemas[0]} to read it.",
    )


def no_tables(source: str, schemas: Sequence[str] = (), *, views: int = 0) -> EmptySourceError:
    """Return the error for a database without a table, in all or in some schemas.

    ``views`` is how many views there are that could be read.
    """
    where = f" in {', '.join(schemas)}" if schemas else ""
    if not views:
        return EmptySourceError(
            f"{source} has no tables{where}.", hint="Check that this is the database you meant."
        )
    count = "a view" if views == 1 else f"{views:,} views"
    return EmptySourceError(
        f"{source} has no tables{where}, only {count}.",
        hint="Add --views to read views as tables.",
    )


def views_left_out(kind: str, number: int) -> str:
    """Return the note on views that weren't read; ``kind`` is what they are, in the plural."""
    return f"{kind.capitalize()} aren't read ({number:,} found); add --views to read them."
