"""Where data comes from. ``open_source(uri)`` is the one way in."""
