"""Servers: each brings its catalog, how a column is asked for, and the way its rows come.

``source`` makes a source of a server's catalog, and ``staging`` copies its tables. Rows come
through a scanner that is attached, where all tables are read in one transaction (``postgres``,
``mysql``), or by the server's own client in Arrow batches (``sqlserver``, ``oracle``,
``snowflake``, ``bigquery``, ``databricks``). What might not come over exactly is asked for as text,
and settled here (``text_values``). ``row_limits`` says how each is asked for a part of a table. A
table read in part is marked (``Table.sampled``), no claim about it is exact, and ``keys`` looks up
at the server which values a sampled parent really lacks.
"""
