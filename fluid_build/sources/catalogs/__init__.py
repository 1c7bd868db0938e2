"""Data catalogs as sources: what they declare of tables, and the rows where these can be read."""
