"""Tables of this process as a source: data frames, Arrow tables and DuckDB relations."""
