"""How the dbt project reads its sources: the same rows, names and values as the forge read.

A database is attached read-only; data files are read in place. What DuckDB would read differently
than we did is read by a query of our own or, as a last resort, from a copy that the forge writes
into the project and reports.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from fluid_build.modeling.sql_names import free_identifier
from fluid_build.sources.addresses.kinds import (
    DUCKDB,
    DUMP,
    FILES,
    IN_MEMORY,
    KINDS,
    POSTGRES,
    SQLITE,
    WEB,
    RemoteFilesKind,
    ServerKind,
    SourceKind,
)
from fluid_build.sources.base import Source, Table
from fluid_build.sources.combined import CombinedSource
from fluid_build.sources.engine.extensions import Extension
from fluid_build.sources.origin import (
    InDatabase,
    InFiles,
    InTables,
    NativeQuery,
    database_places,
)
from fluid_build.sources.sql import literal, quote
from fluid_build.sources.uri import Address
from fluid_build.text import listed_up_to
from fluid_build.transform.dbt.file_access import reading_of_files
from fluid_build.transform.dbt.login_plugin import StoreLogin
from fluid_build.transform.dbt.portable_paths import (
    DSN_VARIABLE,
    PATH_VARIABLE,
    base_of,
    base_of_url,
    connection_string,
    connection_variables,
    of_source,
)
from fluid_build.transform.dbt.profiles_yml import Attached, warehouse_login, warehouse_profile
from fluid_build.transform.dbt.project_names import attached_database, duckdb_database, project_name
from fluid_build.transform.dbt.readings import Reading, duckdb_access
from fluid_build.transform.dbt.source_entries import (
    SCHEMA_VARIABLE,
    SourceAccess,
    SourceEntry,
    external,
    inside_quotes,
    schema_variable,
)
from fluid_build.transform.dbt.table_copies import reading_of_copies, write_copy
from fluid_build.transform.dbt.targets import TARGET_LABELS, Target
from fluid_build.transform.plan.elements import PlanSource, TransformPlan

# How the dbt project reads a source that is in the warehouse that it builds in.

_MOST_NAMED = 5
"""Tables that a note names; the others are counted."""


def warehouse_access(
    source: Source,
    plan: TransformPlan,
    pairs: Sequence[tuple[PlanSource, Table]],
    target: Target,
) -> SourceAccess:
    """Return the access of a project that builds in the database that has the source tables."""
    tables = list(_tables_in_warehouse(plan, pairs))
    schemas = {place.schema for _, place in tables}
    at_home = source.kind == target
    own = at_home or len(schemas) > 1
    model_schema = free_identifier(f"{plan.name}_model", {schema.lower() for schema in schemas})
    home = _home(source, pairs) if at_home else None
    profile = warehouse_profile(project_name(plan), target, model_schema, database=home)
    escape = inside_quotes if target in ("postgres", "snowflake") else str
    return SourceAccess(
        name=plan.name,
        entries=tuple(
            replace(
                entry,
                identifier=escape(place.table),
                schema=escape(place.schema) if own else schema_variable(plan.name),
                database=(escape(place.database) or None) if at_home else None,
            )
            for entry, place in tables
        ),
        united={
            source.id: _union(table.origin, [e.id for e, _ in tables if e.part_of == source.id])
            for source, table in pairs
            if isinstance(table.origin, InTables)
        },
        profiles_yml=profile.text,
        notes=(
            *_note_on_loading(target, plan.name, own=own, at_home=at_home),
            *_notes_on_twins(pairs),
            *_note_on_split_tables(pairs),
            *_notes_on_periods(pairs),
        ),
        schema=model_schema,
        variables=profile.variables,
        login=warehouse_login(target, home)[0],
    )


def _home(source: Source, pairs: Sequence[tuple[PlanSource, Table]]) -> str:
    """Return the database, project or catalog that the source is in."""
    places = (place for _, table in pairs for place in database_places(table.origin))
    return next(filter(None, (place.database for place in places)), source.name)


def _tables_in_warehouse(
    plan: TransformPlan, pairs: Sequence[tuple[PlanSource, Table]]
) -> Iterator[tuple[SourceEntry, InDatabase]]:
    """Yield an entry for each table of the warehouse, and where it is."""
    taken = {source.id for source in plan.sources}
    for source, table in pairs:
        if isinstance(table.origin, InTables):
            for place, _ in table.origin.parts:
                id_ = free_identifier(place.table, taken)
                taken.add(id_)
                yield SourceEntry(id_, place.table, "", "", part_of=source.id), place
        elif isinstance(table.origin, InDatabase):
            yield SourceEntry(source.id, source.table, "", ""), table.origin
        else:
            yield SourceEntry(source.id, source.table, "", ""), InDatabase("", table.name)


def _union(origin: InTables, ids: Sequence[str]) -> str:
    """Return the rows of all parts, each of which is a source of the project."""
    selects = (
        f"SELECT {columns} FROM source.{id_}"
        for (_, columns), id_ in zip(origin.parts, ids, strict=True)
    )
    return "\nUNION ALL\n".join(selects)


def _note_on_loading(target: Target, name: str, *, own: bool, at_home: bool) -> tuple[str, ...]:
    if at_home:
        return ("The source tables are read where they are, from their own schemas.",)
    where = (
        "into schemas of the same names"
        if own
        else f"into one schema, which the variable {SCHEMA_VARIABLE} names ({name} by default)"
    )
    return (
        f"Load the source tables into {TARGET_LABELS[target]} first, {where}. Keep the names"
        " of tables and columns exactly as spelled in the source.",
    )


def _note_on_split_tables(pairs: Sequence[tuple[PlanSource, Table]]) -> Iterator[str]:
    split = [source.table for source, table in pairs if table.split is not None]
    if split:
        yield (
            f"{listed_up_to(_MOST_NAMED, split)} were split from nested columns, so the project"
            " needs tables or views of these names with the columns of the contract. With"
            " `--nested keep`, it reads the nested columns instead."
        )


def _notes_on_periods(pairs: Sequence[tuple[PlanSource, Table]]) -> Iterator[str]:
    """Yield of each table for several periods that the tables of later ones aren't known.

    A query can't find them by name, and only a forge compares their columns with the others'.
    """
    for source, table in pairs:
        if isinstance(table.origin, InTables):
            names = [place.table for place, _ in table.origin.parts]
            yield (
                f"{source.table} has the rows of {listed_up_to(_MOST_NAMED, names)}, one table for"
                " each period. The table of a new period isn't read before `fluid forge` has run"
                " again."
            )


def _notes_on_twins(pairs: Sequence[tuple[PlanSource, Table]]) -> Iterator[str]:
    for source, table in pairs:
        for column in table.columns:
            if column.alias != column.name:
                yield (
                    f"{source.table} has columns whose names differ only in case: the project"
                    f" reads {column.name} as {column.alias}, so it needs a view with that name."
                )


_NOTE_ON_MEMORY = (
    "The source was data in memory, so `fluid verify` can't read it again. In Python,"
    " fluid_build.verify(folder, source=…) can."
)
_NUMBERED = "its rows have no key, and the database may return them in another order"


def source_access(
    source: Source,
    plan: TransformPlan,
    address: Address,
    *,
    project_dir: Path,
    target: Target = "duckdb",
) -> SourceAccess:
    """Return how a project in ``project_dir`` reads a source that was opened at an address.

    The files get only the path from the project to the source, or its connection string without a
    password. Copies are named here but not written yet: see ``write_copies``.
    """
    pairs = _planned_tables(source, plan)
    if target != "duckdb":
        return warehouse_access(source, plan, pairs, target)
    if not source.has_data:
        return _without_data(source, plan, pairs)
    return duckdb_access(plan, [_reading(source, plan, address, project_dir)])


def combined_access(
    source: CombinedSource, plan: TransformPlan, *, project_dir: Path
) -> SourceAccess:
    """Return how a project in ``project_dir`` reads several sources, each opened at an address."""
    readings = []
    for part in source.parts:
        if part.opened_as is None:
            raise TypeError(f"{part.name} has no address")
        address = part.opened_as.address
        readings.append(_reading(part, plan, address, project_dir, name=part.name))
    return duckdb_access(plan, readings)


def write_copies(
    source: Source, plan: TransformPlan, access: SourceAccess, folder: Path
) -> dict[str, Path]:
    """Write the copies that a project needs into a folder; their files by path in the project."""
    sources = {copy.id: copy for copy in plan.sources}
    return {
        copy.path: write_copy(source.connection, copy, sources[copy.id], folder)
        for copy in access.copies
    }


def _planned_tables(source: Source, plan: TransformPlan) -> list[tuple[PlanSource, Table]]:
    tables = {table.name: table for table in source.tables}
    return [(each, tables[each.at_source]) for each in plan.sources if each.at_source in tables]


def _reading(
    source: Source, plan: TransformPlan, address: Address, project_dir: Path, *, name: str = ""
) -> Reading:
    """Return how the tables of a source are read; ``name`` is its own where it's one of several."""
    pairs, place = _planned_tables(source, plan), address.place
    if source.kind == FILES.name:
        base = base_of(place, project_dir, of_source(PATH_VARIABLE, name))
        return reading_of_files(source, plan, pairs, base)
    kind = KINDS[source.kind]
    if kind is DUMP:
        return reading_of_copies(plan, pairs, "DuckDB can't read a SQL dump")
    if kind is IN_MEMORY:
        reason = "it was in memory, where no project can read it"
        again = "Forge it again in Python to refresh it."
        reading = reading_of_copies(plan, pairs, reason, refresh=again)
        return replace(reading, notes=(*reading.notes, _NOTE_ON_MEMORY))
    if isinstance(kind, RemoteFilesKind):
        return _remote_reading(source, plan, pairs, kind, of_source(PATH_VARIABLE, name))
    if isinstance(kind, ServerKind) and kind.scanner is None:
        is_part = any(table.sampled for _, table in pairs)
        part = ", and it has the sample only" if is_part else ""
        return reading_of_copies(plan, pairs, f"DuckDB can't attach {kind.phrase}{part}")
    scanner, alias = kind.scanner, attached_database(plan, name)
    notes: tuple[str, ...] = ()
    if isinstance(kind, ServerKind):
        variable = of_source(DSN_VARIABLE, name)
        path = connection_string(place, variable)
        variables = connection_variables(place, kind.password_variable, variable)
        notes = _notes_on_postgres(pairs) if kind is POSTGRES else ()
    else:
        base = base_of(place, project_dir, of_source(PATH_VARIABLE, name))
        path, variables = base.jinja, base.variables
        notes = _notes_on_file(kind, Path(place))
    copied = [(each, table) for each, table in pairs if _needs_copy(kind, table)]
    copies = reading_of_copies(plan, copied, _NUMBERED)
    entries = {entry.id: entry for entry in copies.entries}
    return Reading(
        entries=tuple(
            entries.get(each.id) or _attached_entry(each, table, alias, scanner)
            for each, table in pairs
        ),
        attached=Attached(path, alias, scanner),
        copies=copies.copies,
        notes=(*notes, *_notes_on_periods(pairs), *copies.notes),
        variables=variables,
    )


def _remote_reading(
    source: Source,
    plan: TransformPlan,
    pairs: Sequence[tuple[PlanSource, Table]],
    kind: RemoteFilesKind,
    variable: str,
) -> Reading:
    origins = (table.origin for _, table in pairs)
    remote = next(origin.remote for origin in origins if isinstance(origin, InFiles))
    if remote is None:
        raise TypeError(f"{source.name} was not read from remote files")
    base = base_of_url(remote, remote.url, kind, variable)
    reading = reading_of_files(source, plan, pairs, base)
    if not reading.variables:
        # Every table is a copy, so dbt needs neither the network nor a login.
        return reading
    login = None if kind is WEB else StoreLogin(variable, base.url or "", kind.secret_type)
    return replace(reading, extensions=(*kind.extensions, *reading.extensions), login=login)


def _needs_copy(kind: SourceKind, table: Table) -> bool:
    """Return whether a table was split from rows that another reading may number differently."""
    return kind is not DUCKDB and table.split is not None and table.split.documents.is_numbered


def _attached_entry(
    source: PlanSource, table: Table, alias: str, scanner: Extension | None
) -> SourceEntry:
    if isinstance(table.origin, InTables):
        return _united_entry(source, table.origin, alias, scanner)
    origin = _database_origin(table)
    entry = SourceEntry(
        id=source.id,
        table=source.table,
        identifier=inside_quotes(origin.table),
        schema=inside_quotes(origin.schema),
        database=alias,
    )
    if table.split is not None:
        rows = _rows(_database_origin(table.split.documents.table), alias, scanner)
        meta = external([table.split.before, rows, table.split.after])
        name = table.split.documents.table.name
        return replace(entry, meta=meta, note=f"It's split from the nested columns of {name}.")
    if origin.query is None or scanner is None:
        return entry
    return replace(
        entry,
        meta=external([_query(origin.query, alias, scanner)]),
        note="It's read with its own query, because DuckDB would change some of its values.",
    )


def _united_entry(
    source: PlanSource, origin: InTables, alias: str, scanner: Extension | None
) -> SourceEntry:
    """Return the entry of tables for one period each, read as one."""
    parts = [
        f"SELECT {columns} FROM {_rows(place, alias, scanner)}" for place, columns in origin.parts
    ]
    names = listed_up_to(_MOST_NAMED, [place.table for place, _ in origin.parts])
    return SourceEntry(
        id=source.id,
        table=source.table,
        identifier=source.id,
        schema=inside_quotes(origin.parts[0][0].schema),
        database=alias,
        meta=external([f"({' UNION ALL '.join(parts)})"]),
        note=f"Its rows are those of {names}, one table for each period.",
    )


def _rows(origin: InDatabase, alias: str, scanner: Extension | None) -> str:
    """Return the rows of a table of the attached database, as they were read."""
    if origin.query is not None and scanner is not None:
        return _query(origin.query, alias, scanner)
    return f"{quote(alias)}.{quote(origin.schema)}.{quote(origin.table)}"


def _query(query: NativeQuery, alias: str, scanner: Extension) -> str:
    columns = ", ".join(f"{value} AS {quote(name)}" for name, value in query.columns)
    function = f"{scanner.database_type}_query"
    return f"(SELECT {columns} FROM {function}({literal(alias)}, {literal(query.sql)}))"


def _notes_on_file(kind: SourceKind, path: Path) -> tuple[str, ...]:
    if kind is not SQLITE:
        return ()
    with path.open("rb") as file:
        is_wal = file.read(20)[18:20] == b"\x02\x02"
    if not is_wal:
        return ()
    return (
        "The SQLite database is in WAL mode: every reader, this project too, creates a -shm file"
        " next to it, so it needs write access to that folder.",
    )


def _notes_on_postgres(pairs: Sequence[tuple[PlanSource, Table]]) -> tuple[str, ...]:
    numeric = any(
        isinstance(table.origin, InDatabase)
        and table.origin.query is None
        and any(column.type.startswith("DECIMAL") for column in table.columns)
        for _, table in pairs
    )
    if not numeric:
        return ()
    return (
        "DuckDB reads NaN in PostgreSQL numeric columns as 0. The columns read this way contained"
        " no NaN when this project was generated. If that changes, run `fluid forge` again.",
    )


def _database_origin(table: Table) -> InDatabase:
    if not isinstance(table.origin, InDatabase):
        raise TypeError(f"{table.name} was not read from a database")
    return table.origin


def _without_data(
    source: Source, plan: TransformPlan, pairs: Sequence[tuple[PlanSource, Table]]
) -> SourceAccess:
    what = "DDL" if source.catalog is None else f"the catalog {source.catalog.facts.catalog}"
    schema = schema_variable(plan.name)
    reading = Reading(
        entries=tuple(
            SourceEntry(plan_source.id, plan_source.table, inside_quotes(plan_source.table), schema)
            for plan_source, _ in pairs
        ),
        notes=(
            f"The source was {what}, which has no rows. Load its tables into"
            f" {duckdb_database(plan)}.duckdb, into the schema that the variable {SCHEMA_VARIABLE}"
            f" names ({plan.name} by default).",
        ),
    )
    return duckdb_access(plan, [reading])
