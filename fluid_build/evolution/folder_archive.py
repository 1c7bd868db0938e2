"""A product's folder as bytes that a warehouse keeps, so that a rollback works on any machine.

Only what a forge wrote is in it, with people's edits, and only as text. Copies of the source's
tables and the page aren't: the next forge makes them again. What comes back comes from a database,
so it's a stranger's: bounded in size, and confined to the folder.
"""

import io
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath, PureWindowsPath

from fluid_build.decisions.files import DECISIONS_FILE, SCHEMA_FILE
from fluid_build.errors import WarehouseError
from fluid_build.regular_files import read_regular
from fluid_build.transform.dbt.table_copies import COPIES_FOLDER
from fluid_build.transform.proof.manifest import MANIFEST_FILE, Manifest
from fluid_build.transform.proof.written_proof import PROOF_FILE

MOST_BYTES = 512 * 1024 * 1024
"""Of all files: fifty times what a forge of a thousand tables writes."""
MOST_FILES = 100_000
_LONGEST_NAME = 1_000
"""Characters, which is as long as a path may be on most systems."""
_EARLIEST = (1980, 1, 1, 0, 0, 0)
"""The first moment that a zip archive can hold: the same files make the same bytes."""
_NOT_TEXT = (".parquet", ".csv", ".html", ".duckdb")
"""Endings of copies of tables and of the page."""


def archived(folder: Path, manifest: Manifest) -> bytes:
    """Return the text files of a product as a zip archive, the same bytes for the same files."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for name, text in sorted(product_files(folder, manifest).items()):
            entry = zipfile.ZipInfo(name, _EARLIEST)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, text)
    return content.getvalue()


def product_files(folder: Path, manifest: Manifest) -> Mapping[str, bytes]:
    """Return the text files that a forge wrote to a folder, as they are now, by name."""
    names = {*manifest.files, MANIFEST_FILE, PROOF_FILE, DECISIONS_FILE, SCHEMA_FILE}
    return {
        name: read_regular(folder / name, MOST_BYTES, too_large="It's too large for a product.")
        for name in names - {*manifest.foreign}
        if _is_kept(name) and (folder / name).is_file() and not (folder / name).is_symlink()
    }


def unpacked(content: bytes) -> Mapping[str, bytes]:
    """Return the files of an archive by name. Raises WarehouseError for one that we'd not make."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            entries = archive.infolist()
            if len(entries) > MOST_FILES or sum(entry.file_size for entry in entries) > MOST_BYTES:
                raise _foreign("it's larger than a product's folder")
            return dict(_read(archive, entries))
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise _foreign("it isn't a whole zip archive") from error


def _read(archive: zipfile.ZipFile, entries: list[zipfile.ZipInfo]) -> Iterator[tuple[str, bytes]]:
    left = MOST_BYTES
    for entry in entries:
        if not _is_inside(entry.filename):
            raise _foreign("it has a file outside of the folder")
        with archive.open(entry) as file:
            # What an entry says of its size needn't be true.
            content = file.read(left + 1)
        left -= len(content)
        if left < 0:
            raise _foreign("it's larger than a product's folder")
        yield entry.filename, content


def _is_kept(name: str) -> bool:
    parts = PurePosixPath(name).parts
    return _is_inside(name) and COPIES_FOLDER not in parts and not name.endswith(_NOT_TEXT)


def _is_inside(name: str) -> bool:
    """Return whether a name leads to a file in the folder on any system."""
    has_odd = "\\" in name or any(ord(character) < 32 for character in name)
    parts = name.split("/")
    return (
        0 < len(name) <= _LONGEST_NAME
        and not has_odd
        and all(part not in {"", ".", ".."} for part in parts)
        and not PureWindowsPath(name).drive
    )


def _foreign(why: str) -> WarehouseError:
    return WarehouseError(
        f"The folder that the warehouse keeps of that deployment can't be used: {why}.",
        hint="Take the folder from your version control, or forge it again.",
    )
