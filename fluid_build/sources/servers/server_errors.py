"""What a server or its client says went wrong, as one sentence without secrets."""

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from fluid_build.errors import SourceError, SourceUnreadableError
from fluid_build.secrets import passwords, redact
from fluid_build.sources.engine.connection import reason

# "100035 (22007): 01b2-…: ", "250001: None: ", "404 POST https://…: " and the like come first.
_PREFIX = re.compile(
    r"^\s*(?:\d{6}(?: \(\w+\))?:\s*)?(?:None:\s*)?(?:[0-9a-f]{8}-[0-9a-f-]{20,}:\s*)?"
    r"(?:\d{3} (?:GET|POST) \S+:\s*)?"
)


def client_message(error: BaseException, secrets: Iterable[str] = ()) -> str:
    """Return the message of a warehouse's client, without its codes, secrets and values."""
    text = redact(str(error), secrets)
    text = " ".join(_PREFIX.sub("", text, count=1).split())
    return reason(SourceError(text or type(error).__name__))


def server_message(error: BaseException, dsn: str, *clutter: re.Pattern[str]) -> str:
    """Return a server's message without any password, and without what matches ``clutter``."""
    text = redact(str(error), passwords(dsn))
    for pattern in clutter:
        text = pattern.sub("", text)
    return reason(SourceError(text.strip()))


@contextmanager
def answering(
    errors: tuple[type[Exception], ...], describe: Callable[[BaseException], str]
) -> Iterator[None]:
    """Raise SourceUnreadableError where the server fails while its database is read."""
    try:
        yield
    except errors as error:
        raise SourceUnreadableError(
            f"The database stopped answering: {describe(error)}",
            hint="Try again; if it happens again, check the server's log.",
        ) from None
