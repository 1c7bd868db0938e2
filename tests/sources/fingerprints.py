"""Whether the files of a folder changed."""

import hashlib
from pathlib import Path


def fingerprint(folder: Path) -> dict[str, str]:
    """Every file below a folder, with a hash of its bytes."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
