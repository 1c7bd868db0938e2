"""The order of the slots within each column, so that few lines cross.

Sweeps over the columns put each slot at the barycentre of its neighbours in the column before
(Sugiyama, Tagawa and Toda 1981), then neighbours within a column change places while that saves
crossings. The best order of several starts counts.
"""

import random
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace

from fluid_build.report.layout.slots import Line, Slots, stacks_of

Orders = list[list[int]]

# More sweeps rarely find a better order; the first few find most.
_STALE_SWEEPS = 4
_MOST_SWEEPS = 24
# What may be spent: lines of all starts together. It keeps 50 boxes near a tenth of a second, and
# gives a small drawing as many starts as still help.
_LINE_BUDGET = 1_000
_FEWEST_STARTS, _MOST_STARTS = 6, 36
# A drawing of so many lines takes a tenth of a second for each start, and gains little by a third.
_MANY_LINES, _STARTS_OF_MANY = 2_000, 2
# Above so many, nobody follows a line, and moving single slots takes longer than everything else.
_MOST_POLISHED = 5_000
# One in so many starts is from any order, the others from the best order so far.
_FRESH_SHARE = 3
# How far a slot moves at last; in the sweeps it only changes places with its neighbours.
_REACH = 8
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
    fewest = _STARTS_OF_MANY if lines > _MANY_LINES else _FEWEST_STARTS
    starts = max(fewest, min(_MOST_STARTS, _LINE_BUDGET // max(lines, 1)))
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
    crossings, orders = ordering.polished(*best, _REACH)
    stacks = iter(orders)
    columns = []
    for column in slots.columns:
        ordered: list[int] = []
        while len(ordered) < len(column):
            ordered += next(stacks)
        columns.append(ordered)
    return Ordered(replace(slots, columns=columns), crossings)


def _shaken(orders: Orders, generator: random.Random) -> Orders:
    """Return a good order with two neighbouring columns shuffled."""
    shaken = [list(column) for column in orders]
    first = generator.randrange(len(orders))
    for column in shaken[first : first + 2]:
        generator.shuffle(column)
    return shaken


def _first_order(slots: Slots, number: int, generator: random.Random) -> Orders:
    """Return an order to start from: along the lines first, in any order later."""
    orders = stacks_of(slots)
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
        self.first = [0] * len(slots.heights)
        for column in slots.columns:
            for place, slot in enumerate(sorted(column, key=slots.bands.__getitem__)):
                self.first[slot] = place
        for stack in stacks_of(slots):
            for slot in stack:
                self.first[slot] = self.first[stack[0]]
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
                for column in orders:
                    self._sort(column, self.left)
            else:
                for column in reversed(orders):
                    self._sort(column, self.right)
            crossings = self._crossings()
            stale += 1
            if crossings < best:
                best, stale = crossings, 0
                best_orders = [list(column) for column in orders]
            if not best or stale == _STALE_SWEEPS:
                break
        return self.polished(best, best_orders, 1)

    def polished(self, crossings: int, orders: Orders, reach: int) -> tuple[int, Orders]:
        """Return the orders after all moves by up to ``reach`` places that save crossings."""
        for column in orders:
            self._number(column)
        while crossings and sum(map(len, self.channels)) <= _MOST_POLISHED:
            for column in (*orders, *reversed(orders)):
                self._sift(column, reach)
            before, crossings = crossings, self._crossings()
            if crossings == before:
                break
        return crossings, orders

    def _number(self, column: list[int]) -> None:
        for place, slot in enumerate(column, self.first[column[0]]):
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

    def _sift(self, column: list[int], reach: int) -> None:
        """Move each slot up or down to where that saves most crossings."""
        gains = _Gains(self, column)
        moved = True
        while moved:
            moved = False
            for slot in list(column):
                place = column.index(slot)
                target = place
                most = saved = 0
                for lower in range(place + 1, min(place + 1 + reach, len(column))):
                    saved += gains.of(slot, column[lower])
                    if saved > most:
                        most, target = saved, lower
                saved = 0
                for upper in range(place - 1, max(place - 1 - reach, -1), -1):
                    saved += gains.of(column[upper], slot)
                    if saved > most:
                        most, target = saved, upper
                if most:
                    column.insert(target, column.pop(place))
                    moved = True
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


class _Gains:
    """The crossings that two slots of a column save by changing places, each counted once."""

    def __init__(self, ordering: _Ordering, column: Sequence[int]) -> None:
        position = ordering.position
        self.pins = {
            slot: tuple(
                [(position[near] + share, weight) for near, share, weight in side[slot]]
                for side in (ordering.left, ordering.right)
            )
            for slot in column
        }
        self.known: dict[tuple[int, int], int] = {}

    def of(self, upper: int, lower: int) -> int:
        """Return the crossings that are saved when the lower slot becomes the upper."""
        gain = self.known.get((upper, lower))
        if gain is None:
            gain = sum(map(_gain, self.pins[upper], self.pins[lower]))
            self.known[upper, lower] = gain
            self.known[lower, upper] = -gain
        return gain


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
