"""The sources of API keys, and a wrapper that doesn't show them.

A key is looked for in the environment, then in the operating system's keyring (if the ``keyring``
package is installed), then in a file that only its owner may read.
"""

from __future__ import annotations

import json
import os
import stat
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NoReturn

from fluid_build.copilot.errors import ProviderAuthError
from fluid_build.copilot.unified_config import fluid_home
from fluid_build.errors import UsageError
from fluid_build.secrets import REDACTED

KEYRING_SERVICE = "fluid-forge"

_LARGEST_KEY_FILE = 64 * 1024
_CAREFULLY = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
"""Links aren't followed, and a pipe isn't waited for."""


class ApiKey:
    """A key that only ``reveal`` returns: it can't be printed, formatted, pickled or dumped."""

    __slots__ = ("_key",)

    def __init__(self, key: str) -> None:
        if not key or not key.isascii() or not key.isprintable() or " " in key:
            raise UsageError(
                "The API key is empty or has invalid characters.",
                hint="Copy it again, without quotes, spaces or line breaks.",
            )
        self._key = key

    def reveal(self) -> str:
        """Return the key itself, for a header and nothing else."""
        return self._key

    def __repr__(self) -> str:
        return f"ApiKey({REDACTED})"

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return repr(self)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a key can't be pickled")

    def __deepcopy__(self, memo: object) -> ApiKey:
        return self


def default_key_file() -> Path:
    """Return ``~/.fluid/credentials.json``, an object of provider names and keys.

    ``FLUID_HOME`` is another folder in place of ``~/.fluid``.
    """
    return fluid_home() / "credentials.json"


def find_api_key(
    provider: str,
    variables: Sequence[str],
    *,
    environ: Mapping[str, str] | None = None,
    key_file: Path | None = None,
) -> ApiKey:
    """Return the key of ``provider``, from the first of the three places that has it.

    Raises ``ProviderAuthError`` where none has it, ``UsageError`` where others may read the file,
    or it isn't valid.
    """
    for _, key in _places(provider, variables, environ, key_file):
        return ApiKey(key)
    names = " or ".join(variables)
    raise ProviderAuthError(
        f"No API key was found for {provider}{f' in {names}' if names else ''}.",
        provider=provider,
        hint=f"Set {names}, or run `fluid ai setup`." if names else "Pass one to the client.",
    )


def find_key_place(provider: str, variables: Sequence[str]) -> str | None:
    """Return where the key of ``provider`` comes from: a variable, the keyring, or the file.

    None where there is none. Raises ``UsageError`` as ``find_api_key`` does.
    """
    return next((place for place, _ in _places(provider, variables, None, None)), None)


def _places(
    provider: str,
    variables: Sequence[str],
    environ: Mapping[str, str] | None,
    key_file: Path | None,
) -> Iterator[tuple[str, str]]:
    """Yield each place that has a key, and the key; those that win first."""
    environment = os.environ if environ is None else environ
    for variable in variables:
        value = environment.get(variable, "").strip()
        if value:
            yield variable, value
    from_keyring = _from_keyring(provider)
    if from_keyring:
        yield "the system's keyring", from_keyring
    path = key_file or default_key_file()
    from_file = _from_file(provider, path)
    if from_file:
        yield str(path), from_file


def keep_api_key(provider: str, key: str) -> str:
    """Save a key in the system's keyring, or in the private file where there is none.

    Return the place. Raises ``UsageError`` for a key with invalid characters.
    """
    checked = ApiKey(key.strip())
    try:
        import keyring
        from keyring.errors import KeyringError
    except ImportError:  # the extra is not installed
        return str(save_api_key(provider, checked.reveal()))
    try:
        keyring.set_password(KEYRING_SERVICE, provider, checked.reveal())
    except KeyringError:  # this machine has no keyring, or it is locked
        return str(save_api_key(provider, checked.reveal()))
    return "the system's keyring"


def save_api_key(provider: str, key: str, key_file: Path | None = None) -> Path:
    """Write the key to the file, readable by its owner only; return the file."""
    path = key_file or default_key_file()
    keys = _read_keys(path)
    keys[provider] = ApiKey(key.strip()).reveal()
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".credentials-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:  # mkstemp made it 0600
            json.dump(keys, file, indent=2)
        Path(temporary).replace(path)
    except OSError:
        Path(temporary).unlink(missing_ok=True)
        raise
    return path


def _from_keyring(provider: str) -> str | None:
    try:
        import keyring
        from keyring.errors import KeyringError
    except ImportError:  # the extra is not installed
        return None
    try:
        return keyring.get_password(KEYRING_SERVICE, provider)
    except KeyringError:  # this machine has no keyring, or it is locked
        return None


def _from_file(provider: str, path: Path) -> str | None:
    key = _read_keys(path).get(provider)
    return key.strip() if isinstance(key, str) else None


def _read_keys(path: Path) -> dict[str, str]:
    """Return the file's keys. The checks are on the opened file, not on its name."""
    try:
        handle = os.open(path, os.O_RDONLY | _CAREFULLY)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise UsageError(
            f"The file of API keys couldn't be opened ({type(error).__name__}).",
            hint="~/.fluid/credentials.json must be a regular file that you own, not a link.",
        ) from None
    with os.fdopen(handle, "rb") as file:
        _refuse_unless_private(os.fstat(file.fileno()))
        text = file.read(_LARGEST_KEY_FILE + 1)
    try:
        keys = json.loads(text) if len(text) <= _LARGEST_KEY_FILE else None
    except ValueError:
        keys = None
    if not isinstance(keys, dict):
        raise UsageError(
            "The file of API keys isn't a JSON object of provider names and keys.",
            hint='Write it like {"anthropic": "..."}, or remove it.',
        )
    return keys


def _refuse_unless_private(info: os.stat_result) -> None:
    is_foreign = hasattr(os, "getuid") and info.st_uid != os.getuid()
    is_readable = os.name == "posix" and bool(info.st_mode & 0o077)
    if is_foreign or is_readable or not stat.S_ISREG(info.st_mode):
        raise UsageError(
            "Other users can read the file of API keys, so it isn't used.",
            hint="Make it private: chmod 600 ~/.fluid/credentials.json.",
        )
