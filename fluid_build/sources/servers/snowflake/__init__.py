"""A Snowflake source: its address, catalog and types."""
