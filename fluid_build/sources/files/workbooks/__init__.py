"""Workbooks of spreadsheet programs: their sheets, the tables on these, and their columns.

Tables are found on the sheets, and staged with the types of their cells.
"""
