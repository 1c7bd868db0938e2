"""Secrets: their names and formats, and text without them.

There is one list of words and one set of rules for the whole code base. They hide too much rather
than too little.
"""

import os
import re
from collections.abc import Iterable, Mapping
from urllib.parse import unquote

from fluid_build.json_types import JsonValue

MASK = "***"
"""Replaces a secret in messages for people: a masked address still reads as an address."""

REDACTED = "[redacted]"
"""Replaces a secret in prompts and traces, where three stars could be a value."""

SHORTEST_SECRET = 4
"""Shorter secrets are left in place: taking out every ``abc`` would tear words apart."""

_WORD = (
    r"(?:passw|passphrase|pwd|secret(?!ar)|token(?!iz)|credential|authorization|cookie"
    r"|api[_\- ]?key|access[_\- ]?key|private[_\- ]?key|connection[_\- ]?string)"
)
"""Parts of the names of secrets. ``secretary`` and ``tokenizer`` aren't secrets."""

_NAME = re.compile(_WORD, re.IGNORECASE)
_COUNT = re.compile(r"tokens|token[_\-](?:count|limit|budget|usage)", re.IGNORECASE)
"""Names of figures: ``max_tokens=4096`` holds no secret."""

_NOT_SECRETS = frozenset({"PWD", "OLDPWD"})
"""Variables of every shell: its current and its previous folder."""

_PLAIN_VALUES = frozenset({"true", "false", "none", "null"})
"""Settings rather than secrets, in a variable such as ``USE_TOKEN``."""

_QUOTED = r"""'(?:[^'\\]|\\.|'')*'?|"(?:[^"\\]|\\.)*"?|\{(?:[^}\n]|\}\})*\}?"""
"""Quotes as in SQL and JSON, and braces as in the connection strings of ODBC."""
_VALUE = rf"(?:{_QUOTED}|(?:(?:bearer|basic|token)\s+)?[^\s&;,)]+)"
_ASSIGNED = rf"""[\w\-]{{0,40}}["']?\s{{0,4}}[=:]\s{{0,4}}(?P<value>{_VALUE})"""
_NAMED = re.compile(rf"(?is){_WORD}{_ASSIGNED}")
_KEYWORD = re.compile(rf"(?is)(?<![\w\-])[\w\-]*{_WORD}{_ASSIGNED}")
"""A named value with the whole of its name, as in ``sslpassword='…'``."""

_KEY = re.compile(
    r"""
      (?<![A-Za-z0-9]) (?:
          sk-[A-Za-z0-9_\-*]{8,}
        | [spr]k_(?:live|test)_[A-Za-z0-9]{8,}
        | AIza[0-9A-Za-z_\-]{16,}
        | gh[oprsu]_[A-Za-z0-9]{12,}
        | github_pat_[A-Za-z0-9_]{12,}
        | glpat-[A-Za-z0-9_\-]{12,}
        | dapi[0-9a-f]{32}
        | xox[a-z]-[A-Za-z0-9\-]{10,}
        | (?:gsk|xai|hf|nvapi|pplx)[_\-][A-Za-z0-9_\-]{16,}
        | (?:AKIA|ASIA)[0-9A-Z]{16}\b
        | eyJ[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]{8,}(?:\.[A-Za-z0-9_\-]*)?
      )
    | -----BEGIN[A-Z ]{0,60}-----[^-]*(?:-----END[A-Z ]{0,60}-----)?
    """,
    re.VERBOSE,
)
"""Formats that only keys, tokens and certificates have, as their issuers document them."""

_OPAQUE = re.compile(r"[A-Za-z0-9+/=_\-.~]{24,}")
_BEARER = re.compile(r"(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/=\-]{8,}")
_LOGIN = re.compile(r"(://[^\s:/@?]*:)(\S*)")
"""``://user:`` and the rest of the word, in which the password ends at the last ``@``."""
_LONE_LOGIN = re.compile(r"(?i)(https?://)[^\s/@?]+@")
"""On the web, a login without a password is a token; a database's is a user."""

_SIGNATURE = (
    r"(?:x-(?:amz|goog)-(?:signature|credential|security-token)|sig|signature|awsaccesskeyid"
    r"|googleaccessid|key-pair-id|policy)"
)
"""Parameters that sign a URL: whoever has them may read the file. A column may be called so."""
_SIGNED = re.compile(rf"(?i)([?&;]\]?{_SIGNATURE}=)[^&\s'\"<>]+")
"""In the pattern that finds one file, the query of a URL begins with ``[?]``."""
_AZURE = re.compile(r"(?i)\b(AccountKey|SharedAccessKey|SharedAccessSignature)=[^;\s'\"]{8,}")
"""Keys of Azure's connection strings, which have no spaces; ``account_key`` may be a column."""
_SIGNATURE_NAME = re.compile(rf"(?i){_SIGNATURE}")


def redact(text: str, known: Iterable[str] = (), mark: str = MASK) -> str:
    """Return the text without the known secrets and without anything that looks like a secret.

    That hides keys and tokens of known formats, what follows ``Bearer``, passwords in addresses
    (``scheme://user:password@``), and the values of names such as ``password`` (``name=value``,
    ``"name": "value"``, in queries and connection strings).
    """
    text = redact_keys(text, known, mark)
    text = _BEARER.sub(rf"\1 {mark}", text)
    if "://" in text and "@" in text:
        text = _LONE_LOGIN.sub(rf"\1{mark}@", _LOGIN.sub(lambda login: _masked(login, mark), text))
    if "://" in text and "?" in text:
        text = _SIGNED.sub(rf"\1{mark}", text)
    text = _AZURE.sub(rf"\1={mark}", text)
    return _NAMED.sub(lambda pair: _without_value(pair, mark), text)


def redact_keys(text: str, known: Iterable[str] = (), mark: str = REDACTED) -> str:
    """Return the text without the known secrets and without keys and tokens of known formats.

    Milder than ``redact``: it leaves ``password: text`` in a schema alone.
    """
    long_enough = {secret for secret in known if len(secret) >= SHORTEST_SECRET}
    for secret in sorted(long_enough, key=len, reverse=True):
        text = text.replace(secret, mark)
    return _KEY.sub(mark, text)


def has_keys(text: str, known: Iterable[str] = ()) -> bool:
    """Return whether ``redact_keys`` would take anything out of the text."""
    return _KEY.search(text) is not None or any(
        secret in text for secret in known if len(secret) >= SHORTEST_SECRET
    )


def redact_json(value: JsonValue, known: Iterable[str] | None = None) -> JsonValue:
    """Return a JSON value of the same shape without secrets in its strings and secret fields.

    ``known`` are secrets to look for; by default those of the environment.
    """
    return _redact_json(value, secrets_of_environment() if known is None else tuple(known))


def is_secret_name(name: str) -> bool:
    """Return whether a field, key, option or variable of that name holds a secret."""
    return _NAME.search(name) is not None


def looks_secret(value: str, name: str = "") -> bool:
    """Return whether a whole value is a secret, by its name, its format or its randomness.

    Stricter than ``redact``, for values that are shown one by one: a run of 24 and more
    characters in both cases and with digits is taken for a key.
    """
    if is_secret_name(name) or _KEY.search(value) or _BEARER.search(value):
        return True
    return any(
        any(char.isdigit() for char in run)
        and any(char.isupper() for char in run)
        and any(char.islower() for char in run)
        for run in _OPAQUE.findall(value)
    )


def secrets_of_environment(environ: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """Return the values of all variables with a secret's name, and passwords in addresses."""
    secrets: dict[str, None] = {}
    for name, value in (os.environ if environ is None else environ).items():
        is_secret = is_secret_name(name) and name not in _NOT_SECRETS
        if is_secret and value.lower() not in _PLAIN_VALUES:
            secrets[value] = None
        if "://" in value or "=" in value:
            secrets.update(dict.fromkeys(passwords(value)))
    return tuple(secret for secret in secrets if len(secret) >= SHORTEST_SECRET)


def passwords(dsn: str) -> tuple[str, ...]:
    """Return every password in a connection string, as written and as the server sees it.

    The longest comes first.
    """
    secrets = {match["value"].strip("'\"") for match in _NAMED.finditer(dsn)}
    login = re.match(r"[A-Za-z][A-Za-z0-9+.-]*://[^\s:/@?]*:(.*)@", dsn, re.DOTALL)
    if login:
        secrets.add(login[1])
    secrets.update({unquote(secret) for secret in secrets})
    return tuple(sorted(filter(None, secrets), key=lambda secret: (-len(secret), secret)))


def without_passwords(dsn: str) -> str:
    """Return a connection string with every password left out, so that it connects without one.

    In a URI, libpq takes what comes before the first ``@`` for the user, if it holds no ``/``.
    """
    scheme = re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", dsn)
    if scheme is None:
        return _KEYWORD.sub("", dsn).strip()
    address, mark, query = dsn[scheme.end() :].partition("?")
    user, at, server = address.partition("@")
    if at and "/" not in user:
        address = f"{user.partition(':')[0]}@{server}"
    parameters = (pair.partition("=") for pair in query.split("&"))
    query = "&".join(
        "".join(pair)
        for pair in parameters
        if not is_secret_name(pair[0]) and not _SIGNATURE_NAME.fullmatch(pair[0])
    )
    return f"{scheme[0]}{address}{mark if query else ''}{query}"


def surely_without_passwords(dsn: str) -> str | None:
    """Return a connection string without its password; None where the two can't be told apart."""
    bare = without_passwords(dsn)
    if bare.partition("?")[0].count("@") > 1:
        # Either the user or the password has an @ that isn't escaped.
        return None
    return bare if redact(bare) == bare else None


def _masked(login: re.Match[str], mark: str) -> str:
    password, at, server = login[2].rpartition("@")
    return f"{login[1]}{mark}@{server}" if at and password else login[0]


def _without_value(pair: re.Match[str], mark: str) -> str:
    if _COUNT.match(pair[0]) and pair["value"].strip("\"'").isdigit():
        return pair[0]
    return pair[0][: pair.start("value") - pair.start()] + mark


def _redact_json(value: JsonValue, known: tuple[str, ...]) -> JsonValue:
    if isinstance(value, str):
        return redact(value, known, REDACTED)
    if isinstance(value, Mapping):
        return {
            redact(str(name), known, REDACTED): _redact_field(str(name), inner, known)
            for name, inner in value.items()
        }
    if isinstance(value, list | tuple):
        return [_redact_json(inner, known) for inner in value]
    return value


def _redact_field(name: str, value: JsonValue, known: tuple[str, ...]) -> JsonValue:
    is_figure = isinstance(value, int | float) and _COUNT.search(name)
    if is_secret_name(name) and not isinstance(value, bool | None) and not is_figure:
        return REDACTED
    return _redact_json(value, known)
