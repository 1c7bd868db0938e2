"""Redaction: known secrets, shapes of keys, named fields, and what must stay readable."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.copilot.redaction import REDACTED, redact, redact_keys

SHAPES = [
    "sk-proj-abcdefghijklmnop",
    "sk-ant-api03-abcdefghijklmnop",
    "AIzaSyA1234567890abcdefghijklmnopqrstu",
    "ghp_abcdefghijklmnopqrstuvwxyz0123",
    "github_pat_abcdefghijklmnopqrstuvwxyz",
    "glpat-abcdefghijklmnopqrst",
    "xoxb-1234567890-abcdef",
    "gsk_abcdefghijklmnopqrstuvwx",
    "AKIAIOSFODNN7EXAMPLE",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY-----",
]


@pytest.mark.parametrize("secret", SHAPES)
def test_what_has_the_shape_of_a_key_is_taken_out(secret):
    """By both functions, anywhere in the text."""
    for function in (redact, redact_keys):
        text = function(f"before {secret} after")
        assert secret not in text
        assert text.startswith("before ")
        assert text.endswith(" after")


@pytest.mark.parametrize(
    "text",
    [
        "Authorization: Bearer abcdef1234567890",
        "postgresql://alice:hunter2@db.example/x",
        "password=hunter2",
        '"api_key": "hunter2"',
        "SNOWFLAKE_PASSWORD: 'hunter2'",
        "client_secret = hunter2",
    ],
)
def test_what_is_named_a_secret_is_taken_out(text):
    """Fields, headers and passwords in addresses."""
    shown = redact(text)
    assert "hunter2" not in shown
    assert "abcdef1234567890" not in shown
    assert REDACTED in shown


@pytest.mark.parametrize(
    "text",
    ["input_tokens: 512", "max_tokens=4096", "the token budget is small", "a passwordless login"],
)
def test_words_about_tokens_stay(text):
    """Figures and prose are no secrets."""
    assert redact(text) == text


@given(st.text(max_size=40), st.text(min_size=4, max_size=40), st.text(max_size=40))
def test_a_known_secret_never_survives(before, secret, after):
    """Whatever surrounds it."""
    shown = redact_keys(before + secret + after, [secret])
    assert secret not in shown.replace(REDACTED, "") or secret in REDACTED


def test_the_longer_of_two_secrets_goes_first():
    """No end of it is left over."""
    assert redact_keys("abcd-efgh", ["abcd", "abcd-efgh"]) == REDACTED


@pytest.mark.parametrize(
    "text",
    ["a" * 200_000, "password" * 20_000, "-----BEGIN " * 20_000, "://" * 60_000, "eyJ." * 50_000,
     "a_-" * 60_000, "x:" * 100_000, "bearer " * 30_000],
)  # fmt: skip
def test_long_text_takes_no_long_time(text):
    """Linear: no pattern backtracks without bound."""
    started = time.perf_counter()
    redact(text)
    assert time.perf_counter() - started < 5
