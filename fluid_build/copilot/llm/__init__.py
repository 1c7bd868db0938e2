"""Calls of models: a module for each wire format, and a client that sends."""
