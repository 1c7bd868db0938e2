"""The wait that a provider asks for, from the headers of its answer."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

MAX_RETRY_AFTER_SECONDS = 300.0
"""The longest wait that a provider can ask for: five minutes, as documented."""


def parse_retry_after(
    headers: Mapping[str, str], *, now: Callable[[], datetime] | None = None
) -> float | None:
    """Return the seconds that the headers ask to wait, from 0 to 300; None where they don't ask.

    ``retry-after-ms`` and ``x-ms-retry-after-ms`` (milliseconds) come before ``Retry-After``
    (seconds, or a date as in RFC 9110). ``headers`` must ignore case, or be in lower case.
    """
    for name in ("retry-after-ms", "x-ms-retry-after-ms"):
        milliseconds = parse_seconds(headers.get(name))
        if milliseconds is not None:
            return clamp_wait(milliseconds / 1000)
    value = headers.get("retry-after")
    seconds = parse_seconds(value)
    if seconds is not None or value is None:
        return None if seconds is None else clamp_wait(seconds)
    try:
        at = parsedate_to_datetime(value)
    except ValueError:
        return None
    current = now() if now is not None else datetime.now(UTC)
    at = at if at.tzinfo is not None else at.replace(tzinfo=UTC)
    return clamp_wait((at - current).total_seconds())


def clamp_wait(seconds: float) -> float:
    """Return a wait within its bounds, in seconds."""
    return min(max(seconds, 0.0), MAX_RETRY_AFTER_SECONDS)


def parse_seconds(text: str | None) -> float | None:
    """Return a finite number of seconds, or None."""
    try:
        value = float(text) if text is not None else None
    except ValueError:
        return None
    return value if value is not None and math.isfinite(value) else None
