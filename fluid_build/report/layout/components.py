"""The connected parts of a graph."""

from fluid_build.report.layout.graph import Graph, Link, Node


def connected_components(graph: Graph) -> list[Graph]:
    """Return the parts between which no link runs, in the order of their first nodes."""
    neighbours: dict[str, list[str]] = {node.id: [] for node in graph.nodes}
    for link in graph.links:
        neighbours[link.child].append(link.parent)
        neighbours[link.parent].append(link.child)
    part_of: dict[str, int] = {}
    count = 0
    for node in graph.nodes:
        if node.id not in part_of:
            _mark(node.id, count, neighbours, part_of)
            count += 1
    nodes: list[list[Node]] = [[] for _ in range(count)]
    links: list[list[Link]] = [[] for _ in range(count)]
    for node in graph.nodes:
        nodes[part_of[node.id]].append(node)
    for link in graph.links:
        links[part_of[link.child]].append(link)
    return [Graph(tuple(n), tuple(k)) for n, k in zip(nodes, links, strict=True)]


def _mark(
    start: str, number: int, neighbours: dict[str, list[str]], part_of: dict[str, int]
) -> None:
    part_of[start] = number
    waiting = [start]
    while waiting:
        for near in neighbours[waiting.pop()]:
            if near not in part_of:
                part_of[near] = number
                waiting.append(near)
