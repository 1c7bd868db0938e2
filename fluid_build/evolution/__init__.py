"""How a forged folder lives on: brought to its warehouse again and again, and taken back.

``applying`` forges a folder again, migrates its warehouse, lets dbt load it, and proves that every
row that was there before is there afterwards. ``rolling_back`` takes out what later loads added.
Both hold the lock of the warehouse (``locations``), and both read and write the table of
deployments (``deployments``), which keeps the folder of each.
"""
