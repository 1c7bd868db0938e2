"""The tracks of a channel: where the lines between two columns run up and down.

A net has up to two vertical risers in a channel, for its pins above and below the point where it
comes from, with horizontal lines to the pins at both sides. The order of the risers decides what
crosses; risers that don't meet share a track.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import accumulate, pairwise

# Parallel lines closer than this look like one.
CLEARANCE = 6.0
# Two lines of different nets at the same height would run into each other. This is more than any
# number of crossings.
_COLLISION = 1_000_000
_SAME_HEIGHT = 0.5
_PASSES = 8
# Each is compared with each. So many are in a channel where more than thirty boxes all refer to
# each other; no line can be followed there, whatever the order.
_MOST_ORDERED = 300

# Where a line meets a column: the height, and the number of links.
Pin = tuple[float, int]


@dataclass(slots=True, eq=False)
class Riser:
    """A vertical line of a net and its pins at both sides. ``track`` counts from the left.

    ``joined`` is the height where the riser goes on in another riser.
    """

    net: Hashable
    left: list[Pin]
    right: list[Pin]
    track: int = 0
    joined: float | None = None
    top: float = field(init=False)
    bottom: float = field(init=False)
    _heights: list[float] = field(init=False)
    _weights: list[int] = field(init=False)

    def __post_init__(self) -> None:
        self.measure()

    def measure(self) -> None:
        """Set what follows from the pins."""
        pins = sorted((*self.left, *self.right))
        self._heights = [height for height, _ in pins]
        self._weights = [0, *accumulate(weight for _, weight in pins)]
        self.top, self.bottom = self._heights[0], self._heights[-1]

    def links_at(self, height: float) -> int:
        """Return how many links run along the riser at a height."""
        above = self._weights[bisect_left(self._heights, height)]
        below = self._weights[-1] - self._weights[bisect_right(self._heights, height)]
        return min(above, below)


def assign_tracks(
    risers: Sequence[Riser], straight: Sequence[float] = ()
) -> tuple[list[list[Riser]], int]:
    """Return the parts of each riser, from left to right, and the number of tracks.

    A riser has two parts where the horizontal lines would collide in any order. The right pin of
    the first and the left pin of the second are at the same height then. ``straight`` are the
    heights of lines that pass the channel without a bend. Very many risers are neither ordered nor
    parted.
    """
    strands = [[riser] for riser in risers]
    if len(risers) > _MOST_ORDERED:
        return strands, _number_as_they_come(risers)
    while True:
        parts = [riser for strand in strands for riser in strand]
        costs = _costs(parts)
        order, circle = _without_collisions(costs)
        if not circle:
            ordered = [parts[place] for place in _improved(order, costs)]
            return strands, _number(ordered)
        _divide(parts[circle[0]], strands, straight)


def _costs(risers: list[Riser]) -> list[list[int]]:
    """Return what it costs that the first riser is left of the second."""
    costs = [[0] * len(risers) for _ in risers]
    for first, riser in enumerate(risers):
        for second in range(first):
            other = risers[second]
            if riser.top <= other.bottom and other.top <= riser.bottom:
                costs[first][second] = _cost(riser, other)
                costs[second][first] = _cost(other, riser)
    return costs


def _cost(left: Riser, right: Riser) -> int:
    """Return the crossings of two risers in this order, or more where lines would collide."""
    if left.net == right.net:
        is_turned = right.joined is not None and left.left[0][0] == right.joined
        return _COLLISION if is_turned else 0
    cost = 0
    top, bottom = left.top, left.bottom
    for height, weight in right.left:
        if top < height < bottom:
            cost += weight * left.links_at(height)
    top, bottom = right.top, right.bottom
    for height, weight in left.right:
        if top < height < bottom:
            cost += weight * right.links_at(height)
        for other, _ in right.left:
            if -_SAME_HEIGHT < height - other < _SAME_HEIGHT:
                cost += _COLLISION
    return cost


def _without_collisions(costs: list[list[int]]) -> tuple[list[int], list[int]]:
    """Return an order in which no lines collide, and risers for which there is none."""
    earlier: list[list[int]] = [[] for _ in costs]
    waiting = [0] * len(costs)
    for first, row in enumerate(costs):
        for second, cost in enumerate(row):
            if cost >= _COLLISION:
                earlier[first].append(second)
                waiting[second] += 1
    order = [riser for riser, count in enumerate(waiting) if not count]
    for riser in order:
        for other in earlier[riser]:
            waiting[other] -= 1
            if not waiting[other]:
                order.append(other)
    return order[::-1], _circle(earlier, set(range(len(costs))) - set(order))


def _circle(earlier: list[list[int]], blocked: set[int]) -> list[int]:
    """Return risers each of which must be left of the one before, and the first left of the last.

    Of the blocked risers, those that nothing blocked must be left of aren't on any circle.
    """
    while True:
        open_ends = {riser for riser in blocked if not blocked.intersection(earlier[riser])}
        if not open_ends:
            break
        blocked = blocked - open_ends
    path: list[int] = []
    while blocked:
        riser = min(blocked.intersection(earlier[path[-1]])) if path else min(blocked)
        if riser in path:
            return path[path.index(riser) :]
        path.append(riser)
    return path


def _improved(order: list[int], costs: list[list[int]]) -> list[int]:
    """Return an order that costs less: every riser goes to its best place, a few times."""
    gains = [
        [costs[other][riser] - cost for other, cost in enumerate(row)]
        for riser, row in enumerate(costs)
    ]
    for _ in range(_PASSES):
        moved = False
        for riser in list(order):
            place = order.index(riser)
            own = gains[riser]
            # What it costs to be right of each place's risers, compared with the left end.
            totals = [0, *accumulate(map(own.__getitem__, order))]
            least = min(totals)
            if least < totals[place]:
                moved = True
                target = totals.index(least)
                del order[place]
                order.insert(target - (target > place), riser)
        if not moved:
            break
    return order


def _divide(riser: Riser, strands: list[list[Riser]], straight: Sequence[float]) -> None:
    """Replace a riser by two, joined at a height where nothing else is."""
    pins = [pin for strand in strands for each in strand for pin in (*each.left, *each.right)]
    heights = sorted([*straight, *(height for height, _ in pins)])
    middle = (riser.top + riser.bottom) / 2
    upper, lower = min(
        pairwise([*heights, heights[-1] + 2 * CLEARANCE]),
        key=lambda gap: (gap[1] - gap[0] < 2 * CLEARANCE, abs((gap[0] + gap[1]) / 2 - middle)),
    )
    height = (upper + lower) / 2
    weight = sum(weight for _, weight in riser.left)
    second = Riser(riser.net, [(height, weight)], riser.right)
    riser.right = [(height, weight)]
    riser.joined = second.joined = height
    riser.measure()
    next(strand for strand in strands if riser in strand).append(second)


def _number(ordered: list[Riser]) -> int:
    """Give each riser the first track right of those it mustn't touch; return their number."""
    for place, riser in enumerate(ordered):
        riser.track = 0
        for other in ordered[:place]:
            if other.track >= riser.track and _are_close(riser, other):
                riser.track = other.track + 1
    _align(ordered)
    return 1 + max((riser.track for riser in ordered), default=-1)


def _number_as_they_come(risers: Sequence[Riser]) -> int:
    """Give each riser a track that is free where it runs; return their number."""
    ends: list[tuple[float, int]] = []
    tracks = 0
    for riser in sorted(risers, key=lambda riser: riser.top):
        if ends and ends[0][0] + CLEARANCE <= riser.top:
            _, riser.track = heappop(ends)
        else:
            riser.track, tracks = tracks, tracks + 1
        heappush(ends, (riser.bottom, riser.track))
    return tracks


def _are_close(first: Riser, second: Riser) -> bool:
    """Whether two risers can't be on the same track."""
    if first.net == second.net and first.joined is None and second.joined is None:
        return False
    return first.top < second.bottom + CLEARANCE and second.top < first.bottom + CLEARANCE


def _align(ordered: list[Riser]) -> None:
    """Put the two risers of a net on the same track, the further one, where nothing is between."""
    nets: dict[Hashable, list[Riser]] = {}
    for riser in ordered:
        nets.setdefault(riser.net, []).append(riser)
    for pair in nets.values():
        if len(pair) != 2 or pair[0].track == pair[1].track or _are_close(*pair):
            continue
        near, far = sorted(pair, key=lambda riser: riser.track)
        if not any(
            near.track < other.track <= far.track and _are_close(near, other)
            for other in ordered
            if other.net != near.net
        ):
            near.track = far.track
