"""The agent runtime, a library that knows nothing about data products.

Nothing is imported here, so that importing a part loads nothing else.
"""
