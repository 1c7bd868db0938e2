"""The Open Data Contract Standard: how contracts are written in it, and read from it."""
