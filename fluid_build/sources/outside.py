"""Whether a result would be written among the files that are read."""

import glob
from pathlib import Path

from fluid_build.errors import UsageError
from fluid_build.sources.addresses.kinds import FILES
from fluid_build.sources.uri import Address


def check_outside(out: Path, address: Address) -> None:
    """UsageError where files would be written among those that are read."""
    if address.kind is not FILES:
        return
    folder = _source_folder(address.place)
    if folder is not None and out.resolve().is_relative_to(folder.resolve()):
        raise UsageError(
            f"{out} is inside {folder}, which is the source. Fluid Forge never writes to a source.",
            hint="Choose a folder outside of it.",
        )


def _source_folder(place: str) -> Path | None:
    path = Path(place)
    if path.is_dir():
        return path
    if path.exists():
        return None
    fixed = [part for part in path.parts if not glob.has_magic(part)]
    return Path(*fixed) if fixed else Path()
