"""What a warehouse needs before and in the next load, by what a model writes and what is there."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from fluid_build.evolution.warehouse import Relation
from fluid_build.modeling.element import ModelPart, SourceColumn
from fluid_build.modeling.element_columns import element_tables
from fluid_build.modeling.evolution import Evolution
from fluid_build.modeling.logical import LogicalModel
from fluid_build.text import counted, listed
from fluid_build.transform.dbt.dialects import TargetDialect
from fluid_build.transform.dbt.migrations import shown_type
from fluid_build.transform.dbt.project import hash_strategy
from fluid_build.transform.plan.elements import Build, TransformPlan
from fluid_build.transform.plan.stateful import StoredColumn, stored_columns

StepKind = Literal[
    "create",
    "new_satellite",
    "add_column",
    "widen_column",
    "retire_column",
    "drop_column",
    "empty_column",
    "retire_relation",
    "replace",
    "leave",
    "load",
]
_NOTHING_EVOLVED = Evolution()


class Mark(StrEnum):
    """Whether a step may be taken without a thought."""

    SAFE = "safe"
    NEEDS_DECISION = "needs_decision"
    DESTROYS = "destroys"


class Step(ModelPart):
    """A change of a warehouse.

    ``column`` and its ``type``, by DuckDB's name, are those that it's about. ``rows`` are those
    that it writes, None where that isn't known before. ``sentence`` has no full stop.
    """

    kind: StepKind
    relation: str = ""
    column: str = ""
    type: str = ""
    mark: Mark = Mark.SAFE
    rows: int | None = None
    sentence: str


@dataclass(frozen=True, slots=True)
class Written:
    """What a model writes to a warehouse.

    ``stored`` has the columns of the relations that remember, ``satellites`` are those of a vault.
    ``row_tables`` are the tables of relations that have a row for each of theirs, and
    ``instead_of`` the links that others go on from.
    """

    plan: TransformPlan
    stored: Mapping[str, tuple[StoredColumn, ...]]
    evolution: Evolution
    satellites: frozenset[str]
    row_tables: Mapping[str, str]
    instead_of: Mapping[str, str]


def written_by(model: LogicalModel, plan: TransformPlan) -> Written:
    """Return what a model writes, by its plan."""
    tables, vault, star = element_tables(model), model.dv2, model.dimensional
    of_rows = set(tables)
    if vault is not None:
        parts = (vault.satellites, vault.reference_tables, vault.keyless_tables)
        of_rows = {part.name for each in parts for part in each}
    elif star is not None:
        of_rows = {
            fact.name for fact in star.facts if not fact.snapshot_of and fact.service_days is None
        }
    return Written(
        plan=plan,
        stored=stored_columns(plan, hash_strategy(model)),
        evolution=model.evolution or _NOTHING_EVOLVED,
        satellites=frozenset(each.name for each in vault.satellites) if vault else frozenset(),
        row_tables={name: tables[name] for name in of_rows & tables.keys()},
        instead_of={
            link.name: link.instead_of
            for link in (vault.links if vault else ())
            if link.instead_of is not None
        },
    )


def warehouse_steps(
    before: Written,
    after: Written,
    there: Mapping[str, Relation],
    rows: Mapping[str, int],
    dialect: TargetDialect,
    *,
    known: Evolution,
) -> tuple[Step, ...]:
    """Return what a warehouse needs to hold what a model writes; none where it's loaded as ever.

    ``before`` is what the folder's present model writes. The warehouse knows what the last deployed
    model retired: ``known``. ``there`` are the warehouse's relations, ``rows`` the number of
    rows of each table of the source.
    """
    steps = [
        *_steps_of_relations(after, there, rows, dialect),
        *_retirements(known, after, there),
        *_losses(before, after, there),
        *_emptied(known, after, there, rows),
    ]
    return (*steps, _load(after, rows)) if steps else ()


def _steps_of_relations(
    after: Written,
    there: Mapping[str, Relation],
    rows: Mapping[str, int],
    dialect: TargetDialect,
) -> Iterator[Step]:
    for build in after.plan.designed:
        relation = there.get(build.name)
        if relation is None:
            if build.layer == "deliveries" and there:
                yield _first_delivery(build, rows)
            else:
                yield _creation(build.name, after, rows, is_first=not there)
        elif not relation.is_view:
            yield from _steps_of_columns(build.name, after, relation, dialect)


def _creation(name: str, after: Written, rows: Mapping[str, int], *, is_first: bool) -> Step:
    count = rows.get(after.row_tables.get(name, ""))
    is_satellite = name in after.satellites and not is_first
    more = "" if count is None else f" with {counted(count, 'row')}"
    return Step(
        kind="new_satellite" if is_satellite else "create",
        relation=name,
        rows=count,
        sentence=f"{'new satellite' if is_satellite else 'create'} {name}{more}",
    )


def _first_delivery(build: Build, rows: Mapping[str, int]) -> Step:
    (table,) = build.mapped_source_tables
    count = rows.get(table)
    delivered = "" if count is None else f"; the source has {counted(count, 'row')} now"
    return Step(
        kind="create",
        relation=build.name,
        rows=count,
        sentence=(
            f"create {build.name}: {table} has to be delivered whole once, and isn't loaded before"
            f"{delivered}"
        ),
    )


def _steps_of_columns(
    name: str, after: Written, relation: Relation, dialect: TargetDialect
) -> Iterator[Step]:
    called = after.plan.column_names.replaced
    shown = {column.casefold(): _compact(type_) for column, type_ in relation.columns.items()}
    retyped = set(after.evolution.retyped_columns)
    for column in after.stored.get(name, ()):
        here = shown.get(called.get(column.name, column.name).casefold())
        wanted = shown_type(dialect.type(column.type), dialect.target)
        place = f"{name}.{column.name}"
        if here is None:
            kind: StepKind = "add_column"
            sentence = f"add column {place} ({column.type})"
        elif retyped.intersection(column.source_columns) and wanted != here:
            kind, sentence = "widen_column", f"widen {place} to {column.type}"
        else:
            continue
        yield Step(
            kind=kind, relation=name, column=column.name, type=column.type, sentence=sentence
        )


def _compact(type_: str) -> str:
    """Return a database's name of a type as ``shown_type`` spells it."""
    return type_.lower().replace(" ", "")


def _retirements(known: Evolution, after: Written, there: Mapping[str, Relation]) -> Iterator[Step]:
    """Yield what is loaded no more, and is news to the warehouse."""
    tables = set(after.evolution.retired_tables) - set(known.retired_tables)
    columns = set(after.evolution.retired_columns) - set(known.retired_columns)
    for name, stored in after.stored.items():
        if name not in there:
            continue
        build = after.plan.build(name)
        if build.is_retired:
            if tables.intersection(build.mapped_source_tables):
                sentence = f"stop loading {name}: its rows stay as they are"
                yield Step(kind="retire_relation", relation=name, sentence=sentence)
            continue
        for column in stored:
            if _is_of(column, columns):
                yield Step(
                    kind="retire_column",
                    relation=name,
                    column=column.name,
                    sentence=f"stop loading {name}.{column.name}: rows keep what they have",
                )


def _emptied(
    known: Evolution, after: Written, there: Mapping[str, Relation], rows: Mapping[str, int]
) -> Iterator[Step]:
    """Yield the columns in which rows that are made again lose what the source drops."""
    gone = set(after.evolution.retired_columns) - set(known.retired_columns)
    for build in after.plan.designed:
        is_made_again = build.materialization == "table" and build.name not in after.stored
        if not is_made_again or build.name not in there:
            continue
        count = rows.get(after.row_tables.get(build.name, ""))
        in_rows = "all rows" if count is None else counted(count, "row")
        for column in build.columns:
            if not column.source_columns or not gone.issuperset(column.source_columns):
                continue
            is_key = "foreign-key" in column.tags
            becomes = "leads to the unknown member" if is_key else "becomes NULL"
            yield Step(
                kind="empty_column",
                relation=build.name,
                column=column.name,
                mark=Mark.DESTROYS,
                rows=count,
                sentence=f"{build.name}.{column.name} {becomes} in {in_rows}",
            )


def _is_of(column: StoredColumn, columns: set[SourceColumn]) -> bool:
    return (
        column.before == ""
        and len(column.source_columns) == 1
        and (column.source_columns[0] in columns)
    )


def _losses(before: Written, after: Written, there: Mapping[str, Relation]) -> Iterator[Step]:
    """Yield what relations that remember would lose, or keep without anybody loading it."""
    builds = {build.name: build for build in after.plan.designed}
    for was in before.plan.designed:
        name, build = was.name, builds.get(was.name)
        if name not in there or there[name].is_view:
            continue
        if name not in before.stored and build is not None:
            if build.layer == "flat":
                yield from _dropped(was, build, there[name])
            continue
        if build is not None and was.follows_source:
            continue
        if build is None:
            sentence = f"leave {name}: the model no longer has it, and its rows stay"
            yield Step(kind="leave", relation=name, sentence=sentence)
            continue
        why = _lost(was, build, remembers=name in after.stored)
        if why:
            yield Step(
                kind="replace",
                relation=name,
                mark=Mark.DESTROYS,
                sentence=f"replace {name}: {why}, so what it remembers is lost",
            )


def _dropped(before: Build, after: Build, there: Relation) -> Iterator[Step]:
    """Yield the columns that a relation without history no longer has after a load."""
    left = {column.name for column in after.columns}
    for column in before.columns:
        if column.name not in left and column.name in there.columns:
            yield Step(
                kind="drop_column",
                relation=after.name,
                column=column.name,
                mark=Mark.DESTROYS,
                sentence=f"drop {after.name}.{column.name}: its values are only here",
            )


def _lost(before: Build, after: Build, *, remembers: bool) -> str:
    """Return why a relation can't keep its history; "" where it keeps it."""
    if not remembers:
        return "it's built anew from today's rows"
    if before.key != after.key:
        return f"its rows are told apart by {listed(after.key) or 'nothing'} now"
    gone = {column.name for column in before.columns} - {column.name for column in after.columns}
    is_rebuilt = after.materialization != "incremental"
    return f"it's rebuilt without {listed(sorted(gone))}" if gone and is_rebuilt else ""


def _load(after: Written, rows: Mapping[str, int]) -> Step:
    read = [rows[source.table] for source in after.plan.sources if source.table in rows]
    return Step(
        kind="load",
        sentence=f"load: reads {counted(sum(read), 'row')} of {counted(len(read), 'table')}",
    )
