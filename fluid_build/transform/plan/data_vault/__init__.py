"""Data Vault 2.0: the builds of a vault on its staging, and the way back to the source tables.

``hubs``, ``links``, ``satellites`` and ``reference_tables`` make the builds, and ``rebuilds`` the
way back. ``counted_rows`` loads links and tables without a key. ``snapshots``, ``point_in_time``
and ``bridge_tables`` build the business vault from load dates in the raw vault, ``business_checks``
counts what it leads to, and ``link_checks`` compares what links relate.
"""
