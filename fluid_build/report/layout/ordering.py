"""The order of the slots within each column, so that few lines cross.

Sweeps over the columns put each slot at the barycentre of its neighbours in the column before
(Sugiyama, Tagawa and Toda 1981), then neighbours within a column change places while that saves
crossings. The best order of several starts counts.
"""

import random
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace

from fluid_build.report.layout.slots import Line, Slots

Orders = list[list[int]]

# More sweeps rarely find a better order; the first few find most.
_STALE_SWEEPS = 4
_MOST_SWEEPS = 24
# What may be spent: lines of all starts together. It keeps 50 boxes near a tenth of a second, and
# gives a small drawing as many starts as still help.
_LINE_BUDGET = 2_500
_MOST_STARTS = 36
# One in so many starts is from any order, the others from the best order so far.
_FRESH_SHARE = 3
_SEED = 14


@dataclass(frozen=True, slots=True)
class Ordered:
    """Slots in a good order from top to bottom, and how many pairs of links must cross in it."""

    slots: Slots
    crossings: int


def order_slots(slots: Slots) -> Ordered:
    """Return the slots with each column in order."""
    ordering = _Ordering(slots)
    lines = sum(map(len, slots.channels))
    starts = max(1, min(_MOST_STARTS, _LINE_BUDGET // max(lines, 1)))
    generator = random.Random(_SEED)
    best = ordering.run(_first_order(slots, 0, generator))
    for number in range(1, starts):
        if not best[0]:
            break
        if number < starts / _FRESH_SHARE:
            orders = _first_order(slots, number, generator)
        else:
            orders = _shaken(best[1], generator)
        result = ordering.run(orders)
        if result[0] <= best[0]:
            best = result
    return Ordered(replace(slots, columns=best[1]), best[0])


def _shaken(orders: Orders, generator: random.Random) -> Orders:
    """Return a good order with two neighbouring columns shuffled."""
    shaken = [list(column) for column in orders]
    first = generator.randrange(len(orders))
    for column in shaken[first : first + 2]:
        generator.shuffle(column)
    return shaken


def _first_order(slots: Slots, number: int, generator: random.Random) -> Orders:
    """Return an order to start from: along the lines first, in any order later."""
    orders = [list(column) for column in slots.columns]
    if number == 0:
        place = _depth_first(slots)
        for column in orders:
            column.sort(key=place.__getitem__)
    else:
        for column in orders:
            generator.shuffle(column)
    return orders


def _depth_first(slots: Slots) -> list[int]:
    """Return the place of each slot in a walk along the lines: neighbours are near each other."""
    near: list[list[int]] = [[] for _ in slots.heights]
    for channel in slots.channels:
        for line in channel:
            near[line.left].append(line.right)
            near[line.right].append(line.left)
    place = [-1] * len(near)
    count = 0
    for start in range(len(near)):
        waiting = [start]
        while waiting:
            slot = waiting.pop()
            if place[slot] < 0:
                place[slot] = count
                count += 1
                waiting.extend(reversed(near[slot]))
    return place


class _Ordering:
    """Sweeps over the columns of one drawing.

    A pin is where a line meets a slot. ``position`` of a slot is its place in the column, and the
    position of a pin lies between that of its slot and the next.
    """

    def __init__(self, slots: Slots) -> None:
        self.channels = slots.channels
        self.position = [0] * len(slots.heights)
        self.left: list[list[tuple[int, float, int]]] = [[] for _ in slots.heights]
        self.right: list[list[tuple[int, float, int]]] = [[] for _ in slots.heights]
        self.ends: list[list[tuple[int, float, int, float, int]]] = []
        for channel in slots.channels:
            ends = [(*_shares(slots, line), line.weight) for line in channel]
            self.ends.append(ends)
            for left, left_share, right, right_share, weight in ends:
                self.right[left].append((right, right_share, weight))
                self.left[right].append((left, left_share, weight))

    def run(self, orders: Orders) -> tuple[int, Orders]:
        """Return the best order found from a start, with its crossings."""
        for column in orders:
            self._number(column)
        best = self._crossings()
        best_orders = [list(column) for column in orders]
        stale = 0
        for sweep in range(_MOST_SWEEPS):
            if sweep % 2 == 0:
                for column in orders[1:]:
                    self._sort(column, self.left)
            else:
                for column in reversed(orders[:-1]):
                    self._sort(column, self.right)
            crossings = self._crossings()
            stale += 1
            if crossings < best:
                best, stale = crossings, 0
                best_orders = [list(column) for column in orders]
            if not best or stale == _STALE_SWEEPS:
                break
        return self._polished(best, best_orders)

    def _polished(self, crossings: int, orders: Orders) -> tuple[int, Orders]:
        """Return the orders after all exchanges that save crossings."""
        for column in orders:
            self._number(column)
        while crossings:
            for column in (*orders, *reversed(orders)):
                self._exchange(column)
            before, crossings = crossings, self._crossings()
            if crossings == before:
                break
        return crossings, orders

    def _number(self, column: list[int]) -> None:
        for place, slot in enumerate(column):
            self.position[slot] = place

    def _sort(self, column: list[int], side: list[list[tuple[int, float, int]]]) -> None:
        """Put the slots with neighbours on a side in the order of their barycentres."""
        position = self.position
        centres: dict[int, float] = {}
        for slot in column:
            pins = side[slot]
            if pins:
                total = weights = 0.0
                for near, share, weight in pins:
                    total += (position[near] + share) * weight
                    weights += weight
                centres[slot] = total / weights
        ranked = iter(sorted(centres, key=centres.__getitem__))
        column[:] = [next(ranked) if slot in centres else slot for slot in column]
        self._number(column)

    def _exchange(self, column: list[int]) -> None:
        """Let neighbours change places while that saves crossings."""
        position = self.position
        pins = {
            slot: tuple(
                [(position[near] + share, weight) for near, share, weight in side[slot]]
                for side in (self.left, self.right)
            )
            for slot in column
        }
        gains: dict[tuple[int, int], int] = {}
        changed = True
        while changed:
            changed = False
            for place in range(len(column) - 1):
                upper, lower = column[place], column[place + 1]
                gain = gains.get((upper, lower))
                if gain is None:
                    gain = sum(map(_gain, pins[upper], pins[lower]))
                    gains[upper, lower] = gain
                    gains[lower, upper] = -gain
                if gain > 0:
                    column[place], column[place + 1] = lower, upper
                    changed = True
        self._number(column)

    def _crossings(self) -> int:
        position = self.position
        total = 0
        for ends in self.ends:
            pairs = sorted(
                (position[left] + left_share, position[right] + right_share, weight)
                for left, left_share, right, right_share, weight in ends
            )
            total += _inversions(pairs)
        return total


def _shares(slots: Slots, line: Line) -> tuple[int, float, int, float]:
    """Return the two slots of a line, each with how far down it the line ends, below one."""
    left_height, right_height = slots.heights[line.left], slots.heights[line.right]
    return (
        line.left,
        line.left_offset / (left_height + 1),
        line.right,
        line.right_offset / (right_height + 1),
    )


def _gain(upper: list[tuple[float, int]], lower: list[tuple[float, int]]) -> int:
    """Return the crossings that two slots save, on one side, by changing places."""
    gain = 0
    for first, first_weight in upper:
        for second, second_weight in lower:
            if first > second:
                gain += first_weight * second_weight
            elif first < second:
                gain -= first_weight * second_weight
    return gain


def _inversions(pairs: Sequence[tuple[float, float, int]]) -> int:
    """Return the crossings of lines that are sorted by their left ends."""
    rights: list[float] = []
    crossings = 0
    for _, right, weight in pairs:
        place = bisect_right(rights, right)
        crossings += weight * (len(rights) - place)
        rights[place:place] = [right] * weight
    return crossings
