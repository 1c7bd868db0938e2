"""Databases in one file: DuckDB, read in place, and SQLite, staged value by value if need be."""
