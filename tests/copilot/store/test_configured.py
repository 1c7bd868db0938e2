"""The store that the environment asks for."""

import socket
import stat
from pathlib import Path

import pytest

from fluid_build.copilot.errors import StoreError
from fluid_build.copilot.store.backends import postgres
from fluid_build.copilot.store.backends.postgres import PostgresBackend
from fluid_build.copilot.store.configured import STORE_NAME, open_store
from fluid_build.errors import UsageError


def test_the_home_holds_one_file_for_its_owner_alone(tmp_path: Path) -> None:
    home = tmp_path / "home" / "of-mine"
    store = open_store({"FLUID_HOME": str(home)})
    assert not home.exists()
    store.put("runs", "a", 1)
    store.close()
    assert open_store({"FLUID_HOME": str(home)}).get("runs", "a") == 1
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    assert stat.S_IMODE((home / STORE_NAME).stat().st_mode) == 0o600


def test_a_database_replaces_the_file(postgres_uri: str, tmp_path: Path) -> None:
    environ = {"FLUID_STORE": postgres_uri, "FLUID_HOME": str(tmp_path)}
    store = open_store(environ)
    assert isinstance(store, PostgresBackend)
    store.put("runs", "a", {"n": 1})
    store.close()
    second = open_store(environ)
    assert second.get("runs", "a") == {"n": 1}
    second.close()
    assert list(tmp_path.iterdir()) == []


def test_another_address_is_refused_without_its_password() -> None:
    with pytest.raises(UsageError) as refused:
        open_store({"FLUID_STORE": "mysql://me:hunter22@host/db"})
    assert "hunter22" not in str(refused.value)
    assert "postgresql://" in (refused.value.hint or "")


def test_a_server_that_does_not_answer_is_an_error_without_the_password(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("FLUID_STORE", "postgresql://me:hunter22@127.0.0.1:1/db")
    with pytest.raises(StoreError) as refused:
        open_store().get("runs", "a")
    assert "hunter22" not in str(refused.value)
    assert refused.value.hint


def test_a_server_that_drops_packets_is_an_error_after_some_seconds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(postgres, "CONNECT_SECONDS", 2)
    monkeypatch.delenv("PGCONNECT_TIMEOUT", raising=False)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        store = PostgresBackend(f"postgresql://me:hunter22@127.0.0.1:{silent.getsockname()[1]}/db")
        with pytest.raises(StoreError, match="timeout"):
            store.get("runs", "a")


def test_a_home_that_cannot_be_written_is_an_error_on_first_use(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    store = open_store({"FLUID_HOME": str(tmp_path / "file" / "home")})
    with pytest.raises(StoreError, match="can't be used"):
        store.get("runs", "a")
