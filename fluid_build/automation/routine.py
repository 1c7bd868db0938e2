"""What a scheduler or a CI has to know to run a folder."""

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fluid_build import __version__
from fluid_build.errors import UsageError
from fluid_build.extras import DISTRIBUTION
from fluid_build.sources.addresses.kinds import KINDS, RemoteFilesKind, ServerKind
from fluid_build.transform.proof.manifest import ManifestSource, read_text
from fluid_build.verification import ForgedFolder

_TIME = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)")
_VARIABLE = re.compile(r"env_var\(\s*'+([A-Z][A-Z0-9_]*)'+")
_PLACES = frozenset({"FLUID_DATABASE_PATH", "FLUID_SOURCE_PATH"})
"""Variables of a profile that lead to files, and have a default."""
_MOST_BYTES = 1024 * 1024
_NOT_IN_NAMES = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True)
class Routine:
    """What is run, and when.

    ``name`` is a Python name. ``folder`` is a path with ``/``, as the files say it. ``requirement``
    is what pip installs. ``secrets`` are the variables that servers are logged in to with.
    ``sources`` and ``warehouse`` are options of a command, which say where those are; none for
    files that the folder may choose. ``command`` is where `fluid` is on this machine, since neither
    cron nor systemd looks where a shell does. ``hour`` and ``minute`` are in UTC.
    """

    name: str
    folder: str
    requirement: str
    secrets: tuple[str, ...]
    relations: tuple[str, ...]
    command: str = "fluid"
    sources: tuple[str, ...] = ()
    warehouse: tuple[str, ...] = ()
    hour: int = 2
    minute: int = 0

    @property
    def places(self) -> tuple[str, ...]:
        """The options of a command that reads the sources and the warehouse."""
        return (*self.sources, *self.warehouse)

    @property
    def title(self) -> str:
        """The name with dashes, as files and jobs are called."""
        return self.name.replace("_", "-")


def routine_of(
    forged: ForgedFolder,
    folder: str,
    at: str = "02:00",
    uris: Sequence[str] = (),
    warehouse: str | None = None,
) -> Routine:
    """Return the routine of a folder, which the files are to call ``folder``.

    ``uris`` and ``warehouse`` say where its sources and its warehouse are, without passwords, where
    the folder itself may not. Raises UsageError for a time that isn't one of a day.
    """
    time = _TIME.fullmatch(at.strip())
    if time is None:
        raise UsageError(f"{at!r} isn't a time of a day.", hint="Write it as 02:30, in UTC.")
    name = _NOT_IN_NAMES.sub("_", forged.folder.resolve().name.lower()).strip("_") or "model"
    sources = tuple((forged.manifest.source.parts or {"": forged.manifest.source}).values())
    extras = sorted({"dbt", *_target_extras(forged), *filter(None, map(_extra, sources))})
    return Routine(
        name=name if name[0].isalpha() else f"model_{name}",
        folder=folder,
        requirement=f"{DISTRIBUTION}[{','.join(extras)}]=={__version__}",
        secrets=tuple(sorted({*_secrets(sources), *_variables(forged.folder)})),
        relations=tuple(build.name for build in forged.plan.published),
        command=_command(),
        sources=tuple(word for uri in uris for word in ("--uri", uri)),
        warehouse=() if warehouse is None else ("--warehouse", warehouse),
        hour=int(time[1]),
        minute=int(time[2]),
    )


def _command() -> str:
    beside = Path(sys.executable).parent / "fluid"
    return beside.as_posix() if beside.is_file() else "fluid"


def _target_extras(forged: ForgedFolder) -> tuple[str, ...]:
    return ("postgres",) if forged.manifest.target == "postgres" else ()


def _extra(source: ManifestSource) -> str:
    """Return the extra that reads a source, "" where none is needed or it can't be told."""
    kind = KINDS[source.kind]
    if isinstance(kind, RemoteFilesKind):
        return {"s3": "s3", "azure": "azure"}.get(kind.name, "http")
    return kind.name if isinstance(kind, ServerKind) else ""


def _secrets(sources: tuple[ManifestSource, ...]) -> set[str]:
    kinds = (KINDS[source.kind] for source in sources)
    return {kind.password_variable for kind in kinds if isinstance(kind, ServerKind)}


def _variables(folder: Path) -> set[str]:
    """Return the variables of the environment that the folder's dbt profile reads."""
    path = folder / "dbt" / "profiles.yml"
    text = read_text(path, _MOST_BYTES) if path.is_file() else ""
    return set(_VARIABLE.findall(text)) - _PLACES
