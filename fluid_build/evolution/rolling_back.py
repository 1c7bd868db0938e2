"""Taking a warehouse and its folder back to an earlier deployment.

Loads only insert, and date what they insert, so what later ones added is what is dated after the
deployment: it's deleted, and relations and columns that came later are dropped, all in one
transaction. What each load makes anew stays until the next one. What nothing can bring back is
named.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from pathlib import Path

from fluid_build.artifacts import restore_interrupted, write_artifacts
from fluid_build.errors import UsageError, WarehouseError
from fluid_build.evolution.deployments import (
    KEPT_FOLDERS,
    Deployment,
    RelationState,
    finished,
    folder_of,
    read_deployments,
    record_undone,
)
from fluid_build.evolution.folder_archive import product_files, unpacked
from fluid_build.evolution.kept_versions import KEPT_KEYS
from fluid_build.evolution.warehouse import Relation, Warehouse, is_plain_type
from fluid_build.modeling.dimensional.facts.snapshots import SNAPSHOT_DATE
from fluid_build.sources.schemas import MIGRATIONS
from fluid_build.sources.sql import quote
from fluid_build.text import listed
from fluid_build.transform.plan.elements import Build, TransformPlan
from fluid_build.transform.proof.manifest import MANIFEST_FILE, Manifest, digest, read_manifest
from fluid_build.verification import ForgedFolder

_VALID_FROM = "valid_from"
_OF_VERSIONS = frozenset({_VALID_FROM, "valid_to", "is_current", "is_deleted"})
"""Columns of a dimension that has every version of its members."""


@dataclass(frozen=True, slots=True)
class RelationUndo:
    """What a rollback does to a relation.

    ``rows`` are those that go, of which ``dated_by`` and ``bound`` say which they are. A relation
    that came later ``is_dropped`` with all of its rows. ``columns`` came later and are dropped;
    ``retyped`` are the types that columns get back.
    """

    relation: str
    rows: int
    is_dropped: bool = False
    is_view: bool = False
    dated_by: str = ""
    bound: str = ""
    columns: tuple[str, ...] = ()
    retyped: Mapping[str, str] | None = None

    @property
    def changes(self) -> bool:
        """Whether anything of the relation goes or changes."""
        return bool(self.rows or self.is_dropped or self.columns or self.retyped)


@dataclass(frozen=True, slots=True)
class Rollback:
    """What taking a warehouse back to a deployment does, before it's done.

    ``undone`` are the deployments that go, and ``other_loads`` the days of what dbt alone loaded
    after the target, which goes too. ``rebuilt`` are the other relations that each load
    makes anew: they stay until the next one, which has the folder of then. ``lasting`` are
    sentences on what is lost or can't be taken back, ``files`` the folder as it was, and ``edited``
    its files that somebody edited since the last deployment, which a rollback replaces.
    """

    target: Deployment
    undone: tuple[Deployment, ...]
    relations: tuple[RelationUndo, ...]
    rebuilt: tuple[str, ...]
    lasting: tuple[str, ...]
    files: Mapping[str, bytes]
    edited: tuple[str, ...]
    other_loads: tuple[date, ...] = ()

    @property
    def rows(self) -> int:
        """The rows that go."""
        return sum(each.rows for each in self.relations)

    @property
    def needs_force(self) -> bool:
        """Whether something is lost or left that a user has to accept."""
        return bool(self.lasting or self.edited)


def plan_rollback(warehouse: Warehouse, forged: ForgedFolder, to: int | None = None) -> Rollback:
    """Return what goes back to a deployment, by default the one before the last, would do.

    Raises UsageError where there is no such deployment, WarehouseError where its folder is gone.
    """
    deployments = read_deployments(warehouse)
    target = _target(deployments, to)
    content = folder_of(warehouse, target.number)
    if content is None or target.relations is None:
        raise WarehouseError(
            f"The warehouse has no folder of deployment {target.number}: those of the last"
            f" {KEPT_FOLDERS} that ended well stay.",
            hint="Choose a later one: `fluid rollback DIR --list`.",
        )
    files = unpacked(content)
    there = warehouse.relations()
    undos = _undos(warehouse, forged.plan, target, there)
    relations = tuple(each for each in undos if each.changes)
    changed = {each.relation for each in relations}
    rebuilt = _rebuilt(forged.plan, target, deployments, there)
    return Rollback(
        target=target,
        undone=tuple(each for each in deployments if each.number > target.number),
        relations=relations,
        rebuilt=tuple(name for name in rebuilt if name not in changed),
        lasting=tuple(_lasting(forged.plan, target, deployments, there)),
        files=files,
        edited=tuple(_edited(warehouse, forged, deployments)),
        other_loads=other_loads(warehouse, relations, deployments),
    )


def roll_back(warehouse: Warehouse, rollback: Rollback) -> None:
    """Take a warehouse back in one transaction: it raises WarehouseError, and changes nothing."""
    with warehouse.transaction():
        # Views first: they read tables.
        for undo in sorted(rollback.relations, key=lambda each: not each.is_view):
            for statement in _statements(warehouse, undo):
                warehouse.query(statement)
        if MIGRATIONS in warehouse.relations():
            warehouse.query(
                f"DELETE FROM {warehouse.named(MIGRATIONS)} WHERE applied_at > $1",
                [rollback.target.finished_at],
            )
        warehouse.query(f"DROP TABLE IF EXISTS {warehouse.named(KEPT_KEYS)}")
        record_undone(warehouse, rollback.target.number)


def restore_folder(folder: Path, rollback: Rollback) -> None:
    """Put a folder back as it was, all of it or nothing; files that no forge wrote stay."""
    restore_interrupted(folder)
    present = read_manifest(folder)
    left_over = [
        name
        for name in product_files(folder, present)
        if name not in rollback.files and name in present.files
    ]
    write_artifacts(folder, rollback.files, remove=left_over)


def _target(deployments: Sequence[Deployment], to: int | None) -> Deployment:
    done = finished(deployments)
    if to is None:
        # After one that failed, the last one that ended well is the one before.
        is_last = bool(done) and deployments[-1].number == done[-1].number
        candidates = done[:-1] if is_last else done
        if not candidates:
            raise UsageError(
                "There is no earlier deployment to go back to.",
                hint="`fluid rollback DIR --list` shows what was applied.",
            )
        return candidates[-1]
    for each in done:
        if each.number == to:
            return each
    known = ", ".join(str(each.number) for each in done) or "none"
    raise UsageError(
        f"There is no deployment {to} to go back to.", hint=f"Those that ended well: {known}."
    )


def _undos(
    warehouse: Warehouse,
    plan: TransformPlan,
    target: Deployment,
    there: Mapping[str, Relation],
) -> Iterator[RelationUndo]:
    """Yield what happens to each relation; those that no forge planned are left alone."""
    earlier = target.relations or {}
    load_column = plan.column_names.load_date
    kept = _kept_deliveries(plan)
    quarantines = {build.name for build in plan.quarantines}
    for name in sorted({*earlier, *(build.name for build in plan.lasting)} & there.keys()):
        relation, before = there[name], earlier.get(name)
        if name in kept and before is None:
            continue
        if name in quarantines and before is None:
            # It stays, without rows: the views of the staging read it.
            before = RelationState(rows=0, columns=dict(relation.columns))
        if before is None:
            rows = 0 if relation.is_view else _count(warehouse, name)
            yield RelationUndo(name, rows, is_dropped=True, is_view=relation.is_view)
        elif not relation.is_view:
            undo = _undo(warehouse, relation, before, target.load_date, load_column)
            yield replace(undo, rows=0) if name in kept else undo


def _kept_deliveries(plan: TransformPlan) -> frozenset[str]:
    """Return the relations of what was delivered in parts: nobody delivers it again."""
    return frozenset(build.name for build in plan.builds if build.layer == "deliveries")


def _undo(
    warehouse: Warehouse,
    relation: Relation,
    before: RelationState,
    load_date: datetime,
    load_column: str,
) -> RelationUndo:
    dated_by, bound = "", ""
    moment = f"TIMESTAMP '{load_date:%Y-%m-%d %H:%M:%S.%f}'"
    if load_column in relation.columns:
        dated_by, bound = load_column, moment
    elif relation.columns.keys() >= _OF_VERSIONS:
        # The next load makes a dimension's later versions anew, with dates and keys of their own.
        dated_by, bound = _VALID_FROM, moment
    elif SNAPSHOT_DATE in relation.columns:
        dated_by, bound = SNAPSHOT_DATE, f"CAST({moment} AS DATE)"
    if not dated_by:
        return RelationUndo(relation.name, 0)
    return RelationUndo(
        relation.name,
        _count(warehouse, relation.name, f"{quote(dated_by)} > {bound}"),
        dated_by=dated_by,
        bound=bound,
        columns=tuple(name for name in relation.columns if name not in before.columns),
        retyped={
            name: type_
            for name, type_ in before.columns.items()
            if relation.columns.get(name, type_) != type_ and is_plain_type(type_)
        },
    )


def other_loads(
    warehouse: Warehouse, undos: Sequence[RelationUndo], deployments: Sequence[Deployment]
) -> tuple[date, ...]:
    """Return the days of the rows that go and that no deployment loaded: a plain dbt build did."""
    moments = {each.load_date for each in deployments}
    days = {moment.date() for moment in moments}
    found = set()
    for undo in undos:
        if not undo.rows or undo.dated_by in {"", _VALID_FROM}:
            continue
        loaded = warehouse.query(
            f"SELECT DISTINCT {quote(undo.dated_by)} FROM {warehouse.named(undo.relation)}"
            f" WHERE {quote(undo.dated_by)} > {undo.bound}"
        )
        for (moment,) in loaded:
            if isinstance(moment, datetime):
                found |= set() if moment in moments else {moment.date()}
            elif isinstance(moment, date):
                found |= {moment} - days
    return tuple(sorted(found))


def _statements(warehouse: Warehouse, undo: RelationUndo) -> Iterator[str]:
    name = warehouse.named(undo.relation)
    if undo.is_dropped:
        yield f"DROP {'VIEW' if undo.is_view else 'TABLE'} {name}"
        return
    # DuckDB changes a table's columns only before its rows in a transaction; what later rows have
    # of a wider type needn't fit, and goes.
    later = f"{quote(undo.dated_by)} > {undo.bound}"
    for column in undo.columns:
        yield f"ALTER TABLE {name} DROP COLUMN {quote(column)}"
    for column, type_ in (undo.retyped or {}).items():
        value = f"CASE WHEN {later} THEN NULL ELSE CAST({quote(column)} AS {type_}) END"
        yield f"ALTER TABLE {name} ALTER COLUMN {quote(column)} TYPE {type_} USING {value}"
    if undo.rows:
        yield f"DELETE FROM {name} WHERE {later}"


def _rebuilt(
    plan: TransformPlan,
    target: Deployment,
    deployments: Sequence[Deployment],
    there: Mapping[str, Relation],
) -> Iterator[str]:
    """Yield the relations of a deployment that later loads have made anew.

    What is loaded no more is as it was.
    """
    if deployments[-1].number > target.number:
        for build in plan.published:
            is_loaded = build.name in (target.relations or {}) and not build.is_retired
            if is_loaded and _is_replaced(build, there, plan):
                yield build.name


def _lasting(
    plan: TransformPlan,
    target: Deployment,
    deployments: Sequence[Deployment],
    there: Mapping[str, Relation],
) -> Iterator[str]:
    """Yield what a rollback can't take back, each as a sentence."""
    later = [each for each in deployments if each.number > target.number]
    delivered = sorted(_kept_deliveries(plan) & there.keys()) if later else []
    if delivered:
        yield (
            f"{listed(delivered)}: what later loads brought stays, since the source doesn't deliver"
            " it again, and the next load has it"
        )
    snapshots = [build.name for build in plan.published if build.replaced]
    same_day = [each for each in later if each.load_date.date() == target.load_date.date()]
    for name in snapshots if same_day else []:
        if name in there:
            yield f"{name} keeps the day of the deployment as a later load of that day left it"
    for name, state in (target.relations or {}).items():
        if name not in there:
            yield f"{name} is gone, and with it the {state.rows or 0:,} rows that it had"
        elif lost := [column for column in state.columns if column not in there[name].columns]:
            yield f"{name} no longer has what {', '.join(lost)} held"
        else:
            for column, type_ in state.columns.items():
                if there[name].columns[column] != type_ and not is_plain_type(type_):
                    yield f"{name}.{column} keeps the type {there[name].columns[column]}"


def _is_replaced(build: Build, there: Mapping[str, Relation], plan: TransformPlan) -> bool:
    """Return whether each load replaces a relation as a whole."""
    relation = there.get(build.name)
    if relation is None or relation.is_view:
        return False
    dated = {plan.column_names.load_date, SNAPSHOT_DATE} & relation.columns.keys()
    return build.materialization == "table" or not dated


def _edited(
    warehouse: Warehouse, forged: ForgedFolder, deployments: Sequence[Deployment]
) -> Iterator[str]:
    """Yield the files that somebody edited, and that no deployment has as they are."""
    done = finished(deployments)
    content = folder_of(warehouse, done[-1].number) if done else None
    deployed = {} if content is None else unpacked(content)
    for name, text in sorted(product_files(forged.folder, forged.manifest).items()):
        if not _is_written(forged.manifest, forged.folder, name) and deployed.get(name) != text:
            yield name


def _is_written(manifest: Manifest, folder: Path, name: str) -> bool:
    """Return whether a file is as a forge or a verification wrote it."""
    written = manifest.files.get(name)
    return written is None or name == MANIFEST_FILE or digest(folder / name) == written


def _count(warehouse: Warehouse, relation: str, condition: str = "TRUE") -> int:
    ((rows,),) = warehouse.query(
        f"SELECT count(*) FROM {warehouse.named(relation)} WHERE {condition}"
    )
    return int(str(rows))
