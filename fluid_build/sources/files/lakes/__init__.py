"""Delta, Iceberg and Avro: read through DuckDB's extensions, with what their schemas declare."""
