"""What dbt builds of a forge's project, compared with the source."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from fluid_build.contract.write.exposes import DBT_FOLDER
from fluid_build.errors import SourceNotFoundError, UsageError
from fluid_build.progress import OnProgress, ignore
from fluid_build.sources.addresses.kinds import RemoteFilesKind, ServerKind
from fluid_build.sources.base import Source
from fluid_build.sources.files.remote.places import remote_place
from fluid_build.sources.uri import locate
from fluid_build.temporary import owned_folder
from fluid_build.transform.dbt.built_database import built_by_dbt
from fluid_build.transform.dbt.portable_paths import (
    DATABASE_VARIABLE,
    DSN_VARIABLE,
    PATH_VARIABLE,
    base_of,
    of_source,
)
from fluid_build.transform.dbt.project_names import duckdb_database
from fluid_build.transform.dbt.running import DbtResult, run_dbt
from fluid_build.transform.dbt.table_copies import COPIES_FOLDER
from fluid_build.transform.proof.manifest import read_text
from fluid_build.transform.proof.proof import Proof, limited_to_samples, prove_stored
from fluid_build.verification.forged_folder import ForgedFolder
from fluid_build.verification.untrusted_model import MOST_BYTES

NO_PLACES: Mapping[str, str] = {}
"""No source is elsewhere than the project looks for it."""


@dataclass(frozen=True, slots=True)
class DbtVerified:
    """What dbt built of a model, and its proof; None where dbt didn't build all of it.

    dbt builds in a new database. ``uses_copies`` says that it read tables from copies that the
    forge made; ``own_database`` is the project's own, if there is one: it was neither read nor
    changed.
    """

    result: DbtResult
    proof: Proof | None
    uses_copies: bool
    own_database: Path | None = None

    @property
    def holds(self) -> bool:
        """Whether dbt built everything without a failure, and nothing was lost."""
        return self.result.ok and self.proof is not None and self.proof.holds


def verify_dbt(
    forged: ForgedFolder,
    source: Source,
    places: Mapping[str, str] = NO_PLACES,
    *,
    exact: bool = False,
    on_progress: OnProgress = ignore,
) -> DbtVerified:
    """Let dbt build a forge's project in a new database, and compare that with the source.

    ``places`` are where sources are that aren't where the project looks for them, by name ("" for
    the only source), ``exact`` compares large tables row by row. Raises UsageError where the
    project isn't for DuckDB, DbtError where dbt can't be run, and BuildFailedError where dbt built
    other relations than planned.
    """
    target = forged.manifest.target
    if target != "duckdb":
        raise UsageError(
            f"The dbt project in {forged.folder} is for {target}, but only a project for DuckDB can"
            " be verified with dbt.",
            hint="Run `fluid forge` with --target duckdb to check what dbt builds.",
        )
    project = forged.folder / DBT_FOLDER
    if not (project / "dbt_project.yml").is_file():
        is_for_dbt = forged.manifest.project is None
        hint = "Run `fluid forge` again" + (" without --for." if not is_for_dbt else ".")
        raise SourceNotFoundError(f"{project} has no dbt project.", hint=hint)
    name = f"{duckdb_database(forged.plan)}.duckdb"
    _check_builds_where_told(project)
    check_whole(source, project)
    with owned_folder() as fresh:
        file = fresh.path / name
        environment = {DATABASE_VARIABLE: str(file)}
        for source_name, place in places.items():
            environment |= environment_of(source_name, place, project)
        result = run_dbt(project, environment=environment, on_progress=on_progress)
        uses_copies = (project / COPIES_FOLDER).is_dir()
        own_database = project / name if (project / name).is_file() else None
        if not result.ok:
            return DbtVerified(result, None, uses_copies, own_database)
        with built_by_dbt(source, forged.plan, file) as database:
            proof = prove_stored(database, forged.model, exact=exact, on_progress=on_progress)
            proof = limited_to_samples(source, forged.plan, proof)
    return DbtVerified(result, proof, uses_copies, own_database)


def check_whole(source: Source, project: Path) -> None:
    """Refuse to compare what dbt builds of all rows with a sample of them.

    A project that reads copies builds the sample. Raises UsageError.
    """
    if (project / COPIES_FOLDER).is_dir() or not any(table.sampled for table in source.tables):
        return
    raise UsageError(
        "The folder was forged from a sample, and dbt builds all rows, so the two can't be"
        " compared.",
        hint="Forge again without --sample to check what dbt builds.",
    )


def _check_builds_where_told(project: Path) -> None:
    """Refuse a project that would build in its own database: that one must stay as it is."""
    profile = project / "profiles.yml"
    if not profile.is_file() or DATABASE_VARIABLE not in read_text(profile, MOST_BYTES):
        raise UsageError(
            f"{profile} doesn't use {DATABASE_VARIABLE}, so dbt would change the project's own"
            " database.",
            hint="Run `fluid forge` again, or check the database as it is with --warehouse.",
        )


def environment_of(source_name: str, place: str, project: Path) -> dict[str, str]:
    """Return the variables that lead a project to a source that isn't where it looks for it."""
    address = locate(place)
    if isinstance(address.kind, ServerKind):
        return {of_source(DSN_VARIABLE, source_name): address.place}
    variable = of_source(PATH_VARIABLE, source_name)
    if isinstance(address.kind, RemoteFilesKind):
        return {variable: remote_place(address.place, address.kind).base}
    return {variable: str(base_of(address.place, project).path)}
