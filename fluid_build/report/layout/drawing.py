"""A finished drawing: places of boxes and routes of edges, in pixels from the top left corner."""

from dataclasses import dataclass
from typing import NamedTuple


class Point(NamedTuple):
    """A point; ``y`` grows downwards."""

    x: float
    y: float


class Box(NamedTuple):
    """A rectangle."""

    x: float
    y: float
    width: float
    height: float

    @property
    def right(self) -> float:
        """Return the right border."""
        return self.x + self.width

    @property
    def bottom(self) -> float:
        """Return the lower border."""
        return self.y + self.height


@dataclass(frozen=True, slots=True)
class Region:
    """The area of boxes that belong together: a group, or what is connected."""

    name: str
    box: Box
    nodes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Drawing:
    """Boxes and routes by the ids of their nodes and links.

    A route starts at the side of the child's box and ends at the side of the parent's. Its segments
    are horizontal or vertical by turns, and none passes through a box.
    """

    width: float
    height: float
    boxes: dict[str, Box]
    routes: dict[str, tuple[Point, ...]]
    regions: tuple[Region, ...] = ()
