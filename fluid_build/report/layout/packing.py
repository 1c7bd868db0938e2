"""Rectangles side by side on a page about as wide as a screen."""

from collections.abc import Sequence
from math import inf, sqrt

from fluid_build.report.layout.drawing import Point

# The part of a laptop's screen that a drawing has: 1200 by 700 pixels.
ASPECT = 1200 / 700
_WIDTHS = 12


def fitting_scale(width: float, height: float) -> float:
    """Return how large a drawing of this size can be shown on a laptop; 1 is its full size."""
    return min(1200 / max(width, 1.0), 700 / max(height, 1.0))


def pack(sizes: Sequence[tuple[float, float]], gap: float) -> list[Point]:
    """Return the top left corner of each rectangle; the first stays at the top left."""
    if not sizes:
        return []
    widest = max(width for width, _ in sizes)
    area = sum((width + gap) * (height + gap) for width, height in sizes)
    total = sum(width + gap for width, _ in sizes) - gap
    candidates = {widest, total}
    for number in range(_WIDTHS):
        candidates.add(max(widest, sqrt(area * ASPECT) * (0.7 + 0.1 * number)))
    results = [_stack(sizes, gap, width) for width in sorted(candidates)]
    return max(results, key=lambda corners: _scale(corners, sizes))


def _scale(corners: Sequence[Point], sizes: Sequence[tuple[float, float]]) -> float:
    width = max(at.x + size[0] for at, size in zip(corners, sizes, strict=True))
    height = max(at.y + size[1] for at, size in zip(corners, sizes, strict=True))
    return fitting_scale(width, height)


def _stack(sizes: Sequence[tuple[float, float]], gap: float, most: float) -> list[Point]:
    """Place rectangles one by one as high up as they fit, then as far left (a skyline)."""
    skyline: list[tuple[float, float]] = [(0.0, 0.0)]
    corners = []
    for width, height in sizes:
        at = Point(0.0, inf)
        for number, (x, _) in enumerate(skyline):
            if x + width <= most + 0.001 or x == 0.0:
                top = _highest(skyline, number, x + width, at.y)
                at = Point(x, top) if top < at.y else at
        corners.append(at)
        skyline = _raised(skyline, at.x, at.x + width + gap, at.y + height + gap)
    return corners


def _highest(skyline: list[tuple[float, float]], first: int, right: float, enough: float) -> float:
    """Return the top of what is placed from a part of the skyline up to ``right``.

    It's looked for no further where it's ``enough`` to be of no use.
    """
    top = 0.0
    for number in range(first, len(skyline)):
        left, height = skyline[number]
        if left >= right or top >= enough:
            break
        top = max(top, height)
    return top


def _raised(
    skyline: list[tuple[float, float]], left: float, right: float, top: float
) -> list[tuple[float, float]]:
    behind = [height for x, height in skyline if x <= right][-1]
    before = [part for part in skyline if part[0] < left]
    after = [part for part in skyline if part[0] > right]
    return [*before, (left, top), (right, behind), *after]
