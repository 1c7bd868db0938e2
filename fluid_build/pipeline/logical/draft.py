"""What the logical stage starts from, and what it returns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from fluid_build.decisions.language import AnyDecision
from fluid_build.decisions.verdicts import Verdict
from fluid_build.modeling.logical import LogicalModel
from fluid_build.profiling.profile import Profile

if TYPE_CHECKING:  # A run without a model doesn't wait for this import.
    from fluid_build.pipeline.logical.proposals import InvalidProposal

Judge: TypeAlias = Callable[[Sequence[AnyDecision]], Sequence[Verdict]]
"""Weighs proposals on the data, and returns a verdict on each in their order."""


@dataclass(frozen=True, slots=True)
class Draft:
    """The deterministic draft of a forge.

    ``decisions`` were made before: proposals that contradict them are dropped. ``share_samples``
    allows values of columns that aren't personal to be sent. ``goal`` is what the product is for,
    in the user's words.
    """

    profile: Profile
    model: LogicalModel
    decisions: Sequence[AnyDecision] = ()
    share_samples: bool = False
    goal: str = ""


@dataclass(frozen=True, slots=True)
class FailedChunk:
    """A chunk that got no answer: its tables, the error's class and what it said.

    ``is_correction`` says that only the second round failed, so its first proposals count.
    """

    tables: tuple[str, ...]
    error: str
    message: str
    is_correction: bool = False


@dataclass(frozen=True, slots=True)
class LogicalOutcome:
    """What a model contributed.

    ``decisions`` are the accepted ones with their evidence, in a fixed order. ``verdicts`` are on
    everything that was proposed and could be read: first what was proposed first, then what
    replaced the refused ones. ``invalid`` are entries that are no decisions, ``unread`` counts
    those that exceed the limit of an answer. ``rounds`` is 2 where something was corrected.
    """

    decisions: tuple[AnyDecision, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    invalid: tuple[InvalidProposal, ...] = ()
    unread: int = 0
    chunks: int = 0
    rounds: int = 0
    failed_chunks: tuple[FailedChunk, ...] = ()
