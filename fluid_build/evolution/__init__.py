"""How a forged folder lives on: brought to its warehouse again and again, and taken back.

``comparing`` reads folder, source and warehouse, and ``planning`` says what changed and what that
means; ``migrating`` has the steps that a warehouse needs. ``applying`` forges a folder again,
migrates its warehouse, lets dbt load it, and proves that every row that was there before is there
afterwards. ``rolling_back`` takes out what later loads added. The last two hold the lock of the
warehouse (``locations``), and read and write the table of deployments (``deployments``), which
keeps the folder of each.
"""
