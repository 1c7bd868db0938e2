"""A SQL dump as a source: its tables as they are declared, with the rows that it brings."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import duckdb

from fluid_build.errors import EmptySourceError
from fluid_build.progress import OnProgress, Progress
from fluid_build.sources.addresses.kinds import DUMP
from fluid_build.sources.base import Column, OpenSource, Skipped, Table
from fluid_build.sources.declared import settle_foreign_keys, unique_names
from fluid_build.sources.engine.connection import DUCKDB_ERRORS, STAGE, Engine, reason, starting
from fluid_build.sources.engine.query_progress import following
from fluid_build.sources.loose_references import Collation, note_loose_references
from fluid_build.sources.options import OpenOptions
from fluid_build.sources.selection import selected_tables
from fluid_build.sources.sql import quote
from fluid_build.sources.sql_text.ddl.dialects import Dialect
from fluid_build.sources.sql_text.ddl.files import SqlFile, without_surrogates
from fluid_build.sources.sql_text.ddl.row_statements import (
    RowStatement,
    inner_header,
)
from fluid_build.sources.sql_text.ddl.schema import (
    ColumnDef,
    DraftTable,
    ObjectName,
    find_column,
    find_table,
)
from fluid_build.sources.sql_text.ddl.source import (
    DeclaredSchema,
    declared_name,
    in_schemas,
    read_ddl,
)
from fluid_build.sources.sql_text.ddl.statements import Statement
from fluid_build.sources.sql_text.ddl.tables import whole_table
from fluid_build.sources.sql_text.ddl.tokens import written
from fluid_build.sources.sql_text.dumps.literals import (
    BINARY,
    Bits,
    Hexadecimal,
    LeftOut,
    ManyLines,
    Row,
    Unstated,
    literals_of,
    read_rows,
)
from fluid_build.sources.sql_text.dumps.row_count import count_rows
from fluid_build.sources.sql_text.dumps.row_files import DROPPED, RowFile, rows_query
from fluid_build.sources.sql_text.dumps.session_zones import SessionZones
from fluid_build.sources.sql_text.dumps.sqlite_script import open_sqlite_script
from fluid_build.sources.sql_text.dumps.types import create_typed
from fluid_build.text import counted, listed, listed_up_to

# Values in binary digits, and the bytes of MySQL's, which mysqldump writes as they are.

_NUMERIC = re.compile(r"U?(?:TINY|SMALL|BIG|HUGE)?INT(?:EGER)?|DECIMAL.*|FLOAT|DOUBLE")
_OF_BITS = ("BIT", "BOOLEAN")
_PAIRS = re.compile(r"(?:[0-9A-Fa-f]{2})*")


@dataclass
class BinaryValues:
    """Rows of a file made exact, for a dialect.

    ``replaced`` counts by column the values of text that had bytes which aren't UTF-8, and
    ``digits`` those whose digits stand where a server has something else.
    """

    file: SqlFile
    columns: Sequence[Column]
    dialect: Dialect
    replaced: Counter[str] = field(default_factory=Counter)
    digits: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        """Find the places of the columns that hold bytes."""
        self._binary = [n for n, column in enumerate(self.columns) if column.type == "BLOB"]
        self._has_raw = bool(self.file.raw)
        self._are_bytes = self.dialect.version_comments
        self._are_pairs = self.dialect.sqlplus

    def exact(self, row: Row) -> Row | None:
        """Return a row with hexadecimal digits for bytes.

        None where they can't be told, or a value isn't stated.
        """
        kinds = set(map(type, row))
        if Unstated in kinds:
            return None
        has_digits = Hexadecimal in kinds or Bits in kinds
        if not (self._binary or self._has_raw or has_digits):
            return row
        exact = list(row)
        if self._are_bytes or self._are_pairs:
            for place in self._binary:
                value = row[place]
                if value is None or isinstance(value, Hexadecimal):
                    continue
                data = self._pairs(value) if self._are_pairs else self._bytes(value)
                if data is None:
                    return None
                exact[place] = f"{BINARY}{data.hex()}"
        if has_digits:
            for place, digits in enumerate(row):
                if isinstance(digits, (Hexadecimal, Bits)) and place not in self._binary:
                    plain = self._of_digits(digits, self.columns[place])
                    if plain is None:
                        return None
                    exact[place] = plain
        if self._has_raw:
            for place, text in enumerate(exact):
                if text is not None and (plain := without_surrogates(text)) != text:
                    exact[place] = plain
                    self.replaced[self.columns[place].name] += 1
        return exact

    def _of_digits(self, value: Hexadecimal | Bits, column: Column) -> str | None:
        """Return what a column that isn't binary has of digits; None for bytes that are no text."""
        if isinstance(value, Bits) and (column.type in _OF_BITS or not self._are_bytes):
            return value
        if not self._are_bytes or column.type in _OF_BITS:
            self.digits[column.name] += 1
            return value
        base, digits = (2, str(value)) if isinstance(value, Bits) else (16, value[2:])
        number = int(digits or "0", base)
        if _NUMERIC.fullmatch(column.type):
            return str(number)
        per_byte = 8 if base == 2 else 2
        try:
            return number.to_bytes(-(-len(digits) // per_byte), "big").decode()
        except UnicodeDecodeError:
            return None

    def _pairs(self, value: str) -> bytes | None:
        """Return the bytes of a text that Oracle reads as hexadecimal digits in a RAW."""
        return bytes.fromhex(value) if _PAIRS.fullmatch(value) else None

    def _bytes(self, value: str) -> bytes | None:
        if isinstance(value, Bits):
            return int(value or "0", 2).to_bytes(-(-len(value) // 8), "big")
        # Which of its line ends were CRLF isn't known any more, nor what U+FFFD stood for.
        if self.file.has_returns and isinstance(value, ManyLines):
            return None
        if "\ufffd" in value and self.file.encoding != "utf-8":
            return None
        try:
            return value.encode(self.file.encoding, errors="surrogateescape")
        except (UnicodeEncodeError, LookupError):
            return None


_SHOWN = 5
_SWALLOWED = re.compile(r"^[ \t]*(?:INSERT|REPLACE|COPY|CREATE|ALTER|DROP)\s", re.I | re.M)
"""What looks like another statement inside a row that can't be read."""
_CLASH = re.compile(r"\bON\s+(?:CONFLICT|DUPLICATE)\b", re.IGNORECASE)
# A longtext is in no key; MariaDB's JSON is one of this collation.
_EXACT_COLLATION = re.compile(
    r"(?<!longtext CHARACTER SET utf8mb4 )COLLATE[\s=]+\w*_(?:bin|cs)\b", re.IGNORECASE
)
_DEFAULT = re.compile(r"\bDEFAULT\b", re.IGNORECASE)
_CLAUSES = 2_000
"""Characters at a statement's end in which its clauses are looked for."""
_SQLITE_SCHEMAS = ("", "main", "temp")
"""What SQLite can create a table in; INTEGER PRIMARY KEY alone doesn't make a dump SQLite's."""


@dataclass
class _Rows:
    """The rows of one table: a file for each set of columns, and the lines that were left out.

    ``unrun`` are statements that only a server could follow, and ``retyped`` are earlier types of
    columns that rows were written for. ``doubt`` says of which statement rows may be lost, and why.
    ``replaces`` says that a statement changes rows that others brought, and ``zones`` are the time
    zones of their sessions, empty where nobody knows. ``replaced`` counts the values by column
    whose bytes weren't UTF-8, ``digits`` those that are binary, and ``empty``
    those of text that a server takes for null.
    """

    table: Table
    draft: DraftTable
    files: dict[tuple[ColumnDef, ...], RowFile] = field(default_factory=dict)
    left_out: list[int] = field(default_factory=list)
    unrun: list[Statement] = field(default_factory=list)
    retyped: dict[str, str] = field(default_factory=dict)
    doubt: str = ""
    replaces: bool = False
    zones: set[str] = field(default_factory=set)
    replaced: Counter[str] = field(default_factory=Counter)
    digits: Counter[str] = field(default_factory=Counter)
    empty: Counter[str] = field(default_factory=Counter)


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
            tables=note_loose_references(
                engine.connection, settle_foreign_keys(tables), _collations(ddl, tables)
            ),
            skipped=(*ddl.skipped, *skipped),
            notes=(*ddl.notes, *loader.notes),
            cleanup=[engine],
        )


def _collations(
    ddl: DeclaredSchema, tables: Sequence[Table]
) -> Mapping[tuple[str, str, str], Collation]:
    """Return how MySQL compares columns of text, where no column of the dump is compared exactly.

    A dump needn't name its collations: those of the server are loose by default.
    """
    is_loose = ddl.dialect.version_comments and not any(
        _EXACT_COLLATION.search(file.text) for file in ddl.files
    )
    return {
        (table.schema, table.name, column.name): Collation("MySQL's default")
        for table in tables
        for column in table.columns
        if is_loose and column.type == "VARCHAR"
    }


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
        drafts = ddl.script.schema.tables.values()
        self._rows = {
            id(draft): _Rows(by_name[name], draft)
            for draft in drafts
            if (name := ddl.names.get(id(draft))) in by_name
        }

    def read(self, on_progress: OnProgress) -> None:
        """Write the rows of every statement to the files of their tables."""
        schema, known = self._ddl.script.schema, self._ddl.script.rows
        number, total = 0, sum(len(table.statements) for table in known.tables.values())
        living = set(schema.tables.values())
        for draft, table in known.tables.items():
            rows = self._rows.get(id(whole_table(schema, draft))) if draft in living else None
            if rows is None:
                continue
            rows.unrun += table.unrun
            for statement in table.statements:
                if number % 1000 == 0:
                    on_progress(Progress("reading", number, total))
                number += 1
                self._add(rows, draft, statement)
            if len(table.places) > 1:
                rows.doubt = (
                    "It has rows of tables of that name in several schemas. Load the dump into a"
                    " database, and read that."
                )
        if known.lost:
            self.notes.append(
                f"{counted(known.lost.total(), 'statement')} with rows of tables that it doesn't"
                f" create: left out ({listed_up_to(_SHOWN, sorted(known.lost))})."
            )
        self.notes += _note_on_unrun(known.unrun, " in any table")

    def _add(self, rows: _Rows, draft: DraftTable, statement: RowStatement) -> None:
        start, (_, end) = statement.start, statement.statement.rows or (0, 0)
        backslash = self._ddl.dialect.backslash
        text = statement.file.raw or statement.file.text
        is_copy = statement.statement.words[0] == "COPY"
        unstated = frozenset() if is_copy else _unstated(statement, text)
        file = self._file(rows, draft, _without(statement.columns, unstated))
        if file is None:
            lost = (
                text.count("\n", start, end)
                if is_copy
                else count_rows(text, start, end, backslash=backslash)
            )
            rows.left_out += [statement.statement.line] * lost
            return
        tail = max(start, end - _CLAUSES)
        rows.zones.add(statement.zone)
        rows.replaces |= statement.replaces or bool(_CLASH.search(text, tail, end))
        if is_copy:
            lines = self._whole_lines(statement.file.text, start, end, statement)
            rows.left_out += [statement.statement.line] * file.add_copied(lines)
            return
        binary = BinaryValues(statement.file, file.columns, self._ddl.dialect)
        read = 0
        for row in read_rows(text, start, end, literals_of(self._ddl.dialect)):
            if isinstance(row, LeftOut):
                read += row.what != "text"
                self._leave_out(row, rows, statement)
                continue
            read += 1
            if unstated:
                row = [v for n, v in enumerate(row) if n not in unstated or not _is_unstated(v)]
            if len(row) != file.width or (exact := binary.exact(row)) is None:
                rows.left_out.append(statement.statement.line)
            else:
                if self._ddl.dialect.empty_is_null and "" in exact:
                    names = (column.name for column in file.columns)
                    pairs = zip(names, exact, strict=True)
                    rows.empty.update(name for name, value in pairs if value == "")
                    exact = [value or None for value in exact]
                file.add(exact)
        rows.replaced.update(binary.replaced)
        rows.digits.update(binary.digits)
        counted_rows = count_rows(text, start, end, backslash=backslash)
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
        for table in self._swallowed(text, part, rows):
            table.doubt = (
                f"A value in line {line} isn't understood, and the rows behind it may be lost."
                " Write that value as a plain literal, and try again."
            )

    def _swallowed(self, text: str, part: LeftOut, rows: _Rows) -> Iterator[_Rows]:
        """Yield the tables whose statements a row seems to contain, the row's own first."""
        if not _SWALLOWED.search(text, part.start, part.end):
            return
        yield rows
        for match in _SWALLOWED.finditer(text, part.start, part.end):
            inner = inner_header(text, match.end() - 1, part.end, self._ddl.dialect)
            found = None if inner is None else self._rows_of(inner.table)
            if found is not None:
                yield found

    def _rows_of(self, name: ObjectName) -> _Rows | None:
        schema = self._ddl.script.schema
        draft = find_table(schema, name)
        return None if draft is None else self._rows.get(id(whole_table(schema, draft)))

    def _note_cut(self, statement: RowStatement) -> None:
        self.notes.append(
            f"{statement.file.name} was cut off: it ends within the statement of line"
            f" {statement.statement.line}, and what came after it is missing."
        )

    def _file(
        self, rows: _Rows, draft: DraftTable, shape: tuple[ColumnDef, ...] | None
    ) -> RowFile | None:
        """Return the file for rows with these columns; None where the table hasn't one of them."""
        if shape is None:
            return None
        if shape not in rows.files:
            path = self._engine.folder / f"rows{id(rows)}_{len(rows.files)}.tsv"
            path.touch()
            columns = [self._column_now(rows, draft, column) for column in shape]
            rows.files[shape] = RowFile(path, columns)
        return rows.files[shape]

    def _column_now(self, rows: _Rows, draft: DraftTable, column: ColumnDef) -> Column:
        """Return what has become of the column of a table, or of a partition of it."""
        now = next((known for known in draft.columns if known.origin is column.origin), None)
        folding = self._ddl.dialect.folding
        place = None if now is None else find_column(rows.draft.columns, now.name, folding)
        if now is None or place is None:
            return DROPPED
        found = rows.table.columns[place]
        earlier = written(column.type)
        if earlier.lower() != written(now.type).lower():
            rows.retyped[found.name] = earlier
        return found

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
            query = rows_query(rows.files.values())
            names = {column.alias for file in rows.files.values() for column in file.columns}
            zones = SessionZones(self._ddl.dialect, frozenset(rows.zones))
            table = create_typed(connection, query, table, names, zones)
            for file in rows.files.values():
                file.path.unlink()
            _assert_loaded(connection, table, sum(file.rows for file in rows.files.values()))
            if rows.replaces:
                _assert_unreplaced(connection, table)
        replaced = (
            f"{name}: {counted(count, 'value')} with bytes that aren't valid UTF-8, which were"
            " replaced."
            for name, count in rows.replaced.items()
            if name
        )
        digits = (
            f"{name}: {counted(count, 'binary value')}, of which the digits were read."
            for name, count in rows.digits.items()
            if name
        )
        empty = (
            f"{name}: {counted(count, 'empty text')}, which {self._ddl.dialect.title} has as null."
            for name, count in rows.empty.items()
            if name
        )
        retyped = (
            f"{name}: declared as {earlier} when rows were there, so a database may have changed"
            " them."
            for name, earlier in rows.retyped.items()
        )
        shorter = _note_on_defaults(table, list(rows.files.values()))
        unrun = _note_on_unrun(rows.unrun)
        left_out = _note_on_lines(rows.left_out)
        notes = (*table.notes, *replaced, *digits, *empty, *retyped, *shorter, *unrun, *left_out)
        described = connection.execute(f"DESCRIBE {table.relation}").fetchall()
        columns_as_read = tuple(
            replace(column, type=str(type_))
            for column, (_, type_, *_) in zip(table.columns, described, strict=True)
        )
        return replace(table, columns=columns_as_read, notes=notes)


def _unstated(statement: RowStatement, text: str) -> frozenset[int]:
    """Return the places of generated columns, for which an INSERT says DEFAULT."""
    generated = frozenset(n for n, c in enumerate(statement.columns or ()) if c.generated)
    start, end = statement.start, (statement.statement.rows or (0, 0))[1]
    return generated if generated and _DEFAULT.search(text, start, end) else frozenset()


def _without(
    columns: tuple[ColumnDef, ...] | None, places: frozenset[int]
) -> tuple[ColumnDef, ...] | None:
    if columns is None or not places:
        return columns
    return tuple(column for n, column in enumerate(columns) if n not in places)


def _is_unstated(value: str | None) -> bool:
    return isinstance(value, Unstated)


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


def _note_on_defaults(table: Table, files: Sequence[RowFile]) -> Iterator[str]:
    """Yield a note on each column that only some rows name."""
    for column in table.columns:
        unnamed = sum(file.rows for file in files if column not in file.columns)
        if 0 < unnamed < sum(file.rows for file in files):
            yield (
                f"{column.name}: {counted(unnamed, 'row')} without a value for it, which a database"
                " may have a default for; read as null."
            )


def _note_on_unrun(statements: Sequence[Statement], where: str = "") -> list[str]:
    """Return a note on statements that aren't run, and may have changed rows."""
    if not statements:
        return []
    kinds = listed(dict.fromkeys(map(_kind, statements)))
    lines = _numbers([statement.line for statement in statements])
    return [
        f"Its {kinds} statements weren't run, so a database may have other rows{where}:"
        f" line {lines}."
    ]


def _kind(statement: Statement) -> str:
    return "TRIGGER" if "TRIGGER" in statement.words else statement.tokens[0].text


def _note_on_lines(lines: Sequence[int]) -> list[str]:
    if not lines:
        return []
    rows = "1 row was" if len(lines) == 1 else f"{len(lines):,} rows were"
    return [
        f"{rows} left out, because a value isn't a literal, its bytes can't be told or a column is"
        f" missing: line {_numbers(lines)}."
    ]


def _numbers(lines: Sequence[int]) -> str:
    return listed_up_to(_SHOWN, [str(line) for line in dict.fromkeys(lines)])
