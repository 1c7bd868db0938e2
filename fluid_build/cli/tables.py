"""What a profile looks like on a screen."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Literal, TypeAlias

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from fluid_build.cli.built import built, files
from fluid_build.cli.folder_edits import kept_files
from fluid_build.cli.grid import Grid
from fluid_build.cli.next_steps import Step, next_steps
from fluid_build.cli.screen import Part, Query, heading, name, text
from fluid_build.forge import Forged
from fluid_build.modeling.types import is_code
from fluid_build.profiling.profile import ColumnProfile, ForeignKey, Profile, TableProfile
from fluid_build.report.model_document import in_hundredths
from fluid_build.report.notices import Notice
from fluid_build.text import counted

_LONGEST_VALUE = 40
_MOST_OF_A_KIND = 8
_SHOWN_WITH_QUERY = frozenset({"broken key", "orphans", "broken not-null"})
_SHOWN_ELSEWHERE = frozenset({"personal data"})
_KINDS = {
    "duckdb": "DuckDB",
    "sqlite": "SQLite",
    "postgres": "PostgreSQL",
    "files": "files",
    "ddl": "DDL",
}


def summary(profile: Profile, found: Sequence[Notice]) -> Iterator[Part]:
    """A whole profile, the parts that have nothing to say left out."""
    yield title(profile)
    if profile.tables:
        yield from tables(profile)
        yield from relationships(profile)
        yield from meanings(profile)
    yield from reading_notes(profile)
    yield from attention(found)


def forged(
    result: Forged, found: Sequence[Notice], unfit: Sequence[str], steps: Sequence[Step]
) -> Iterator[Part]:
    """What came of a source, in short: figures, what to look at, the files, what to do next.

    ``unfit`` says where kept files contradict the forged ones.
    """
    profile = result.profile
    yield title(profile)
    yield heading("Found")
    yield _indented(text(_in_figures(profile)))
    yield from reading_notes(profile)
    yield from attention(found)
    yield from built(result)
    yield from files(result.files)
    yield from kept_files(result.kept, unfit)
    yield from next_steps(steps)


def _in_figures(profile: Profile) -> str:
    keyed = sum(table.primary_key is not None for table in profile.tables)
    composite = sum(len(table.primary_key or ()) > 1 for table in profile.tables)
    personal = sum(column.pii for table in profile.tables for column in table.columns)
    return (
        f"{counted(keyed, 'primary key')} ({composite:,} composite), "
        f"{counted(len(profile.foreign_keys), 'relationship')}, "
        f"{counted(personal, 'column')} of personal data."
    )


def title(profile: Profile) -> Text:
    """What was read, in one line."""
    columns = sum(len(table.columns) for table in profile.tables)
    parts = [counted(len(profile.tables), "table"), counted(columns, "column")]
    if profile.has_data:
        parts.append(counted(sum(table.rows for table in profile.tables), "row"))
    kind = _KINDS.get(profile.source_kind, profile.source_kind)
    return Text.assemble(
        text(profile.source_name, "bold"), "  ", text(f"{kind} · {' · '.join(parts)}", "dim")
    )


def tables(profile: Profile) -> Iterator[Part]:
    """Each table with its size and its key, and why that key."""
    keyed = sum(table.primary_key is not None for table in profile.tables)
    yield heading("Tables", f"{counted(keyed, 'key')} found")
    grid = _grid(
        ("table", "cyan", "left"),
        ("rows", "", "right"),
        ("cols", "", "right"),
        ("key", "green", "left"),
        ("why", "dim", "left"),
    )
    for table in profile.tables:
        rows = f"{table.rows:,}" if profile.has_data else "-"
        key = ", ".join(table.primary_key) if table.primary_key else "none"
        why = _why(table, profile.has_data)
        grid.add_row(
            name(table.name), text(rows), text(f"{len(table.columns):,}"), text(key), text(why)
        )
    yield _indented(grid)


def _why(table: TableProfile, has_data: bool) -> str:
    """Why the key was chosen, without what is true of every key."""
    if table.primary_key is None and (not table.rows or not has_data):
        return "it holds no row" if has_data else "none is declared"
    if table.primary_key_origin == "declared":
        return "declared"
    reason = table.primary_key_reason.removeprefix("unique and never null, ")
    return reason.replace("the first column", "first column")


def relationships(profile: Profile) -> Iterator[Part]:
    """Each relationship with its confidence and its orphans, those that follow from others last."""
    keys = profile.foreign_keys
    if not keys:
        yield heading("Relationships", "none found")
        return
    dirty = sum(key.evidence.orphans > 0 for key in keys)
    orphans = f", {dirty} with orphans" if dirty else ""
    yield heading("Relationships", f"{len(keys):,} found{orphans}")
    grid = _grid(
        ("from", "", "left"),
        ("to", "", "left"),
        ("confidence", "", "right"),
        ("orphans", "", "right"),
    )
    for key in sorted(keys, key=lambda key: key.implied):
        style = "dim" if key.implied else ""
        to = f"→ {_side(key.to_table, key.to_columns)}{_remark(key)}"
        # A single column is one name; a list of columns may go on in the next line.
        cell = name if len(key.from_columns) == 1 else text
        grid.add_row(
            cell(_side(key.from_table, key.from_columns), style),
            cell(to, style),
            text(_confidence(key), style),
            text(f"{key.evidence.orphans:,}", "yellow")
            if key.evidence.orphans
            else text("-", "dim"),
        )
    yield _indented(grid)


def _side(table: str, columns: Sequence[str]) -> str:
    return f"{table}.{columns[0]}" if len(columns) == 1 else f"{table} ({', '.join(columns)})"


def _confidence(key: ForeignKey) -> str:
    return "declared" if key.origin == "declared" else in_hundredths(key.confidence)


def _remark(key: ForeignKey) -> str:
    if key.implied:
        return " (implied)"
    return " (one to one)" if key.cardinality == "one-to-one" else ""


def meanings(profile: Profile) -> Iterator[Part]:
    """What the columns hold, personal data first."""
    personal = _by_meaning(profile, pii=True)
    if personal:
        count = counted(sum(c.pii for t in profile.tables for c in t.columns), "column")
        yield heading("Personal data", count)
        yield _meaning_grid(personal, "magenta")
    others = _by_meaning(profile, pii=False)
    if others:
        yield heading("Other meanings")
        yield _meaning_grid(others, "")


def _by_meaning(profile: Profile, *, pii: bool) -> list[tuple[str, str]]:
    found = []
    for table in profile.tables:
        columns: dict[str, list[str]] = {}
        for column in table.columns:
            if column.semantic_type is not None and column.pii is pii:
                columns.setdefault(column.semantic_type, []).append(column.name)
        if columns:
            parts = [_meaning(meaning, names) for meaning, names in columns.items()]
            found.append((table.name, " · ".join(parts)))
    return found


def _meaning(meaning: str, columns: Sequence[str]) -> str:
    """Columns and what they hold, which need not be said where the name says it."""
    listed = ", ".join(columns)
    return listed if listed.lower() == meaning else f"{listed} ({meaning})"


def _meaning_grid(rows: Iterable[tuple[str, str]], style: str) -> RenderableType:
    grid = _grid(("table", "cyan", "left"), ("meaning", style, "left"), show_header=False)
    for table, meaning in rows:
        grid.add_row(name(table), text(meaning))
    return _indented(grid)


def reading_notes(profile: Profile) -> Iterator[Part]:
    """How the source was read, and each part of it that could not be."""
    if not profile.notes:
        return
    yield heading("How it was read")
    for note in profile.notes:
        yield _indented(text(note))


def attention(found: Sequence[Notice]) -> Iterator[Part]:
    """What a person should look at; for what the data breaks, with the query that shows it."""
    listed = [notice for notice in found if notice.kind not in _SHOWN_ELSEWHERE]
    if not listed:
        return
    yield heading("Look at first")
    for kind, group in groupby(listed, key=lambda notice: notice.kind):
        of_a_kind = list(group)
        for notice in of_a_kind[:_MOST_OF_A_KIND]:
            yield from _notice(notice)
        left = len(of_a_kind) - _MOST_OF_A_KIND
        if left > 0:
            yield _indented(text(f"and {left:,} more of the kind: {kind}", "dim"))


def _notice(notice: Notice) -> Iterator[Part]:
    subject = _subject(notice)
    yield _indented(
        Text.assemble(text(subject, "yellow"), ": " if subject else "", text(notice.text))
    )
    if notice.sql and notice.kind in _SHOWN_WITH_QUERY:
        yield Query(notice.sql)


def _subject(notice: Notice) -> str:
    return _side(notice.table, notice.columns) if notice.columns else notice.table


def detail(table: TableProfile) -> Iterator[Part]:
    """One table, column by column; no value of a personal column is shown."""
    key = ", ".join(table.primary_key) if table.primary_key else "none"
    yield Text.assemble(
        text(table.name, "bold"), "  ", text(f"{counted(table.rows, 'row')} · key: {key}", "dim")
    )
    for column in table.columns:
        yield heading(column.name, _facts(column))
        yield _indented(_figures(column))


def _facts(column: ColumnProfile) -> str:
    facts = [column.type]
    if column.measured_type and column.measured_type != column.type and not is_code(column):
        facts.append(f"really {column.measured_type}")
    if column.semantic_type and column.semantic_type != column.type.lower():
        facts.append(column.semantic_type)
    if column.pii:
        facts.append("personal, so no value is shown")
    return " · ".join(facts)


def _figures(column: ColumnProfile) -> RenderableType:
    grid = _grid(("figure", "dim", "left"), ("value", "", "left"), show_header=False)
    for figure, value in _named_figures(column):
        grid.add_row(text(figure), text(value))
    return grid


def _named_figures(column: ColumnProfile) -> Iterator[tuple[str, str]]:
    about = "" if column.distinct_exact else "about "
    yield "nulls", f"{column.nulls:,} of {column.rows:,}"
    yield "distinct", f"{about}{column.distinct:,}"
    if column.max_length is not None:
        shortest, longest = column.min_length, column.max_length
        yield "length", f"{longest}" if shortest == longest else f"{shortest} to {longest}"
    if not column.pii:
        if column.min is not None and column.max is not None:
            yield "range", f"{_shortened(column.min)} … {_shortened(column.max)}"
        repeated = [top for top in column.top_values[:5] if top.count > 1]
        if repeated:
            top = (f"{_shortened(top.value)} ({top.count:,})" for top in repeated)
            yield "most often", ", ".join(top)
    for note in column.notes:
        yield "note", note


def _shortened(value: str) -> str:
    return value if len(value) <= _LONGEST_VALUE else value[: _LONGEST_VALUE - 1] + "…"


_Justify: TypeAlias = Literal["left", "right"]


def _grid(*columns: tuple[str, str, _Justify], show_header: bool = True) -> Grid:
    grid = Grid(show_header=show_header)
    for title, style, justify in columns:
        grid.add_column(title, style=style, justify=justify)
    return grid


def _indented(part: RenderableType) -> Padding:
    return Padding(part, (0, 0, 0, 2))
