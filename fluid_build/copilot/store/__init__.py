"""The store of data that outlives a run: caches, memory, checkpoints."""
