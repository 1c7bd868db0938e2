"""The dbt project of a plan, and running dbt on it.

``source_access``, ``file_access`` and ``warehouse_access`` say how dbt reaches each kind of source:
a database is attached read-only, with its extension loaded from the wheel by a plugin inside the
project; files are read in place, with the options that our reader found; and what DuckDB would read
differently than we did is copied (``table_copies``). A stranger's text never becomes Jinja or YAML.
``translation`` tells the plan's SQL in other dialects. A key or a reference is a test of dbt's own;
a node costs dbt far more than its query, so the other tests of a relation are one (``data_tests``),
by a generic test of the project's own (``promise_macros``) that names each broken promise.
"""
