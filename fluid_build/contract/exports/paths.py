"""Paths of local data, relative to one folder instead of another.

A contract's paths are relative to its own folder, so that the folder may be moved. A tool that runs
an exported contract opens its paths from the current folder.
"""

import os
from pathlib import Path, PurePath

from fluid_build.contract.fluid import Binding, FluidContract


def paths_from(contract: FluidContract, folder: Path, here: Path) -> FluidContract:
    """Return the contract with each path that is relative to ``folder`` relative to ``here``.

    Absolute paths stay as they are, and so do bindings on any platform but ``local``.
    """
    exposes = [
        expose.model_copy(update={"binding": _seen(expose.binding, folder, here)})
        for expose in contract.exposes
    ]
    return contract.model_copy(update={"exposes": exposes})


def _seen(binding: Binding, folder: Path, here: Path) -> Binding:
    path = binding.location.path
    if binding.platform != "local" or not path or "://" in path or PurePath(path).is_absolute():
        return binding
    seen = Path(os.path.relpath(folder.absolute() / path, here.absolute())).as_posix()
    location = binding.location.model_copy(update={"path": seen})
    return binding.model_copy(update={"location": location})
