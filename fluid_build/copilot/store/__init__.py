"""The store of data that outlives a run: caches, memory, checkpoints.

``configured`` opens the one store: ``fluid.db`` in ``FLUID_HOME``, or the database of
``FLUID_STORE``. It is opened when it's first used, and its files are the owner's alone.
"""
