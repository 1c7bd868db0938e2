"""Which column each box is in: parents left of children, and no column much too high.

A layer of a layered drawing may hold any number of boxes. A layer that is too high becomes several
columns, and boxes then move to where their links are shortest and there is room.
"""

from collections import defaultdict
from collections.abc import Sequence
from math import ceil

from fluid_build.report.layout.nets import Net

# A column may be this much higher than the limit before a box goes elsewhere: a box of average
# size more or less doesn't show.
_TOLERANCE = 1.05
# A net costs as many columns as it spans, and each of its links a little more: a link that joins
# the trunk of its net early is easier to follow.
_LINK_COST = 0.1
_PASSES = 6


def assign_columns(heights: Sequence[float], nets: Sequence[Net], limit: float) -> list[int]:
    """Return the column of each box; ``heights`` are those of the boxes with their gaps."""
    placing = _Placing(heights, nets)
    placing.improve(float("inf"))
    placing.split(limit)
    placing.improve(limit * _TOLERANCE)
    used = {column: place for place, column in enumerate(sorted(set(placing.columns)))}
    return [used[column] for column in placing.columns]


class _Placing:
    """Columns while they are changed."""

    def __init__(self, heights: Sequence[float], nets: Sequence[Net]) -> None:
        self.heights = heights
        self.nets = nets
        self.nets_at: list[list[int]] = [[] for _ in heights]
        self.parents: list[list[int]] = [[] for _ in heights]
        self.children: list[list[int]] = [[] for _ in heights]
        for place, net in enumerate(nets):
            for box in dict.fromkeys((net.parent, *net.children)):
                self.nets_at[box].append(place)
            for left, right in net.arcs:
                self.parents[right].append(left)
                self.children[left].append(right)
        self.topological = self._sorted()
        self.columns = [0] * len(heights)
        for box in self.topological:
            self.columns[box] = max((self.columns[p] + 1 for p in self.parents[box]), default=0)

    def _sorted(self) -> list[int]:
        open_parents = [len(parents) for parents in self.parents]
        boxes = [box for box, count in enumerate(open_parents) if not count]
        for box in boxes:
            for child in self.children[box]:
                open_parents[child] -= 1
                if not open_parents[child]:
                    boxes.append(child)
        return boxes

    def improve(self, limit: float) -> None:
        """Move each box to the column with room where its links are shortest, a few times."""
        last = max(self.columns)
        filled = self._filled()
        for number in range(_PASSES):
            moved = False
            for box in self.topological if number % 2 else reversed(self.topological):
                before = self.columns[box]
                after = self._best_column(box, last, filled, limit)
                if after != before:
                    filled[before] -= self.heights[box]
                    filled[after] += self.heights[box]
                    moved = True
                self.columns[box] = after
            if not moved:
                return

    def _filled(self) -> dict[int, float]:
        filled: dict[int, float] = defaultdict(float)
        for box, column in enumerate(self.columns):
            filled[column] += self.heights[box]
        return filled

    def _best_column(self, box: int, last: int, filled: dict[int, float], limit: float) -> int:
        before = self.columns[box]
        first = max((self.columns[p] + 1 for p in self.parents[box]), default=0)
        last = min((self.columns[c] - 1 for c in self.children[box]), default=last)
        best, least = before, self._cost(box, before)
        for column in range(first, last + 1):
            if column != before and filled[column] + self.heights[box] <= limit:
                cost = self._cost(box, column)
                if cost < least:
                    best, least = column, cost
        return best

    def _cost(self, box: int, column: int) -> float:
        self.columns[box] = column
        cost = 0.0
        for place in self.nets_at[box]:
            net = self.nets[place]
            at = self.columns[net.parent]
            spans = [abs(self.columns[child] - at) for child in net.children]
            cost += max(spans) + _LINK_COST * sum(spans)
        return cost

    def split(self, limit: float) -> None:
        """Make several columns of each that is higher than the limit.

        Boxes with many children go to the right of the columns, those with many parents to the
        left, each nearer to where its links lead.
        """
        layers: dict[int, list[int]] = defaultdict(list)
        for box in self.topological:
            layers[self.columns[box]].append(box)
        first = 0
        for layer in sorted(layers):
            boxes = layers[layer]
            boxes.sort(key=lambda box: len(self.children[box]) - len(self.parents[box]))
            height = sum(self.heights[box] for box in boxes)
            parts = max(1, ceil(height / (limit * _TOLERANCE)))
            above = 0.0
            for box in boxes:
                middle = above + self.heights[box] / 2
                self.columns[box] = first + int(middle * parts / height)
                above += self.heights[box]
            first += parts
