"""Secrets: known ones, formats of keys, named values, addresses, and what must stay readable."""

import ast
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.secrets import (
    MASK,
    REDACTED,
    is_secret_name,
    looks_secret,
    passwords,
    redact,
    redact_json,
    redact_keys,
    secrets_of_environment,
    surely_without_passwords,
    without_passwords,
)

KEYS = [
    "sk-proj-abcdefghijklmnop",
    "sk-ant-api03-abcdefghijklmnop",
    "sk_live_abcdefghijklmnop",
    "AIzaSyA1234567890abcdefghijklmnopqrstu",
    "ghp_abcdefghijklmnopqrstuvwxyz0123",
    "github_pat_abcdefghijklmnopqrstuvwxyz",
    "glpat-abcdefghijklmnopqrst",
    "dapi0123456789abcdef0123456789abcdef",
    "xoxb-1234567890-abcdef",
    "gsk_abcdefghijklmnopqrstuvwx",
    "AKIAIOSFODNN7EXAMPLE",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY-----",
]


@pytest.mark.parametrize("key", KEYS)
def test_a_key_of_a_known_format_is_hidden_anywhere(key):
    for function in (redact, redact_keys):
        text = function(f"before {key} after")
        assert key not in text
        assert text.startswith("before ")
        assert text.endswith(" after")
    assert looks_secret(key)


@pytest.mark.parametrize(
    "text",
    [
        "Authorization: Bearer hunter21234567890",
        "Authorization: Basic hunter2",
        "postgresql://alice:hunter2@db.example/x",
        "copied from_postgresql://alice:hunter2@db.example/x",
        "https://hunter2@git.example/x",
        "https://a.example/x.parquet[?]X-Amz-Signature=hunter2&b=1",
        "Driver={ODBC};PWD={a;b c}}hunter2};Database=x",
        "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=hunter2hunter2==;X=y",
        "BlobEndpoint=https://x.example;SharedAccessSignature=sv=1&sig=hunter2",
        "password=hunter2",
        '"api_key": "hunter2"',
        '"api_key": "escaped \\" hunter2"',
        "SNOWFLAKE_PASSWORD: 'hunter2'",
        "client_secret = hunter2",
        "aws_secret_access_key=hunter2",
        "password_of_the_reader: hunter2",
        "Set-Cookie: hunter2",
        f"{'a' * 60}_password=hunter2",
    ],
)
def test_a_named_secret_is_hidden(text):
    shown = redact(text)
    assert "hunter2" not in shown
    assert MASK in shown
    assert redact(shown) == shown


def test_a_password_of_digits_is_hidden():
    assert redact("password=123456") == f"password={MASK}"


@pytest.mark.parametrize(
    "text",
    [
        "input_tokens: 512",
        "max_tokens=4096",
        "the token budget is small",
        "a passwordless login",
        "secretary: Alice",
        "tokenizer: cl100k",
        "http://localhost:8080/x",
        "postgresql://alice@db.example/x",
    ],
)
def test_figures_of_tokens_and_prose_stay(text):
    assert redact(text) == text


@given(st.text(max_size=40), st.text(min_size=4, max_size=40), st.text(max_size=40))
def test_a_known_secret_never_survives(before, secret, after):
    shown = redact_keys(before + secret + after, [secret])
    assert secret not in shown.replace(REDACTED, "") or secret in REDACTED


def test_the_longer_of_two_secrets_goes_first():
    assert redact_keys("abcd-efgh", ["abcd", "abcd-efgh"]) == REDACTED


PASSWORDS = st.text(
    st.characters(codec="ascii", exclude_characters=" \t\r\n\x0b\x0c'\"\\", min_codepoint=33),
    min_size=6,
    max_size=20,
).map(lambda text: "S3" + text)


@given(secret=PASSWORDS)
def test_no_password_of_an_address_survives(secret):
    for uri in (f"postgresql://user:{secret}@host:5432/db", f"mysql://u:{secret}@h"):
        assert secret not in redact(uri)
        assert secret not in redact(f'could not connect to "{uri}": refused')
        assert secret in passwords(uri)


NAMES = st.sampled_from(
    """password PASSWD passphrase pwd client_secret auth-token apiKey api_key access_key
    PRIVATE-KEY credentials Authorization cookie connection_string""".split()
)


@given(NAMES, PASSWORDS.filter(lambda text: not set(text) & set("&;,)")))
def test_no_value_of_a_secret_name_survives(name, secret):
    for text in (
        f"postgresql://host/db?{name}={secret}&x=1",
        f"host=h {name}={secret} user=u",
        f"host=h {name} = '{secret}' user=u",
        f'{{"x": 1, "my_{name}": "{secret}"}}',
        f"x_{name}_2: {secret}",
    ):
        shown = redact(text)
        assert secret not in shown
        assert MASK in shown
    assert is_secret_name(name)
    assert looks_secret(secret, name)


@given(st.text(st.characters(codec="ascii", exclude_characters="@/?:#&"), min_size=6))
def test_any_password_is_left_out_of_a_connection_string(secret):
    assert secret not in without_passwords(f"postgresql://user:{secret}@host/database")


def test_a_connection_string_whose_password_is_ambiguous_is_not_used():
    assert surely_without_passwords("postgresql://u:p/q@h/db") is None
    assert surely_without_passwords("mysql://u:p@q@h/db") is None


def test_the_environment_s_secrets_are_named_so_or_passwords_in_addresses():
    environ = {
        "PWD": "/home/alice",
        "SERVICE_TOKEN": "canary-1",
        "USE_TOKEN": "true",
        "DATABASE_URL": "postgresql://u:canary-2@h/db",
        "HOME": "/home/alice",
    }
    assert secrets_of_environment(environ) == ("canary-1", "canary-2")


def test_a_random_run_of_characters_looks_like_a_key():
    assert looks_secret("AbC123hunter2hunter2hunter2hunter2")
    assert not looks_secret("customer_orders_of_last_year")


SECRET_FIELDS = st.sampled_from(["password", "API_KEY", "db-secret", "auth_token", "authorization"])
VALUES = st.recursive(
    st.text(max_size=10) | st.integers() | st.none(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text("abcxyz", max_size=5), inner, max_size=3)
        | st.dictionaries(SECRET_FIELDS, st.just("CANARY"), min_size=1, max_size=2)
        | st.dictionaries(SECRET_FIELDS, st.just(["CANARY"]), min_size=1, max_size=2)
    ),
    max_leaves=12,
)


@given(VALUES)
def test_no_secret_field_survives_at_any_depth(value):
    redacted = redact_json(value, [])
    assert "CANARY" not in repr(redacted)
    if "CANARY" not in repr(value):
        assert _shape(redacted) == _shape(value)


def _shape(value):
    if isinstance(value, dict):
        return {key: _shape(inner) for key, inner in value.items()}
    return [_shape(inner) for inner in value] if isinstance(value, list) else type(value)


def test_figures_stay_and_numeric_secrets_do_not():
    assert redact_json({"max_tokens": 5, "password": 5, "use_token": True}, []) == {
        "max_tokens": 5,
        "password": REDACTED,
        "use_token": True,
    }


def test_no_signature_shows_the_environment():
    """The default values of a function are in its ``help()``, and so would be all keys."""
    sources = Path(secrets_of_environment.__code__.co_filename).parent.rglob("*.py")
    trees = [ast.parse(source.read_text(encoding="utf-8")) for source in sources]
    functions = [
        node
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    defaults = [
        ast.unparse(default)
        for function in functions
        for default in (*function.args.defaults, *function.args.kw_defaults)
        if default is not None
    ]
    assert len(defaults) > 100
    assert not [default for default in defaults if "environ" in default]


@pytest.mark.parametrize(
    "text",
    ["a" * 200_000, "password" * 20_000, "-----BEGIN " * 20_000, "://" * 60_000, "eyJ." * 50_000,
     "a_-" * 60_000, "x:" * 100_000, "bearer " * 30_000, "://a:" * 40_000 + "@", "@://" * 50_000,
     "password='" * 20_000, "-----BEGIN A-----" * 10_000, "http://" * 30_000 + "@"],
)  # fmt: skip
@pytest.mark.timeout(60)
def test_a_long_text_takes_linear_time(text):
    """Milliseconds; what backtracks takes hours, and the test is ended."""
    assert len(redact(text)) > 0
