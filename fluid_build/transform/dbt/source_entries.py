"""What the dbt project says about its sources: where each table is, and what that needs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from fluid_build.modeling.identifiers import identifier
from fluid_build.modeling.sql_names import free_identifier
from fluid_build.sources.base import Table
from fluid_build.transform.dbt.jinja import Jinja, literally
from fluid_build.transform.dbt.profiles_yml import Attached

SCHEMA_VARIABLE = "source_schema"


@dataclass(frozen=True, slots=True)
class SourceEntry:
    """A source table as ``_sources.yml`` has it; all quoting is on.

    ``id`` is the plan's name of it, ``table`` the source's. ``identifier``, ``schema`` and
    ``database`` are as dbt puts them between quotes: quotes in a name are doubled already, because
    dbt doesn't do that. Entries with the same ``database`` and ``schema`` make one block of the
    YAML file; all blocks have the same source name. ``meta`` goes under ``config.meta``. Text of
    the type ``Jinja`` is written as it is, any other is escaped so that Jinja doesn't change it.
    ``part_of`` is the plan's name of the table that this one has the rows of a period of, and then
    ``id`` is only the entry's own.
    """

    id: str
    table: str
    identifier: str
    schema: str
    database: str | None = None
    meta: Mapping[str, str] = field(default_factory=dict)
    note: str = ""
    part_of: str = ""


@dataclass(frozen=True, slots=True)
class TableCopy:
    """A table that has to be copied into the project: ``path`` is below its folder."""

    id: str
    path: str
    table: Table
    reason: str


@dataclass(frozen=True, slots=True)
class SourceAccess:
    """How a dbt project reads its source, and where it builds.

    ``name`` is the dbt source's name, before a schema's where there are several. ``profiles_yml``
    is the whole file. ``files`` are further text files by their path below the project folder,
    ``copies`` the copies that still have to be written. ``notes`` are sentences for the README and
    the screen. ``database`` and ``schema`` are those that the profile's target builds in, None
    where only the environment says; ``variables`` are the environment variables that the project
    reads, each with its purpose. ``packages`` are
    needed in addition to dbt and its adapter, as pip requirements. ``united`` are the plan's
    sources that a model puts together, each with the query for it over ``source.<id>`` of entries.
    ``login`` has the fields of the profile by which a warehouse is reached; ``attached``,
    ``settings`` and ``logs_in`` are what DuckDB is told instead: its databases, its settings, and
    whether it logs in to an object store.
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
    united: Mapping[str, str] = field(default_factory=dict)
    login: Mapping[str, object] = field(default_factory=dict)
    attached: tuple[Attached, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)
    logs_in: bool = False

    @property
    def names(self) -> Mapping[tuple[str | None, str], str]:
        """What dbt calls its sources: one for each database and schema that has tables.

        dbt takes two of one name for the same when it parses a part of the project.
        """
        places = dict.fromkeys((entry.database, entry.schema) for entry in self.entries)
        if len(places) <= 1:
            return dict.fromkeys(places, self.name)
        named: dict[tuple[str | None, str], str] = {}
        for database, schema in places:
            name = identifier(f"{self.name}_{schema}")
            named[database, schema] = free_identifier(name, set(named.values()))
        return named

    @property
    def references(self) -> Mapping[str, str]:
        """How dbt refers to each entry, by its id."""
        names = self.names
        return {
            entry.id: f"source('{names[entry.database, entry.schema]}', '{entry.id}')"
            for entry in self.entries
        }

    def entry(self, source_id: str) -> SourceEntry:
        """Return the entry of that plan source; KeyError if there is none."""
        for entry in self.entries:
            if entry.id == source_id:
                return entry
        raise KeyError(source_id)


def external(pieces: Sequence[str]) -> Mapping[str, str]:
    """Return SQL that dbt-duckdb reads a source from, without a placeholder of its own."""
    template = is_template("".join(p for p in pieces if not isinstance(p, Jinja)))
    text = "".join(
        piece
        if isinstance(piece, Jinja)
        else literally(piece.replace("$", "$$") if template else piece)
        for piece in pieces
    )
    meta = {"external_location": Jinja(text)}
    # By default a brace opens a placeholder, and two braces open one of Jinja's.
    return {**meta, "formatter": "template"} if template else meta


def is_template(sql: str) -> bool:
    """Whether SQL contains what dbt-duckdb would read as a placeholder by default."""
    return any(mark in sql for mark in "{}$")


def inside_quotes(name: str) -> str:
    """Return a name as it is written between double quotes."""
    # dbt puts quotes around a name, and doesn't double the quotes in it.
    return name.replace('"', '""')


def schema_variable(default: str) -> Jinja:
    """Return the schema that the source was loaded into."""
    return Jinja(f"{{{{ var('{SCHEMA_VARIABLE}', '{default}') }}}}")
