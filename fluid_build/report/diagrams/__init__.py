"""Diagrams of what is known: of the source, of its entities, and of the model that was built."""
