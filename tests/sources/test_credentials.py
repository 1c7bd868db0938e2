"""Named credentials: where each field comes from, and that no secret can be seen."""

import copy
import pickle
from collections.abc import Iterator, Mapping

import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.backends.fail import Keyring as NoKeyring

from fluid_build.errors import UsageError
from fluid_build.sources.credentials import (
    Credential,
    Secret,
    find_credential,
    forget_secrets,
    store_secret,
    stored_names,
    stored_secrets,
)

SECRET = "s3cr3t-of-the-test"


class MemoryKeyring(KeyringBackend):
    """A keyring of the test's own."""

    # Never chosen by itself: the backend of all other tests is found among these classes as well.
    priority = -10  # type: ignore[assignment]

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.entries: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, username: str) -> str | None:
        return self.entries.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.entries[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        del self.entries[service, username]


@pytest.fixture(autouse=True)
def memory() -> Iterator[MemoryKeyring]:
    before = keyring.get_keyring()
    own = MemoryKeyring()
    keyring.set_keyring(own)
    yield own
    keyring.set_keyring(before)


def find(
    settings: Mapping[str, object] | None = None, name: str = "prod", **environ: str
) -> Credential:
    return find_credential(
        name,
        ("datahub",),
        ("host",),
        ("token",),
        settings=lambda _: settings or {},
        environ=environ,
    )


def test_the_environment_wins_over_the_keyring_and_that_over_the_configuration() -> None:
    settings = {"host": "from-configuration", "token": "${A_TOKEN}"}
    assert find(settings, A_TOKEN=SECRET).get("host") == "from-configuration"
    store_secret("prod", "host", "from-keyring")
    assert find(settings, A_TOKEN=SECRET).get("host") == "from-keyring"
    found = find(settings, A_TOKEN=SECRET, FLUID_CREDENTIAL_PROD_HOST="from-environment")
    assert found.get("host") == "from-environment"


def test_a_name_becomes_a_variable_whatever_is_in_it() -> None:
    assert find(name="my-prod.2", FLUID_CREDENTIAL_MY_PROD_2_HOST="here").get("host") == "here"


def test_a_secret_in_the_configuration_is_refused_without_being_shown() -> None:
    with pytest.raises(UsageError, match="holds a secret") as refusal:
        find({"token": SECRET})
    assert SECRET not in f"{refusal.value} {refusal.value.hint}"


def test_a_variable_that_is_not_set_is_named() -> None:
    with pytest.raises(UsageError, match="names the variable A_TOKEN, which isn't set"):
        find({"token": "${A_TOKEN}"})


def test_a_credential_of_another_catalog_is_refused() -> None:
    with pytest.raises(UsageError, match="is for snowflake, not for datahub"):
        find({"catalog": "snowflake"})


def test_a_misspelled_setting_gets_a_guess() -> None:
    with pytest.raises(UsageError, match="unknown setting") as unknown:
        find({"hots": "example.com"})
    assert "Did you mean 'host'?" in str(unknown.value.hint)


@pytest.mark.parametrize("name", ["", "a b", "a/b", "ü", "a" * 65, "--x", "a\nb"])
def test_only_a_plain_name_is_one(name: str) -> None:
    if name:
        with pytest.raises(UsageError, match="can't be the name"):
            find(name=name)
    else:
        assert find(name=name).is_empty


def test_a_secret_can_be_neither_printed_nor_pickled_nor_copied() -> None:
    secret = Secret(SECRET)
    assert SECRET not in f"{secret} {secret!r} {secret:>40} {Credential('p', {}, {'t': secret})}"
    with pytest.raises(TypeError):
        pickle.dumps(secret)
    with pytest.raises(TypeError):
        copy.deepcopy(secret)


def test_what_is_stored_can_be_listed_and_forgotten() -> None:
    store_secret("prod", "token", f"  {SECRET}\n")
    store_secret("prod", "host", "example.com")
    store_secret("dev", "token", "another")
    assert stored_secrets("prod") == {"token": SECRET, "host": "example.com"}
    assert stored_names() == ("dev", "prod")
    assert forget_secrets("prod") is True
    assert forget_secrets("prod") is False
    assert (stored_names(), stored_secrets("prod")) == (("dev",), {})


def test_a_strangers_entry_in_the_keyring_counts_for_nothing(memory: MemoryKeyring) -> None:
    for entry in ("not json", "[1]", '{"token": 5}'):
        memory.entries["fluid-forge", "credential:prod"] = entry
        assert find().is_empty


def test_without_a_keyring_the_variable_is_named() -> None:
    keyring.set_keyring(NoKeyring())
    with pytest.raises(UsageError, match="keyring can't be used") as refusal:
        store_secret("prod", "token", SECRET)
    assert "FLUID_CREDENTIAL_PROD_FIELD" in str(refusal.value.hint)
    assert find().is_empty


@pytest.mark.parametrize("value", ["", "  ", "a\x00b", "x" * 20_000])
def test_a_value_that_can_be_none_is_refused(value: str) -> None:
    with pytest.raises(UsageError, match="empty, too long or not plain text"):
        store_secret("prod", "token", value)
