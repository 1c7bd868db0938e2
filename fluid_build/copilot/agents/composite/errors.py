"""What can go wrong with saving, finding and taking over a run."""

from __future__ import annotations

from fluid_build.errors import FluidError

__all__ = [
    "CheckpointError",
    "RunExistsError",
    "RunNotFoundError",
    "RunOwnedError",
    "StaleCheckpointError",
    "UnsavableStepError",
]


class CheckpointError(FluidError):
    """A run could not be saved or taken over."""


class RunExistsError(CheckpointError):
    """There is a run of that id already."""


class RunNotFoundError(CheckpointError):
    """There is no run of that id."""


class RunOwnedError(CheckpointError):
    """The run is still being run by somebody else."""


class StaleCheckpointError(CheckpointError):
    """The agent's code or its steps are others than when the run was saved."""


class UnsavableStepError(CheckpointError):
    """A step holds what cannot be found again in another process."""
