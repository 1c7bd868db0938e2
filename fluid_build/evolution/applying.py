"""Bringing a folder to its warehouse: forge, migrate, load, prove, record.

Each step leaves what the next run continues: forging is a function of the source, migrations find
out what is missing, and loads add what isn't there. A deployment is only recorded as done when the
warehouse was proven against the source and held every row that it had before.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, TypeAlias

from pydantic import ValidationError

from fluid_build.changes import ChangeKind, Effect, SourceChange
from fluid_build.contract.differences.differing import highest_version
from fluid_build.contract.read.files import CONTRACT_FILE, read_contract
from fluid_build.contract.write.exposes import DBT_FOLDER
from fluid_build.errors import DbtError, UsageError, VersionsLostError, WarehouseError
from fluid_build.evolution.changed_builds import changed_selection, unloaded_tables
from fluid_build.evolution.comparing import read_warehouse, states_of
from fluid_build.evolution.deployments import (
    Deployment,
    RelationState,
    Result,
    finished,
    folder_of,
    interrupted,
    make_table,
    read_deployments,
    record_failure,
    record_reason,
    record_result,
    record_start,
    undone_versions,
)
from fluid_build.evolution.folder_archive import archived
from fluid_build.evolution.kept_versions import Kept, check_kept, forget, take
from fluid_build.evolution.locations import locked, opened
from fluid_build.evolution.migrating import Written, warehouse_steps, written_by
from fluid_build.evolution.planning import (
    DeploymentPlan,
    check_decided,
    check_still_true,
    model_changes,
)
from fluid_build.evolution.skipped_relations import (
    STOPPED,
    gathering_relations,
    second_build,
    with_second,
)
from fluid_build.evolution.warehouse import Location, Lock, Relation, Warehouse
from fluid_build.forging import MODEL_FILE, PROFILE_FILE, Forged, ForgeOptions, forge
from fluid_build.forging.table_choice import check_same_choice
from fluid_build.profiling.profile import Profile
from fluid_build.progress import OnProgress, Progress, ignore
from fluid_build.sources.base import Source
from fluid_build.sources.schemas import DEPLOYMENTS, MIGRATIONS
from fluid_build.sources.sql import quote
from fluid_build.temporary import owned_folder
from fluid_build.text import listed, listed_up_to
from fluid_build.transform.dbt.dialects import dialect_of
from fluid_build.transform.dbt.guard_macros import ALLOWED
from fluid_build.transform.dbt.migrations import FOLDER as MIGRATION_FILES
from fluid_build.transform.dbt.running import DbtNode, DbtResult, run_dbt, run_operation
from fluid_build.transform.plan.elements import TransformPlan
from fluid_build.transform.proof.manifest import digest
from fluid_build.verification import (
    ForgedFolder,
    WarehouseVerified,
    read_folder,
    verify_warehouse,
)
from fluid_build.verification.present_source import read_source

Builds: TypeAlias = Literal["all", "changed"]
"""What dbt builds: everything, or what changed since the last deployment and depends on that."""
Step: TypeAlias = Literal["forged", "migrated", "loaded", "kept", "proven", "recorded"]
STEPS: tuple[Step, ...] = ("forged", "migrated", "loaded", "kept", "proven", "recorded")
"""What an apply does, in order."""
_MOST_NAMED = 3
"""Names in a reason that a plan tells in one line."""
OnStep: TypeAlias = Callable[[Step], None]


@dataclass(frozen=True, slots=True)
class ApplyRequest:
    """What to apply, and where.

    ``options`` are those of the forge, with the folder's decisions. ``environment`` leads dbt to
    sources that aren't where the project looks for them. Where ``accepts_losses``, what an
    unfinished apply lost isn't asked for again. Deliveries of the tables ``may_lose`` are loaded
    however many keys they lack. Of a ``plan``, only what it says is done, and nothing where it's
    outdated. ``shown_as`` is how the user names the folder. With ``builds`` "changed", everything
    is built all the same where the last deployment didn't end well, or was taken back.
    """

    folder: Path
    location: Location
    options: ForgeOptions
    environment: Mapping[str, str] = field(default_factory=dict)
    load_date: datetime | None = None
    accepts_losses: bool = False
    may_lose: tuple[str, ...] = ()
    plan: DeploymentPlan | None = None
    shown_as: str = ""
    builds: Builds = "all"


@dataclass(frozen=True, slots=True)
class Applied:
    """What was applied. ``verified`` is None where dbt didn't load everything that it should.

    ``behind`` are tables that weren't loaded and have other rows in the source by now.

    ``source`` is what changed in the source that somebody should look at, ``model`` what changed in
    the model and ``warehouse`` in the warehouse, as a plan says it; of a warehouse that was empty,
    nothing. ``migrations`` are the files of the project whose
    statements it lacked.
    ``continued`` is an unfinished deployment that this one went on with. ``version_before`` is that
    of the contract of the last one that ended well, where this one has another.
    """

    number: int
    load_date: datetime
    forged: Forged
    migrations: tuple[str, ...]
    dbt: DbtResult
    kept_rows: int
    rows: int
    continued: Deployment | None = None
    version_before: str = ""
    verified: WarehouseVerified | None = None
    source: tuple[str, ...] = ()
    model: tuple[str, ...] = ()
    warehouse: tuple[str, ...] = ()
    behind: tuple[str, ...] = ()

    @property
    def stopped(self) -> tuple[DbtNode, ...]:
        """The stagings of tables that were stopped because their deliveries lack keys."""
        return tuple(node for node in self.dbt.failed if node.stopped_delivery)

    @property
    def only_held(self) -> bool:
        """Whether all was loaded but for deliveries that were stopped, and what reads them."""
        return bool(self.stopped) and len(self.stopped) == len(self.dbt.failed)

    @property
    def holds(self) -> bool:
        """Whether everything that should be was loaded, proven and recorded."""
        return self.verified is not None and self.verified.holds_but_for(self.behind)


@dataclass(frozen=True, slots=True)
class _Begun:
    """A deployment that has begun, and what it has to keep.

    ``deployed`` is the archive of the folder that the warehouse is as the last deployment left it
    from; None where there is none, or something came since.
    """

    number: int
    load_date: datetime
    kept: Kept
    continued: Deployment | None
    version_before: str
    steps: tuple[str, ...]
    deployed: bytes | None


def apply(
    source: Source,
    before: ForgedFolder,
    request: ApplyRequest,
    *,
    on_step: OnStep = lambda _: None,
    on_progress: OnProgress = ignore,
) -> Applied:
    """Forge a folder again, bring its warehouse to it, and prove what is there then.

    ``before`` is the folder as it describes the warehouse of now. Raises WarehouseBusyError where
    somebody else is at it, VersionsLostError where an earlier row is gone or changed, and what a
    forge, dbt and the warehouse raise.
    """
    with locked(request.location) as lock:
        deployments = _deployments(request.location)
        _check_load_date(request, before.plan, deployments)
        measured, changes = _checked(source, before, request, on_progress)
        forged = forge(
            source,
            out=request.folder,
            measured=measured,
            taken_versions=undone_versions(deployments),
            on_progress=on_progress,
            **request.options.as_settings(),
        )
        after = read_folder(request.folder)
        on_step("forged")
        begun = _begin(request, before, after, on_progress)
        with _recording_why(request.location, begun.number):
            migrations = _migrate(request, on_progress)
            on_step("migrated")
            dbt, is_loaded = _load(request, begun, after, on_progress)
        _check(lock, request, begun, on_progress)
        if is_loaded:
            on_step("loaded")
            on_step("kept")
        verified = _proven(source, after, request.location, on_progress) if is_loaded else None
        behind = () if verified is None else _behind(after.plan, dbt, verified)
        is_good = verified is not None and verified.holds_but_for(behind)
        if is_good:
            on_step("proven")
        why = None if is_good else _why_failed(dbt, verified, behind)
        rows = _end(lock, request, begun, after, why)
        if is_good:
            on_step("recorded")
    return Applied(
        begun.number,
        begun.load_date,
        forged,
        migrations,
        dbt,
        begun.kept.rows,
        rows,
        begun.continued,
        begun.version_before,
        verified,
        tuple(str(each) for each in changes if _is_told(each)),
        model_changes(_written(before), _written(after)),
        begun.steps,
        behind,
    )


def _is_told(change: SourceChange) -> bool:
    """Whether somebody should look at a change, or look for what didn't arrive."""
    return change.effect is not Effect.SAFE or change.kind is ChangeKind.TABLE_UNDELIVERED


def _checked(
    source: Source, before: ForgedFolder, request: ApplyRequest, on_progress: OnProgress
) -> tuple[Profile, tuple[SourceChange, ...]]:
    """Measure a source, once, and check that it's as planned and that its names are decided.

    With what changed in it.
    """
    check_same_choice(before.folder, source)
    may_lose = frozenset(request.may_lose)
    today = read_source(source, before, request.options.decisions, on_progress, may_lose)
    if request.plan is not None:
        states = states_of(before, today, read_warehouse(request.location))
        check_still_true(request.plan, states)
    check_decided(today.changes, request.shown_as or str(before.folder))
    return today.measured, tuple(today.changes)


def _deployments(location: Location) -> tuple[Deployment, ...]:
    """Return what was applied to a warehouse; nothing where it isn't there yet."""
    if location.engine == "duckdb" and not Path(location.place).is_file():
        return ()
    with opened(location, read_only=True) as warehouse:
        return read_deployments(warehouse)


def _check_load_date(
    request: ApplyRequest, plan: TransformPlan, deployments: Sequence[Deployment]
) -> None:
    """Refuse a load date that isn't after those of all other loads: histories go by it.

    What a killed load added is taken out first, so its date is free again: a scheduler may repeat
    its night. It isn't where deliveries are kept, since those of a killed load stay.
    """
    date = request.load_date
    if date is None:
        return
    is_kept = any(build.layer == "deliveries" for build in plan.builds)
    ended = [each for each in deployments if is_kept or each.outcome != "started"]
    latest = max((each.load_date for each in ended), default=None)
    if latest is not None and date <= latest:
        raise UsageError(
            f"The load date {date} isn't after {latest}, when the warehouse was last loaded.",
            hint="Leave --load-date out, or pass a later one.",
        )


def _begin(
    request: ApplyRequest, before: ForgedFolder, after: ForgedFolder, on_progress: OnProgress
) -> _Begun:
    """Record the deployment and what the warehouse holds, and migrate it."""
    on_progress(Progress("held", 0, 1))
    started_at = _now()
    plans = (before.plan, after.plan)
    with opened(request.location) as warehouse:
        steps = _steps(request, before, after, warehouse.relations())
        make_table(warehouse)
        deployments = read_deployments(warehouse)
        number = max((each.number for each in deployments), default=0) + 1
        load_date = request.load_date or _next_load_date(started_at, deployments)
        unfinished = interrupted(deployments)
        deployed = None
        if deployments and deployments[-1].outcome == "done":
            deployed = folder_of(warehouse, deployments[-1].number)
        if unfinished is not None and unfinished.kept and not request.accepts_losses:
            kept = _kept(unfinished)
            with warehouse.transaction():
                remove_killed_loads(warehouse, plans, deployments)
                record_start(warehouse, number, load_date, started_at, "")
        else:
            with warehouse.transaction():
                remove_killed_loads(warehouse, plans, deployments)
                kept = take(warehouse, plans, load_date)
                record_start(warehouse, number, load_date, started_at, kept.model_dump_json())
    ended = finished(deployments)
    known, now = ended[-1].contract_version if ended else "", _version(after)
    version_before = "" if known == now else known
    return _Begun(number, load_date, kept, unfinished, version_before, steps, deployed)


def _steps(
    request: ApplyRequest,
    before: ForgedFolder,
    after: ForgedFolder,
    there: Mapping[str, Relation],
) -> tuple[str, ...]:
    """Return what the warehouse gets besides rows; nothing where all of it is new."""
    dialect = dialect_of(request.options.warehouse)
    written = _written(before), _written(after)
    steps = (
        warehouse_steps(*written, there, {}, dialect, known=written[0].evolution) if there else ()
    )
    return tuple(step.sentence for step in steps if step.kind != "load")


def _written(folder: ForgedFolder) -> Written:
    return written_by(folder.model, folder.plan)


def remove_killed_loads(
    warehouse: Warehouse, plans: Sequence[TransformPlan], deployments: Sequence[Deployment]
) -> None:
    """Take out the rows of loads that were killed: a row may be there before what it refers to.

    Those of a load that ended with a failed check stay: they're what the source had on that day.
    """
    last = max((each.number for each in finished(deployments)), default=0)
    killed = [
        each.load_date for each in deployments if each.number > last and each.outcome == "started"
    ]
    there = warehouse.relations()
    columns = {
        build.name: plan.column_names.load_date
        for plan in plans
        for build in plan.lasting
        # What was delivered stays: a source that has only what changed doesn't deliver it again.
        if build.layer != "deliveries"
    }
    for name, column in columns.items():
        relation = there.get(name)
        if relation is None or relation.is_view or column not in relation.columns:
            continue
        for load_date in killed:
            warehouse.query(
                f"DELETE FROM {warehouse.named(name)} WHERE {quote(column)} = $1", [load_date]
            )


def _migrate(request: ApplyRequest, on_progress: OnProgress) -> tuple[str, ...]:
    """Run the project's migrations that the warehouse hasn't seen, and return their names."""
    project = request.folder / DBT_FOLDER
    if not any((project / MIGRATION_FILES).glob("*.sql")):
        return ()
    on_progress(Progress("migrate", 0, 1))
    seen = _migrations_seen(request.location)
    environment = {**request.environment, **request.location.environment}
    run_operation(project, "migrate", environment=environment)
    return tuple(sorted(_migrations_seen(request.location) - seen))


def _migrations_seen(location: Location) -> set[str]:
    with opened(location) as warehouse:
        if MIGRATIONS not in warehouse.relations():
            return set()
        rows = warehouse.query(f"SELECT DISTINCT name FROM {warehouse.named(MIGRATIONS)}")
        return {str(name) for (name,) in rows}


def _next_load_date(now: datetime, deployments: tuple[Deployment, ...]) -> datetime:
    latest = max((each.load_date for each in deployments), default=now)
    if latest > now:
        raise UsageError(
            f"The warehouse was loaded with the date {latest}, which is in the future.",
            hint="Pass a later one with --load-date.",
        )
    return now


def _kept(unfinished: Deployment) -> Kept:
    try:
        return Kept.model_validate_json(unfinished.kept)
    except ValidationError as error:
        raise WarehouseError(
            f"What deployment {unfinished.number} recorded of the warehouse can't be read.",
            hint=f"Was the table {DEPLOYMENTS} edited? Apply with --accept-lost to take the"
            " warehouse as it is.",
        ) from error


def _load(
    request: ApplyRequest, begun: _Begun, after: ForgedFolder, on_progress: OnProgress
) -> tuple[DbtResult, bool]:
    """Return what dbt did, and whether all is loaded that should be: perhaps nothing changed."""
    project = request.folder / DBT_FOLDER
    environment = {**request.environment, **request.location.environment}
    variables: dict[str, object] = {"load_date": f"{begun.load_date:%Y-%m-%d %H:%M:%S.%f}"}
    if request.may_lose:
        variables[ALLOWED] = [*request.may_lose]

    def build(selection: Sequence[str], more: Mapping[str, object]) -> DbtResult:
        return run_dbt(
            project,
            variables={**variables, **more},
            environment=environment,
            selection=selection,
            on_progress=on_progress,
        )

    with owned_folder() as scratch:
        selection: tuple[str, ...] = ()
        if request.builds == "changed" and begun.deployed is not None:
            selection = changed_selection(begun.deployed, project, scratch.path, environment)
        dbt = build(selection, {})
    second = second_build(gathering_relations(after.model), dbt)
    if second is not None:
        dbt = with_second(dbt, build(second.selection, {STOPPED: [*second.stopped]}))
    return dbt, dbt.ok or (bool(selection) and not dbt.failed and not dbt.skipped)


def _behind(plan: TransformPlan, dbt: DbtResult, verified: WarehouseVerified) -> tuple[str, ...]:
    """Return the tables that weren't loaded and aren't as the source has them now."""
    proof = verified.contents.proof
    unloaded = unloaded_tables(plan, {node.name for node in dbt.built})
    return tuple(table for table in proof.unproven if table in unloaded) if proof else ()


def _check(lock: Lock, request: ApplyRequest, begun: _Begun, on_progress: OnProgress) -> None:
    """Look for every earlier row, whether dbt loaded everything or not."""
    on_progress(Progress("kept", 0, 1))
    lock.check()
    with opened(request.location) as warehouse:
        try:
            check_kept(warehouse, begun.kept)
        except VersionsLostError as error:
            record_failure(warehouse, begun.number, _now(), str(error))
            raise


def _proven(
    source: Source, after: ForgedFolder, location: Location, on_progress: OnProgress
) -> WarehouseVerified:
    return verify_warehouse(
        after, source, location.place, schema=location.schema, on_progress=on_progress
    )


@contextmanager
def _recording_why(location: Location, number: int) -> Iterator[None]:
    """Record what dbt says where it gives up, for a plan to tell."""
    try:
        yield
    except DbtError as error:
        with opened(location) as warehouse:
            record_reason(warehouse, number, str(error))
        raise


def _why_failed(dbt: DbtResult, verified: WarehouseVerified | None, behind: Collection[str]) -> str:
    """Return why a deployment wasn't recorded as done, in a sentence without a full stop."""
    held = [node.stopped_delivery for node in dbt.failed if node.stopped_delivery]
    failed = [node.name for node in dbt.failed if not node.stopped_delivery]
    if failed:
        return f"{listed_up_to(_MOST_NAMED, failed)} failed in dbt"
    if held:
        return f"the delivery of {listed(held)} lacks keys that the warehouse holds"
    proof = verified.contents.proof if verified is not None else None
    differing = [table for table in proof.unproven if table not in behind] if proof else []
    if differing:
        return f"the warehouse differs from the source in {listed_up_to(_MOST_NAMED, differing)}"
    return "the comparison of the warehouse with the source found faults"


def _end(
    lock: Lock, request: ApplyRequest, begun: _Begun, after: ForgedFolder, why: str | None
) -> int:
    """Record how the deployment ended, and return the rows of the warehouse.

    ``why`` says why it didn't end well; None where it did.
    """
    lock.check()
    with opened(request.location) as warehouse:
        states = _states(warehouse, after.plan)
        with warehouse.transaction():
            if why is None:
                record_result(warehouse, begun.number, _now(), _result(after, states))
                forget(warehouse)
            else:
                record_failure(warehouse, begun.number, _now(), why)
    return sum(state.rows or 0 for state in states.values())


def _states(warehouse: Warehouse, plan: TransformPlan) -> Mapping[str, RelationState]:
    there = warehouse.relations()
    states = {}
    for build in plan.lasting:
        relation = there.get(build.name)
        if relation is not None:
            rows = None
            if not relation.is_view:
                ((count,),) = warehouse.query(f"SELECT count(*) FROM {warehouse.named(build.name)}")
                rows = int(str(count))
            states[build.name] = RelationState(rows=rows, columns=dict(relation.columns))
    return states


def _result(after: ForgedFolder, states: Mapping[str, RelationState]) -> Result:
    return Result(
        contract_version=_version(after),
        model_digest=digest(after.folder / MODEL_FILE),
        source_digest=digest(after.folder / PROFILE_FILE),
        relations=states,
        folder=archived(after.folder, after.manifest),
    )


def _version(folder: ForgedFolder) -> str:
    return highest_version(read_contract(folder.folder / CONTRACT_FILE))


def _now() -> datetime:
    """Return this moment in UTC, as warehouses store it."""
    return datetime.now(UTC).replace(tzinfo=None)
