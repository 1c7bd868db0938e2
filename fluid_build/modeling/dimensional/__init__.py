"""The dimensional technique: facts and dimensions, chosen by references, measures and rows.

Rules: Ralph Kimball and Margy Ross, "The Data Warehouse Toolkit", third edition.
"""
