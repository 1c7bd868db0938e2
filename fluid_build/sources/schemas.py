"""Which schemas of a database are read."""

from collections.abc import Sequence

from fluid_build.errors import EmptySourceError, SourceNotFoundError
from fluid_build.sources.selection import matching_positions
from fluid_build.text import did_you_mean


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
