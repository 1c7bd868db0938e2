"""A Databricks source: its address, catalog and types."""
