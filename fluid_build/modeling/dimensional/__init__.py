"""The dimensional technique: facts and dimensions, chosen by the graph, the measures and the rows.

Rules: Ralph Kimball and Margy Ross, "The Data Warehouse Toolkit", third edition.
"""
