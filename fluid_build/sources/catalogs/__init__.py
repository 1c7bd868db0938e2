"""Data catalogs as sources: what they declare of tables, and the rows where these can be read.

A catalog makes tables without rows, with owners, domains, tags and lineage (``catalog_facts`` of
the room above). Where the login can read the rows, they come from where the tables are.
"""
