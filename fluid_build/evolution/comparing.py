"""The three states of a folder, read as they are: source, folder and warehouse make a plan.

The source is measured once. What follows from a model that stays as it is isn't computed again:
most nights only bring rows.
"""

import json
from collections.abc import Mapping, Set
from dataclasses import dataclass
from pathlib import Path

from fluid_build.decisions.verdicts import applied
from fluid_build.evolution.deployments import (
    Deployment,
    finished,
    folder_of,
    read_deployments,
    undone_versions,
    unfinished,
)
from fluid_build.evolution.folder_archive import unpacked
from fluid_build.evolution.kept_versions import KEPT_KEYS
from fluid_build.evolution.locations import opened
from fluid_build.evolution.migrating import warehouse_steps, written_by
from fluid_build.evolution.planning import (
    DeploymentPlan,
    PlannedContract,
    Unfinished,
    model_changes,
    planned_changes,
    planned_contract,
    unchanged_contract,
)
from fluid_build.evolution.states import States, folder_digest, source_digest, warehouse_digest
from fluid_build.evolution.warehouse import Location, Relation
from fluid_build.forging import MODEL_FILE, ForgeOptions
from fluid_build.forging.contract_version import continued, earlier_contract
from fluid_build.forging.design_file import earlier_basis
from fluid_build.forging.stages import (
    Designed,
    design,
    look_closer,
    write_contract,
)
from fluid_build.modeling.basis import Basis, Reference, without_queries
from fluid_build.modeling.continuity import reference_of
from fluid_build.modeling.evolution import Evolution
from fluid_build.modeling.evolving import evolved_basis
from fluid_build.modeling.logical import LogicalModel
from fluid_build.modeling.otherwise import looser_references
from fluid_build.observations.observe import NO_OBSERVATIONS
from fluid_build.profiling.profile import Profile
from fluid_build.progress import OnProgress, Progress, ignore
from fluid_build.sources.base import Source
from fluid_build.sources.schemas import DEPLOYMENTS, MIGRATIONS
from fluid_build.transform.dbt.dialects import dialect_of
from fluid_build.transform.proof.manifest import GENERATOR, digest
from fluid_build.verification import FolderHead, ForgedFolder, read_folder
from fluid_build.verification.present_source import PresentSource, read_source

_OF_APPLIES = frozenset({DEPLOYMENTS, KEPT_KEYS, MIGRATIONS})
"""Tables of applies, which are no relations of a model."""


@dataclass(frozen=True, slots=True)
class WarehouseState:
    """What a warehouse holds: its relations, none where it isn't there yet, and its deployments."""

    relations: Mapping[str, Relation]
    deployments: tuple[Deployment, ...] = ()

    @property
    def digest(self) -> str:
        """The digest of it."""
        return warehouse_digest(self.relations, self.deployments)

    @property
    def unfinished(self) -> Unfinished | None:
        """The last deployment, where it didn't end well."""
        last = unfinished(self.deployments)
        if last is None:
            return None
        return Unfinished(
            number=last.number,
            load_date=last.load_date,
            ended=last.outcome == "failed",
            reason=last.reason,
        )


@dataclass(frozen=True, slots=True)
class PlannedFolder:
    """A plan, and what was measured of the source for it."""

    plan: DeploymentPlan
    measured: Profile


def plan_folder(
    source: Source,
    head: FolderHead,
    options: ForgeOptions,
    location: Location,
    *,
    shown_as: str = "",
    on_progress: OnProgress = ignore,
) -> PlannedFolder:
    """Return what bringing a folder to its warehouse would change. Nothing is written.

    ``options`` are those of the folder's forge, with its decisions. ``shown_as`` is how its user
    names the folder. Raises what reading each of the three raises.
    """
    warehouse = read_warehouse(location)
    basis = earlier_basis(head.folder, source)
    today = read_source(source, head, options.decisions, on_progress)
    states = states_of(head, today, warehouse)
    changes = planned_changes(today.changes, shown_as or str(head.folder))
    designed = None
    # What a contract promises of rows, such as their key, may break without another model.
    if today.changes or not _is_as_designed(basis, today, head, options):
        observations = look_closer(source, today.decided.profile, on_progress)
        on_progress(Progress("model", 0, 1))
        designed = design(today.decided, observations, options, basis)
    last = next(reversed(finished(warehouse.deployments)), None)
    is_deployed = last is None or last.model_digest == digest(head.folder / MODEL_FILE)
    if designed is None and last is not None and is_deployed and _is_as_left(warehouse, last):
        contract = unchanged_contract(last.contract_version)
        unchanged = DeploymentPlan(
            states=states,
            warehouse_is_new=False,
            source=changes,
            contract=contract,
            unfinished=warehouse.unfinished,
        )
        return PlannedFolder(unchanged, today.measured)
    forged = read_folder(head.folder)
    before = written_by(forged.model, forged.plan)
    after = before if designed is None else written_by(designed.model, designed.plan)
    planned = DeploymentPlan(
        states=states,
        warehouse_is_new=not warehouse.relations,
        source=changes,
        model=() if designed is None else model_changes(before, after),
        contract=_contract(forged, designed, options, undone_versions(warehouse.deployments)),
        warehouse=warehouse_steps(
            before,
            after,
            warehouse.relations,
            {table.name: table.rows for table in today.measured.tables},
            dialect_of(options.warehouse),
            known=before.evolution if is_deployed else _deployed(location, last),
        ),
        unfinished=warehouse.unfinished,
    )
    return PlannedFolder(planned, today.measured)


def _deployed(location: Location, last: Deployment | None) -> Evolution:
    """Return what the last model that was deployed says of how it evolved."""
    if last is None:
        return Evolution()
    with opened(location, read_only=True) as warehouse:
        content = folder_of(warehouse, last.number)
    files = {} if content is None else unpacked(content)
    model = json.loads(files[MODEL_FILE]) if MODEL_FILE in files else {}
    return Evolution.model_validate(model.get("evolution") or {})


def _is_as_left(warehouse: WarehouseState, last: Deployment) -> bool:
    """Return whether the relations of the last deployment are there, with its columns."""
    return all(
        name in warehouse.relations and dict(warehouse.relations[name].columns) == state.columns
        for name, state in (last.relations or {}).items()
    )


def states_of(
    head: FolderHead | ForgedFolder, today: PresentSource, warehouse: WarehouseState
) -> States:
    """Return what the three states are now."""
    return States(
        folder=folder_digest(head.folder, head.manifest),
        source=source_digest(today.measured, today.changes),
        warehouse=warehouse.digest,
    )


def read_warehouse(location: Location) -> WarehouseState:
    """Return what a warehouse holds; nothing where it isn't there yet."""
    if location.engine == "duckdb" and not Path(location.place).is_file():
        return WarehouseState({})
    with opened(location, read_only=True) as warehouse:
        return WarehouseState(
            {
                name: relation
                for name, relation in warehouse.relations().items()
                if name not in _OF_APPLIES
            },
            read_deployments(warehouse),
        )


def _is_as_designed(
    basis: Basis | None,
    today: PresentSource,
    head: FolderHead,
    options: ForgeOptions,
) -> bool:
    """Return whether a design of today would be of the same input as the folder's model."""
    if basis is None or head.manifest.generator != GENERATOR:
        return False
    if basis.technique != options.known_technique:
        return False
    decisions = applied(today.decided.verdicts)
    evolved = evolved_basis(basis, today.measured, NO_OBSERVATIONS, decisions)
    is_same = _designed_from(evolved.basis) == _designed_from(basis)
    return is_same and not looser_references(_with_references_of(head.model, evolved.today))


def _with_references_of(model: LogicalModel, today: Profile) -> LogicalModel:
    """Return a model with the figures that its references have today."""
    found = {Reference.of(key): key.evidence for key in today.foreign_keys}
    relationships = (
        each.model_copy(update={"evidence": now, "coverage": now.coverage})
        if (now := found.get(reference_of(each))) is not None
        else each
        for each in model.conceptual.relationships
    )
    conceptual = model.conceptual.model_copy(update={"relationships": tuple(relationships)})
    return model.model_copy(update={"conceptual": conceptual})


def _designed_from(basis: Basis) -> tuple[object, ...]:
    """Return what a model is designed from, besides observations and figures."""
    profile = without_queries(basis.profile)
    return (
        profile.tables,
        profile.foreign_keys,
        tuple(arrival.tables for arrival in basis.arrivals),
        tuple(arrival.columns for arrival in basis.arrivals),
        basis.decisions,
        basis.nullable,
        basis.incomplete,
        basis.broken_keys,
        basis.domains,
        basis.wider,
        basis.evolution,
    )


def _contract(
    forged: ForgedFolder,
    designed: Designed | None,
    options: ForgeOptions,
    taken: Set[str],
) -> PlannedContract:
    earlier = earlier_contract(forged.folder)
    if designed is None:
        return unchanged_contract(earlier.version if earlier is not None else "")
    change = continued(write_contract(designed, options), earlier, taken)
    if change is None:
        return unchanged_contract("")
    models = (forged.model, designed.model)
    return planned_contract(change.version, change.found, models, applied(designed.verdicts))
