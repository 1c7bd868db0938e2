"""Checkpoints: a composite's state, saved after each item for a process that resumes the run.

Only changes are written: the messages added since, and a head with everything else. One process at
a time owns a run. A process that takes it over writes under a new number, its epoch, so that a
previous owner that still lives disturbs nobody. An agent whose code or steps have changed is only
resumed on request.
"""

from __future__ import annotations

import hashlib
import os
import socket
import sys
import time
import uuid
from collections import deque
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NotRequired, TypedDict

from fluid_build.copilot.agents.composite.behaviour import CompositeBehaviour
from fluid_build.copilot.agents.composite.saved_models import dump_models, load_models
from fluid_build.copilot.agents.composite.saved_steps import SavedItem, StepCatalogue
from fluid_build.copilot.agents.composite.state import Composite, Item, StepQueue, evolve
from fluid_build.copilot.errors import (
    RunExistsError,
    RunNotFoundError,
    RunOwnedError,
    StaleCheckpointError,
)
from fluid_build.copilot.llm.outgoing import outgoing_secrets, without_secrets
from fluid_build.copilot.messages import Message
from fluid_build.copilot.store.base import Store, StoreError, to_json_text
from fluid_build.json_types import JsonValue
from fluid_build.secrets import redact, redact_keys

_LEASE_SECONDS = 900.0
"""A quarter of an hour: longer than a step with retries should take."""
_MAX_ERROR_CHARS = 2000

_LONGEST_TAIL = 3
"""Up to so many new messages are saved with each head, because a record of their own costs more."""

_LONGEST_FRONT = 16
"""Up to so many steps that were pushed to a queue's front are saved with each head."""


_INSIDE = "/inside"
"""The end of the namespace of runs inside runs."""

_FORMAT = 3
"""The number of this format. In the first, which had no number, notes had no models; in the second,
responses had none."""


class _SavedQueue(TypedDict):
    """A queue: the number of a saved base, how many of its last items are left, and its front."""

    base: int
    left: int
    front: list[SavedItem]


class _Head(TypedDict):
    """A saved state, but for its messages and the base of its queue.

    The messages are ``chunks`` of the latest ``generation``, and ``tail``.
    """

    format: NotRequired[int]
    generation: int
    chunks: int
    tail: list[Message]
    at: float
    code: str
    queue: _SavedQueue
    internal: JsonValue
    request: str
    response: object
    error: JsonValue
    model: object
    retries: int
    item: NotRequired[int]


class Checkpoint:
    """The saved state of the run ``run_id`` in ``store``, under ``namespace``.

    The conversation, the request and errors are saved as a model gets them: without the secrets of
    the environment and without keys. Whatever else an agent's code puts into the state is saved as
    it is.
    ``lease_seconds`` is how long an owner on another machine counts as alive after its last save.
    A checkpoint is for one run. Whoever can write to the store decides what a resumed run does,
    down to the functions that it imports.
    """

    def __init__(
        self,
        store: Store,
        run_id: str,
        *,
        namespace: str = "runs",
        lease_seconds: float = _LEASE_SECONDS,
        clock: Callable[[], float] = time.time,
    ) -> None:
        if not run_id or "/" in run_id:
            raise ValueError("a run id can't be empty or have a slash")
        self.store = store
        self.run_id = run_id
        self.namespace = namespace
        self.item = 0
        """How many items of the queue are done, which is part of what is saved."""
        self.epoch = 0
        """The number under which this process writes; 0 until it owns the run."""
        self.lease_seconds = lease_seconds
        self.clock = clock
        self._prefix = ""
        self._messages = _MessageLog()
        self._secrets: tuple[str, ...] = ()
        self._latest_cleaned: deque[tuple[Message, Message]] = deque(maxlen=_LONGEST_TAIL + 1)

    @contextmanager
    def begin(self, agent: CompositeBehaviour, state: Composite) -> Generator[None]:
        """Own a new run during the block. Raises ``RunExistsError``."""
        with _RunOwner.here() as owner:
            self._attach(agent, state)
            epochs = self._epochs()
            if epochs:
                self._refuse_owned(epochs[-1])
            if self.exists() or not self._claim(max(epochs, default=0) + 1, owner):
                raise RunExistsError(
                    f"A run {self.run_id!r} exists already.",
                    hint="Resume it, or choose another id for the new run.",
                )
            self.save(state, 0)
            yield

    @contextmanager
    def take_over(
        self, agent: CompositeBehaviour, fresh: Composite, accept_changed_code: bool
    ) -> Generator[tuple[Composite, int]]:
        """Own an interrupted run; yield its state, and how often its next item has failed.

        ``fresh`` is the agent's first state: agent, toolbox and functions are taken from it.
        Raises ``RunNotFoundError``, ``RunOwnedError`` and ``StaleCheckpointError``.
        """
        with _RunOwner.here() as owner:
            epoch, newest, head = self._latest()
            state = self._load(agent, fresh, accept_changed_code, epoch, head)
            if not self._claim(newest + 1, owner):
                raise self._owned_error("another process has just taken it over")
            self.save(state, head["retries"])
            self._forget(epoch)
            yield state, head["retries"]

    def look(
        self, agent: CompositeBehaviour, fresh: Composite, accept_changed_code: bool
    ) -> Composite:
        """Return the state of an interrupted run without owning it; raises as ``take_over``.

        What a person has answered stays valid, which it doesn't once the run goes on.
        """
        epoch, _, head = self._latest()
        return self._load(agent, fresh, accept_changed_code, epoch, head)

    def exists(self) -> bool:
        """Return whether a state of the run is saved."""
        return any(self._get(epoch, "head") is not None for epoch in self._epochs())

    def is_owned(self) -> bool:
        """Return whether a process that may still live owns the run."""
        epochs = self._epochs()
        return bool(epochs) and self._living_owner(epochs[-1]) is not None

    def newest_epoch(self) -> int:
        """Return the number under which the latest owner wrote; 0 for a run that isn't saved."""
        return max(self._epochs(), default=0)

    def without_secrets(self, record: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
        """Return a record as a message is saved: without the secrets of the environment."""
        return without_secrets(record, self._secrets)

    def delete(self) -> None:
        """Delete everything that is saved of the run, the runs inside it included."""
        inside = _namespace_inside(self.namespace), _run_inside(self)
        for namespace, prefix in [(self.namespace, f"{self.run_id}/"), inside]:
            for key in self.store.keys(namespace, prefix):
                self.store.delete(namespace, key)

    def save(self, state: Composite, retries: int) -> None:
        """Write the changes. Raises ``StoreError`` for values that JSON can't hold."""
        queue, written = self._queue.changes(state.steps)
        tail, chunk = self._messages.changes(state.messages)
        for name, messages in chunk.items():
            written[name] = [self._cleaned(message) for message in messages]
        head: _Head = {
            "format": _FORMAT,
            "generation": self._messages.generation,
            "chunks": self._messages.chunks,
            "tail": [self._cleaned(message) for message in tail],
            "at": self.clock(),
            "code": self._fingerprint,
            "queue": queue,
            "internal": self._agent.dump_internal(state.internal),
            "request": redact_keys(state.request, self._secrets),
            "response": dump_models(state.response),
            "error": _error_for_people(state.error, self._secrets),
            "model": state.model if _is_json(state.model) else None,
            "retries": retries,
            "item": self.item,
        }
        written["head"] = head
        try:
            self.store.put_many(
                self.namespace, {f"{self._prefix}{name}": value for name, value in written.items()}
            )
        except StoreError:
            _refuse_unsavable_notes(head["internal"])
            raise

    def _cleaned(self, message: Message) -> Message:
        """Return a message without secrets: each is saved several times, and searched once."""
        for original, cleaned in self._latest_cleaned:
            if original is message:
                return cleaned
        cleaned = without_secrets(message, self._secrets)
        self._latest_cleaned.append((message, cleaned))
        return cleaned

    def _attach(self, agent: CompositeBehaviour, fresh: Composite) -> None:
        self._agent = agent
        self._secrets = outgoing_secrets(None)
        self._latest_cleaned.clear()
        self._fingerprint = agent.fingerprint()
        self._catalogue = StepCatalogue(fresh.steps, agent.known_steps())

    def _claim(self, epoch: int, owner: _RunOwner) -> bool:
        self.epoch = epoch
        self._prefix = f"{self.run_id}/{epoch:06d}/"
        self._messages = _MessageLog()
        self._queue = _QueueLog(self._catalogue.dump)
        return self.store.add(self.namespace, f"{self._prefix}owner", owner.dump())

    def _epochs(self) -> list[int]:
        keys = self.store.keys(self.namespace, f"{self.run_id}/")
        return sorted({int(key.split("/")[1]) for key in keys})

    def _latest(self) -> tuple[int, int, _Head]:
        """Return the latest saved epoch, the newest epoch, and the head, if nobody owns the run.

        The epochs differ where a successor claimed the run and died before it saved.
        """
        epochs = self._epochs()
        if epochs:
            self._refuse_owned(epochs[-1])
        for epoch in reversed(epochs):
            head: _Head | None = self._get(epoch, "head")
            if head is not None:
                return epoch, epochs[-1], head
        raise RunNotFoundError(
            f"Run {self.run_id!r} doesn't exist.", hint="Check the run id and the store."
        )

    def _refuse_owned(self, epoch: int) -> None:
        owner = self._living_owner(epoch)
        if owner is not None:
            raise self._owned_error(f"process {owner.pid} on {owner.host} runs it")

    def _living_owner(self, epoch: int) -> _RunOwner | None:
        """Return the owner of an epoch, None where there is none that may still live."""
        saved = self._get(epoch, "owner")
        if saved is None:
            return None
        owner = _RunOwner.load(saved)
        lives = owner.lives()
        if lives is None:
            head = self._get(epoch, "head") or {}
            lives = self.clock() < head.get("at", 0.0) + self.lease_seconds
        return owner if lives else None

    def _owned_error(self, reason: str) -> RunOwnedError:
        return RunOwnedError(
            f"The run {self.run_id!r} is still running: {reason}.",
            hint="Wait for it, or stop that process first.",
        )

    def _saved_queue(self, epoch: int, saved: _SavedQueue) -> list[SavedItem]:
        base = self._chunk(epoch, _queue_name(saved["base"])) if saved["left"] else []
        return [*saved["front"], *base[len(base) - saved["left"] :]]

    def _refuse_changes(self, code: str, queue: list[SavedItem]) -> None:
        changed = self._catalogue.changed(queue)
        if code != self._fingerprint or changed is not None:
            part = "its code" if changed is None else f"its step {changed!r}"
            raise StaleCheckpointError(
                f"The agent of run {self.run_id!r} isn't the one that saved it: {part} (or "
                "Python) has changed.",
                hint="Resume with the previous code, or accept the change.",
            )

    def _load(
        self,
        agent: CompositeBehaviour,
        fresh: Composite,
        accept_changed_code: bool,
        epoch: int,
        head: _Head,
    ) -> Composite:
        self._attach(agent, fresh)
        queue = self._saved_queue(epoch, head["queue"])
        if not accept_changed_code:
            self._refuse_changes(head["code"], queue)
        self.item = head.get("item", 0)
        return self._restored(agent, fresh, epoch, head, queue)

    def _restored(
        self,
        agent: CompositeBehaviour,
        fresh: Composite,
        epoch: int,
        head: _Head,
        queue: list[SavedItem],
    ) -> Composite:
        return evolve(
            fresh,
            steps=self._catalogue.load(queue),
            internal=agent.load_internal(_readable_notes(agent, head)),
            messages=[
                message
                for number in range(head["chunks"])
                for message in self._chunk(epoch, _chunk_name(head["generation"], number))
            ]
            + head["tail"],
            request=head["request"],
            response=_readable_response(head),
            error=None,
            model=fresh.model if head["model"] is None else head["model"],
        )

    def _chunk(self, epoch: int, name: str) -> list[Any]:
        chunk: list[Any] | None = self._get(epoch, name)
        if chunk is None:
            raise StoreError(
                f"A part of run {self.run_id!r} is missing from the store.",
                hint="Restore the store, or start the run again.",
            )
        return chunk

    def _get(self, epoch: int, name: str) -> Any:
        return self.store.get(self.namespace, f"{self.run_id}/{epoch:06d}/{name}")

    def _forget(self, epoch: int) -> None:
        for key in self.store.keys(self.namespace, f"{self.run_id}/{epoch:06d}/"):
            self.store.delete(self.namespace, key)


def nested_checkpoint(outer: Checkpoint, name: str) -> Checkpoint:
    """Return the checkpoint of a run inside the current item of another run."""
    run_id = f"{_run_inside(outer)}{outer.item}~{name}"
    return Checkpoint(
        outer.store,
        run_id,
        namespace=_namespace_inside(outer.namespace),
        lease_seconds=outer.lease_seconds,
        clock=outer.clock,
    )


def nested_names(outer: Checkpoint) -> set[str]:
    """Return the names of the saved runs inside the current item of another run."""
    prefix = f"{_run_inside(outer)}{outer.item}~"
    keys = outer.store.keys(_namespace_inside(outer.namespace), prefix)
    return {key.removeprefix(prefix).partition("/")[0] for key in keys}


def is_nested(checkpoint: Checkpoint) -> bool:
    """Return whether a run is inside another."""
    return checkpoint.namespace.endswith(_INSIDE)


def _namespace_inside(namespace: str) -> str:
    return namespace if namespace.endswith(_INSIDE) else f"{namespace}{_INSIDE}"


def _run_inside(outer: Checkpoint) -> str:
    # A digest, because the id of one run may begin with that of another.
    return f"{hashlib.sha256(outer.run_id.encode()).hexdigest()[:24]}~"


class _MessageLog:
    """The conversation in chunks, and a tail of new messages that isn't in a chunk yet.

    Once the conversation is rewritten, there are new chunks.
    """

    def __init__(self) -> None:
        self._saved: Sequence[Message] = []
        self._chunked = 0
        self.generation = 0
        self.chunks = 0

    def changes(
        self, messages: Sequence[Message]
    ) -> tuple[list[Message], dict[str, list[Message]]]:
        """Return the tail, and the chunk to write so that all of ``messages`` are saved."""
        if messages[: len(self._saved)] != self._saved:
            self.generation += 1
            self.chunks = self._chunked = 0
        self._saved = messages
        tail = list(messages[self._chunked :])
        if len(tail) <= _LONGEST_TAIL:
            return tail, {}
        self.chunks += 1
        self._chunked = len(messages)
        return [], {_chunk_name(self.generation, self.chunks - 1): tail}


class _QueueLog:
    """The queue as steps pushed to its front, and the end of a longer queue that is saved."""

    def __init__(self, dump: Callable[[StepQueue], list[SavedItem]]) -> None:
        self._dump = dump
        self._base: list[Item] = []
        self._remaining = 0
        self._generation = 0

    def changes(self, queue: StepQueue) -> tuple[_SavedQueue, dict[str, object]]:
        """Return the queue's entry in the head, and the base to write first, if it is new."""
        steps = queue if isinstance(queue, list) else list(queue)
        remaining = min(self._remaining, len(steps))
        written: dict[str, object] = {}
        if remaining < len(steps) - _LONGEST_FRONT or not _ends_alike(steps, self._base, remaining):
            self._generation += 1
            self._base, remaining = steps, len(steps)
            written = {_queue_name(self._generation): self._dump(steps)}
        self._remaining = remaining
        front = self._dump(steps[: len(steps) - remaining])
        return {"base": self._generation, "left": remaining, "front": front}, written


def _ends_alike(queue: list[Item], base: list[Item], length: int) -> bool:
    return not length or queue[-length:] == base[-length:]


def _chunk_name(generation: int, number: int) -> str:
    return f"messages/{generation:06d}/{number:08d}"


def _queue_name(generation: int) -> str:
    return f"queue/{generation:06d}"


def _readable_notes(agent: CompositeBehaviour, head: _Head) -> JsonValue:
    """Return saved notes in the current format, in which ``$model`` names a model's class."""
    notes = head["internal"]
    if "format" in head or type(agent).load_internal is not CompositeBehaviour.load_internal:
        return notes
    escaped: JsonValue = dump_models(notes)
    return escaped


def _readable_response(head: _Head) -> object:
    """Return the saved response, with its models."""
    is_plain = head.get("format", 1) < _FORMAT
    return head["response"] if is_plain else load_models(head["response"])


def _refuse_unsavable_notes(internal: JsonValue) -> None:
    """Raise ``StoreError`` for the first note that JSON can't hold, by its name."""
    for name, note in internal.items() if isinstance(internal, Mapping) else ():
        try:
            to_json_text(note)
        except StoreError as error:
            raise StoreError(
                f"The note {name!r} of internal can't be saved: {error.message}",
                hint="Keep agents and other objects in the arguments, which init gets again when "
                "the run is resumed, or write dump_internal and load_internal.",
            ) from None


def _is_json(value: object) -> bool:
    if value is None or isinstance(value, str):  # as nearly always
        return True
    try:
        to_json_text(value)
    except StoreError:
        return False
    return True


def _error_for_people(error: object, secrets: tuple[str, ...]) -> JsonValue:
    """Return an error for people who look at a halted run: resuming doesn't need it."""
    if error is None:
        return None
    message = redact(str(error), secrets)
    if isinstance(error, str):
        return message
    return {"type": type(error).__name__, "message": message[:_MAX_ERROR_CHARS]}


_RUNNING_HERE: set[str] = set()
"""The tokens of the runs that this process owns at the moment."""


@dataclass(frozen=True, slots=True)
class _RunOwner:
    """A run's owner: machine, process (with its start, because ids are reused) and token."""

    host: str
    pid: int
    born: str
    token: str

    @classmethod
    @contextmanager
    def here(cls) -> Generator[_RunOwner]:
        """Make this process an owner during the block."""
        pid = os.getpid()
        owner = cls(socket.gethostname(), pid, _birth(pid), uuid.uuid4().hex)
        _RUNNING_HERE.add(owner.token)
        try:
            yield owner
        finally:
            _RUNNING_HERE.discard(owner.token)

    @classmethod
    def load(cls, saved: Mapping[str, Any]) -> _RunOwner:
        """Return the owner that ``dump`` returned."""
        return cls(saved["host"], saved["pid"], saved["born"], saved["token"])

    def dump(self) -> dict[str, JsonValue]:
        """Return the owner as JSON."""
        return asdict(self)

    def lives(self) -> bool | None:
        """Return whether the owner still runs; None if this process can't know."""
        if self.host != socket.gethostname():
            return None
        if self.pid == os.getpid() and self.born == _birth(self.pid):
            return self.token in _RUNNING_HERE
        if sys.platform == "win32":
            return None
        return _is_running(self.pid) and self.born == _birth(self.pid)


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _birth(pid: int) -> str:
    """Return when a process began, in clock ticks since the machine did; empty if unknown."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return ""
    # The second field is the command in parentheses, which may hold anything.
    fields = status.rpartition(")")[2].split()
    return "" if fields[0] == "Z" else fields[19]
