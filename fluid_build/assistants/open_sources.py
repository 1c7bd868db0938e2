"""The sources of assistants, each opened and measured once for as long as it doesn't change."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime

from fluid_build.assistants.jobs import Job
from fluid_build.assistants.paths import FileStates
from fluid_build.assistants.text_samples import require_named_columns
from fluid_build.assistants.workspace import Place
from fluid_build.copilot.unified_config import credential_settings
from fluid_build.errors import UsageError
from fluid_build.forging.stages import measure
from fluid_build.profiling.profile import Profile
from fluid_build.sources import open_source
from fluid_build.sources.addresses.kinds import DUCKDB
from fluid_build.sources.base import Source
from fluid_build.sources.combined import open_several

MOST_OPEN = 3
"""Sources that stay open: each may hold gigabytes in memory or in temporary files."""
_MOST_MEASURED = 16
"""Sources whose profiles are kept: some megabytes each."""
_LOCK_SECONDS = 0.1


@dataclass
class _Entry:
    """A source in its latest state. Whoever has the lock may use it."""

    place: Place
    lock: threading.Lock = field(default_factory=threading.Lock)
    state: FileStates | None = None
    source: Source | None = None
    profile: Profile | None = None
    measured_at: str = ""

    def close(self) -> None:
        source, self.source = self.source, None
        if source is not None:
            source.close()

    def forget(self) -> None:
        self.close()
        self.state = self.profile = None


@dataclass(frozen=True, slots=True)
class MeasuredSource:
    """A source that is open, its profile, and when that was measured."""

    place: Place
    source: Source
    profile: Profile
    measured_at: str


class OpenSources:
    """The sources that calls have asked for, the latest few of them open. Safe for threads.

    Unless values are shared, a text is refused whose first line may be a row instead of names.
    """

    def __init__(self, *, share_values: bool = False, most_open: int = MOST_OPEN) -> None:
        self._share_values = share_values
        self._most_open = most_open
        self._entries: OrderedDict[tuple[object, ...], _Entry] = OrderedDict()
        self._lock = threading.Lock()

    @contextmanager
    def opened(self, place: Place, job: Job) -> Iterator[Source]:
        """Provide a source; other calls for it wait until the block ends.

        It's opened again where its files have changed. Raises what ``open_source`` does, and
        StoppedError.
        """
        with self._in_use(place, job, refresh=False) as (_, source):
            yield source

    @contextmanager
    def measured(
        self, place: Place, job: Job, *, refresh: bool = False
    ) -> Iterator[MeasuredSource]:
        """Provide a source and its profile, as ``opened``.

        With ``refresh`` it's read again: a server doesn't say whether it has changed. Raises
        EmptySourceError where no table can be read.
        """
        with self._in_use(place, job, refresh=refresh) as (entry, source):
            if entry.profile is None:
                entry.profile = measure(source, job.report)
                entry.measured_at = datetime.now(UTC).isoformat(timespec="seconds")
            yield MeasuredSource(place, source, entry.profile, entry.measured_at)

    @contextmanager
    def _in_use(self, place: Place, job: Job, *, refresh: bool) -> Iterator[tuple[_Entry, Source]]:
        entry = self._entry(place)
        with _locked(entry.lock, job):
            try:
                source = self._opened(entry, job, refresh=refresh)
                with job.querying(source.connection):
                    yield entry, source
                job.raise_if_stopped()
            except UsageError:
                raise
            except BaseException:
                # What was interrupted or has failed may leave anything behind.
                entry.forget()
                raise
            finally:
                if entry.source is not None and entry.source.kind == DUCKDB.name:
                    # While it's open here, no other program could write to it.
                    entry.close()
        self._close_oldest()

    def close(self) -> None:
        """Close every source."""
        with self._lock:
            entries = [*self._entries.values()]
            self._entries.clear()
        for entry in entries:
            entry.close()

    def _entry(self, place: Place) -> _Entry:
        with self._lock:
            entry = self._entries.setdefault(place.key, _Entry(place))
            self._entries.move_to_end(place.key)
            return entry

    def _opened(self, entry: _Entry, job: Job, *, refresh: bool) -> Source:
        state = entry.place.files()
        if refresh or entry.state != state:
            entry.forget()
            entry.state = state
        if entry.source is None:
            entry.source = _open(entry.place, job)
            if not self._share_values:
                require_named_columns(entry.source)
        return entry.source

    def _close_oldest(self) -> None:
        with self._lock:
            idle = [entry for entry in reversed(self._entries.values()) if entry.source is not None]
            for entry in idle[self._most_open :]:
                if entry.lock.acquire(blocking=False):
                    try:
                        entry.close()
                    finally:
                        entry.lock.release()
            surplus = len(self._entries) - _MOST_MEASURED
            for key, entry in [*self._entries.items()][: max(0, surplus)]:
                if entry.source is None and not entry.lock.locked():
                    del self._entries[key]


@contextmanager
def _locked(lock: threading.Lock, job: Job) -> Iterator[None]:
    while not lock.acquire(timeout=_LOCK_SECONDS):
        job.raise_if_stopped()
    try:
        yield
    finally:
        lock.release()


def _open(place: Place, job: Job) -> Source:
    if len(place.requests) > 1:
        return open_several(place.requests, on_progress=job.report)
    (request,) = place.requests
    return open_source(
        request.address,
        on_progress=job.report,
        settings=credential_settings,
        **request.read.as_settings(),
    )
