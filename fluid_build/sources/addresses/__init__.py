"""Addresses: the kinds of places that a source may be named by, and what their names say."""
