"""A document put together from the events of a parser, with the line of everything in it.

The file is a stranger's: how deep it nests, how much its aliases unfold to and which tags it uses
are all bounded here, before anything else sees it.
"""

import copy
from dataclasses import dataclass, field
from typing import Any

from fluid_build import limits
from fluid_build.contract.printable import escaped, kind_shown
from fluid_build.contract.structure import Path
from fluid_build.errors import SourceUnreadableError

MAX_DEPTH = 64
MAX_UNFOLDED = 1_000_000


@dataclass(frozen=True, slots=True)
class LocatedDocument:
    """A document and, by path, the line (from 1) of each key or item."""

    document: Any
    lines: dict[Path, int]


@dataclass(frozen=True, slots=True)
class Mark:
    """A place in a file: line and column, both from 1."""

    line: int
    column: int


def unreadable(name: str, mark: Mark | None, what: str, *, hint: str) -> SourceUnreadableError:
    """Return the error that a contract file cannot be read, with the place."""
    place = f", line {mark.line}, column {mark.column}" if mark else ""
    return SourceUnreadableError(f"{name}{place}: {what}.", hint=hint)


@dataclass(slots=True)
class _Frame:
    """A mapping or sequence that is still open."""

    value: dict[str, Any] | list[Any]
    mark: Mark
    anchor: str | None
    first_node: int
    depth: int = 1
    key: str | None = None
    key_marks: dict[str, Mark] = field(default_factory=dict)
    merged: dict[str, Any] = field(default_factory=dict)
    merging: bool = False


@dataclass(frozen=True, slots=True)
class _Anchored:
    value: Any
    nodes: int
    depth: int


class Builder:
    """Builds a document, event by event."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._open: list[_Frame] = []
        self._anchors: dict[str, _Anchored | None] = {}
        self._nodes = 0
        self._most = limits.CONTRACT_VALUES.value
        self._unfolded = 0
        self._lines: dict[Path, int] = {}
        self._document: Any = None

    def result(self) -> LocatedDocument:
        """Return the document, once every event has been seen."""
        return LocatedDocument(self._document, self._lines)

    @property
    def expects_key(self) -> bool:
        """Whether the next scalar is a key of the mapping that is open."""
        frame = self._open[-1] if self._open else None
        return (
            frame is not None
            and isinstance(frame.value, dict)
            and frame.key is None
            and not frame.merging
        )

    def start(self, value: dict[str, Any] | list[Any], mark: Mark, anchor: str | None) -> None:
        """Begin a mapping or sequence."""
        if self.expects_key:
            raise self._refuse(mark, "a key must be text, not a list or mapping")
        self._enter(mark)
        if len(self._open) >= MAX_DEPTH:
            raise self._refuse(mark, f"it's nested more than {MAX_DEPTH} levels deep")
        if anchor is not None:
            self._anchors[anchor] = None
        self._open.append(_Frame(value, mark, anchor, self._nodes))

    def end(self) -> None:
        """End the mapping or sequence that was begun last."""
        frame = self._open.pop()
        value = frame.value
        if frame.merged and isinstance(value, dict):
            value = {**frame.merged, **value}
        if frame.anchor is not None:
            nodes = self._nodes - frame.first_node + 1
            self._anchors[frame.anchor] = _Anchored(value, nodes, frame.depth)
        self._place(value, frame.depth, frame.mark)

    def scalar(self, value: object, mark: Mark, anchor: str | None = None) -> None:
        """Add a scalar value."""
        self._enter(mark)
        if anchor is not None:
            self._anchors[anchor] = _Anchored(value, 1, 0)
        self._place(value, 0, mark)

    def key(self, key: object, written: str, mark: Mark, anchor: str | None = None) -> None:
        """Add a key of the open mapping; ``written`` is its text in the file."""
        frame = self._open[-1]
        if anchor is not None:
            self._anchors[anchor] = _Anchored(key, 1, 0)
        if not isinstance(key, str):
            raise self._refuse(
                mark,
                f"the key `{escaped(written)}` is read as {kind_shown(key)}",
                hint="Put the key in quotes.",
            )
        first = frame.key_marks.get(key)
        if first is not None:
            raise self._refuse(
                mark,
                f"the key `{escaped(key)}` occurs twice (first on line {first.line})",
                hint="Remove or rename one of the two.",
            )
        frame.key_marks[key] = mark
        frame.key = key

    def merge_key(self) -> None:
        """Note YAML's ``<<``: the next value's keys are defaults of the open mapping."""
        self._open[-1].merging = True

    def alias(self, anchor: str, mark: Mark) -> None:
        """Add a copy of what was anchored before."""
        if anchor not in self._anchors:
            raise self._refuse(mark, f"the alias `*{escaped(anchor)}` has no anchor before it")
        anchored = self._anchors[anchor]
        if anchored is None:
            raise self._refuse(mark, f"the alias `*{escaped(anchor)}` contains itself")
        if self.expects_key:
            self.key(anchored.value, f"*{anchor}", mark)
            return
        self._enter(mark, anchored.nodes)
        self._unfolded += anchored.nodes
        if self._unfolded > MAX_UNFOLDED:
            raise self._refuse(mark, f"its aliases expand to more than {MAX_UNFOLDED:,} values")
        if len(self._open) + anchored.depth > MAX_DEPTH:
            raise self._refuse(mark, f"it's nested more than {MAX_DEPTH} levels deep")
        self._place(copy.deepcopy(anchored.value), anchored.depth, mark)

    def _enter(self, mark: Mark, nodes: int = 1) -> None:
        self._nodes += nodes
        if self._nodes > self._most:
            what = f"it has more than {self._most:,} values"
            raise self._refuse(mark, what, hint=limits.CONTRACT_VALUES.how_to_raise)
        path: list[str | int] = []
        line = mark.line
        for frame in self._open:
            if isinstance(frame.value, list):
                path.append(len(frame.value))
                line = mark.line
            elif frame.key is not None:
                path.append(frame.key)
                line = frame.key_marks[frame.key].line
            else:
                return
        self._lines[tuple(path)] = line

    def _place(self, value: object, depth: int, mark: Mark) -> None:
        if not self._open:
            self._document = value
            return
        frame = self._open[-1]
        frame.depth = max(frame.depth, depth + 1)
        if isinstance(frame.value, list):
            frame.value.append(value)
        elif frame.merging:
            self._merge(frame, value, mark)
        elif frame.key is not None:
            frame.value[frame.key] = value
            frame.key = None

    def _merge(self, frame: _Frame, value: object, mark: Mark) -> None:
        parts = value if isinstance(value, list) else [value]
        for part in parts:
            if not isinstance(part, dict):
                raise self._refuse(mark, "`<<` needs a mapping or a list of mappings")
            for key, inner in part.items():
                frame.merged.setdefault(key, inner)
        frame.merging = False

    def _refuse(self, mark: Mark, what: str, *, hint: str = "") -> SourceUnreadableError:
        return unreadable(self._name, mark, what, hint=hint or "Correct that part of the file.")
