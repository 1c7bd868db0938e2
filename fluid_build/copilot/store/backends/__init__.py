"""The store's backends, each behind the same protocol."""
