"""SQL dumps with rows: what pg_dump, mysqldump and SQLite's .dump write, without a server.

Rows are read as literals, and no statement is run. ``ddl`` has read their structure.
"""
