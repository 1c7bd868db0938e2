"""The time zone that a script sets for its session, which moments without an offset are in."""

import re

from fluid_build.sources.sql_text.ddl.statements import Statement

_ZONE = re.compile(
    r"(?:^(?:ALTER SESSION )?SET|,) (?:(?:SESSION|LOCAL) |@ @(?:(?:SESSION|LOCAL) \. )?)?"
    r"(?:TIME_ZONE|TIMEZONE|TIME ZONE) (?:(?:=|TO) )?(?:INTERVAL )?(?P<zone>(?:[-+] )?\S+)"
)
"""In the tokens of a statement with a blank between each two, bare words in upper case."""
_UNKNOWN = ("DEFAULT", "SYSTEM", "LOCAL", "DBTIMEZONE")
_UTC = re.compile(r"Z|(?:Etc/)?(?:UTC|GMT|UCT|Zulu)|[-+]?0?0(?::00)?", re.IGNORECASE)


def zone_after(statement: Statement, zone: str) -> str:
    """Return the session's zone after a statement, of the one before; empty where nobody knows."""
    if statement.words[0] not in ("SET", "ALTER"):
        return zone
    match = _ZONE.search(" ".join(token.upper or token.text for token in statement.tokens))
    if match is None:
        return zone
    said = match["zone"].replace(" ", "")
    return "" if said.startswith("@") or said.upper() in _UNKNOWN else said


def is_utc(zone: str) -> bool:
    """Return whether a zone is UTC, however it's called."""
    return _UTC.fullmatch(zone) is not None
