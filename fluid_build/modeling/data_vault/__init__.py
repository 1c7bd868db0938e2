"""The Data Vault 2.0 technique: every source table in hubs, links and satellites."""
