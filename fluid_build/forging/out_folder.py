"""What the folder of a forge is called."""

import re


def file_name(name: str) -> str:
    """Return a product's name as part of a folder's name."""
    return re.sub(r"[^\w.-]+", "-", name).strip(".-") or "source"
