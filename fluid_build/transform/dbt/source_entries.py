"""What the dbt project is told of its sources: where each table lies, and what else that needs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from fluid_build.sources.base import Table
from fluid_build.transform.dbt.jinja import Jinja, literally

SCHEMA_VARIABLE = "source_schema"


@dataclass(frozen=True, slots=True)
class SourceEntry:
    """A source table as ``_sources.yml`` has it; all quoting is on.

    ``id`` is the plan's name of it, ``table`` the source's. ``identifier``, ``schema`` and
    ``database`` stand as dbt puts them between quotes: a quote in a name is doubled already, as
    dbt does not do that. Entries that agree in ``database`` and ``schema`` make one block of the
    YAML file; all blocks have the same source name. ``meta`` goes under ``config.meta``. A text of
    the type ``Jinja`` is written as it stands, every other one so that Jinja leaves it alone.
    """

    id: str
    table: str
    identifier: str
    schema: str
    database: str | None = None
    meta: Mapping[str, str] = field(default_factory=dict)
    note: str = ""


@dataclass(frozen=True, slots=True)
class TableCopy:
    """A table that has to be copied into the project: ``path`` lies below its folder."""

    id: str
    path: str
    table: Table
    reason: str


@dataclass(frozen=True, slots=True)
class SourceAccess:
    """How a dbt project reads its source, and where it builds.

    ``name`` is the dbt source's name. ``profiles_yml`` is the whole file. ``files`` are further
    text files by their path below the project folder, ``copies`` the copies that still have to be
    written. ``notes`` are sentences for the README and the screen. ``database`` and ``schema`` are
    those that the profile's target builds in, None where only the environment tells; ``variables``
    are the environment variables that the project reads, each with what it is for. ``packages``
    are needed beside dbt and its adapter, as pip takes them.
    """

    name: str
    entries: tuple[SourceEntry, ...]
    profiles_yml: str
    files: Mapping[str, str] = field(default_factory=dict)
    copies: tuple[TableCopy, ...] = ()
    notes: tuple[str, ...] = ()
    database: str | None = None
    schema: str | None = None
    variables: Mapping[str, str] = field(default_factory=dict)
    packages: tuple[str, ...] = ()

    def entry(self, source_id: str) -> SourceEntry:
        """The entry of that plan source; KeyError if there is none."""
        for entry in self.entries:
            if entry.id == source_id:
                return entry
        raise KeyError(source_id)


def external(pieces: Sequence[str]) -> Mapping[str, str]:
    """SQL that dbt-duckdb puts where the source is read; its own placeholders are kept out."""
    template = is_template("".join(p for p in pieces if not isinstance(p, Jinja)))
    text = "".join(
        piece
        if isinstance(piece, Jinja)
        else literally(piece.replace("$", "$$") if template else piece)
        for piece in pieces
    )
    meta = {"external_location": Jinja(text)}
    # In its usual template a brace opens a placeholder, and two of them open Jinja's.
    return {**meta, "formatter": "template"} if template else meta


def is_template(sql: str) -> bool:
    """Whether dbt-duckdb would find a placeholder in it, were it not told to look for others."""
    return any(mark in sql for mark in "{}$")


def inside_quotes(name: str) -> str:
    """A name as it stands between double quotes."""
    # dbt puts quotes around a name and leaves those in it as they are.
    return name.replace('"', '""')


def schema_variable(default: str) -> Jinja:
    """The schema that the source was loaded into."""
    return Jinja(f"{{{{ var('{SCHEMA_VARIABLE}', '{default}') }}}}")
