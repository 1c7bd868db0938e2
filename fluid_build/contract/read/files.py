"""A contract's file: read with the place of everything in it, judged, and written as YAML."""

from pathlib import Path
from typing import Any

from fluid_build.contract.read.located import LocatedDocument, Mark, unreadable
from fluid_build.contract.read.parsers import read_json, read_yaml
from fluid_build.contract.validation import Finding, validate
from fluid_build.errors import SourceNotFoundError, SourceUnreadableError
from fluid_build.regular_files import read_regular

CONTRACT_FILE = "contract.fluid.yaml"
"""The contract in a folder that was forged."""

MAX_BYTES = 128 * 1024 * 1024


def read_contract(path: Path | str) -> Any:
    """Read the document of a YAML or JSON file (by its ending ``.json``), unchecked.

    SourceNotFoundError where no file is, SourceUnreadableError where it cannot be read as one
    document of text keys.
    """
    return read_located(path).document


def read_located(path: Path | str) -> LocatedDocument:
    """Read the document of a file with the line of each path in it."""
    file = Path(path)
    text = _text(file)
    read = read_json if file.suffix.lower() == ".json" else read_yaml
    return read(text, str(path))


def validate_file(path: Path | str) -> tuple[Finding, ...]:
    """Return everything that keeps the file from being a FLUID contract, each with its line."""
    located = read_located(path)
    return validate(located.document, lines=located.lines)


def _text(file: Path) -> str:
    try:
        if file.is_dir():
            raise SourceUnreadableError(f"{file} is a folder.", hint="Pass the contract's file.")
        raw = read_regular(
            file, MAX_BYTES, too_large="A contract is far smaller; is this the right file?"
        )
    except (FileNotFoundError, NotADirectoryError):
        raise SourceNotFoundError(f"{file} doesn't exist.", hint="Check the path.") from None
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise SourceUnreadableError(
            f"{file} can't be read: {reason}.", hint="Check its permissions."
        ) from None
    return _decoded(raw, str(file))


def _decoded(raw: bytes, name: str) -> str:
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = raw[: error.start]
        mark = Mark(before.count(b"\n") + 1, error.start - (before.rfind(b"\n") + 1) + 1)
        what = "it isn't UTF-8 text"
        raise unreadable(name, mark, what, hint="Save the file as UTF-8.") from None
