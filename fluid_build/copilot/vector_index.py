"""The nearest of many vectors by cosine, searched in memory, with numpy where it is installed."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from typing import TypeAlias

from fluid_build.copilot.store.base import Embeddings, unpack_embedding

_Cosines: TypeAlias = list[tuple[int, float]]
"""Places of vectors with their cosines, the nearest first."""


class VectorIndex:
    """The vectors of one namespace, scaled to length 1.

    Every search reads all of them. For 100,000 vectors of 256 values numpy takes about 10 ms.
    """

    def __init__(self, embeddings: Embeddings) -> None:
        self._keys = embeddings.keys
        self._dimensions = embeddings.dimensions
        self._vectors: _PlainVectors | _NumpyVectors
        try:
            self._vectors = _NumpyVectors(embeddings)
        except ImportError:
            self._vectors = _PlainVectors(embeddings)

    def nearest(self, query: Sequence[float], limit: int) -> list[tuple[str, float]]:
        """Return keys and cosines (0 if negative), the nearest first; none if the lengths differ.

        Of equal cosines, the earlier key comes first.
        """
        if len(query) != self._dimensions or not self._keys or limit <= 0:
            return []
        nearest = self._vectors.nearest(_scaled(query), limit)
        return [(self._keys[place], min(max(cosine, 0.0), 1.0)) for place, cosine in nearest]


class _PlainVectors:
    """Vectors without numpy: fast enough for some thousands."""

    def __init__(self, embeddings: Embeddings) -> None:
        values, size = unpack_embedding(embeddings.vectors), embeddings.dimensions or 1
        starts = range(0, len(values), size)
        self._vectors = [array("f", _scaled(values[start : start + size])) for start in starts]

    def nearest(self, query: Sequence[float], limit: int) -> _Cosines:
        cosines = [sum(map(float.__mul__, vector, query)) for vector in self._vectors]
        places = sorted(range(len(cosines)), key=lambda place: (-cosines[place], place))
        return [(place, cosines[place]) for place in places[:limit]]


class _NumpyVectors:
    """Vectors as a matrix, as many as fit into memory."""

    def __init__(self, embeddings: Embeddings) -> None:
        import numpy

        vectors = numpy.frombuffer(embeddings.vectors, dtype="<f4")
        matrix = vectors.reshape(-1, embeddings.dimensions or 1)
        lengths = numpy.sqrt(numpy.einsum("ij,ij->i", matrix, matrix))
        scaled = matrix / numpy.where(lengths > 0, lengths, 1)[:, None]
        self._matrix = scaled.astype(numpy.float32, copy=False)

    def nearest(self, query: Sequence[float], limit: int) -> _Cosines:
        import numpy

        cosines = self._matrix @ numpy.asarray(query, dtype=numpy.float32)
        places = numpy.arange(len(cosines))
        if limit < len(cosines):
            places = numpy.argpartition(-cosines, limit)[:limit]
        places = places[numpy.lexsort((places, -cosines[places]))]
        return list(zip(places.tolist(), cosines[places].tolist(), strict=True))


def _scaled(vector: Sequence[float]) -> list[float]:
    length = math.sqrt(sum(value * value for value in vector)) or 1.0
    return [value / length for value in vector]
