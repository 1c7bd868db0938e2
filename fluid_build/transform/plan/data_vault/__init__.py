"""Data Vault 2.0: the builds of a vault on its staging, and the way back to the source tables."""
