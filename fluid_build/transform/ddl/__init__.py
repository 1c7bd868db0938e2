"""The physical schema: what a plan publishes, as CREATE TABLE statements.

``keys`` says which keys hold and in which order tables can be created, ``syntax`` how each target
writes them, and ``schema_sql`` writes ``schema.sql``.
"""
