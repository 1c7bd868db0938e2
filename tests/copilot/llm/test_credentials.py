"""Keys: where they are looked for, who may read the file, and that they do not show themselves."""

import copy
import json
import os
import pickle

import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.backends.fail import Keyring as NoKeyring

from fluid_build.copilot.agents.errors import ProviderAuthError
from fluid_build.copilot.llm.credentials import (
    KEYRING_SERVICE,
    ApiKey,
    find_api_key,
    save_api_key,
)
from fluid_build.errors import UsageError

KEY = "sk-test-0123456789abcdef"
VARIABLES = ("OPENAI_API_KEY",)


class MemoryKeyring(KeyringBackend):
    # Never chosen by itself: the backend of all other tests is found among these classes as well.
    priority = -10

    def __init__(self):
        super().__init__()
        self.kept = {}

    def get_password(self, service, username):
        return self.kept.get((service, username))

    def set_password(self, service, username, password):
        self.kept[service, username] = password


@pytest.fixture(autouse=True)
def backend():
    """A keyring of the test's own in place of the operating system's."""
    before = keyring.get_keyring()
    memory = MemoryKeyring()
    keyring.set_keyring(memory)
    yield memory
    keyring.set_keyring(before)


@pytest.fixture
def key_file(tmp_path):
    path = tmp_path / "credentials.json"
    path.write_text(json.dumps({"openai": "from-the-file"}))
    path.chmod(0o600)
    return path


def find(environ=None, key_file=None):
    return find_api_key("openai", VARIABLES, environ=environ or {}, key_file=key_file).reveal()


def test_the_environment_comes_first(backend, key_file):
    """Then the keyring, then the file."""
    backend.set_password(KEYRING_SERVICE, "openai", "from-the-keyring")
    assert find({"OPENAI_API_KEY": f" {KEY}\n"}, key_file) == KEY
    assert find({}, key_file) == "from-the-keyring"
    backend.kept.clear()
    assert find({}, key_file) == "from-the-file"


def test_a_machine_without_a_keyring_goes_on_to_the_file(key_file):
    """A missing keyring isn't an error."""
    keyring.set_keyring(NoKeyring())
    assert find({}, key_file) == "from-the-file"


def test_no_key_anywhere_is_an_auth_error_that_names_the_variable(tmp_path):
    """And not to be retried."""
    with pytest.raises(ProviderAuthError) as caught:
        find({}, tmp_path / "none.json")
    assert "OPENAI_API_KEY" in caught.value.hint


@pytest.mark.skipif(os.name != "posix", reason="the mode of a file is a matter of POSIX")
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644, 0o660])
def test_a_file_that_others_may_read_is_not_used(key_file, mode):
    """With what to do, and without its content."""
    key_file.chmod(mode)
    with pytest.raises(UsageError) as caught:
        find({}, key_file)
    assert "chmod 600" in caught.value.hint
    assert "from-the-file" not in str(caught.value)


@pytest.mark.skipif(os.name != "posix", reason="links are a matter of POSIX here")
def test_a_link_in_the_files_place_is_not_followed(key_file, tmp_path):
    """What it leads to could be changed between the check and the use."""
    link = tmp_path / "link.json"
    link.symlink_to(key_file)
    with pytest.raises(UsageError, match="couldn't be opened"):
        find({}, link)


@pytest.mark.parametrize("content", ["", "[]", "not json", '"text"', "x" * 100_000])
def test_a_file_of_another_kind_is_refused(tmp_path, content):
    """Its content is not quoted."""
    path = tmp_path / "credentials.json"
    path.write_text(content)
    path.chmod(0o600)
    with pytest.raises(UsageError, match="isn't a JSON object"):
        find({}, path)


def test_a_saved_key_can_be_read_by_its_owner_only(tmp_path):
    """Other keys in the file stay."""
    path = tmp_path / "deep" / "credentials.json"
    save_api_key("openai", KEY, path)
    save_api_key("gemini", "other-key", path)
    assert find({}, path) == KEY
    assert path.stat().st_mode & 0o077 == 0 or os.name != "posix"
    assert [p.name for p in path.parent.iterdir()] == ["credentials.json"]


def test_a_key_shows_itself_to_reveal_only():
    """Not to repr, str, format, JSON, pickle or a copy of its attributes."""
    key = ApiKey(KEY)
    shown = [repr(key), str(key), f"{key}", f"{key!r:>40}", repr([key]), repr({"key": key})]
    assert all(KEY not in text for text in shown)
    assert key.reveal() == KEY
    assert copy.deepcopy(key) is key
    with pytest.raises(TypeError):
        pickle.dumps(key)
    with pytest.raises(TypeError):
        json.dumps(key)
    with pytest.raises(TypeError):
        vars(key)


@pytest.mark.parametrize("text", ["", "two words", "line\nbreak", "tab\tbed", "clé", "\x00"])
def test_what_cannot_be_a_key_is_refused_without_being_quoted(text):
    """A header could be broken with it."""
    with pytest.raises(UsageError) as caught:
        ApiKey(text)
    assert not text or text not in str(caught.value)


def test_a_pipe_in_the_files_place_is_refused_without_waiting(tmp_path):
    path = tmp_path / "credentials.json"
    os.mkfifo(path, 0o600)
    with pytest.raises(UsageError):
        find_api_key("openai", [], environ={}, key_file=path)
