"""Token estimates, and the shortening of conversations that don't fit a model's window."""
