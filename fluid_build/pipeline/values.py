"""The large values of a run: in memory, and saved with the run so that nothing is measured twice.

Only what was measured or paid for is saved. Models, plans and contracts follow from it.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, Generic, TypeVar

from pydantic import TypeAdapter, ValidationError

from fluid_build.copilot.errors import StaleCheckpointError
from fluid_build.copilot.store.backends.null import NullBackend
from fluid_build.copilot.store.base import Store
from fluid_build.decisions.language import Decision
from fluid_build.decisions.verdicts import Verdict
from fluid_build.observations.observe import Observations
from fluid_build.profiling.profile import Profile
from fluid_build.transform.proof.proof import Proof

VALUES = "runs/values"
"""The store's namespace; a key is a run's id and the name of a value."""

_COMPRESSION = 1
"""The fastest level: JSON shrinks to a tenth with it, and hardly further with more."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Slot(Generic[T]):
    """A place for one value: its name and its type."""

    name: str
    type: Callable[[], Any]

    @property
    def adapter(self) -> TypeAdapter[T]:
        """Return what writes and reads the value."""
        return _adapter(self.type)


@cache
def _adapter(kind: Callable[[], Any]) -> TypeAdapter[Any]:
    return TypeAdapter(kind())


PROFILE: Slot[Profile] = Slot("profile", lambda: Profile)
OBSERVATIONS: Slot[Observations] = Slot("observations", lambda: Observations)
PROPOSED: Slot[tuple[Verdict, ...]] = Slot("proposed", lambda: tuple[Verdict, ...])
"""What became of each decision that a model proposed."""
DECISIONS: Slot[tuple[Any, ...]] = Slot("decisions", lambda: tuple[Decision, ...])
"""The decisions of a model that go into the run."""
VERDICTS: Slot[tuple[Verdict, ...]] = Slot("verdicts", lambda: tuple[Verdict, ...])
PROOF: Slot[Proof] = Slot("proof", lambda: Proof)


class RunValues:
    """The values of a run, by slot."""

    def __init__(self, store: Store, run_id: str) -> None:
        self._store = store
        self._run_id = run_id
        self._values: dict[str, Any] = {}

    def put(self, slot: Slot[T], value: T) -> T:
        """Save a value in place of the previous one, and return it."""
        self._values[slot.name] = value
        if not isinstance(self._store, NullBackend):
            packed = zlib.compress(slot.adapter.dump_json(value), _COMPRESSION)
            self._store.put(VALUES, self._key(slot), base64.b85encode(packed).decode())
        return value

    def get(self, slot: Slot[T]) -> T | None:
        """Return a value, None if there is none. Raises ``StaleCheckpointError``."""
        if slot.name not in self._values:
            packed = self._store.get(VALUES, self._key(slot))
            if packed is None:
                return None
            self._values[slot.name] = self._unpacked(slot, packed)
        value: T = self._values[slot.name]
        return value

    def require(self, slot: Slot[T]) -> T:
        """Return a value that an earlier step has saved."""
        value = self.get(slot)
        if value is None:
            raise StaleCheckpointError(
                f"The run {self._run_id!r} has lost its {slot.name}.", hint="Start a new run."
            )
        return value

    def _key(self, slot: Slot[T]) -> str:
        return f"{self._run_id}/{slot.name}"

    def _unpacked(self, slot: Slot[T], packed: str) -> T:
        try:
            return slot.adapter.validate_json(zlib.decompress(base64.b85decode(packed)))
        except (ValueError, zlib.error, ValidationError) as error:
            raise StaleCheckpointError(
                f"The {slot.name} of the run {self._run_id!r} can't be read again.",
                hint="It was damaged, or saved by another version. Start a new run.",
            ) from error
