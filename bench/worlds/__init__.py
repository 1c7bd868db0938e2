"""Databases made up from schema grammars, with their true keys."""
