"""Tools: how a model's call becomes a call of a function, and what may be seen of it."""
