"""A BigQuery source: its address, catalog and types."""
