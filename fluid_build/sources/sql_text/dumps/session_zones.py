"""Which moments a dump's literals are, by the time zones of their sessions."""

import re
from dataclasses import dataclass

from fluid_build.sources.base import Column
from fluid_build.sources.sql_text.ddl.dialects import Dialect
from fluid_build.sources.sql_text.ddl.session_zone import is_utc

_ZONED = "TIMESTAMP WITH TIME ZONE"
_IN_MYSQL = re.compile(r"TIMESTAMP\b", re.IGNORECASE)
_IN_UTC = ("tsql", "fabric", "bigquery")
"""What takes a moment without an offset to be in UTC, whatever the session's zone."""
_LACKS_OFFSET = (
    "NOT regexp_matches(regexp_replace({}, '^[-+]?[0-9]+-[0-9]+-[0-9]+T?', ''), '[-+A-Za-z]')"
    " AND regexp_matches({}, '^[-+]?[0-9]')"
)


@dataclass(frozen=True, slots=True)
class SessionZones:
    """The time zones of the sessions that a table's rows are for, empty where nobody knows one."""

    dialect: Dialect
    zones: frozenset[str]

    @property
    def _are_utc(self) -> bool:
        return all(map(is_utc, self.zones))

    def depends(self, column: Column, text: str) -> str:
        """Return when the moment of a text depends on the session's zone, as an SQL condition."""
        if column.type != _ZONED or self.dialect.name in _IN_UTC or self._are_utc:
            return "false"
        return _LACKS_OFFSET.format(text, text)

    @property
    def is_said(self) -> bool:
        """Return whether some of the zones are known, and others than UTC."""
        return any(zone and not is_utc(zone) for zone in self.zones)

    def note(self, column: Column, dependent: int) -> str:
        """Return what a column's moments are in; empty where they say it themselves.

        ``dependent`` of its values depend on the zone.
        """
        if dependent:
            values = "1 value says" if dependent == 1 else f"{dependent:,} values say"
            return (
                f"{values} no offset from UTC, but are in the session's time zone: {self._spelled}."
            )
        if self.dialect.version_comments and _IN_MYSQL.match(column.declared_type):
            return f"MySQL reads its moments in the session's time zone: {self._spelled}."
        return ""

    @property
    def _spelled(self) -> str:
        """Say what the dump sets as the session's zone."""
        known = " and ".join(sorted(filter(None, self.zones)))
        if not known:
            return "the dump doesn't set one, so they're read as UTC"
        partly = " for some of its rows" if "" in self.zones else ""
        return f"the dump sets {known}{partly}"
