"""Fluid Forge: from an undocumented database to a data product that can be trusted."""

__version__ = "0.1.0"
