"""Formats that are not read: what such a file or folder is, and what its owner can do."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fluid_build.sources.addresses.endings import LakeFormat
from fluid_build.text import counted, listed, listed_up_to

_MOST_NAMED = 5


@dataclass(frozen=True, slots=True)
class UnreadFormat:
    """What a file is (``an Excel workbook``), several of them, and what to do to have it read."""

    singular: str
    plural: str
    advice: str


_SHEETS = "Save each sheet as CSV, and pass the folder that has them."
_TABLES = "Save its tables as CSV, and pass the folder that has them."
_UNPACK = "Unpack it, and pass the folder with its files."
_TO_PARQUET = "Convert it to Parquet or CSV, and pass that file."
_EXPORT = "Export its tables as CSV or Parquet, and pass the folder that has them."

_WORD = UnreadFormat("a Word document", "Word documents", _TABLES)
_ARCHIVE = UnreadFormat("an archive", "archives", _UNPACK)
_PACKED = UnreadFormat("a compressed file", "compressed files", _UNPACK)
_ORC = UnreadFormat("an ORC file", "ORC files", _TO_PARQUET)
_ARROW = UnreadFormat("an Arrow file", "Arrow files", _TO_PARQUET)
_PYTHON = UnreadFormat("a Python object file", "Python object files", _TO_PARQUET)
_HDF = UnreadFormat("an HDF5 file", "HDF5 files", _TO_PARQUET)
_STATISTICS = UnreadFormat("a statistics file", "statistics files", _TO_PARQUET)
_ACCESS = UnreadFormat("an Access database", "Access databases", _EXPORT)

_BY_ENDING = {
    ".numbers": UnreadFormat("a Numbers spreadsheet", "Numbers spreadsheets", _SHEETS),
    ".docx": _WORD, ".doc": _WORD,
    ".odt": UnreadFormat("an OpenDocument text document", "OpenDocument text documents", _TABLES),
    ".pdf": UnreadFormat("a PDF document", "PDF documents", _TABLES),
    ".zip": _ARCHIVE, ".7z": _ARCHIVE, ".rar": _ARCHIVE, ".tar": _ARCHIVE, ".tgz": _ARCHIVE,
    ".bz2": _PACKED, ".xz": _PACKED, ".lz4": _PACKED, ".br": _PACKED, ".z": _PACKED,
    ".orc": _ORC,
    ".feather": _ARROW, ".arrow": _ARROW, ".ipc": _ARROW,
    ".xml": UnreadFormat("an XML document", "XML documents", _TO_PARQUET),
    ".html": UnreadFormat("an HTML page", "HTML pages", _TABLES),
    ".pkl": _PYTHON, ".pickle": _PYTHON, ".npy": _PYTHON, ".npz": _PYTHON,
    ".h5": _HDF, ".hdf5": _HDF,
    ".sas7bdat": _STATISTICS, ".sav": _STATISTICS, ".dta": _STATISTICS, ".rds": _STATISTICS,
    ".mdb": _ACCESS, ".accdb": _ACCESS,
    ".dbf": UnreadFormat("a dBase table", "dBase tables", _TO_PARQUET),
}  # fmt: skip

_LAKE = "Use the engine that wrote it to export it to Parquet, and pass the folder of the export."
_WHY_NOT_ALL = "whose transaction log decides which files are current"


def unread_format(path: Path) -> UnreadFormat | None:
    """Return what a file is by its ending; None for one that nothing is known of."""
    return _BY_ENDING.get(path.suffix.lower())


def lake_format(folder: Path) -> LakeFormat | None:
    """Return whose table a folder is, by the log that says which of its files are current."""
    if (folder / "_delta_log").is_dir():
        return "delta"
    return "iceberg" if any((folder / "metadata").glob("*.metadata.json")) else None


def unread_lake(folder: Path) -> str | None:
    """Say why a folder isn't read as the files in it, and what to do; None where it may be.

    Hudi keeps files that are deleted or replaced, and DuckDB doesn't know which.
    """
    if not (folder / ".hoodie").is_dir():
        return None
    return (
        f"It is an Apache Hudi table, {_WHY_NOT_ALL}. Fluid Forge doesn't read this format yet."
        f" {_LAKE}"
    )


def left_aside(names: Sequence[str]) -> tuple[str, ...]:
    """Notes on files that were not read, by what they are; each says what to do, if anything is."""
    notes = []
    for format_, of_a_kind in _by_format(names):
        files = listed_up_to(_MOST_NAMED, of_a_kind)
        if format_ is None:
            notes.append(f"Not read, because they have no table or an unknown format: {files}.")
        else:
            what = format_.singular if len(of_a_kind) == 1 else format_.plural
            notes.append(f"Not read: {files} ({what}). {format_.advice}")
    return tuple(notes)


def in_words(names: Sequence[str]) -> tuple[str, str]:
    """Return what files are, in words (``2 Excel workbooks and 1 other file``), and what to do."""
    counts, advice = [], ""
    for format_, of_a_kind in _by_format(names):
        number = len(of_a_kind)
        if format_ is None:
            counts.append(counted(number, "other file"))
        else:
            counts.append(format_.singular if number == 1 else f"{number:,} {format_.plural}")
            advice = advice or format_.advice
    return listed(counts), advice


def _by_format(names: Sequence[str]) -> list[tuple[UnreadFormat | None, list[str]]]:
    """Return the names by what they are, in their order; those that nothing is known of last."""
    names_by_format: dict[UnreadFormat | None, list[str]] = {}
    for name in names:
        names_by_format.setdefault(unread_format(Path(name)), []).append(name)
    return sorted(names_by_format.items(), key=lambda item: item[0] is None)
