"""Named credentials: what logs in to a catalog, from the first place that has each field.

A field of the credential ``prod`` is looked for in the variable ``FLUID_CREDENTIAL_PROD_FIELD``,
then in the system's keyring, then in the configuration (``sources.sources.prod``), which may name
a variable but holds no secret.
"""

import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NoReturn, TypeAlias

from fluid_build.errors import UsageError
from fluid_build.extras import missing_extra
from fluid_build.secrets import REDACTED
from fluid_build.text import did_you_mean, listed

KEYRING_SERVICE = "fluid-forge"
_KEYRING_PREFIX = "credential:"
_KEYRING_NAMES = "credentials"

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.\-]{0,63}")
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_LONGEST_VALUE = 16_384
"""Characters: a private key with its certificate chain has a few thousand."""

NamedSettings: TypeAlias = Callable[[str], Mapping[str, object]]
"""Returns what the configuration says of a credential by its name, empty where it says nothing."""


def no_settings(_name: str) -> Mapping[str, object]:
    """Return no settings, whatever the name."""
    return {}


class Secret:
    """A value that only ``reveal`` returns: it can't be printed, formatted, pickled or copied."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """Return the value itself, for a login and nothing else."""
        return self._value

    def __repr__(self) -> str:
        return f"Secret({REDACTED})"

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return repr(self)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a secret can't be pickled")


@dataclass(frozen=True, slots=True)
class Credential:
    """The fields of a credential that are set somewhere; secrets apart from the others.

    ``name`` is "" where none was asked for. A credential without any field leaves the login to
    the catalog's own tools, which may know its name as a profile.
    """

    name: str = ""
    fields: Mapping[str, str] = field(default_factory=dict)
    secrets: Mapping[str, Secret] = field(default_factory=dict)

    def get(self, name: str) -> str:
        """Return a field that isn't secret; "" where it isn't set."""
        return self.fields.get(name, "")

    def secret(self, name: str) -> Secret | None:
        """Return a secret; None where it isn't set."""
        return self.secrets.get(name)

    @property
    def is_empty(self) -> bool:
        """Whether no field is set anywhere."""
        return not self.fields and not self.secrets

    @property
    def known_values(self) -> tuple[str, ...]:
        """The secrets themselves, to be taken out of messages."""
        return tuple(secret.reveal() for secret in self.secrets.values())


def find_credential(
    name: str,
    catalogs: Sequence[str],
    plain_fields: Sequence[str],
    secret_fields: Sequence[str],
    *,
    settings: NamedSettings = no_settings,
    environ: Mapping[str, str] | None = None,
) -> Credential:
    """Return the credential of a name, with each field from the first place that has it.

    ``catalogs`` are the names that the configuration may call the catalog by. Raises UsageError
    for a name that can't be one, a setting that doesn't exist, a secret in the configuration, a
    variable that isn't set, and a credential of another catalog.
    """
    if not name:
        return Credential()
    check_credential_name(name)
    variables = os.environ if environ is None else environ
    configured = _configured(name, catalogs, (*plain_fields, *secret_fields), settings(name))
    stored = stored_secrets(name)
    values: dict[str, str] = {}
    for key in (*plain_fields, *secret_fields):
        is_secret = key in secret_fields
        value = (
            variables.get(variable_name(name, key), "").strip()
            or stored.get(key, "")
            or _from_settings(name, key, configured.get(key), variables, is_secret=is_secret)
        )
        if value:
            values[key] = _checked_value(name, key, value)
    return Credential(
        name,
        {key: value for key, value in values.items() if key not in secret_fields},
        {key: Secret(value) for key, value in values.items() if key in secret_fields},
    )


def check_credential_name(name: str) -> None:
    """Raise UsageError for a name that can't be a credential's."""
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"{name!r} can't be the name of a credential.",
            hint="Use up to 64 letters, digits, dots, hyphens and underscores.",
        )


def variable_name(name: str, key: str) -> str:
    """Return the environment variable that holds a field of a credential."""
    return f"FLUID_CREDENTIAL_{re.sub(r'[^A-Za-z0-9]', '_', name)}_{key}".upper()


def stored_secrets(name: str) -> dict[str, str]:
    """Return the fields of a credential in the system's keyring; none where there is no keyring.

    An entry that somebody else wrote under that name counts for nothing.
    """
    text = _from_keyring(_KEYRING_PREFIX + name)
    try:
        fields = json.loads(text) if text else {}
    except ValueError:
        return {}
    entries = fields.items() if isinstance(fields, dict) else ()
    return {str(key): value for key, value in entries if isinstance(value, str)}


def stored_names() -> tuple[str, ...]:
    """Return the names of the credentials in the system's keyring, sorted."""
    # A keyring can't list its entries, so their names are an entry too.
    return tuple(sorted((_from_keyring(_KEYRING_NAMES) or "").split()))


def _from_keyring(user: str) -> str | None:
    try:
        import keyring
        from keyring.errors import KeyringError
    except ImportError:  # the extra isn't installed
        return None
    try:
        return keyring.get_password(KEYRING_SERVICE, user)
    except KeyringError:  # this machine has no keyring, or it's locked
        return None


def store_secret(name: str, key: str, value: str) -> None:
    """Store a field of a credential in the system's keyring.

    Raises MissingExtraError without the ``keyring`` package, and UsageError where the machine has
    no keyring or it's locked.
    """
    check_credential_name(name)
    checked = _checked_value(name, key, value)
    _write_stored(name, {**stored_secrets(name), key: checked})


def forget_secrets(name: str) -> bool:
    """Remove a credential from the system's keyring; return whether there was one."""
    check_credential_name(name)
    if not stored_secrets(name):
        return False
    _write_stored(name, {})
    return True


def _write_stored(name: str, fields: Mapping[str, str]) -> None:
    try:
        import keyring
        from keyring.errors import KeyringError
    except ImportError as error:
        raise missing_extra("catalogs", "Storing a credential") from error
    user = _KEYRING_PREFIX + name
    names = {*stored_names(), name} if fields else {*stored_names()} - {name}
    try:
        if fields:
            keyring.set_password(KEYRING_SERVICE, user, json.dumps(dict(fields)))
        else:
            keyring.delete_password(KEYRING_SERVICE, user)
        keyring.set_password(KEYRING_SERVICE, _KEYRING_NAMES, " ".join(sorted(names)))
    except KeyringError as error:
        raise UsageError(
            f"The system's keyring can't be used: {type(error).__name__}.",
            hint=f"Set the variable {variable_name(name, 'FIELD')} for each field instead.",
        ) from None


def _configured(
    name: str, catalogs: Sequence[str], known: Sequence[str], settings: Mapping[str, object]
) -> Mapping[str, object]:
    """Return the settings of a credential, once they are known to be this catalog's."""
    where = f"sources.sources.{name}"
    catalog = settings.get("catalog")
    if catalog is not None and catalog not in catalogs:
        raise UsageError(
            f"The credential {name} is for {catalog}, not for {catalogs[0]}.",
            hint=f"Correct {where}.catalog in the configuration, or pass another credential.",
        )
    unknown = sorted(set(map(str, settings)) - {"catalog", *known})
    if unknown:
        raise UsageError(
            f"The configuration has an unknown setting {where}.{unknown[0]}.",
            hint=f"{did_you_mean(unknown[0], known)}"
            f"Settings of {catalogs[0]}: {listed(['catalog', *known])}.",
        )
    return settings


def _from_settings(
    name: str, key: str, setting: object, variables: Mapping[str, str], *, is_secret: bool
) -> str:
    if setting is None:
        return ""
    text = str(setting).strip()
    reference = _VARIABLE.fullmatch(text)
    if reference is None:
        if not is_secret:
            return text
        raise UsageError(
            f"The configuration holds a secret: sources.sources.{name}.{key}.",
            hint="Remove it there. Store it with `fluid credentials set"
            f" {name} {key}`, or write ${{VARIABLE}} to read it from the environment.",
        )
    value = variables.get(reference[1], "").strip()
    if not value:
        raise UsageError(
            f"sources.sources.{name}.{key} names the variable {reference[1]}, which isn't set.",
            hint=f"Set {reference[1]}, or remove the setting.",
        )
    return value


def _checked_value(name: str, key: str, value: str) -> str:
    trimmed = value.strip()
    is_text = all(character.isprintable() or character == "\n" for character in trimmed)
    if not trimmed or len(trimmed) > _LONGEST_VALUE or not is_text:
        raise UsageError(
            f"The field {key} of the credential {name} is empty, too long or not plain text.",
            hint="Copy it again, without control characters.",
        )
    return trimmed
