"""The slots of a layered drawing: boxes, and the places where trunks pass between boxes.

After this step all lines run between neighbouring columns. A trunk has a slot in each column that
it passes, and all links of a net share it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

from fluid_build.report.layout.areas import Areas
from fluid_build.report.layout.nets import Net


class Line(NamedTuple):
    """What a net has between two neighbouring columns, from one slot to another.

    ``weight`` is the number of links that run along it; offsets count from the tops of the slots.
    """

    net: int
    left: int
    left_offset: float
    right: int
    right_offset: float
    weight: int


@dataclass(slots=True)
class Slots:
    """Boxes have the numbers below ``boxes``, the slots of trunks those above.

    ``channels[k]`` has the lines between column ``k - 1`` and column ``k``. ``trunks`` has the
    slot of a net in a column, ``column_of`` the column of each box. ``bands`` are the bands of
    slots: those of a lower band are above all others of their column.
    """

    boxes: int
    column_of: Sequence[int]
    heights: list[float]
    columns: list[list[int]]
    channels: list[list[Line]]
    trunks: dict[tuple[int, int], int]
    bands: list[int]


def make_slots(
    heights: Sequence[float],
    nets: Sequence[Net],
    column_of: Sequence[int],
    areas: Areas | None = None,
) -> Slots:
    """Return the slots of boxes in columns, in no special order within a column."""
    count = max(column_of) + 1
    slots = Slots(len(heights), column_of, list(heights), [[] for _ in range(count)], [], {}, [])
    slots.channels = [[] for _ in range(count + 1)]
    for box, column in enumerate(column_of):
        slots.columns[column].append(box)
    for number, net in enumerate(nets):
        _add_net(slots, number, net, column_of)
    slots.bands = [0] * len(slots.heights)
    if areas is not None:
        for box, area in enumerate(areas.area_of):
            slots.bands[box] = 2 * areas.row[area] + 1
        for (number, column), trunk in slots.trunks.items():
            slots.bands[trunk] = areas.band(nets[number], column)
    return slots


def stacks_of(slots: Slots) -> list[list[int]]:
    """Return the slots of each column and band, from left to right and from top to bottom."""
    stacks: list[list[int]] = []
    for column in slots.columns:
        bands: dict[int, list[int]] = {}
        for slot in sorted(column, key=slots.bands.__getitem__):
            bands.setdefault(slots.bands[slot], []).append(slot)
        stacks += bands.values()
    return stacks


def merge_trunks(slots: Slots, nets: Sequence[Net]) -> Slots:
    """Return the slots with trunks to the same point in one slot where they run side by side.

    They begin together, and part for good where something is between them.
    """
    nearer: dict[int, int] = {}
    target: dict[int, tuple[int, float, bool]] = {}
    for line in (line for channel in slots.channels for line in channel):
        net = nets[line.net]
        near, far = (line.left, line.right) if net.is_forward else (line.right, line.left)
        if far >= slots.boxes:
            nearer[far] = near
            target[far] = net.key
    merged = list(range(len(slots.heights)))
    for is_forward in (True, False):
        for column in slots.columns if is_forward else reversed(slots.columns):
            for upper, lower in pairwise(column):
                if (
                    target.get(upper) == target.get(lower, upper)
                    and target[upper][2] == is_forward
                    and merged[nearer[upper]] == merged[nearer[lower]]
                ):
                    merged[lower] = merged[upper]
    return replace(
        slots,
        columns=[[slot for slot in column if merged[slot] == slot] for column in slots.columns],
        channels=[
            [line._replace(left=merged[line.left], right=merged[line.right]) for line in channel]
            for channel in slots.channels
        ],
        trunks={place: merged[slot] for place, slot in slots.trunks.items()},
    )


def _add_net(slots: Slots, number: int, net: Net, column_of: Sequence[int]) -> None:
    """Add the trunk of a net, from its parent to the furthest child, and all its lines."""
    step = 1 if net.is_forward else -1
    at = column_of[net.parent]
    spans = [abs(column_of[child] - at) for child in net.children]
    ends: dict[int, list[tuple[int, float]]] = {}
    for link, child, span in zip(net.links, net.children, spans, strict=True):
        ends.setdefault(span, []).append((child, link.child_offset))
    near, near_offset = net.parent, net.offset
    for span in range(1, max(spans) + 1):
        column = at + step * span
        passing = sum(1 for other in spans if other > span)
        targets = [(child, offset, 1) for child, offset in ends.get(span, ())]
        if passing:
            trunk = len(slots.heights)
            slots.heights.append(0.0)
            slots.columns[column].append(trunk)
            slots.trunks[number, column] = trunk
            targets.append((trunk, 0.0, passing))
        channel = slots.channels[column if net.is_forward else column + 1]
        for slot, offset, weight in targets:
            if net.is_forward:
                channel.append(Line(number, near, near_offset, slot, offset, weight))
            else:
                channel.append(Line(number, slot, offset, near, near_offset, weight))
        if passing:
            near, near_offset = trunk, 0.0
