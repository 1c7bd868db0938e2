"""The statements of some files, applied to a schema one by one."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import NamedTuple

from fluid_build import limits
from fluid_build.errors import SourceUnreadableError
from fluid_build.sources.base import Skipped
from fluid_build.sources.sql_text.ddl.create import table_name
from fluid_build.sources.sql_text.ddl.dialects import Dialect
from fluid_build.sources.sql_text.ddl.files import SqlFile
from fluid_build.sources.sql_text.ddl.reader import Reader, UnreadableError
from fluid_build.sources.sql_text.ddl.reading import apply, has_known_opening, note_absence
from fluid_build.sources.sql_text.ddl.row_statements import ScriptRows, follow, follow_waiting
from fluid_build.sources.sql_text.ddl.schema import AbsentTableError, Schema
from fluid_build.sources.sql_text.ddl.statements import Statement, split

_MOST_SHOWN = 200


class Waiting(NamedTuple):
    """A statement about a table that isn't there yet: the schema that was current, and its name.

    The name is without case, as tables are found by those that differ in case alone.
    """

    number: int
    statement: Statement
    current: str
    table: str


@dataclass
class Script:
    """What some files say: the schema they add up to, and a count of their statements.

    ``faults`` are (number of the statement, sentence); ``waiting`` are the statements about tables
    that aren't there yet.
    """

    schema: Schema
    several_files: bool
    statements: int = 0
    unread: int = 0
    creates: int = 0
    columns: int = 0
    faults: list[tuple[int, str]] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    waiting: list[Waiting] = field(default_factory=list)
    rows: ScriptRows = field(default_factory=ScriptRows)
    has_rows: bool = False


def read_script(files: Sequence[SqlFile], dialect: Dialect) -> Script:
    """Read the statements of some files, in order; SourceUnreadableError for too many tables."""
    script = Script(Schema(dialect), several_files=len(files) > 1)
    for file in files:
        script.rows.zone = ""
        for statement in split(file.text, dialect, file.name):
            script.statements += 1
            script.creates += _creates_table(statement)
            if script.creates > limits.DDL_TABLES.value:
                raise _too_many(file, "tables", limits.DDL_TABLES)
            known = len(script.schema.tables)
            _apply(script, script.statements, statement)
            if len(script.schema.tables) > known:
                script.columns += len(next(reversed(script.schema.tables.values())).columns)
                if script.columns > limits.DDL_COLUMNS.value:
                    raise _too_many(file, "columns", limits.DDL_COLUMNS)
            script.has_rows |= statement.rows is not None
            follow(script.rows, file, statement, script.schema)
    _apply_waiting(script)
    follow_waiting(script.rows, script.schema)
    return script


def _apply(script: Script, number: int, statement: Statement) -> None:
    place = f"{statement.file}, line" if script.several_files else "Line"
    place += f" {statement.line}"
    try:
        faults = apply(statement, script.schema)
    except AbsentTableError as absence:
        waiting = Waiting(number, statement, script.schema.current, str(absence).casefold())
        script.waiting.append(waiting)
    except UnreadableError as error:
        script.unread += 1
        # Among rows, what begins like no statement may be a value.
        is_shown = not script.has_rows or has_known_opening(statement)
        shown = f": {statement.opening}" if is_shown else "."
        sentence = f"{place} could not be read ({error}){shown}"
        script.faults.append((number, sentence))
        if _creates_table(statement):
            script.skipped += _skip_table(statement, str(error), script.schema.dialect)
    else:
        script.faults += [(number, f"{place} was read in part: {fault}.") for fault in faults]


def _apply_waiting(script: Script) -> None:
    """Apply the statements that waited for a table, so that the order of files doesn't matter.

    They are gone through in rounds, as long as one has an effect. After the first, only those are
    tried whose table came or went: each of thousands of renames may be what the next one waits for.
    """
    schema = script.schema
    schema.is_late = True
    waiting, script.waiting = script.waiting, []
    left = dict(enumerate(waiting))
    by_table: dict[str, list[int]] = {}
    tries = [(0, place) for place in left]
    last = 0
    while tries and tries[0][0] <= last + 1:
        turn, place = heappop(tries)
        number, statement, schema.current, _ = left[place]
        schema.moved.clear()
        _apply(script, number, statement)
        for other in (other for name in schema.moved for other in by_table.pop(name, ())):
            heappush(tries, (turn + (other < place), other))
        if script.waiting:
            left[place] = script.waiting.pop()
            by_table.setdefault(left[place].table, []).append(place)
        else:
            del left[place]
            last = turn
    for _, statement, schema.current, _ in left.values():
        note_absence(statement, schema)


def _creates_table(statement: Statement) -> bool:
    return statement.words[0] == "CREATE" and "TABLE" in statement.words


def _too_many(file: SqlFile, what: str, limit: limits.Limit) -> SourceUnreadableError:
    return SourceUnreadableError(
        f"{file.name} declares more than {limit.value:,} {what}.",
        hint=f"Read a part of it. {limit.how_to_raise}",
    )


def _skip_table(statement: Statement, reason: str, dialect: Dialect) -> Iterator[Skipped]:
    """Yield the table of a CREATE TABLE that couldn't be read, if at least its name can."""
    try:
        name = table_name(Reader(statement.tokens, dialect)).name.text
    except UnreadableError:
        return
    yield Skipped(name, f"Line {statement.line} could not be read: {reason}.")


def count_statements(script: Script) -> str:
    """Return one sentence that accounts for every statement."""
    irrelevant = script.schema.irrelevant
    passed = irrelevant.total()
    structural = script.statements - passed - script.unread
    parts = [f"{structural} {'declares' if structural == 1 else 'declare'} structure"]
    if passed:
        parts.append(f"{passed} {'does' if passed == 1 else 'do'} not ({_tally(irrelevant)})")
    if script.unread:
        parts.append(f"{script.unread} could not be read")
    noun = "statement" if script.statements == 1 else "statements"
    return f"{script.statements} {noun}: {', '.join(parts)}."


def _tally(counts: Counter[str]) -> str:
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{count} {kind}" for kind, count in ranked)


def list_faults(script: Script) -> list[str]:
    """Return a sentence for each statement that couldn't be read, whole or in part, in order."""
    sentences = [sentence for _, sentence in sorted(script.faults)]
    if len(sentences) > _MOST_SHOWN:
        return [*sentences[:_MOST_SHOWN], f"{len(sentences) - _MOST_SHOWN} more like these."]
    return sentences
