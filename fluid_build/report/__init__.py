"""One view of what is known about a source, and the renderers that show it."""
