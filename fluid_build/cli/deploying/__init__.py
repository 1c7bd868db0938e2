"""The commands that bring a folder to its warehouse, and take it back."""
