"""A store in plain files: a JSON file per record, which people can read, copy and delete.

It suits some thousands of records: a search reads them all.
"""

from __future__ import annotations

import base64
import os
import secrets
import sys
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, TypedDict
from urllib.parse import unquote

from fluid_build.copilot.store.base import (
    Embeddings,
    Hit,
    StoredRecord,
    StoreError,
    check_key,
    check_namespace,
    from_json_text,
    pack_embedding,
    to_json_text,
)
from fluid_build.copilot.store.private_files import create_private_file, make_private_folder
from fluid_build.copilot.store.word_ranking import rank, with_phrase

_SUFFIX = ".json"
_LOCK = ".lock"
_LONGEST_NAME = 150
_SAFE = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-_")


class _FileRecord(TypedDict):
    """The content of a record's file; the embedding is in base64."""

    key: str
    value: Any
    expires_at: float | None
    text: str
    embedding: str | None


class FileBackend:
    """Records in folders below ``root``, one per namespace, which are created on first use.

    Files and folders that it makes are for their owner alone.
    A relative ``root`` is below ``workspace_root``. ``clock`` returns the time by which records
    expire, in seconds since the epoch.
    """

    def __init__(
        self,
        root: str | Path = "~/.fluid/store",
        workspace_root: str | Path = ".",
        *,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._root = Path(workspace_root).expanduser().resolve() / Path(root).expanduser()
        self._clock = clock

    def put(
        self,
        namespace: str,
        key: str,
        value: object,
        *,
        ttl_seconds: float | None = None,
        text: str = "",
        embedding: Sequence[float] | None = None,
    ) -> None:
        """Store ``value``; its text and embedding replace the previous ones."""
        content = self._content(key, value, ttl_seconds, text, pack_embedding(embedding))
        with self._writing(namespace) as folder:
            _write(folder / _file_name(key), content)

    def put_many(
        self, namespace: str, values: Mapping[str, object], *, ttl_seconds: float | None = None
    ) -> None:
        """Store the values one after the other."""
        contents = {
            _file_name(key): self._content(key, value, ttl_seconds, "", None)
            for key, value in values.items()
        }
        with self._writing(namespace) as folder:
            for name, content in contents.items():
                _write(folder / name, content)

    def add(
        self, namespace: str, key: str, value: object, *, ttl_seconds: float | None = None
    ) -> bool:
        """Store ``value`` if the key is free; return whether it was."""
        content = self._content(key, value, ttl_seconds, "", None)
        with self._writing(namespace) as folder:
            path = folder / _file_name(key)
            if self._alive(path) is not None:
                return False
            _write(path, content)
            return True

    def get(self, namespace: str, key: str, default: object = None) -> Any:
        """Return the value, or ``default``."""
        with _store_errors(self._root):
            record = self._alive(self._folder(namespace) / _file_name(key))
        return default if record is None else record["value"]

    def get_many(self, namespace: str, keys: Sequence[str]) -> dict[str, StoredRecord]:
        """Return the records that exist, by key."""
        folder = self._folder(namespace)
        with _store_errors(self._root):
            records = {key: self._alive(folder / _file_name(key)) for key in keys}
        return {
            key: StoredRecord(key, record["value"], record["text"])
            for key, record in records.items()
            if record is not None
        }

    def delete(self, namespace: str, key: str) -> bool:
        """Delete a record; return whether there was one."""
        folder = self._folder(namespace)
        with _store_errors(self._root):
            if not folder.is_dir():
                return False
        with self._writing(namespace):
            path = folder / _file_name(key)
            was_alive = self._alive(path) is not None
            path.unlink(missing_ok=True)
            return was_alive

    def keys(self, namespace: str, prefix: str = "") -> list[str]:
        """Return all keys that begin with ``prefix``, sorted."""
        keys = (record["key"] for record in self._all(namespace))
        return sorted(key for key in keys if key.startswith(prefix))

    def namespaces(self) -> list[str]:
        """Return all namespaces that have a record, sorted."""
        with _store_errors(self._root):
            folders = [folder for folder in self._root.glob("**/") if folder != self._root]
        names = (_namespace_of(folder.relative_to(self._root)) for folder in folders)
        return sorted(name for name in names if any(self._all(name)))

    def search(self, namespace: str, query: str, limit: int) -> list[Hit]:
        """Return records whose text has words of ``query``, best first."""
        records = sorted(self._all(namespace), key=lambda record: record["key"])
        ranked = rank(query, [record["text"] for record in records], limit)
        return [Hit(records[place]["key"], score) for place, score in ranked]

    def find_phrase(self, namespace: str, phrase: str, limit: int) -> list[Hit]:
        """Return records whose text has the words of ``phrase`` in sequence."""
        texts = {record["key"]: record["text"] for record in self._all(namespace)}
        return [Hit(key, 1.0) for key in with_phrase(phrase, texts, limit)]

    def embeddings(self, namespace: str) -> Embeddings:
        """Return all embeddings of a namespace."""
        packed = [
            (record["key"], base64.b64decode(record["embedding"]))
            for record in self._all(namespace)
            if record["embedding"]
        ]
        return Embeddings.of(sorted(packed))

    def embeddings_revision(self, namespace: str) -> str | None:  # noqa: ARG002
        """Return None: nothing about files changes for certain when their content does."""
        return None

    def purge(self) -> int:
        """Delete expired records; return how many."""
        purged = 0
        with _store_errors(self._root):
            folders = [path for path in self._root.glob("**/") if (path / _LOCK).exists()]
        for folder in folders:
            namespace = _namespace_of(folder.relative_to(self._root))
            with self._writing(namespace):
                dead = [path for path in _records(folder) if self._alive(path) is None]
                for path in dead:
                    path.unlink(missing_ok=True)
                purged += len(dead)
        return purged

    def close(self) -> None:
        """Do nothing: no file stays open."""

    def _folder(self, namespace: str) -> Path:
        parts = check_namespace(namespace).split("/")
        return self._root.joinpath(*(_quoted(part) for part in parts))

    @contextmanager
    def _writing(self, namespace: str) -> Generator[Path]:
        """Yield the namespace's folder, with the sole right to write in it."""
        folder = self._folder(namespace)
        with _store_errors(self._root):
            make_private_folder(folder)
            with locked(folder / _LOCK):
                yield folder

    def _content(
        self, key: str, value: object, ttl_seconds: float | None, text: str, embedding: bytes | None
    ) -> str:
        return to_json_text(
            {
                "key": check_key(key),
                "value": value,
                "expires_at": None if ttl_seconds is None else self._clock() + ttl_seconds,
                "text": text,
                "embedding": base64.b64encode(embedding).decode() if embedding else None,
            }
        )

    def _all(self, namespace: str) -> Iterator[_FileRecord]:
        with _store_errors(self._root):
            paths = list(_records(self._folder(namespace)))
            for path in paths:
                record = self._alive(path)
                if record is not None:
                    yield record

    def _alive(self, path: Path) -> _FileRecord | None:
        try:
            content = path.read_text("ascii")
        except FileNotFoundError:
            return None
        record: _FileRecord = from_json_text(content)
        expires_at = record["expires_at"]
        return record if expires_at is None or expires_at > self._clock() else None


def _records(folder: Path) -> Iterator[Path]:
    return (path for path in folder.glob(f"*{_SUFFIX}") if path.is_file())


def _file_name(key: str) -> str:
    return _quoted(check_key(key)) + _SUFFIX


def _quoted(name: str) -> str:
    """Return a file name that is legal everywhere and can be turned back into the name.

    Two names never share a file name, even where upper and lower case are the same. Of a name that
    is too long, it has the digest.
    """
    quoted = "".join(
        character if character in _SAFE else "".join(f"%{byte:02x}" for byte in character.encode())
        for character in name
    )
    if len(quoted) <= _LONGEST_NAME:
        return quoted or "%"
    return f"{quoted[:_LONGEST_NAME].rstrip('%')}%%{sha256(name.encode()).hexdigest()[:40]}"


def _namespace_of(folder: Path) -> str:
    return "/".join("" if part == "%" else unquote(part) for part in folder.parts)


def _write(path: Path, content: str) -> None:
    """Write a file whole or not at all, even if the power fails."""
    temporary = path.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        with create_private_file(temporary) as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


@contextmanager
def _store_errors(root: Path) -> Generator[None]:
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"The store {root} can't be used: {error.strerror or error}.",
            hint="Check that its folder exists and is writable.",
        ) from error


# A lock between processes, on a file, which is released when its holder ends in any way.

if sys.platform == "win32":
    import msvcrt
    import time

    _WAIT_SECONDS = 0.01

    def _acquire(descriptor: int) -> None:
        while True:
            try:
                msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
            except OSError:
                time.sleep(_WAIT_SECONDS)
            else:
                return
else:
    import fcntl

    def _acquire(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX)


@contextmanager
def locked(path: Path) -> Generator[None]:
    """Hold the lock on ``path`` during the block; wait for it as long as it takes."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        _acquire(descriptor)
        yield
    finally:
        os.close(descriptor)
