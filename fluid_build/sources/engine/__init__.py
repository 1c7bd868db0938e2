"""The engine: the DuckDB connection that every source is read through, and its extensions.

Each extension is in a wheel of DuckDB's own version; nothing is downloaded at run time.
"""
