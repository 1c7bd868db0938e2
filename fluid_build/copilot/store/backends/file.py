"""A store in plain files: one JSON file a record, to be read, copied and deleted by hand.

For some thousands of records; a search reads them all.
"""

from __future__ import annotations

import base64
import os
import secrets
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from fluid_build.copilot.store.base import (
    Embeddings,
    Hit,
    Record,
    StoreError,
    check_key,
    check_namespace,
    from_json_text,
    pack_embedding,
    to_json_text,
)
from fluid_build.copilot.store.locking import locked
from fluid_build.copilot.store.word_ranking import rank, words_of

_SUFFIX = ".json"
_LOCK = ".lock"
_LONGEST_NAME = 150
_SAFE = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-_")


class FileBackend:
    """Keeps records in folders below ``root``, one a namespace, which are made on first use.

    A relative ``root`` lies in ``workspace_root``. ``clock`` gives the time that lives are measured
    by, in seconds since the epoch.
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
        value: Any,
        *,
        ttl_seconds: float | None = None,
        text: str = "",
        embedding: Sequence[float] | None = None,
    ) -> None:
        """Keeps ``value``; its text and embedding replace those that were there."""
        content = self._content(key, value, ttl_seconds, text, pack_embedding(embedding))
        with self._writing(namespace) as folder:
            _write(folder / _file_name(key), content)

    def put_many(
        self, namespace: str, values: Mapping[str, Any], *, ttl_seconds: float | None = None
    ) -> None:
        """Keeps the values one after the other."""
        contents = {
            _file_name(key): self._content(key, value, ttl_seconds, "", None)
            for key, value in values.items()
        }
        with self._writing(namespace) as folder:
            for name, content in contents.items():
                _write(folder / name, content)

    def add(
        self, namespace: str, key: str, value: Any, *, ttl_seconds: float | None = None
    ) -> bool:
        """Keeps ``value`` if the key is free."""
        content = self._content(key, value, ttl_seconds, "", None)
        with self._writing(namespace) as folder:
            path = folder / _file_name(key)
            if self._alive(path) is not None:
                return False
            _write(path, content)
            return True

    def get(self, namespace: str, key: str, default: Any = None) -> Any:
        """The value, or ``default``."""
        with _told(self._root):
            found = self._alive(self._folder(namespace) / _file_name(key))
        return default if found is None else found["value"]

    def get_many(self, namespace: str, keys: Sequence[str]) -> dict[str, Record]:
        """The records that are there, by key."""
        folder = self._folder(namespace)
        with _told(self._root):
            found = {key: self._alive(folder / _file_name(key)) for key in keys}
        return {
            key: Record(key, kept["value"], kept["text"])
            for key, kept in found.items()
            if kept is not None
        }

    def delete(self, namespace: str, key: str) -> bool:
        """Forgets a record; whether there was one."""
        folder = self._folder(namespace)
        with _told(self._root):
            if not folder.is_dir():
                return False
        with self._writing(namespace):
            path = folder / _file_name(key)
            was_alive = self._alive(path) is not None
            path.unlink(missing_ok=True)
            return was_alive

    def keys(self, namespace: str, prefix: str = "") -> list[str]:
        """All keys that begin with ``prefix``, sorted."""
        found = (kept["key"] for kept in self._all(namespace))
        return sorted(key for key in found if key.startswith(prefix))

    def namespaces(self) -> list[str]:
        """All namespaces that hold a record, sorted."""
        with _told(self._root):
            folders = [folder for folder in self._root.glob("**/") if folder != self._root]
        names = (_namespace_of(folder.relative_to(self._root)) for folder in folders)
        return sorted(name for name in names if any(self._all(name)))

    def search(self, namespace: str, query: str, limit: int) -> list[Hit]:
        """Records whose text holds words of ``query``, best first."""
        kept = sorted(self._all(namespace), key=lambda record: str(record["key"]))
        ranked = rank(query, [record["text"] for record in kept], limit)
        return [Hit(kept[place]["key"], score) for place, score in ranked]

    def find_phrase(self, namespace: str, phrase: str, limit: int) -> list[Hit]:
        """Records whose text holds the words of ``phrase``, one after the other."""
        wanted = " ".join(words_of(phrase))
        if not wanted:
            return []
        found = [
            record["key"]
            for record in self._all(namespace)
            if f" {wanted} " in f" {' '.join(words_of(record['text']))} "
        ]
        return [Hit(key, 1.0) for key in sorted(found)[: max(limit, 0)]]

    def embeddings(self, namespace: str) -> Embeddings:
        """All embeddings of a namespace."""
        packed = [
            (record["key"], base64.b64decode(record["embedding"]))
            for record in self._all(namespace)
            if record["embedding"]
        ]
        return Embeddings.of(sorted(packed))

    def embeddings_revision(self, namespace: str) -> str | None:  # noqa: ARG002
        """Files tell no revision that could not be the same for two contents."""
        return None

    def purge(self) -> int:
        """Deletes what has outlived its time."""
        purged = 0
        with _told(self._root):
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
        """Nothing stays open."""

    def _folder(self, namespace: str) -> Path:
        parts = check_namespace(namespace).split("/")
        return self._root.joinpath(*(_quoted(part) for part in parts))

    @contextmanager
    def _writing(self, namespace: str) -> Generator[Path]:
        """The namespace's folder, and the sole right to write in it."""
        folder = self._folder(namespace)
        with _told(self._root):
            folder.mkdir(parents=True, exist_ok=True)
            with locked(folder / _LOCK):
                yield folder

    def _content(
        self, key: str, value: Any, ttl_seconds: float | None, text: str, embedding: bytes | None
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

    def _all(self, namespace: str) -> Iterator[dict[str, Any]]:
        with _told(self._root):
            paths = list(_records(self._folder(namespace)))
            for path in paths:
                record = self._alive(path)
                if record is not None:
                    yield record

    def _alive(self, path: Path) -> dict[str, Any] | None:
        try:
            content = path.read_text("ascii")
        except FileNotFoundError:
            return None
        record: dict[str, Any] = from_json_text(content)
        expires_at = record["expires_at"]
        return record if expires_at is None or expires_at > self._clock() else None


def _records(folder: Path) -> Iterator[Path]:
    return (path for path in folder.glob(f"*{_SUFFIX}") if path.is_file())


def _file_name(key: str) -> str:
    return _quoted(check_key(key)) + _SUFFIX


def _quoted(name: str) -> str:
    """A file name that is legal everywhere, its own inverse, and another one for another name, also
    where upper and lower case are the same; of a name that is too long, its digest.
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
    """Whole or not at all, also if the power fails."""
    temporary = path.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        with temporary.open("w", encoding="ascii") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


@contextmanager
def _told(root: Path) -> Generator[None]:
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"The store {root} cannot be used: {error.strerror or error}.",
            hint="Check that its folder exists and can be written.",
        ) from error
