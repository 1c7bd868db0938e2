"""Which links run against the others: those to reverse so that no cycle is left."""

from collections import Counter, defaultdict


def break_cycles(boxes: int, arcs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the arcs, from parent to child, with those turned round that close a cycle.

    The order that decides is that of Eades, Lin and Smyth (1993): boxes without parents come
    first, boxes without children last, and in a cycle the box with the most children per parent.
    """
    place = _order(boxes, sorted({arc for arc in arcs if arc[0] != arc[1]}))
    return [arc if place[arc[0]] <= place[arc[1]] else (arc[1], arc[0]) for arc in arcs]


def _order(boxes: int, arcs: list[tuple[int, int]]) -> list[int]:
    """Return the place of each box in an order that few arcs run against."""
    children: dict[int, list[int]] = defaultdict(list)
    parents: dict[int, list[int]] = defaultdict(list)
    for parent, child in arcs:
        children[parent].append(child)
        parents[child].append(parent)
    child_counts = Counter({box: len(children[box]) for box in range(boxes)})
    parent_counts = Counter({box: len(parents[box]) for box in range(boxes)})
    waiting = dict.fromkeys(range(boxes))
    sources = [box for box in waiting if not parent_counts[box]]
    sinks = [box for box in waiting if parent_counts[box] and not child_counts[box]]
    first: list[int] = []
    last: list[int] = []
    while waiting:
        if sources:
            box = sources.pop()
        elif sinks:
            box = sinks.pop()
        else:
            box = max(waiting, key=lambda box: (child_counts[box] - parent_counts[box], -box))
        if box not in waiting:
            continue
        del waiting[box]
        (last if not child_counts[box] and parent_counts[box] else first).append(box)
        for child in children[box]:
            parent_counts[child] -= 1
            if not parent_counts[child]:
                sources.append(child)
        for parent in parents[box]:
            child_counts[parent] -= 1
            if not child_counts[parent]:
                sinks.append(parent)
    place = [0] * boxes
    for number, box in enumerate([*first, *reversed(last)]):
        place[box] = number
    return place
