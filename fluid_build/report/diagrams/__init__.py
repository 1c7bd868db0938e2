"""Diagrams of what is known: of the source, of its entities, and of the model that was built.

``MODEL.md`` and the map of the page draw them. ``diagram`` has the types: boxes with rows, and
edges from row to row. ``source_diagram``, ``conceptual_diagram`` and ``model_diagram`` make one of
a view or a model; ``pieces`` cuts a diagram into pieces that a person can read, and ``mermaid``
writes them.
"""
