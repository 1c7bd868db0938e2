"""The map measured in the browser: what lies on what, in pixels of the drawing."""

from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Page

_MEASURE = Path(__file__).with_suffix(".js").read_text(encoding="utf-8")


@dataclass(frozen=True)
class MapGeometry:
    """What was measured of the layer that is shown.

    ``overlapping`` are pairs of boxes, ``crossed`` edges that pass through a box, ``slanted`` edges
    that are neither horizontal nor vertical somewhere, ``loose`` edges that don't end at the sides
    of their boxes. ``wide`` are texts that leave their box or run into another, ``covered`` labels
    of edges that are on a box.
    """

    boxes: int
    edges: int
    crossings: int
    overlapping: list[str]
    crossed: list[str]
    slanted: list[str]
    loose: list[str]
    wide: list[str]
    covered: list[str]

    @property
    def faults(self) -> list[str]:
        """Return whatever mustn't be in any drawing."""
        named = ("overlapping", "crossed", "slanted", "loose", "wide", "covered")
        return [f"{name}: {fault}" for name in named for fault in getattr(self, name)]


def measure_map(page: Page) -> MapGeometry:
    """Measure the drawing that is shown."""
    return MapGeometry(**page.evaluate(_MEASURE))
