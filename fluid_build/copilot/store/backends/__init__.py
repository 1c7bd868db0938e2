"""The backends of the store, all with the same protocol."""
