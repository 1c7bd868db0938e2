"""Workbooks of spreadsheet programs: their sheets, the tables on these, and their columns."""
