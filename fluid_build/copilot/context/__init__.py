"""Token estimates, and what stays of a conversation that doesn't fit a model's window."""
