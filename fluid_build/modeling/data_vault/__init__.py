"""The Data Vault 2.0 technique: every table of the source in hubs, links and satellites."""
