"""Facts: their grain, the date of their event, their columns and measures, and snapshots."""
