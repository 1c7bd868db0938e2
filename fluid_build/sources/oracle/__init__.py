"""Oracle databases."""
