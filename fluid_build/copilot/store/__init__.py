"""The store of what outlives a run: caches, memory, checkpoints."""
