"""The store: what outlives a run. Caches, memory, checkpoints."""
