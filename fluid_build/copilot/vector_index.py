"""Finds the nearest of many vectors by cosine, in memory; with numpy if it is there.

What such a search costs is reading the vectors. Embeddings vary much along few directions and
little along the others, so the vectors are turned until the former come first (their principal
axes). The first coordinates give most of a cosine, and what the others can add is bounded by five
standard deviations of it: only vectors that could then be among the nearest are read whole, and
only by their whole cosines are they ranked. Vectors that vary alike in all directions are all read.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from fluid_build.copilot.store.base import Embeddings, unpack_embedding

_WORTH_TURNING = 20_000
"""With fewer vectors, reading them all takes less than a millisecond or two."""

_SAMPLE = 20_000
_SHARE = 0.8
"""How much of the vectors' variation the first coordinates have to hold."""

_DEVIATIONS = 5.0
"""One in a million is further off."""

Ranked = list[tuple[str, float]]


class VectorIndex:
    """Cosines to all vectors of one namespace."""

    def __init__(self, embeddings: Embeddings) -> None:
        self._keys = embeddings.keys
        self._dimensions = embeddings.dimensions
        numpy = _numpy()
        self._search: _ByNumpy | _ByHand = (
            _ByHand(unpack_embedding(embeddings.vectors), self._dimensions)
            if numpy is None
            else _ByNumpy(numpy, embeddings.vectors, self._dimensions)
        )

    def nearest(self, wanted: Sequence[float], limit: int) -> Ranked:
        """Keys and cosines (0 if negative), the nearest first; none if the lengths differ."""
        if len(wanted) != self._dimensions or not self._keys or limit <= 0:
            return []
        length = math.sqrt(sum(value * value for value in wanted)) or 1.0
        found = self._search.nearest([value / length for value in wanted], limit)
        return [(self._keys[place], min(max(cosine, 0.0), 1.0)) for place, cosine in found]


class _ByHand:
    """For some thousands of vectors, where numpy is not installed."""

    def __init__(self, vectors: array[float], dimensions: int) -> None:
        self._vectors: list[array[float]] = []
        for start in range(0, len(vectors), dimensions or 1):
            vector = vectors[start : start + dimensions]
            length = math.sqrt(sum(value * value for value in vector)) or 1.0
            self._vectors.append(array("f", [value / length for value in vector]))

    def nearest(self, unit: list[float], limit: int) -> list[tuple[int, float]]:
        cosines = [sum(map(float.__mul__, vector, unit)) for vector in self._vectors]
        places = sorted(range(len(cosines)), key=lambda place: (-cosines[place], place))
        return [(place, cosines[place]) for place in places[:limit]]


class _ByNumpy:
    """For as many vectors as fit into memory."""

    def __init__(self, numpy: Any, vectors: bytes, dimensions: int) -> None:
        self._np = numpy
        matrix = numpy.frombuffer(vectors, dtype="<f4").reshape(-1, dimensions or 1)
        lengths = numpy.sqrt(numpy.einsum("ij,ij->i", matrix, matrix))
        self._matrix = matrix / numpy.where(lengths > 0, lengths, 1)[:, None]
        self._head: Any = None
        if len(matrix) >= _WORTH_TURNING:
            self._turn()

    def nearest(self, unit: list[float], limit: int) -> list[tuple[int, float]]:
        wanted = self._np.asarray(unit, dtype=self._np.float32)
        places = self._candidates(wanted, limit)
        if places is None:
            return self._best(self._matrix @ wanted, None, limit)
        return self._best(self._cosines(self._matrix[places], wanted), places, limit)

    def _turn(self) -> None:
        """Keeps the first coordinates along the principal axes, if they hold enough."""
        np = self._np
        sample = self._matrix[:: max(1, len(self._matrix) // _SAMPLE)]
        variations, axes = np.linalg.eigh(sample.T @ sample)
        held = np.cumsum(variations[::-1]) / max(float(variations.sum()), 1e-12)
        width = -(-(int(np.searchsorted(held, _SHARE)) + 1) // 16) * 16
        if width > self._matrix.shape[1] // 2:
            return
        self._axes = np.ascontiguousarray(axes[:, ::-1][:, :width], dtype=np.float32)
        self._head = self._matrix @ self._axes
        rest = 1.0 - np.einsum("ij,ij->i", self._head, self._head)
        # Two vectors of length 1 in a space of n even directions: deviation 1 / sqrt(n).
        others = variations[::-1][width:]
        directions = float(others.sum()) ** 2 / max(float((others**2).sum()), 1e-24)
        share = min(1.0, _DEVIATIONS / math.sqrt(max(directions, 1.0)))
        self._rest = np.sqrt(np.maximum(rest, 0.0)) * share

    def _candidates(self, wanted: Any, limit: int) -> Any:
        """The places of all that can be among the nearest; None if those are too many."""
        np = self._np
        if self._head is None or limit >= len(self._matrix):
            return None
        head = wanted @ self._axes
        rest = math.sqrt(max(0.0, 1.0 - float(head @ head)))
        known = self._cosines(self._head, head)
        likely = np.argpartition(-known, limit)[:limit]
        # As many as are wanted have at least this cosine.
        least = float(self._cosines(self._matrix[likely], wanted).min())
        places = np.flatnonzero(known + self._rest * np.float32(rest) >= least)
        places = np.union1d(places, likely)
        return None if len(places) > len(self._matrix) // 8 else places

    def _cosines(self, vectors: Any, wanted: Any) -> Any:
        """On this thread: BLAS would share so little work out, and wait for the slowest thread."""
        return self._np.einsum("ij,j->i", vectors, wanted)

    def _best(self, cosines: Any, places: Any, limit: int) -> list[tuple[int, float]]:
        np = self._np
        chosen = np.arange(len(cosines))
        if limit < len(cosines):
            chosen = np.argpartition(-cosines, limit)[:limit]
        chosen = chosen[np.lexsort((chosen, -cosines[chosen]))]
        kept = chosen if places is None else places[chosen]
        return list(zip(kept.tolist(), cosines[chosen].tolist(), strict=True))


def _numpy() -> ModuleType | None:
    """Imported on use, and done without where it is not installed."""
    try:
        import numpy
    except ImportError:
        return None
    return numpy
