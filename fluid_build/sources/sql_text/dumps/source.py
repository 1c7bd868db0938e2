"""A SQL dump as a source: its tables as they are declared, with the rows that it brings."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import duckdb

from fluid_build.errors import EmptySourceError
from fluid_build.progress import OnProgress, Progress
from fluid_build.sources.addresses.kinds import DUMP
from fluid_build.sources.base import OpenSource, Skipped, Table
from fluid_build.sources.declared import settle_foreign_keys, unique_names
from fluid_build.sources.engine.connection import DUCKDB_ERRORS, STAGE, Engine, reason, starting
from fluid_build.sources.engine.query_progress import following
from fluid_build.sources.options import OpenOptions
from fluid_build.sources.selection import selected_tables
from fluid_build.sources.sql import quote
from fluid_build.sources.sql_text.ddl.dialects import Dialect
from fluid_build.sources.sql_text.ddl.reader import UnreadableError
from fluid_build.sources.sql_text.ddl.schema import (
    DraftTable,
    ObjectName,
    find_column,
    find_table,
    table_key,
)
from fluid_build.sources.sql_text.ddl.script import RowStatement
from fluid_build.sources.sql_text.ddl.source import (
    DeclaredSchema,
    declared_name,
    in_schemas,
    read_ddl,
)
from fluid_build.sources.sql_text.ddl.tables import whole_table
from fluid_build.sources.sql_text.dumps.binary_values import BinaryValues
from fluid_build.sources.sql_text.dumps.header import (
    RowHeader,
    copy_header,
    emptied_tables,
    insert_header,
    is_text_format,
)
from fluid_build.sources.sql_text.dumps.literals import LeftOut, literals_of, read_rows
from fluid_build.sources.sql_text.dumps.row_count import count_rows
from fluid_build.sources.sql_text.dumps.row_files import RowFile, rows_query
from fluid_build.sources.sql_text.dumps.sqlite_script import open_sqlite_script
from fluid_build.sources.sql_text.dumps.types import create_typed
from fluid_build.text import counted

_LINES_SHOWN = 5
_BRINGING_ROWS = ("INSERT", "REPLACE", "COPY")
_EMPTYING = ("TRUNCATE", "DROP")
_SWALLOWED = re.compile(r"^[ \t]*(?:INSERT|REPLACE|COPY|CREATE|ALTER|DROP)\s", re.I | re.M)
"""What looks like another statement inside a row that can't be read."""
_CHANGES = ("UPDATE", "DELETE", "MERGE", "ROLLBACK", "WITH", "DO", "CALL")
_CLASH = re.compile(r"\bON\s+(?:CONFLICT|DUPLICATE)\b", re.IGNORECASE)
_CLAUSES = 2_000
"""Characters at a statement's end in which its clauses are looked for."""
_SQLITE_SCHEMAS = ("", "main", "temp")
"""What SQLite can create a table in; INTEGER PRIMARY KEY alone doesn't make a dump SQLite's."""


@dataclass
class _Rows:
    """The rows of one table: a file for each set of columns, and the lines that were left out.

    ``places`` are the names, with their schema, that statements know the table by. ``doubt`` says
    of which statement rows may be lost, and why. ``replaces`` says that a statement
    changes rows that others brought, and ``replaced`` counts the values by column whose bytes
    weren't UTF-8.
    """

    table: Table
    draft: DraftTable
    files: dict[tuple[str, ...], RowFile] = field(default_factory=dict)
    left_out: list[int] = field(default_factory=list)
    places: set[tuple[str, str]] = field(default_factory=set)
    doubt: str = ""
    replaces: bool = False
    replaced: Counter[str] = field(default_factory=Counter)


def open_dump(place: str, options: OpenOptions) -> OpenSource:
    """Open the SQL files at a path with the rows of their INSERT and COPY statements.

    No statement is run, except those of a SQLite dump, in a database of its own that can reach no
    other file. Raises what ``read_ddl`` and ``in_schemas`` do, and EmptySourceError where no table
    could be read.
    """
    ddl = read_ddl(place, dialect=options.dialect)
    if ddl.dialect.name == "sqlite" and all(t.schema in _SQLITE_SCHEMAS for t in ddl.tables):
        return open_sqlite_script(place, ddl, options)
    chosen = selected_tables(in_schemas(ddl, options.schemas), declared_name, options)
    options.on_tables([declared_name(table) for table in chosen])
    with starting(options.memory_limit) as engine:
        engine.stage(sum(len(file.text) for file in ddl.files))
        loader = _Loader(engine, ddl, chosen)
        loader.read(options.on_progress)
        tables, skipped = loader.create(options.on_progress)
        if not tables:
            raise EmptySourceError(
                f"No table of {place} could be read. {skipped[0].name}: {skipped[0].reason}",
                hint="Check that the dump is complete.",
            )
        return OpenSource(
            kind=DUMP.name,
            name=ddl.name,
            connection=engine.connection,
            tables=settle_foreign_keys(tables),
            skipped=(*ddl.skipped, *skipped),
            notes=(*ddl.notes, *loader.notes),
            cleanup=[engine],
        )


class _Loader:
    """Reads the rows of a script's statements, and makes tables of them."""

    def __init__(self, engine: Engine, ddl: DeclaredSchema, chosen: Sequence[Table]) -> None:
        self._engine = engine
        self._ddl = ddl
        self.notes = [
            f"The line ends of {file.name} were read as LF, inside values too."
            for file in ddl.files
            if file.has_returns
        ]
        places = unique_names(table.name for table in chosen)
        by_name = {
            table.name: replace(table, relation=f"{quote(STAGE)}.main.{quote(relation)}")
            for table, relation in zip(chosen, places, strict=True)
        }
        names = {table.name for table in ddl.tables} - by_name.keys()
        self._unchosen = {draft for draft, name in ddl.names.items() if name in names}
        drafts = ddl.script.schema.tables.values()
        self._rows = {
            id(draft): _Rows(by_name[name], draft)
            for draft in drafts
            if (name := ddl.names.get(id(draft))) in by_name
        }

    def read(self, on_progress: OnProgress) -> None:
        """Write the rows of every statement to the files of their tables."""
        statements = self._ddl.script.rows
        absent, unread = 0, 0
        for number, statement in enumerate(statements):
            if number % 1000 == 0:
                on_progress(Progress("reading", number, len(statements)))
            if statement.statement.words[0] in _EMPTYING:
                self._empty(statement)
                continue
            if statement.statement.words[0] not in _BRINGING_ROWS:
                continue
            header = _header(statement, self._ddl.dialect)
            draft = None if header is None else self._draft_of(header.table, statement)
            rows = None if draft is None else self._rows.get(draft)
            unread += header is None
            absent += header is not None and rows is None and draft not in self._unchosen
            if header is not None and rows is not None:
                self._add(header, rows, statement)
                self._doubt_names(header, rows, statement)
        for count, which in (
            (unread, "without values, such as INSERT … SELECT"),
            (absent, "with rows of tables that it doesn't create"),
        ):
            if count:
                self.notes.append(f"{counted(count, 'statement')} {which}: left out.")
        changes = [word for word in _CHANGES if self._ddl.script.schema.irrelevant[word]]
        if changes:
            self.notes.append(f"Its {' and '.join(changes)} statements weren't run.")

    def _empty(self, statement: RowStatement) -> None:
        """Forget the rows of tables that a statement truncates or drops."""
        schema = self._ddl.script.schema
        schema.current = statement.schema
        for name in emptied_tables(statement.statement.tokens, self._ddl.dialect):
            # Only the very table: one of another schema may have the same name.
            draft = schema.tables.get(table_key(schema, name))
            rows = None if draft is None else self._rows.get(id(whole_table(schema, draft)))
            if rows is not None:
                for file in rows.files.values():
                    file.path.unlink()
                rows.files.clear()
                rows.left_out.clear()
                rows.doubt = ""

    def _doubt_names(self, header: RowHeader, rows: _Rows, statement: RowStatement) -> None:
        """Doubt a table whose rows may be another's, or in the columns of an earlier shape."""
        schema = self._ddl.script.schema
        schema.current = statement.schema
        rows.places.add(table_key(schema, header.table))
        line = statement.statement.line
        if rows.places & schema.left:
            reason = (
                f"Its name was another table's before, so the rows of line {line} may be of either."
            )
        elif len(rows.places) > 1:
            reason = f"The rows of line {line} are of a table of that name in another schema."
        elif id(rows.draft) in (schema.renamed if header.columns else schema.reshaped):
            reason = (
                f"Its columns changed after rows were there, so those of line {line} are unclear."
            )
        else:
            return
        rows.doubt = f"{reason} Load the dump into a database, and read that."

    def _draft_of(self, table: ObjectName, statement: RowStatement) -> int | None:
        schema = self._ddl.script.schema
        schema.current = statement.schema
        draft = find_table(schema, table)
        return None if draft is None else id(whole_table(schema, draft))

    def _add(self, header: RowHeader, rows: _Rows, statement: RowStatement) -> None:
        _, end = statement.statement.rows or (0, 0)
        backslash = self._ddl.dialect.backslash
        text = (statement.file.raw if backslash else "") or statement.file.text
        file = self._file(header, rows)
        if file is None:
            rows.left_out.append(statement.statement.line)
            return
        tail = max(header.start, end - _CLAUSES)
        rows.replaces |= header.replaces or bool(_CLASH.search(text, tail, end))
        if statement.statement.words[0] == "COPY":
            file.add_copied(self._whole_lines(statement.file.text, header.start, end, statement))
            return
        binary = BinaryValues.of(statement.file, file.columns) if backslash else None
        read = 0
        for row in read_rows(text, header.start, end, literals_of(backslash=backslash)):
            if isinstance(row, LeftOut):
                read += row.what != "text"
                self._leave_out(row, rows, statement)
                continue
            read += 1
            if len(row) != file.width:
                rows.left_out.append(statement.statement.line)
            elif binary is None:
                file.add(row)
            elif (exact := binary.exact(row)) is None:
                rows.left_out.append(statement.statement.line)
            else:
                file.add(exact)
        if binary is not None:
            rows.replaced.update(binary.replaced)
        counted_rows = count_rows(text, header.start, end, backslash=backslash)
        if read != counted_rows:
            rows.doubt = (
                f"The statement in line {statement.statement.line} has {counted_rows:,} rows by one"
                f" count, and {read:,} by another, so some may be lost. Write a row a line, without"
                " comments, and try again."
            )

    def _whole_lines(self, text: str, start: int, end: int, statement: RowStatement) -> str:
        """Return the lines of a COPY; without the last one where the file was cut off in it."""
        if text.startswith("\\.", end):
            return text[start:end]
        self._note_cut(statement)
        return text[start : text.rfind("\n", start, end) + 1]

    def _leave_out(self, part: LeftOut, rows: _Rows, statement: RowStatement) -> None:
        """Count a row that isn't read, or doubt a table where more than a row may be lost."""
        text = statement.file.text
        line = _line(statement, part.start)
        if part.what == "text":
            rows.doubt = (
                f"Behind the rows of the statement in line {statement.statement.line} stands text"
                " that isn't understood, so rows may be lost. End each statement with a semicolon,"
                " and try again."
            )
            return
        rows.left_out.append(line)
        if part.what == "cut row" and text.find(";", part.end) < 0:
            self._note_cut(statement)
        for table in self._swallowed(text, part, rows, statement):
            table.doubt = (
                f"A value in line {line} isn't understood, and the rows behind it may be lost."
                " Write that value as a plain literal, and try again."
            )

    def _swallowed(
        self, text: str, part: LeftOut, rows: _Rows, statement: RowStatement
    ) -> Iterator[_Rows]:
        """Yield the tables whose statements a row seems to contain, the row's own first."""
        if not _SWALLOWED.search(text, part.start, part.end):
            return
        yield rows
        for match in _SWALLOWED.finditer(text, part.start, part.end):
            inner = _inner_header(text, match.end() - 1, part.end, self._ddl.dialect)
            draft = None if inner is None else self._draft_of(inner.table, statement)
            found = None if draft is None else self._rows.get(draft)
            if found is not None:
                yield found

    def _note_cut(self, statement: RowStatement) -> None:
        self.notes.append(
            f"{statement.file.name} was cut off: it ends within the statement of line"
            f" {statement.statement.line}, and what came after it is missing."
        )

    def _file(self, header: RowHeader, rows: _Rows) -> RowFile | None:
        """Return the file for rows with these columns; None where the table hasn't one of them."""
        columns = rows.table.columns
        folding = self._ddl.dialect.folding
        places = [find_column(rows.draft.columns, name, folding) for name in header.columns]
        if None in places:
            return None
        names = tuple(columns[place].alias for place in places if place is not None)
        names = names or tuple(column.alias for column in columns)
        if names not in rows.files:
            path = self._engine.folder / f"rows{id(rows)}_{len(rows.files)}.tsv"
            path.touch()
            by_alias = {column.alias: column for column in columns}
            rows.files[names] = RowFile(path, [by_alias[name] for name in names])
        return rows.files[names]

    def create(self, on_progress: OnProgress) -> tuple[list[Table], list[Skipped]]:
        """Create every table; return those that could be, and the others with why."""
        tables: list[Table] = []
        skipped: list[Skipped] = []
        for position, rows in enumerate(self._rows.values()):
            report = Progress("reading", position, len(self._rows), rows.table.name)
            if rows.doubt:
                skipped.append(Skipped(rows.table.name, rows.doubt))
                continue
            try:
                with following(self._engine.connection, on_progress, report):
                    tables.append(self._table(rows))
            except duckdb.InterruptException:
                raise
            except DUCKDB_ERRORS as error:
                skipped.append(Skipped(rows.table.name, reason(error)))
        on_progress(Progress("reading", len(self._rows), len(self._rows)))
        return tables, skipped

    def _table(self, rows: _Rows) -> Table:
        connection, table = self._engine.connection, rows.table
        for file in rows.files.values():
            file.flush()
        if not any(file.rows for file in rows.files.values()):
            columns = ", ".join(f"{quote(c.alias)} {c.type}" for c in table.columns)
            connection.execute(f"CREATE TABLE {table.relation} ({columns})")
        else:
            names = list(dict.fromkeys(name for columns in rows.files for name in columns))
            query = rows_query(rows.files.values(), list(rows.files))
            table = create_typed(connection, query, table, names)
            for file in rows.files.values():
                file.path.unlink()
            _assert_loaded(connection, table, sum(file.rows for file in rows.files.values()))
            if rows.replaces:
                _assert_unreplaced(connection, table)
        replaced = (
            f"{name}: {counted(count, 'value')} with bytes that aren't valid UTF-8, which were"
            " replaced."
            for name, count in rows.replaced.items()
        )
        shorter = _note_on_defaults(table, rows.files)
        notes = (*table.notes, *replaced, *shorter, *_note_on_lines(rows.left_out))
        described = connection.execute(f"DESCRIBE {table.relation}").fetchall()
        columns_as_read = tuple(
            replace(column, type=str(type_))
            for column, (_, type_, *_) in zip(table.columns, described, strict=True)
        )
        return replace(table, columns=columns_as_read, notes=notes)


def _header(statement: RowStatement, dialect: Dialect) -> RowHeader | None:
    """Return what stands before a statement's rows; None where it has none that can be read."""
    words, rows = statement.statement.words, statement.statement.rows
    if rows is None:
        return None
    start, end = rows
    if words[0] == "COPY":
        tokens = statement.statement.tokens
        return copy_header(tokens, start, dialect) if is_text_format(tokens) else None
    header = _inner_header(statement.file.text, start, end, dialect)
    return header and replace(header, replaces=header.replaces or words[0] == "REPLACE")


def _inner_header(text: str, start: int, end: int, dialect: Dialect) -> RowHeader | None:
    try:
        return insert_header(text, start, end, dialect)
    except UnreadableError:
        return None


def _line(statement: RowStatement, offset: int) -> int:
    start, _ = statement.statement.rows or (0, 0)
    return statement.statement.line + statement.file.text.count("\n", start, offset)


def _assert_loaded(connection: duckdb.DuckDBPyConnection, table: Table, rows: int) -> None:
    """Raise DuckDB's error where a table hasn't all rows that were read for it."""
    row = connection.execute(f"SELECT count(*) FROM {table.relation}").fetchone() or (0,)
    if row[0] != rows:
        raise duckdb.InvalidInputException(
            f"{rows:,} rows were read, and {row[0]:,} of them arrived in the table."
        )


def _assert_unreplaced(connection: duckdb.DuckDBPyConnection, table: Table) -> None:
    """Raise DuckDB's error where a declared key repeats: a row took the place of another one."""
    for key in filter(None, (table.primary_key, *table.unique_keys)):
        names = [column.alias for column in table.columns if column.name in key]
        listed = ", ".join(map(quote, names))
        filled = " AND ".join(f"{quote(name)} IS NOT NULL" for name in names)
        row = connection.execute(
            f"SELECT count(*), count(DISTINCT ({listed})) FROM {table.relation} WHERE {filled}"
        ).fetchone() or (0, 0)
        if row[0] != row[1]:
            raise duckdb.InvalidInputException(
                f"The dump's REPLACE statements replace {row[0] - row[1]:,} of its rows, and no"
                " statement is run. Load it into a database, and read that."
            )


def _note_on_defaults(table: Table, files: Mapping[tuple[str, ...], RowFile]) -> Iterator[str]:
    """Yield a note on each column that only some rows name."""
    for column in table.columns:
        unnamed = sum(file.rows for names, file in files.items() if column.alias not in names)
        if unnamed and any(column.alias in names for names in files):
            yield (
                f"{column.name}: {counted(unnamed, 'row')} without a value for it, which a database"
                " may have a default for; read as null."
            )


def _note_on_lines(lines: Sequence[int]) -> list[str]:
    if not lines:
        return []
    different = list(dict.fromkeys(lines))
    numbers = ", ".join(str(line) for line in different[:_LINES_SHOWN])
    more = ", …" if len(different) > _LINES_SHOWN else ""
    rows = "1 row was" if len(lines) == 1 else f"{len(lines):,} rows were"
    return [
        f"{rows} left out, because a value isn't a literal, its bytes can't be told or a column is"
        f" missing: line"
        f" {numbers}{more}."
    ]
