"""The way back: from the folder of a forge to its source, and whether the one still is the other.

No SQL is run that was read from a file: the plan is derived anew from ``model.json``, and that file
is taken for a stranger's. What was edited by hand since the forge is told.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import duckdb
from pydantic import ValidationError

from fluid_build.artifacts import write_artifacts
from fluid_build.contract.model_agreement import Disagreement, disagreements
from fluid_build.contract.read.files import CONTRACT_FILE, read_contract
from fluid_build.contract.validation import parse_contract
from fluid_build.contract.write.exposes import DBT_FOLDER
from fluid_build.errors import (
    OutputError,
    SourceNotFoundError,
    SourceUnreadableError,
    UsageError,
)
from fluid_build.forge import MODEL_FILE, PLAN_FILE, PROFILE_FILE
from fluid_build.modeling.logical import LogicalModel
from fluid_build.progress import OnProgress, ignore
from fluid_build.secrets import redact
from fluid_build.sources.base import Source
from fluid_build.sources.kinds import ServerKind
from fluid_build.sources.uri import locate
from fluid_build.temporary import owned_folder
from fluid_build.transform.dbt.built_database import built_by_dbt
from fluid_build.transform.dbt.portable_paths import (
    DATABASE_VARIABLE,
    DSN_VARIABLE,
    PATH_VARIABLE,
    base_of,
)
from fluid_build.transform.dbt.project_names import duckdb_database
from fluid_build.transform.dbt.running import DbtResult, run_dbt
from fluid_build.transform.dbt.table_copies import COPIES_FOLDER
from fluid_build.transform.plan.confinement import check_confined
from fluid_build.transform.plan.elements import TransformPlan
from fluid_build.transform.plan.techniques import checks, rebuilds, transform_plan
from fluid_build.transform.proof.manifest import (
    GENERATOR,
    MANIFEST_FILE,
    Manifest,
    digest,
    not_as_written,
    read_manifest,
    read_text,
)
from fluid_build.transform.proof.proof import Proof, build_and_prove, prove
from fluid_build.transform.proof.source_changes import check_unchanged, key_changes
from fluid_build.transform.proof.warehouse import WarehouseProof, prove_warehouse
from fluid_build.transform.proof.written_proof import PROOF_FILE, QUERIES_FOLDER, proof_json

_MOST_BYTES = 256 * 1024 * 1024
_WATCHED = (MODEL_FILE, PLAN_FILE, PROFILE_FILE)
_WATCHED_FOLDERS = (QUERIES_FOLDER, DBT_FOLDER)
_OUR_NAME = re.compile(r"[a-z_][a-z0-9_]{0,62}")
_UNFIT = (AssertionError, RuntimeError, StopIteration)
"""What comes of a model that refers to what it does not hold, or to itself without end."""
_TYPE = re.compile(r"[A-Z_][A-Z0-9_ ]*(\(\d+(, ?\d+)?\))?")


@dataclass(frozen=True, slots=True)
class ForgedFolder:
    """What a forge left behind, read again and found sound.

    ``disagreements`` are between contract and model. ``outdated`` are relations that the dbt
    project builds and an edited ``model.json`` no longer describes, each as a sentence. ``edited``
    are files that are not as the forge wrote them, each as a sentence.
    """

    folder: Path
    manifest: Manifest
    model: LogicalModel
    plan: TransformPlan
    disagreements: tuple[Disagreement, ...]
    outdated: tuple[str, ...]
    edited: tuple[str, ...]

    @property
    def agrees(self) -> bool:
        """Whether model, contract and dbt project speak of the same relations."""
        return not self.disagreements and not self.outdated


@dataclass(frozen=True, slots=True)
class DbtVerified:
    """What dbt built of a model, and its proof; None where dbt did not build all of it.

    dbt built it in a database of its own. ``copied`` says that it read tables from copies which the
    forge had made; ``standing`` is the project's own database, where there is one: nothing of it
    was read or changed.
    """

    result: DbtResult
    proof: Proof | None
    copied: bool
    standing: Path | None = None

    @property
    def holds(self) -> bool:
        """Whether dbt built everything without a failure, and nothing was lost on the way."""
        return self.result.ok and self.proof is not None and self.proof.verdict == "proven"


@dataclass(frozen=True, slots=True)
class Verified:
    """What a verification found.

    ``row_changes`` are sentences, and no fault. ``unread`` are tables of the source that could
    not be read, so that nothing is known of them, each with the reason. ``broken_keys`` held when
    the source was forged, and the model relies on them: the next load would fail, or go wrong.
    """

    forged: ForgedFolder
    proof: Proof
    row_changes: tuple[str, ...]
    unread: tuple[str, ...] = ()
    broken_keys: tuple[str, ...] = ()
    dbt: DbtVerified | None = None

    @property
    def holds(self) -> bool:
        """Whether everything that was checked is as it should be."""
        proven = self.proof.verdict == "proven" and not self.unread and not self.broken_keys
        return proven and self.forged.agrees and (self.dbt is None or self.dbt.holds)


@dataclass(frozen=True, slots=True)
class WarehouseVerified:
    """What a verification found in a warehouse; ``place`` is where it is, without a password."""

    forged: ForgedFolder
    place: str
    found: WarehouseProof
    unread: tuple[str, ...] = ()
    broken_keys: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether the warehouse holds everything, nothing was left unread and no key broke."""
        proven = self.found.holds and not self.unread and not self.broken_keys
        return proven and not self.forged.disagreements


def read_folder(folder: Path) -> ForgedFolder:
    """Read what a forge wrote to a folder.

    Raises SourceNotFoundError for a missing folder or file, SourceUnreadableError for a file that
    is not what a forge writes, and ContractError for a contract that is none.
    """
    manifest = read_manifest(folder)
    model = _model(folder / MODEL_FILE)
    if model.technique != manifest.technique:
        raise SourceUnreadableError(
            f"{MANIFEST_FILE} says that {folder} is {manifest.technique},"
            f" and {MODEL_FILE} that it is {model.technique}.",
            hint="Put the files of one forge together, or forge it again.",
        )
    plan = _plan(folder / MODEL_FILE, model)
    contract = parse_contract(read_contract(folder / CONTRACT_FILE))
    return ForgedFolder(
        folder=folder,
        manifest=manifest,
        model=model,
        plan=plan,
        disagreements=disagreements(contract, plan),
        outdated=tuple(_outdated(folder, manifest, plan)),
        edited=tuple(_edited(folder, manifest)),
    )


def verify(forged: ForgedFolder, source: Source, *, on_progress: OnProgress = ignore) -> Verified:
    """Build a forge's model from its source, and compare the two.

    Raises SourceChangedError, saying which table and how, where the model no longer fits the
    source, and BuildFailedError where it cannot be built for another reason.
    """
    check_unchanged(source, forged.model, forged.plan)
    proof = build_and_prove(source, forged.plan, forged.model, on_progress=on_progress)
    return Verified(
        forged,
        proof,
        row_changes=tuple(_row_changes(forged.model, proof)),
        unread=tuple(_unread(source, forged.model)),
        broken_keys=tuple(map(str, key_changes(source, forged.model, forged.plan))),
    )


def _unread(source: Source, model: LogicalModel) -> Iterator[str]:
    """Tables of which nothing is known: not read now, or left out of the model when it was made."""
    reasons = {skipped.name: skipped.reason for skipped in source.skipped}
    for name in model.conceptual.skipped:
        reasons.setdefault(
            name, "it was skipped when the source was forged, and isn't in the model"
        )
    for name, reason in reasons.items():
        yield f"{name}: {reason}"


def verify_dbt(
    forged: ForgedFolder,
    source: Source,
    place: str | None = None,
    *,
    on_progress: OnProgress = ignore,
) -> DbtVerified:
    """Let dbt build a forge's project in a new database, and compare that with the source.

    ``place`` is where the source is, if it is not where the project looks for it. Raises
    UsageError where the project is for another database than DuckDB, a DbtError where dbt cannot
    be run, and BuildFailedError where dbt built other relations than planned.
    """
    target = forged.manifest.target
    if target != "duckdb":
        raise UsageError(
            f"The dbt project in {forged.folder} is for {target}, and only what dbt builds in"
            " DuckDB can be read here.",
            hint="Forge with --target duckdb to prove what dbt builds.",
        )
    project = forged.folder / DBT_FOLDER
    if not (project / "dbt_project.yml").is_file():
        raise SourceNotFoundError(
            f"There is no dbt project in {project}.", hint="Forge the folder again."
        )
    name = f"{duckdb_database(forged.plan)}.duckdb"
    _check_builds_elsewhere(project)
    with owned_folder() as fresh:
        file = fresh.path / name
        environment = {DATABASE_VARIABLE: str(file)}
        if place is not None:
            environment |= _environment(place, project)
        result = run_dbt(project, environment=environment, on_progress=on_progress)
        copied = (project / COPIES_FOLDER).is_dir()
        standing = project / name if (project / name).is_file() else None
        if not result.ok:
            return DbtVerified(result, None, copied, standing)
        with built_by_dbt(source, forged.plan, file) as database:
            proof = prove(database, forged.model, on_progress=on_progress)
    return DbtVerified(result, proof, copied, standing)


def _check_builds_elsewhere(project: Path) -> None:
    """What stands is neither read nor repaired; a project that can't be told to is refused."""
    profile = project / "profiles.yml"
    if not profile.is_file() or DATABASE_VARIABLE not in read_text(profile, _MOST_BYTES):
        raise UsageError(
            f"{profile} doesn't build where {DATABASE_VARIABLE} says, so that dbt would change the"
            " database that is there.",
            hint="Forge the folder again, or prove the database as it is with --warehouse.",
        )


def verify_warehouse(
    forged: ForgedFolder,
    source: Source,
    place: str,
    *,
    schema: str | None = None,
    on_progress: OnProgress = ignore,
) -> WarehouseVerified:
    """Compare a warehouse with the source as it stands; nothing is built in it or changed.

    ``schema`` is the one of the model's relations, if it isn't the project's. Raises
    SourceChangedError where the model no longer fits the source.
    """
    check_unchanged(source, forged.model, forged.plan)
    found = prove_warehouse(
        source, forged.plan, forged.model, place, schema=schema, on_progress=on_progress
    )
    return WarehouseVerified(
        forged,
        redact(place),
        found,
        unread=tuple(_unread(source, forged.model)),
        broken_keys=tuple(map(str, key_changes(source, forged.model, forged.plan))),
    )


def _environment(place: str, project: Path) -> dict[str, str]:
    address = locate(place)
    if isinstance(address.kind, ServerKind):
        return {DSN_VARIABLE: address.place}
    return {PATH_VARIABLE: str(base_of(address.place, project).path)}


def refresh_proof(folder: Path, proof: Proof) -> bool:
    """Put a proof in the place of the folder's; whether the folder has it now.

    False where the folder may not be written to, which a verification does not need.
    """
    text = proof_json(proof)
    path = folder / PROOF_FILE
    if path.is_file() and digest(path) == digest(text):
        return True
    try:
        write_artifacts(folder, {PROOF_FILE: text})
    except OutputError:
        return False
    return True


def _model(path: Path) -> LogicalModel:
    text = read_text(path, _MOST_BYTES)
    try:
        return LogicalModel.model_validate_json(text, strict=True, by_alias=True, by_name=True)
    except ValidationError as error:
        raise not_as_written(path, error) from None


def _plan(path: Path, model: LogicalModel) -> TransformPlan:
    """The plan of a model that was read from a file, once nothing in it can act as SQL."""
    try:
        _check_layers(model)
        _check_types(model)
        plan = transform_plan(model)
        _check_names(plan)
        check_confined(_queries(plan, model), plan)
    except (LookupError, ValueError, duckdb.Error, *_UNFIT) as error:
        raise SourceUnreadableError(
            f"No plan can be made of {path}: {_why(error)}.",
            hint="It was edited, or written by another version of Fluid Forge; forge it again.",
        ) from error
    return plan


def _why(error: Exception) -> str:
    if isinstance(error, _UNFIT):
        return "its parts do not fit together"
    return str(error).splitlines()[0]


def _check_layers(model: LogicalModel) -> None:
    layers = {"data_vault_2": model.dv2, "dimensional": model.dimensional}
    if model.technique in layers and layers[model.technique] is None:
        raise ValueError(f"it is {model.technique} and lacks that layer")


def _check_types(model: LogicalModel) -> None:
    for entity in model.conceptual.entities:
        for attribute in entity.attributes:
            conversion = attribute.conversion
            if conversion is not None and not _TYPE.fullmatch(conversion.to_type):
                raise ValueError(f"{conversion.to_type!r} is no type")


def _check_names(plan: TransformPlan) -> None:
    for name in _names(plan):
        if not _OUR_NAME.fullmatch(name):
            raise ValueError(f"{name!r} is no name that we give")


def _names(plan: TransformPlan) -> Iterator[str]:
    yield from (source.id for source in plan.sources)
    for build in plan.builds:
        yield build.name
        yield from (column.name for column in build.columns)


def _queries(plan: TransformPlan, model: LogicalModel) -> Iterator[str]:
    for build in plan.builds:
        yield build.sql
        if build.incremental is not None:
            yield f"{build.sql}\n{build.incremental}"
    for rebuild in rebuilds(model):
        yield from (rebuild.sql, rebuild.original)
    for check in checks(model):
        yield from (check.expected, check.actual)
        if check.differing:
            yield check.differing


def _outdated(folder: Path, manifest: Manifest, plan: TransformPlan) -> Iterator[str]:
    """What ``plan.json``, from which the dbt project was made, builds and the model does not.

    They can differ only where ``model.json`` was edited, or kept while the others were forged
    again. Another version of the forge may plan otherwise what is the same model.
    """
    if manifest.generator != GENERATOR or _is_as_forged(folder, MODEL_FILE, manifest):
        return
    if not _is_as_forged(folder, PLAN_FILE, manifest):
        return  # That is told among the edited files.
    text = read_text(folder / PLAN_FILE, _MOST_BYTES)
    try:
        written = TransformPlan.model_validate_json(text)
    except ValidationError:
        return
    ours, theirs = _relations_of(plan), _relations_of(written)
    for name in sorted(ours.keys() | theirs.keys()):
        if name not in ours:
            yield f"{name} is built by dbt/, and {MODEL_FILE} lacks it"
        elif name not in theirs:
            yield f"{name} is in {MODEL_FILE}, and dbt/ doesn't build it"
        elif ours[name] != theirs[name]:
            yield f"{name} is built by dbt/ in another way than {MODEL_FILE} says"


def _relations_of(plan: TransformPlan) -> dict[str, tuple[object, ...]]:
    return {
        build.name: (
            build.sql,
            build.incremental,
            *((column.name, column.type) for column in build.columns),
        )
        for build in plan.builds
    }


def _is_as_forged(folder: Path, name: str, manifest: Manifest) -> bool:
    path = folder / name
    return path.is_file() and digest(path) == manifest.files.get(name)


def _edited(folder: Path, manifest: Manifest) -> Iterator[str]:
    """Files that are not as the forge wrote them, where that says something about the proof."""
    watched = {name for name in manifest.files if _is_watched(name)}
    for name in sorted(watched):
        path = folder / name
        if not path.is_file():
            yield f"{name} is missing"
        elif digest(path) != manifest.files[name]:
            foreign = name in manifest.foreign
            yield f"{name} was there before the forge" if foreign else f"{name} was edited"
    for name in sorted(set(_queries_on_disk(folder)) - watched):
        yield f"{name} was added"


def _is_watched(name: str) -> bool:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts:
        return False
    return name in _WATCHED or path.parts[0] in _WATCHED_FOLDERS


def _queries_on_disk(folder: Path) -> Iterable[str]:
    for place in (folder / QUERIES_FOLDER, folder / DBT_FOLDER / "models"):
        for path in place.rglob("*.sql"):
            yield path.relative_to(folder).as_posix()


def _row_changes(model: LogicalModel, proof: Proof) -> Iterator[str]:
    before = {entity.name: entity.rows for entity in model.conceptual.entities}
    for table in proof.tables:
        if table.rows != before[table.table]:
            yield f"{table.table} had {before[table.table]:,} rows and has {table.rows:,} now"
