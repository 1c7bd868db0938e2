"""Calendars: the date dimension, its settings, and days of service that a source states."""
