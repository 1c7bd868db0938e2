"""How well diagrams are laid out: crossings compared with Graphviz ``dot``, size, and time.

    python bench/layout.py                       # five databases, then 50 to 1,000 made-up tables
    python bench/layout.py chinook world --tables 200

Each database of ``../shared`` is profiled, and its map (keys and references) laid out by us and by
``dot``: the same boxes, and the same edges at the same heights in the same direction. Crossings are
points at which two edges cross, counted by the same function for each pair of edges; edges that
share a trunk count one by one. ``dot`` draws twice: with ``splines=polyline``, and with
``splines=ortho``, which ignores where on a box an edge ends and lays edges onto each other, so the
ratio is that to ``polyline``. ``scale`` is how large the whole drawing can be shown in 1200 by 700
pixels. Seconds are processor time. Without ``dot`` or ``../shared`` it says so and measures the
rest.
"""

import argparse
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from bench import synthetic  # noqa: E402
from fluid_build.profiling import profile_source  # noqa: E402
from fluid_build.report.diagrams.source_diagram import source_diagram  # noqa: E402
from fluid_build.report.layout.drawing import Point  # noqa: E402
from fluid_build.report.layout.engine import layout  # noqa: E402
from fluid_build.report.layout.graph import Graph, Link, Node  # noqa: E402
from fluid_build.report.layout.nets import break_cycles  # noqa: E402
from fluid_build.report.layout.packing import fitting_scale  # noqa: E402
from fluid_build.report.page.map_boxes import box_shapes, map_graph  # noqa: E402
from fluid_build.report.view import source_view  # noqa: E402
from fluid_build.sources import open_source  # noqa: E402
from tests.report.layout.measures import (  # noqa: E402
    crossings,
    polyline_crossings,
    violations,
)

SHARED = ROOT.parent / "shared"
CORPORA = (SHARED / "corpus", SHARED / "corpus_more")
DATABASES = ["northwind", "sakila", "adventureworks", "tpcds", "ensembl_core"]
TABLES = [50, 300, 500, 1000]
# Boxes of the made-up graphs: about those of the map.
WIDTH, HEAD, ROW = 208.0, 40.0, 18.0
POINTS_PER_INCH = 72


def main() -> int:
    options = read_options()
    if not shutil.which("dot"):
        print("Graphviz isn't installed (apt install graphviz): no comparison with dot.")
    heads = "boxes", "edges", "crossings", "dot", "ratio", "dot ortho", "scale", "dot scale", "s"
    print(f"{'':16}" + "".join(f"{head:>10}" for head in heads) + "  faults")
    for name in options.databases:
        folder = next((each / name for each in CORPORA if (each / name).is_dir()), None)
        if folder is None:
            print(f"{name:16}  isn't in {SHARED}")
        else:
            print(describe(name, database_graph(folder), with_dot=True), flush=True)
    for count in options.tables:
        print(describe(f"{count} tables", synthetic_graph(count), with_dot=False), flush=True)
    return 0


def database_graph(folder: Path) -> Graph:
    """Return the graph of a database's map, as the page draws it."""
    with open_source(str(folder / "data")) as source:
        diagram = source_diagram(source_view(profile_source(source)))
    return map_graph(box_shapes(diagram, with_all_columns=False), diagram.edges)


def synthetic_graph(count: int) -> Graph:
    """Return the graph of made-up tables with a row for each column of a key or a reference."""
    tables = synthetic.tables(count)
    rows = {
        table.name: list(
            dict.fromkeys((*table.key, *(name for ref in table.references for name in ref.columns)))
        )
        for table in tables
    }

    def offset(table: str, column: str) -> float:
        return HEAD + ROW * (rows[table].index(column) + 0.5)

    links = (
        (table.name, ref.to_table, ref.columns[0], ref.to_columns[0])
        for table in tables
        for ref in table.references
    )
    return Graph(
        tuple(Node(name, WIDTH, HEAD + ROW * len(columns)) for name, columns in rows.items()),
        tuple(
            Link(str(place), child, parent, offset(child, own), offset(parent, key))
            for place, (child, parent, own, key) in enumerate(links)
        ),
    )


def describe(name: str, graph: Graph, *, with_dot: bool) -> str:
    """Return a line of the table."""
    start = time.process_time()
    drawing = layout(graph)
    seconds = time.process_time() - start
    ours = crossings(drawing)
    dot, ratio, ortho, dot_scale = "", "", "", ""
    if with_dot and shutil.which("dot"):
        lines, scale = draw_with_dot(graph, "polyline")
        theirs = polyline_crossings(lines)
        dot, dot_scale = f"{theirs:,}", f"{scale:.2f}"
        ratio = f"{ours / theirs:.2f}" if theirs else "-"
        ortho = f"{polyline_crossings(draw_with_dot(graph, 'ortho')[0]):,}"
    cells = [f"{len(graph.nodes):,}", f"{len(graph.links):,}", f"{ours:,}", dot, ratio, ortho]
    cells += [f"{fitting_scale(drawing.width, drawing.height):.2f}", dot_scale, f"{seconds:.2f}"]
    faults = len(violations(drawing, graph)) if len(graph.nodes) <= TABLES[1] else ""
    return f"{name:16}" + "".join(f"{cell:>10}" for cell in cells) + f"  {faults}"


def draw_with_dot(graph: Graph, splines: str) -> tuple[list[list[Point]], float]:
    """Return the lines that ``dot`` draws, and the scale at which its drawing fits a laptop."""
    text = "\n".join(dot_text(graph, splines))
    done = subprocess.run(
        ["dot", "-Tplain"], input=text, capture_output=True, text=True, timeout=600, check=True
    )
    lines, scale = [], 0.0
    for row in done.stdout.splitlines():
        words = row.split()
        if words[0] == "graph":
            scale = fitting_scale(*(float(word) * POINTS_PER_INCH for word in words[2:4]))
        elif words[0] == "edge":
            numbers = [float(word) * POINTS_PER_INCH for word in words[4 : 4 + 2 * int(words[3])]]
            points = [Point(x, y) for x, y in zip(numbers[::2], numbers[1::2], strict=True)]
            # A polyline is written as curves: each third point is a corner.
            lines.append(points[::3])
    return lines, scale


def dot_text(graph: Graph, splines: str) -> Iterator[str]:
    """Yield the lines of a graph for ``dot``; its boxes are tables with a port at each height."""
    names = {node.id: f"n{place}" for place, node in enumerate(graph.nodes)}
    offsets: dict[str, set[float]] = {node.id: set() for node in graph.nodes}
    for link in graph.links:
        offsets[link.child].add(link.child_offset)
        offsets[link.parent].add(link.parent_offset)
    yield f"digraph {{ rankdir=LR; splines={splines}; nodesep=0.33; ranksep=1.1"
    yield "node [shape=none margin=0] edge [dir=none]"
    for node in graph.nodes:
        cells = "".join(dot_cells(node, sorted(offsets[node.id])))
        table = f'<TABLE BORDER="0" CELLBORDER="0" CELLSPACING="0" CELLPADDING="0">{cells}</TABLE>'
        yield f"{names[node.id]} [label=<{table}>]"

    def port(box: str, offset: float) -> str:
        return f"{names[box]}:p{sorted(offsets[box]).index(offset)}"

    number = {node.id: place for place, node in enumerate(graph.nodes)}
    arcs = [(number[link.parent], number[link.child]) for link in graph.links]
    for link, arc, turned in zip(graph.links, arcs, break_cycles(len(number), arcs), strict=True):
        parent, child = port(link.parent, link.parent_offset), port(link.child, link.child_offset)
        if link.child == link.parent:
            yield f"{parent}:e -> {child}:e"
        else:
            yield f"{parent}:e -> {child}:w" if arc == turned else f"{child}:e -> {parent}:w"
    yield "}"


def dot_cells(node: Node, offsets: list[float]) -> Iterator[str]:
    """Yield the rows of a box: one whose middle is at each offset, and the space between them."""
    at = 0.0
    for place, offset in enumerate(offsets):
        after = offsets[place + 1] if place + 1 < len(offsets) else 2 * node.height - offset
        half = min(offset - at, (after - offset) / 2, node.height - offset)
        yield dot_cell(node.width, offset - half - at, "")
        yield dot_cell(node.width, 2 * half, f' PORT="p{place}"')
        at = offset + half
    yield dot_cell(node.width, node.height - at, "")


def dot_cell(width: float, height: float, port: str) -> str:
    if round(height) < 1 and not port:
        return ""
    size = f'FIXEDSIZE="TRUE" WIDTH="{width:.0f}" HEIGHT="{max(height, 1):.0f}"'
    return f"<TR><TD {size}{port}></TD></TR>"


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("databases", nargs="*", default=DATABASES)
    parser.add_argument("--tables", nargs="*", type=int, default=TABLES)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
