"""Asking a catalog over HTTP: bounded, retried where that can help, with typed errors."""

from __future__ import annotations

import ipaddress
import json
import logging
import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Self
from urllib.parse import urlsplit

from fluid_build.errors import (
    SourceError,
    SourceNotFoundError,
    SourceUnreachableError,
    SourceUnreadableError,
    UsageError,
)
from fluid_build.extras import needs_extra
from fluid_build.json_types import JsonObject, JsonValue
from fluid_build.secrets import redact
from fluid_build.sources.catalogs.answers import member, printable
from fluid_build.sources.credentials import Credential
from fluid_build.text import clip

if TYPE_CHECKING:
    import httpx

_TIMEOUT_SECONDS = 30.0
"""For one answer. A page of a few hundred tables takes a few seconds on a busy catalog."""
_MOST_BYTES = 64 * 1024 * 1024
"""Of one answer: a page has at most a few thousand tables, each of some kilobytes."""
MOST_PAGES = 10_000
"""Pages of one list: a server that repeats itself must not keep us for ever."""
_ATTEMPTS = 4
_FIRST_WAIT = 0.5
_LONGEST_WAIT = 30.0
"""Seconds, also where the server asks for more: a person is waiting."""
_RETRIED = frozenset({429, 500, 502, 503, 504})
_LONGEST_REASON = 240


# Without a handler of the program's own, Python prints stamina's line about each retry on stderr.
logging.getLogger("stamina").addHandler(logging.NullHandler())


class _TryAgainError(Exception):
    """An answer that a second attempt may better; ``wait`` is what the server asks for."""

    def __init__(self, error: SourceError, wait: float | None) -> None:
        super().__init__(error.message)
        self.error = error
        self.wait = wait


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a catalog's API is, and how to log in: headers that hold the secret."""

    title: str
    url: str
    headers: Mapping[str, str]
    credential: Credential

    def __repr__(self) -> str:
        return f"Endpoint({self.title}, {self.url})"


def base_url(host: str, title: str, *, default_scheme: str = "https") -> str:
    """Return the address of an API from a host, with or without its scheme.

    Raises UsageError for a host that isn't one, a login in it, and plain HTTP to anything but this
    machine: it would show the secret on the way.
    """
    if "://" not in host:
        host = f"{'http' if _is_loopback(host) else default_scheme}://{host}"
    try:
        parts = urlsplit(host)
        is_address = parts.scheme in ("http", "https") and bool(parts.hostname)
        is_address = is_address and parts.port != 0
    except ValueError:
        parts, is_address = urlsplit(""), False
    if not is_address or parts.username or parts.password or parts.query or parts.fragment:
        raise UsageError(
            f"The host of {title} isn't an address.", hint="Write it like catalog.example.com."
        )
    if parts.scheme == "http" and not _is_loopback(parts.netloc):
        raise UsageError(
            f"{title} would be asked over plain HTTP, which shows the login to others.",
            hint="Use https.",
        )
    return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"


def _is_loopback(netloc: str) -> bool:
    host = urlsplit(f"//{netloc}").hostname or ""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class JsonClient:
    """A connection to a catalog's API; use it in a ``with`` block."""

    def __init__(self, endpoint: Endpoint) -> None:
        with needs_extra("catalogs", f"Asking {endpoint.title}"):
            import httpx
            import stamina  # noqa: F401  it's used later, and comes with the same extra
        self._endpoint = endpoint
        # A redirect would take the login to another server, so none is followed.
        self._client = httpx.Client(
            headers={"Accept": "application/json", **endpoint.headers},
            timeout=_TIMEOUT_SECONDS,
            follow_redirects=False,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._client.close()

    def get(self, path: str, params: Mapping[str, str] | None = None) -> JsonValue:
        """Return the JSON at a path.

        Raises SourceUnreachableError where the catalog doesn't answer or refuses the login,
        SourceNotFoundError for a path that it doesn't have, SourceUnreadableError for an answer
        that isn't JSON or is too large.
        """
        return self._retried("GET", path, params, None)

    def find(self, path: str, params: Mapping[str, str] | None = None) -> JsonValue:
        """Return the JSON at a path; None where the catalog doesn't have it."""
        try:
            return self.get(path, params)
        except SourceNotFoundError:
            return None

    def post(self, path: str, body: JsonObject) -> JsonValue:
        """Return the JSON that answers a JSON document; the errors are those of ``get``."""
        return self._retried("POST", path, None, body)

    def token(self, url: str, login: tuple[str, str], form: Mapping[str, str]) -> JsonValue:
        """Return the JSON that answers a form, sent with a name and a password to log in."""
        import httpx

        try:
            with self._client.stream("POST", url, data=dict(form), auth=login) as answer:
                content = self._read(answer)
        except httpx.TransportError as error:
            raise self._unreachable(error) from None
        try:
            self._check_status(answer, content)
        except _TryAgainError as busy:
            raise busy.error from None
        return self._parsed(content)

    def _retried(
        self, method: str, path: str, params: Mapping[str, str] | None, body: JsonObject | None
    ) -> JsonValue:
        import stamina

        try:
            for attempt in stamina.retry_context(
                on=_wait_before_retry, attempts=_ATTEMPTS, wait_initial=_FIRST_WAIT, timeout=None
            ):
                with attempt:
                    return self._ask(method, path, params, body)
        except _TryAgainError as failure:
            raise failure.error from None
        raise AssertionError("stamina ends with a result or an error")

    def _ask(
        self, method: str, path: str, params: Mapping[str, str] | None, body: JsonObject | None
    ) -> JsonValue:
        import httpx

        url = f"{self._endpoint.url}{path}"
        try:
            with self._client.stream(method, url, params=params, json=body) as answer:
                content = self._read(answer)
        except httpx.TransportError as error:
            raise _TryAgainError(self._unreachable(error), None) from None
        except (httpx.InvalidURL, httpx.HTTPError, UnicodeError) as error:
            raise SourceUnreachableError(
                f"{self._endpoint.title} can't be asked: {type(error).__name__}.",
                hint="Check the host.",
            ) from None
        self._check_status(answer, content)
        return self._parsed(content)

    def _read(self, answer: httpx.Response) -> bytes:
        parts: list[bytes] = []
        size = 0
        for part in answer.iter_bytes():
            size += len(part)
            if size > _MOST_BYTES:
                raise SourceUnreadableError(
                    f"{self._endpoint.title} sent more than {_MOST_BYTES // 2**20} MB at once.",
                    hint="Choose fewer schemas with --schema.",
                )
            parts.append(part)
        return b"".join(parts)

    def _check_status(self, answer: httpx.Response, content: bytes) -> None:
        status, title = answer.status_code, self._endpoint.title
        if 200 <= status < 300:
            return
        reason = self._reason(content)
        if status in _RETRIED:
            unavailable = SourceUnreachableError(
                f"{title} can't answer now (HTTP {status}){reason}",
                hint="Try again in a few minutes.",
            )
            raise _TryAgainError(unavailable, _seconds(answer.headers.get("retry-after")))
        if status in (401, 403):
            who = self._endpoint.credential.name
            login = f"the credential {who}" if who else "the login"
            raise SourceUnreachableError(
                f"{title} refused {login} (HTTP {status}){reason}",
                hint="Check that it's valid and may read the catalog.",
            )
        if status == 404:
            raise SourceNotFoundError(
                f"{title} doesn't have that (HTTP 404){reason}",
                hint="Check the host and the names in the address.",
            )
        if 300 <= status < 400:
            raise SourceUnreachableError(
                f"{title} answers from another address (HTTP {status}), which isn't followed.",
                hint="Pass the address that the catalog's API really has.",
            )
        raise SourceUnreadableError(
            f"{title} didn't understand the question (HTTP {status}){reason}",
            hint="Check the host and the names in the address.",
        )

    def _reason(self, content: bytes) -> str:
        """Return what the server says went wrong, after a colon; a full stop where it says nothing.

        It may repeat what it was sent, so secrets are taken out.
        """
        try:
            document = json.loads(content[: _LONGEST_REASON * 40])
        except (ValueError, RecursionError):
            return "."
        texts = (member(document, *keys) for keys in _REASONS)
        text = next((text for text in texts if isinstance(text, str) and text), "")
        clean = redact(printable(text), self._endpoint.credential.known_values)
        line = clip(" ".join(clean.split()), _LONGEST_REASON).rstrip(".")
        return f": {line}." if line else "."

    def _parsed(self, content: bytes) -> JsonValue:
        try:
            document: JsonValue = json.loads(content)
        except (ValueError, RecursionError):
            raise SourceUnreadableError(
                f"{self._endpoint.title} answered with something that isn't JSON.",
                hint="Check the host: a login page or a proxy may have answered.",
            ) from None
        return document

    def _unreachable(self, error: Exception) -> SourceUnreachableError:
        return SourceUnreachableError(
            f"{self._endpoint.title} doesn't answer at {self._endpoint.url}"
            f" ({type(error).__name__}).",
            hint="Check the host, your network and its proxy.",
        )


_REASONS: tuple[tuple[str, ...], ...] = (
    ("message",),
    ("error", "message"),
    ("detail",),
    ("error_description",),
    ("error",),
)


def _wait_before_retry(error: Exception) -> bool | float:
    if not isinstance(error, _TryAgainError):
        return False
    return True if error.wait is None else min(error.wait, _LONGEST_WAIT)


def _seconds(text: str | None) -> float | None:
    """Return the seconds that a Retry-After asks for; a date there leaves the wait to us."""
    try:
        seconds = float(text) if text is not None else None
    except ValueError:
        return None
    return max(seconds, 0.0) if seconds is not None and math.isfinite(seconds) else None
