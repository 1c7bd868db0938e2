"""The routes of links through the channels, once the slots have their heights."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fluid_build.report.layout.channels import Riser, assign_tracks
from fluid_build.report.layout.drawing import Point
from fluid_build.report.layout.graph import Link
from fluid_build.report.layout.loops import Loop
from fluid_build.report.layout.nets import Net
from fluid_build.report.layout.slots import Slots

TRACK_GAP = 10.0
# Room next to a box for the marks at the end of a line.
END_ROOM = 20.0
_LEAST_CHANNEL = 48.0

# A net in a channel: its box, the offset at which it ends, and whether that is at the right side. A
# loop round a box ends at both sides, and has a net of its own.
NetKey = tuple[int, float, bool | None]
# A net has a riser for what it joins above a point that it comes from, and another for the rest.
RiserKey = tuple[NetKey, float, bool]


@dataclass(frozen=True, slots=True)
class Routed:
    """The left borders of the columns, the width of all, and the routes by the ids of links."""

    lefts: list[float]
    width: float
    routes: dict[str, tuple[Point, ...]]


def expected_width(nets: int) -> float:
    """Return about how wide a channel will be: about half of its nets need a track of their own."""
    return max(nets / 2 * TRACK_GAP + 2 * END_ROOM, _LEAST_CHANNEL)


class Router:
    """Collects the pins of all nets, then assigns tracks, then draws routes."""

    def __init__(
        self,
        slots: Slots,
        nets: Sequence[Net],
        loops: Sequence[Loop],
        column_of: Sequence[int],
        tops: Sequence[float],
        widths: Sequence[float],
    ) -> None:
        self.slots = slots
        self.nets = nets
        self.loops = loops
        self.column_of = column_of
        self.tops = tops
        self.widths = widths
        self.strands: list[dict[RiserKey, list[Riser]]] = []
        self.tracks: list[int] = []

    def route(self) -> Routed:
        """Return where columns and routes are."""
        for number in range(len(self.slots.channels)):
            self._add_risers(number)
        lefts, starts, width = self._across()
        routes: dict[str, tuple[Point, ...]] = {}
        self.lefts, self.starts = lefts, starts
        for number, net in enumerate(self.nets):
            for link, child in zip(net.links, net.children, strict=True):
                routes[link.id] = _simplified(self._path(number, net, link, child))
        for loop in self.loops:
            routes[loop.link.id] = _simplified(self._loop(loop))
        return Routed(lefts, width, routes)

    def _add_risers(self, number: int) -> None:
        """Collect the pins of a channel and give its risers their tracks."""
        pins: dict[RiserKey, tuple[dict[float, int], dict[float, int]]] = {}
        straight = []
        for key, is_left, start, goal, goal_is_left, weight in self._runs(number):
            if start == goal:
                straight.append(goal)
            else:
                sides = pins.setdefault((key, goal, start < goal), ({}, {}))
                for height, is_at_left in ((start, is_left), (goal, goal_is_left)):
                    side = sides[0 if is_at_left else 1]
                    side[height] = side.get(height, 0) + weight
        risers = [
            Riser(key[:2], sorted(left.items()), sorted(right.items()))
            for key, (left, right) in pins.items()
        ]
        strands, tracks = assign_tracks(risers, straight)
        self.strands.append(dict(zip(pins, strands, strict=True)))
        self.tracks.append(tracks)

    def _runs(self, number: int) -> Iterator[tuple[NetKey, bool, float, float, bool, int]]:
        """Yield what runs through a channel from children to parents.

        Each has its net, whether it starts at the left, the heights of its start and its goal,
        whether it ends at the left, and how many links it has.
        """
        for line in self.slots.channels[number]:
            net = self.nets[line.net]
            left = self._height(line.left, line.left_offset)
            right = self._height(line.right, line.right_offset)
            start, goal = (right, left) if net.is_forward else (left, right)
            yield net.key, not net.is_forward, start, goal, net.is_forward, line.weight
        for loop in self.loops:
            start, goal = self._loop_heights(loop)
            column = self.column_of[loop.box]
            if column == number - 1:
                yield _loop_key(loop), True, start, goal, True, 1
            elif column == number and loop.lane is not None:
                yield _loop_key(loop), False, start, goal, False, 1

    def _across(self) -> tuple[list[float], list[float], float]:
        """Return the left border of each column, the first track of each channel, the width."""
        lefts: list[float] = []
        starts: list[float] = []
        at = 0.0
        last = len(self.tracks) - 1
        for number, tracks in enumerate(self.tracks):
            needed = (tracks - 1) * TRACK_GAP if tracks else 0.0
            inner = 0 < number < last
            channel = max(needed + 2 * END_ROOM, _LEAST_CHANNEL) if inner else 0.0
            if not inner and tracks:
                channel = needed + END_ROOM
            first = END_ROOM if number == last else 0.0 if number == 0 else (channel - needed) / 2
            starts.append(at + first)
            at += channel
            if number < last:
                lefts.append(at)
                at += max(self.widths[slot] for slot in self.slots.columns[number])
        return lefts, starts, at

    def _path(self, number: int, net: Net, link: Link, child: int) -> list[Point]:
        """Return the corners from the child to the parent."""
        column, end = self.column_of[child], self.column_of[net.parent]
        step = -1 if net.is_forward else 1
        at = self._height(child, link.child_offset)
        corners = [Point(self._side(child, right=not net.is_forward), at)]
        while column != end:
            channel = column if net.is_forward else column + 1
            column += step
            if column == end:
                goal = self._height(net.parent, net.offset)
            else:
                goal = self._height(self.slots.trunks[number, column], 0.0)
            strand = self._strand(channel, net.key, at, goal)
            corners += self._rise(channel, strand[::step], at, goal)
            at = goal
        corners.append(Point(self._side(net.parent, right=net.is_forward), at))
        return corners

    def _loop(self, loop: Loop) -> list[Point]:
        """Return the corners of a link from a box to itself."""
        start, goal = self._loop_heights(loop)
        channel, key = self.column_of[loop.box] + 1, _loop_key(loop)
        right = Point(self._side(loop.box, right=True), start)
        rise = self._rise(channel, self._strand(channel, key, start, goal)[:1], start, goal)
        if loop.lane is None:
            return [right, *rise, Point(self._side(loop.parent, right=True), goal)]
        fall = self._rise(
            channel - 1, self._strand(channel - 1, key, start, goal)[-1:], start, goal
        )
        return [
            right,
            *rise,
            *reversed(list(fall)),
            Point(self._side(loop.box, right=False), start),
        ]

    def _loop_heights(self, loop: Loop) -> tuple[float, float]:
        goal = loop.link.parent_offset if loop.lane is None else loop.lane
        start = self._height(loop.box, loop.link.child_offset)
        return start, self._height(loop.parent, goal)

    def _height(self, slot: int, offset: float) -> float:
        """Return the height of a pin, without the noise of sums: equal heights must be equal."""
        return round(self.tops[slot] + offset, 3)

    def _side(self, box: int, *, right: bool) -> float:
        left = self.lefts[self.column_of[box]]
        return left + self.widths[box] if right else left

    def _strand(self, channel: int, key: NetKey, start: float, goal: float) -> list[Riser]:
        """Return the risers from a pin to the point that its net comes from, from left to right."""
        return [] if start == goal else self.strands[channel][key, goal, start < goal]

    def _rise(
        self, channel: int, strand: Sequence[Riser], start: float, goal: float
    ) -> Iterator[Point]:
        """Yield the corners along risers, from one pin to the other."""
        at = start
        for place, riser in enumerate(strand, 1):
            after = goal if place == len(strand) or riser.joined is None else riser.joined
            x = self.starts[channel] + riser.track * TRACK_GAP
            yield Point(x, at)
            yield Point(x, after)
            at = after


def _loop_key(loop: Loop) -> NetKey:
    """Return the net of a loop: that of the links to the same point, where it can join."""
    return (loop.parent, loop.link.parent_offset, True if loop.lane is None else None)


def _simplified(corners: list[Point]) -> tuple[Point, ...]:
    """Return the corners without repeated ones and those on a straight line."""
    kept: list[Point] = []
    for corner in corners:
        if kept and corner == kept[-1]:
            continue
        if len(kept) > 1 and (
            kept[-2].x == kept[-1].x == corner.x or kept[-2].y == kept[-1].y == corner.y
        ):
            kept.pop()
        kept.append(corner)
    return tuple(kept)
