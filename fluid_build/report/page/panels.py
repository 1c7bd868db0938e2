"""Panels: the parts of a view that are shown one at a time, as those of hundreds of tables.

Their HTML is most of a page. It's packed, some panels at a time, and the browser unpacks what it
shows: a page of 500 tables is read and started as fast as one of 50.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from fluid_build.report.page.packed import packed

_PANELS_A_PACK = 20
"""Some hundred kilobytes of HTML: unpacked before anybody notices, and compressed well."""


@dataclass(frozen=True, slots=True)
class Panel:
    """A panel that is shown by its id, and the id of the pack that has its HTML."""

    id: str
    pack: str


@dataclass(frozen=True, slots=True)
class Panels:
    """Panels in their order, and the packs by their ids: JSON objects of HTML by panel, packed."""

    panels: tuple[Panel, ...] = ()
    packs: tuple[tuple[str, str], ...] = ()


NO_PANELS = Panels()


def packed_panels(view: str, texts: Sequence[tuple[str, str]]) -> Panels:
    """Return the panels of a view, which are given by their ids with their HTML."""
    panels: list[Panel] = []
    packs: list[tuple[str, str]] = []
    for start in range(0, len(texts), _PANELS_A_PACK):
        part = texts[start : start + _PANELS_A_PACK]
        pack = f"pack-{view}-{len(packs)}"
        packs.append((pack, packed(json.dumps(dict(part), ensure_ascii=False))))
        panels += (Panel(id_, pack) for id_, _ in part)
    return Panels(tuple(panels), tuple(packs))
