"""Which schemas of a database are read."""

from collections.abc import Sequence

from fluid_build.errors import EmptySourceError, SourceNotFoundError
from fluid_build.text import did_you_mean


def chosen_schemas(requested: Sequence[str], existing: Sequence[str], source: str) -> list[str]:
    """Return the wanted schemas, in order and once each; all existing ones where none is wanted.

    Raises SourceNotFoundError for a schema that does not exist.
    """
    for schema in requested:
        if schema not in existing:
            guess = did_you_mean(schema, existing).rstrip()
            raise SourceNotFoundError(
                f"{source} has no schema {schema!r}.",
                hint=guess or f"It has {', '.join(existing) or 'none'}.",
            )
    return list(dict.fromkeys(requested or existing))


def no_tables(
    source: str, schemas: Sequence[str] = (), *, views: int = 0, export: str = ""
) -> EmptySourceError:
    """Return the error for a database without a table, in all or in some schemas.

    ``views`` is how many views there are, and ``export`` how one of them can be made a file.
    """
    where = f" in {', '.join(schemas)}" if schemas else ""
    if not views:
        return EmptySourceError(
            f"{source} has no tables{where}.", hint="Check that this is the database you meant."
        )
    count = "a view" if views == 1 else f"{views:,} views"
    return EmptySourceError(
        f"{source} has no tables{where}, only {count}. Views aren't read.",
        hint="Pass the database that has their tables, or export each view to a file and pass the"
        f" folder with these files: {export}",
    )
