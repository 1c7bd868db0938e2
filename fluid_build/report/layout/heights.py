"""How far down each slot is: near its neighbours, long trunks straight, and nothing overlaps.

The slots of a column keep their order and their gaps. Where they want to be given the columns next
to them is then an isotonic regression, which pooling adjacent violators solves exactly. Sweeps over
the columns with means bring the drawing into shape; sweeps with medians make lines straight.
"""

import itertools
from collections.abc import Callable, Sequence

from fluid_build.report.layout.slots import Slots, stacks_of

BOX_GAP = 24.0
BAND_GAP = 48.0
TRUNK_GAP = 10.0
_MIXED_GAP = 14.0
# Bends of long trunks are the hardest to follow, so they count most (the factors of Gansner,
# Koutsofios, North and Vo 1993).
_BOX_TO_BOX, _BOX_TO_TRUNK, _TRUNK_TO_TRUNK = 1.0, 2.0, 8.0
_MEAN_SWEEPS = 8
_MEDIAN_SWEEPS = 6
# In a drawing of more lines none can be followed anyway, and medians are what takes longest.
_MOST_STRAIGHTENED = 5_000
# Of so many, two sweeps show as much as all.
_MOST_SWEPT = 20_000

# A place where a slot wants its top to be, and how much.
Wish = tuple[float, float]
_Pin = tuple[int, float, float]


def place_vertically(slots: Slots) -> list[float]:
    """Return the top of each slot; the bands are below each other."""
    stacks = stacks_of(slots)
    spacing = [_spacing(slots, stack) for stack in stacks]
    room = _rooms(slots, stacks)
    tops = [0.0] * len(slots.heights)
    for stack, distances, (upper, lower) in zip(stacks, spacing, room, strict=True):
        for slot, distance in zip(stack, distances, strict=True):
            tops[slot] = (upper + lower) / 2 + distance
    left, right = _pins(slots)
    for sweep in range(sweeps_of(sum(map(len, slots.channels)))):
        middle = _mean if sweep < _MEAN_SWEEPS else _median
        numbers = range(len(stacks))
        for number in numbers if sweep % 2 == 0 else reversed(numbers):
            stack, distances, (upper, lower) = stacks[number], spacing[number], room[number]
            wishes = []
            for slot, distance in zip(stack, distances, strict=True):
                wishes.append(
                    [
                        (tops[near] + shift - distance, weight)
                        for side in (left, right)
                        for near, shift, weight in side[slot]
                    ]
                    or [(tops[slot] - distance, 0.01)]
                )
            if middle is _mean:
                # The mean of means is that of all wishes, from one number a slot.
                wishes = [[(_mean(own), sum(share for _, share in own))] for own in wishes]
            for slot, distance, start in zip(stack, distances, pool(wishes, middle), strict=True):
                tops[slot] = min(max(start, upper), lower) + distance
    return tops


def sweeps_of(lines: int) -> int:
    """Return how often the columns of a drawing of so many lines are gone through."""
    if lines > _MOST_SWEPT:
        return 2
    return _MEAN_SWEEPS + (_MEDIAN_SWEEPS if lines <= _MOST_STRAIGHTENED else 0)


def _rooms(slots: Slots, stacks: list[list[int]]) -> list[tuple[float, float]]:
    """Return where the first slot of each stack may be, highest and lowest.

    A band is as high as its highest stack.
    """
    heights = [packed_height(slots, stack) for stack in stacks]
    needed: dict[int, float] = {}
    for stack, height in zip(stacks, heights, strict=True):
        band = slots.bands[stack[0]]
        needed[band] = max(needed.get(band, 0.0), height)
    starts: dict[int, float] = {}
    at = 0.0
    for band in sorted(needed):
        starts[band] = at
        at += needed[band] + BAND_GAP
    rooms = []
    for stack, height in zip(stacks, heights, strict=True):
        band = slots.bands[stack[0]]
        rooms.append((starts[band], starts[band] + needed[band] - height))
    return rooms


def packed_height(slots: Slots, column: list[int]) -> float:
    """Return the height that a column needs."""
    return _spacing(slots, column)[-1] + slots.heights[column[-1]]


def _spacing(slots: Slots, column: list[int]) -> list[float]:
    """Return how far each slot of a column is below the first when they are packed."""
    distances = [0.0]
    for upper, lower in itertools.pairwise(column):
        distances.append(distances[-1] + slots.heights[upper] + _gap(slots, upper, lower))
    return distances


def _gap(slots: Slots, upper: int, lower: int) -> float:
    boxes = (upper < slots.boxes) + (lower < slots.boxes)
    return (TRUNK_GAP, _MIXED_GAP, BOX_GAP)[boxes]


def _pins(slots: Slots) -> tuple[list[list[_Pin]], list[list[_Pin]]]:
    """Return the neighbours of each slot on both sides.

    Each has the difference of the tops with which the line is straight, and its weight.
    """
    left: list[list[_Pin]] = [[] for _ in slots.heights]
    right: list[list[_Pin]] = [[] for _ in slots.heights]
    for channel in slots.channels:
        for line in channel:
            trunks = (line.left >= slots.boxes) + (line.right >= slots.boxes)
            weight = (_BOX_TO_BOX, _BOX_TO_TRUNK, _TRUNK_TO_TRUNK)[trunks]
            shift = line.left_offset - line.right_offset
            left[line.right].append((line.left, shift, weight))
            right[line.left].append((line.right, -shift, weight))
    return left, right


def pool(wishes: Sequence[list[Wish]], middle: Callable[[list[Wish]], float]) -> list[float]:
    """Return values that never fall, each as near its wishes as the others allow."""
    pools: list[tuple[float, list[Wish], int]] = []
    for own in wishes:
        value, joint, size = middle(own), own, 1
        while pools and pools[-1][0] > value:
            _, upper, count = pools.pop()
            joint, size = upper + joint, size + count
            value = middle(joint)
        pools.append((value, joint, size))
    return [value for value, _, size in pools for _ in range(size)]


def _mean(wishes: list[Wish]) -> float:
    weight = total = 0.0
    for value, share in wishes:
        weight += share
        total += value * share
    return total / weight


def _median(wishes: list[Wish]) -> float:
    half = sum(share for _, share in wishes) / 2
    for value, share in sorted(wishes):
        half -= share
        if half <= 0:
            return value
    raise ValueError("A median needs values.")
