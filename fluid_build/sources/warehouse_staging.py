"""What the openers of all warehouses do alike once they know the tables."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Protocol, TypeVar

from fluid_build.errors import SourceUnreadableError
from fluid_build.sources.base import OpenSource
from fluid_build.sources.engine import Engine
from fluid_build.sources.kinds import SourceKind
from fluid_build.sources.options import OpenOptions
from fluid_build.sources.scan_estimate import ScanEstimate, check_scan
from fluid_build.sources.server_staging import C, ServerStaging, ServerTable


class _Closable(Protocol):
    def close(self) -> None: ...


Client = TypeVar("Client", bound=_Closable)


@contextmanager
def closed_on_error(client: Client) -> Iterator[Client]:
    """Provide a client that is closed if the block raises, and left open for its source if not."""
    with ExitStack() as stack:
        stack.callback(client.close)
        yield client
        stack.pop_all()


def announce_scan(options: OpenOptions, estimate: ScanEstimate) -> None:
    """Say what will be scanned; raise ScanTooLargeError where nobody asked for that much."""
    check_scan(estimate, sample=options.sample, full=options.full)
    options.on_scan(estimate)


def staged_source(
    engine: Engine,
    staging: ServerStaging[C],
    catalog: Sequence[ServerTable[C]],
    options: OpenOptions,
    *,
    kind: SourceKind,
    name: str,
    rights: str,
) -> OpenSource:
    """Copy the tables, and return them as a source; ``rights`` is the hint where none is read."""
    engine.stage(0 if options.sample else sum(table.bytes for table in catalog))
    tables, skipped = staging.stage(options.on_progress)
    if not tables:
        raise SourceUnreadableError(
            f"None of the {len(catalog)} tables could be read. {skipped[0].reason}", hint=rights
        )
    return OpenSource(
        kind=kind.name,
        name=name,
        connection=engine.connection,
        tables=tables,
        skipped=skipped,
        keys=staging.keys,
        cleanup=[engine, staging],
    )
