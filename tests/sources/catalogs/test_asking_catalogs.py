"""Asking a catalog over HTTP: bounded, retried, and never a secret in a message."""

from collections.abc import Iterator

import pytest
import stamina

from fluid_build.errors import (
    SourceNotFoundError,
    SourceUnreachableError,
    SourceUnreadableError,
    UsageError,
)
from fluid_build.sources.catalogs import http
from fluid_build.sources.catalogs.http import Endpoint, JsonClient, base_url
from fluid_build.sources.credentials import Credential, Secret
from tests.sources.catalogs.api_server import Answer, Handler, Request, serving

SECRET = "a-very-secret-token-of-the-test"
CREDENTIAL = Credential("prod", {}, {"token": Secret(SECRET)})


@pytest.fixture(autouse=True)
def _without_waiting() -> Iterator[None]:
    with stamina.set_testing(True, attempts=4, cap=True):
        yield


def ask(handler: Handler) -> tuple[object, int]:
    """Ask a server that answers so, and return its answer and how many requests it got."""
    with serving(handler) as api:
        endpoint = Endpoint("Catalog", f"http://{api.host}", {"x-key": SECRET}, CREDENTIAL)
        with JsonClient(endpoint) as client:
            return client.get("/tables"), len(api.requests)


def answering(*answers: Answer) -> Handler:
    """Answer with each in turn, and with the last ever after."""
    left = list(answers)
    return lambda _: left.pop(0) if len(left) > 1 else left[0]


def test_a_busy_catalog_is_asked_again() -> None:
    busy = Answer({"message": "busy"}, 429, {"Retry-After": "1"})
    assert ask(answering(busy, Answer(None, 503), Answer({"ok": True}))) == ({"ok": True}, 3)


def test_a_catalog_that_stays_busy_is_given_up() -> None:
    with pytest.raises(SourceUnreachableError, match="can't answer now"):
        ask(answering(Answer({"message": "busy"}, 503)))


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, SourceUnreadableError),
        (401, SourceUnreachableError),
        (403, SourceUnreachableError),
        (404, SourceNotFoundError),
    ],
)
def test_an_error_of_the_catalog_is_typed_and_not_repeated(
    status: int, error: type[Exception]
) -> None:
    with pytest.raises(error) as raised:
        ask(answering(Answer({"message": f"No: {SECRET}\x1b[2J"}, status), Answer({})))
    assert SECRET not in str(raised.value)
    assert "\x1b" not in str(raised.value)


def test_an_answer_that_is_no_json_is_refused() -> None:
    with pytest.raises(SourceUnreadableError, match="isn't JSON"):
        ask(answering(Answer(b"<html>Log in</html>")))
    with pytest.raises(SourceUnreadableError, match="isn't JSON"):
        ask(answering(Answer(b"[" * 100_000)))


def test_a_huge_answer_is_not_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "_MOST_BYTES", 1024 * 1024)
    with pytest.raises(SourceUnreadableError, match="more than 1 MB"):
        ask(answering(Answer(b" " * (2 * 1024 * 1024))))


def test_a_redirect_is_not_followed_with_the_login() -> None:
    followed: list[Request] = []
    with serving(lambda request: followed.append(request) or Answer({})) as other:
        moved = Answer(None, 302, {"Location": f"http://{other.host}/tables"})
        with pytest.raises(SourceUnreachableError, match="another address"):
            ask(answering(moved))
    assert followed == []


def test_a_server_that_is_gone_is_unreachable() -> None:
    endpoint = Endpoint("Catalog", "http://127.0.0.1:9", {}, CREDENTIAL)
    with (
        JsonClient(endpoint) as client,
        pytest.raises(SourceUnreachableError, match=r"127\.0\.0\.1:9"),
    ):
        client.get("/tables")


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("catalog.example.com", "https://catalog.example.com"),
        ("https://catalog.example.com:8443/api/", "https://catalog.example.com:8443/api"),
        ("localhost:8080", "http://localhost:8080"),
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
        ("[::1]:8080", "http://[::1]:8080"),
    ],
)
def test_a_host_is_asked_over_tls_unless_it_is_this_machine(host: str, url: str) -> None:
    assert base_url(host, "Catalog") == url


@pytest.mark.parametrize(
    "host",
    [
        "http://catalog.example.com",
        "http://localhost.example.com",
        "https://user:secret@example.com",
        "https://example.com/?x=1",
        "ftp://example.com",
        "https://",
        "example.com:notaport",
    ],
)
def test_a_host_that_would_show_the_login_or_is_none_is_refused(host: str) -> None:
    with pytest.raises(UsageError):
        base_url(host, "Catalog")


def test_an_endpoint_does_not_show_its_headers() -> None:
    endpoint = Endpoint("Catalog", "https://example.com", {"x-key": SECRET}, CREDENTIAL)
    assert SECRET not in f"{endpoint!r} {endpoint} {CREDENTIAL!r}"


def test_a_retry_prints_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    ask(answering(Answer(None, 503), Answer({})))
    assert capfd.readouterr().err == ""
