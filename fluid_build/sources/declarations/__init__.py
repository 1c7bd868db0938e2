"""Declarations beside the tables: what a source is called, and what catalogs say of it."""
