"""SQL dumps with rows: what pg_dump, mysqldump and SQLite's .dump write, without a server."""
