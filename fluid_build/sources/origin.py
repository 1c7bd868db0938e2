"""Where a table comes from, so that another program can read it again, alike."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from fluid_build.sources.addresses.endings import Format
from fluid_build.sources.addresses.periods import PeriodColumn

Options: TypeAlias = tuple[tuple[str, str], ...]
"""Named arguments of one of DuckDB's table functions, each as SQL."""


@dataclass(frozen=True, slots=True)
class NativeQuery:
    """A query in the database's own SQL, and what DuckDB makes of its result.

    ``columns`` are aliases with expressions over the columns of the result.
    """

    sql: str
    columns: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class InDatabase:
    """A table of a database, by its own spelling.

    ``query`` is how it was read where DuckDB's own way of attaching it would lose or bend a
    value; where it is None, that way gives the same values once they are cast. ``database`` is the
    database, project or catalog that has the schema, where a warehouse has several.
    """

    schema: str
    table: str
    query: NativeQuery | None = None
    database: str = ""


@dataclass(frozen=True, slots=True)
class InTables:
    """Tables of a database for one period each, read as one.

    Each goes with what is selected of it, so that all have the same columns of the same types.
    """

    parts: tuple[tuple[InDatabase, str], ...]


@dataclass(frozen=True, slots=True)
class FilePart:
    """Files that are written alike, so that one call of a table function reads them.

    ``types`` are those of the columns in the files, in order. ``expressions`` are what some of
    these columns have to be turned into, by name, and ``types`` says VARCHAR there.
    """

    paths: tuple[Path, ...]
    options: Options = ()
    types: tuple[tuple[str, str], ...] = ()
    expressions: tuple[tuple[str, str], ...] = ()
    encoding: str = "utf-8"


NotARow: TypeAlias = Literal["title", "units", "header", "subtotal", "total", "note", "blank"]


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A line of a file that is no row of its table, counted from 1, and what it is instead."""

    file: str
    line: int
    what: NotARow


@dataclass(frozen=True, slots=True)
class RemoteFolder:
    """The place of remote files: what is at ``root`` on this machine is at ``url``.

    Both are a file where the source is one.
    """

    root: Path
    url: str

    def place(self, path: Path) -> str:
        """Return the URL of a file at or below ``root``."""
        below = path.relative_to(self.root).as_posix()
        return self.url if below == "." else f"{self.url}/{below}"


@dataclass(frozen=True, slots=True)
class InFiles:
    """A table in data files; ``root`` is where their partitions start.

    ``mended`` says that lines of them had to be repaired or left out, which DuckDB would not do
    by itself; ``copied`` that they were read from copies in UTF-8 with even line ends. ``in_place``
    is False where DuckDB can read all rows of the files but can't run every query on them.
    ``left_out`` are the lines that are no rows: above and below the table, and among its rows.
    ``period`` is the column that has the period in the files' names. ``remote`` is set where the
    files aren't on this machine: then the tables were staged, and the paths are those of the local
    copies.
    """

    format: Format
    root: Path
    parts: tuple[FilePart, ...]
    partitioned: bool = False
    mended: bool = False
    copied: bool = False
    in_place: bool = True
    left_out: tuple[LeftOut, ...] = ()
    period: PeriodColumn | None = None
    remote: RemoteFolder | None = None

    @property
    def trimmed(self) -> bool:
        """Whether lines below the header were left out, which DuckDB would not do by itself."""
        return any(line.what != "title" for line in self.left_out)


Origin: TypeAlias = InDatabase | InTables | InFiles


def database_places(origin: Origin | None) -> tuple[InDatabase, ...]:
    """Return the tables of a database that a table is read from; none for files."""
    if isinstance(origin, InTables):
        return tuple(place for place, _ in origin.parts)
    return (origin,) if isinstance(origin, InDatabase) else ()
