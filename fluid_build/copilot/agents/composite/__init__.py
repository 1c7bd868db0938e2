"""Composite agents, which work over several turns, agents and tools, with their steps as state.

Sources: the Composite behaviour page, and section 4 of the design for its form in Python.
"""

from fluid_build.copilot.agents.composite.behaviour import (
    CompositeResult,
    Halt,
    Retry,
    Skip,
)
from fluid_build.copilot.agents.composite.checkpoint import Checkpoint
from fluid_build.copilot.agents.composite.engine import (
    DEFAULT_WIDTH,
    CompositeAgent,
    advance,
    resume,
    resume_sync,
    run,
    run_sync,
)
from fluid_build.copilot.agents.composite.state import (
    CompletionStep,
    Composite,
    DelegateStep,
    FunctionStep,
    StepResult,
    append_steps,
    completion,
    delegate,
    function_step,
    get_state,
    push_steps,
    put_state,
)
from fluid_build.copilot.errors import (
    CheckpointError,
    RunExistsError,
    RunNotFoundError,
    RunOwnedError,
    StaleCheckpointError,
    UnsavableStepError,
)

__all__ = [
    "DEFAULT_WIDTH",
    "Checkpoint",
    "CheckpointError",
    "CompletionStep",
    "Composite",
    "CompositeAgent",
    "CompositeResult",
    "DelegateStep",
    "FunctionStep",
    "Halt",
    "Retry",
    "RunExistsError",
    "RunNotFoundError",
    "RunOwnedError",
    "Skip",
    "StaleCheckpointError",
    "StepResult",
    "UnsavableStepError",
    "advance",
    "append_steps",
    "completion",
    "delegate",
    "function_step",
    "get_state",
    "push_steps",
    "put_state",
    "resume",
    "resume_sync",
    "run",
    "run_sync",
]
