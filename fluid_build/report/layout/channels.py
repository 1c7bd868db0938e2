"""The tracks of a channel: where the lines between two columns run up and down.

Every net has one vertical riser in a channel, with horizontal lines to its pins at both sides. The
order of the risers decides what crosses; risers that don't meet share a track.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field

# Parallel lines closer than this look like one.
CLEARANCE = 6.0
# Two lines of different nets at the same height would run into each other. This is more than any
# number of crossings.
_COLLISION = 1_000_000
_SAME_HEIGHT = 0.5
_PASSES = 8


@dataclass(slots=True)
class Riser:
    """A vertical line and the heights of its pins, each with the number of links that end there.

    ``track`` counts from the left. ``joined`` is the height where the riser goes on in the second
    riser of its net.
    """

    left: list[tuple[float, int]] = field(default_factory=list)
    right: list[tuple[float, int]] = field(default_factory=list)
    track: int = 0
    joined: float | None = None
    top: float = 0.0
    bottom: float = 0.0

    def measure(self) -> None:
        """Set the ends of the riser from its pins."""
        heights = [height for height, _ in (*self.left, *self.right)]
        self.top, self.bottom = min(heights), max(heights)

    def links_at(self, height: float) -> int:
        """Return how many links run along the riser at a height."""
        above = sum(weight for pin, weight in (*self.left, *self.right) if pin < height)
        below = sum(weight for pin, weight in (*self.left, *self.right) if pin > height)
        return min(above, below)


def assign_tracks(risers: Sequence[Riser]) -> tuple[list[list[Riser]], int]:
    """Return the risers of each net, from left to right, and the number of tracks.

    A net has two risers where the horizontal lines would collide in any order. The right pin of
    the first and the left pin of the second are at the same height then.
    """
    strands = [[riser] for riser in risers]
    for riser in risers:
        riser.measure()
    while True:
        bent = [riser for strand in strands for riser in strand if riser.top < riser.bottom]
        costs = _costs(bent)
        order, circle = _without_collisions(costs)
        if not circle:
            return strands, _number([bent[place] for place in _improved(order, costs)])
        _divide(bent[circle[0]], strands)


def _without_collisions(costs: list[list[int]]) -> tuple[list[int], list[int]]:
    """Return an order in which no lines collide, and the risers that are on no such order."""
    before: list[list[int]] = [[] for _ in costs]
    after = [0] * len(costs)
    for first, row in enumerate(costs):
        for second, cost in enumerate(row):
            if cost >= _COLLISION:
                before[first].append(second)
                after[second] += 1
    # A collision forbids that `first` is left of `second`; so `second` comes first.
    last = [riser for riser, count in enumerate(after) if not count]
    for riser in last:
        for other in before[riser]:
            after[other] -= 1
            if not after[other]:
                last.append(other)
    return last[::-1], _circle(before, set(range(len(costs))) - set(last))


def _circle(before: list[list[int]], candidates: set[int]) -> list[int]:
    """Return risers each of which must be left of the one before it; none without candidates."""
    path: list[int] = []
    while candidates:
        riser = min(set(before[path[-1]]) & candidates) if path else min(candidates)
        if riser in path:
            return path[path.index(riser) :]
        path.append(riser)
    return path


def _costs(risers: list[Riser]) -> list[list[int]]:
    """Return what it costs that the first riser is left of the second."""
    costs = [[0] * len(risers) for _ in risers]
    for first, riser in enumerate(risers):
        for second, other in enumerate(risers):
            if first != second and riser.top <= other.bottom and other.top <= riser.bottom:
                costs[first][second] = _cost(riser, other)
    return costs


def _cost(left: Riser, right: Riser) -> int:
    """Return the crossings of two risers in this order, or more where lines would collide."""
    if right.joined is not None and left.left[0][0] == right.joined:
        return _COLLISION
    if left.joined is not None and right.left[0][0] == left.joined:
        return 0
    cost = 0
    for height, weight in right.left:
        if left.top < height < left.bottom:
            cost += weight * left.links_at(height)
    for height, weight in left.right:
        if right.top < height < right.bottom:
            cost += weight * right.links_at(height)
        if any(abs(height - other) < _SAME_HEIGHT for other, _ in right.left):
            cost += _COLLISION
    return cost


def _improved(order: list[int], costs: list[list[int]]) -> list[int]:
    """Return an order that costs less: every riser goes to its best place, a few times."""
    for _ in range(_PASSES):
        moved = False
        for riser in list(order):
            before = order.index(riser)
            del order[before]
            place, cost = _best_place(riser, order, costs)
            if cost < _cost_at(riser, before, order, costs):
                moved = True
                order.insert(place, riser)
            else:
                order.insert(before, riser)
        if not moved:
            break
    return order


def _best_place(riser: int, order: list[int], costs: list[list[int]]) -> tuple[int, int]:
    cost = least = sum(costs[riser][other] for other in order)
    best = 0
    for place, other in enumerate(order):
        cost += costs[other][riser] - costs[riser][other]
        if cost < least:
            best, least = place + 1, cost
    return best, least


def _cost_at(riser: int, place: int, order: list[int], costs: list[list[int]]) -> int:
    return sum(costs[other][riser] for other in order[:place]) + sum(
        costs[riser][other] for other in order[place:]
    )


def _divide(riser: Riser, strands: list[list[Riser]]) -> None:
    """Replace a riser by two, joined at a height where nothing else is."""
    taken = sorted(
        height for strand in strands for each in strand for height, _ in (*each.left, *each.right)
    )
    gaps = itertools.pairwise(taken)
    middle = (riser.top + riser.bottom) / 2
    upper, lower = min(
        gaps,
        key=lambda gap: (gap[1] - gap[0] < 2 * CLEARANCE, abs((gap[0] + gap[1]) / 2 - middle)),
    )
    height = (upper + lower) / 2
    weight = sum(weight for _, weight in riser.left)
    second = Riser([(height, weight)], riser.right)
    riser.right = [(height, weight)]
    riser.joined = height
    riser.measure()
    second.measure()
    strand = next(strand for strand in strands if any(each is riser for each in strand))
    strand.append(second)


def _number(ordered: list[Riser]) -> int:
    """Give each riser the first track right of those it mustn't touch; return their number."""
    tracks = 0
    for place, riser in enumerate(ordered):
        riser.track = 0
        for other in ordered[:place]:
            if (
                riser.top < other.bottom + CLEARANCE
                and other.top < riser.bottom + CLEARANCE
                and other.track >= riser.track
            ):
                riser.track = other.track + 1
        tracks = max(tracks, riser.track + 1)
    return tracks
