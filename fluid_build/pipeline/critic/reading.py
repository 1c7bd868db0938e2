"""Tolerant reading of reviewed values: our own models, plain objects, or mappings.

An agent's output may be any of these and may lack any part. What is absent, None or of another type
reads as nothing.
"""

from collections.abc import Mapping, Sequence


def part(owner: object, *path: str) -> object:
    """Return what attributes or keys lead to, None where there is nothing."""
    for name in path:
        owner = owner.get(name) if isinstance(owner, Mapping) else getattr(owner, name, None)
    return owner


def parts(owner: object, *path: str) -> Sequence[object]:
    """Return the items of a list or tuple, none where there is neither."""
    value = part(owner, *path)
    return value if isinstance(value, list | tuple) else ()


def text(owner: object, *path: str) -> str:
    """Return a text without space around it, "" where there is none."""
    value = part(owner, *path)
    return value.strip() if isinstance(value, str) else ""


def first_text(owner: object, *names: str) -> str:
    """Return the first of several attributes that has a text."""
    return next((value for name in names if (value := text(owner, name))), "")


def texts(owner: object, *path: str) -> tuple[str, ...]:
    """Return the texts of a list."""
    return tuple(item for item in parts(owner, *path) if isinstance(item, str))


def number(owner: object, *path: str) -> int:
    """Return a whole number, 0 where there is none."""
    value = part(owner, *path)
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def flag(owner: object, *path: str) -> bool:
    """Return whether an attribute is True."""
    return part(owner, *path) is True


def has(owner: object, name: str) -> bool:
    """Return whether there is such an attribute or key, whatever its value."""
    return name in owner if isinstance(owner, Mapping) else hasattr(owner, name)


def name_of(element: object) -> str:
    """Return the name of a relation, else that of its entity."""
    return first_text(element, "name", "entity_name") or "(unnamed)"
