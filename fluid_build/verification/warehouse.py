"""What a warehouse holds, compared with the source; nothing in it is changed."""

from collections.abc import Collection
from dataclasses import dataclass

from fluid_build.contract.write.exposes import DBT_FOLDER
from fluid_build.progress import OnProgress, ignore
from fluid_build.secrets import redact
from fluid_build.sources.base import Source
from fluid_build.transform.proof.warehouse import WarehouseProof, prove_warehouse
from fluid_build.verification.changes import NO_CHANGES, ChangesSince, changes_since
from fluid_build.verification.dbt import check_whole
from fluid_build.verification.forged_folder import ForgedFolder
from fluid_build.verification.source import unread_tables


@dataclass(frozen=True, slots=True)
class WarehouseVerified:
    """The result of verifying a warehouse; ``place`` is its address without a password."""

    forged: ForgedFolder
    place: str
    contents: WarehouseProof
    unread: tuple[str, ...] = ()
    since: ChangesSince = NO_CHANGES

    @property
    def holds(self) -> bool:
        """Whether the warehouse holds everything, every table could be read and every key holds."""
        return self.holds_but_for(())

    def holds_but_for(self, tables: Collection[str]) -> bool:
        """Return whether that holds, whatever rows the warehouse has of the tables named."""
        proven = self.contents.holds_but_for(tables)
        return (
            proven
            and not self.unread
            and not self.since.broken_keys
            and not self.forged.disagreements
        )


def verify_warehouse(
    forged: ForgedFolder,
    source: Source,
    place: str,
    *,
    schema: str | None = None,
    exact: bool = False,
    on_progress: OnProgress = ignore,
) -> WarehouseVerified:
    """Compare a warehouse with the source; nothing is built or changed in it.

    ``schema`` is where the model's relations are, if it isn't the project's; ``exact`` compares
    large tables row by row. Raises
    ModelOutdatedError where the model no longer fits the source.
    """
    since = changes_since(forged, source, on_progress)
    check_whole(source, forged.folder / DBT_FOLDER)
    contents = prove_warehouse(
        source,
        forged.plan,
        forged.model,
        place,
        schema=schema,
        exact=exact,
        on_progress=on_progress,
    )
    return WarehouseVerified(
        forged,
        redact(place),
        contents,
        unread=tuple(unread_tables(source, forged.model)),
        since=since,
    )
