"""The agent runtime: a library of its own, which knows nothing of data products.

Nothing is imported here, so that each part costs no more than itself.
"""
