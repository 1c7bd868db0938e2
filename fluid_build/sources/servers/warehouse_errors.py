"""What a warehouse's client library says went wrong, as one sentence without secrets."""

import re
from collections.abc import Iterable

from fluid_build.errors import SourceError
from fluid_build.secrets import redact
from fluid_build.sources.engine.connection import reason

# "100035 (22007): 01b2-…: ", "250001: None: ", "404 POST https://…: " and the like come first.
_PREFIX = re.compile(
    r"^\s*(?:\d{6}(?: \(\w+\))?:\s*)?(?:None:\s*)?(?:[0-9a-f]{8}-[0-9a-f-]{20,}:\s*)?"
    r"(?:\d{3} (?:GET|POST) \S+:\s*)?"
)


def client_message(error: BaseException, secrets: Iterable[str] = ()) -> str:
    """Return the message of a client's error, without its codes, secrets and values."""
    text = redact(str(error), secrets)
    text = " ".join(_PREFIX.sub("", text, count=1).split())
    return reason(SourceError(text or type(error).__name__))
