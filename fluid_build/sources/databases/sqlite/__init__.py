"""SQLite files.

A column is read by its declared type where that is proven lossless, and otherwise value by value
with the storage class.
"""
