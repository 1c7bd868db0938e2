"""What a catalog or a data contract in a folder calls the data next to it.

It reads Frictionless data packages, Croissant and Kaggle descriptions, and FLUID, ODCS and DCS
contracts. A file that is none of these, or that can't be read, names nothing.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from fluid_build.errors import SourceUnreadableError
from fluid_build.regular_files import open_regular
from fluid_build.sources.declarations.source_names import title

_CATALOGS = ("datapackage.json", "croissant.json", "dataset-metadata.json")
_MOST_BYTES = 256 * 1024
"""Descriptions are smaller. Of a longer contract the start is read, which has its name."""
_MOST_FILES = 20
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_ENDINGS = (".yaml", ".yml")


def catalog_name(folder: Path) -> str:
    """Return the name that a catalog or contract in a folder gives the data; "" without one."""
    try:
        files = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    except OSError:
        return ""
    catalogs = [path for path in files if path.name.lower() in _CATALOGS]
    contracts = [path for path in files if path.suffix.lower() in _ENDINGS][:_MOST_FILES]
    names = (*map(_name_in_json, catalogs), *map(_name_in_yaml, contracts))
    return next(filter(None, names), "")


def is_catalog(path: Path) -> bool:
    """Return whether a file describes the data next to it, and so isn't data itself."""
    return path.name.lower() in _CATALOGS and _describes_data(_read_json(path))


def _describes_data(document: Mapping[str, object]) -> bool:
    """Return whether it lists resources (Frictionless), licenses (Kaggle) or is a Dataset."""
    if any(isinstance(document.get(key), list) for key in ("resources", "licenses")):
        return True
    kind = document.get("@type")
    return isinstance(kind, str) and kind.rsplit(":")[-1].rsplit("/")[-1] == "Dataset"


def _name_in_json(path: Path) -> str:
    document = _read_json(path)
    return _first_title(document, "title", "name") if _describes_data(document) else ""


def _read_json(path: Path) -> Mapping[str, object]:
    try:
        document = json.loads(_start_of(path))
    except (ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}


def _name_in_yaml(path: Path) -> str:
    """Return the name in a contract: of a product (FLUID, ODCS), else of the contract itself."""
    entries = dict(_plain_entries(_start_of(path)))
    if "dataContractSpecification" in entries:
        return _first_title(entries, "info.title")
    if "fluidVersion" in entries or entries.get("kind") == "DataContract":
        return _first_title(entries, "dataProduct", "name")
    return ""


def _plain_entries(text: str) -> Iterator[tuple[str, str]]:
    """Yield the plain values of a YAML mapping and of the mappings in it, by their dotted path.

    The text may end in the middle of an entry. Nothing is built of it, so that neither tags nor
    aliases cost anything.
    """
    prefixes: list[str | None] = []  # of the mappings around an event; None inside a list
    key: str | None = None
    try:
        for event in yaml.parse(text, Loader=_LOADER):
            prefix = prefixes[-1] if prefixes else ""
            if isinstance(event, yaml.CollectionStartEvent):
                is_entry = prefix is not None and isinstance(event, yaml.MappingStartEvent)
                prefixes.append(f"{prefix}{key}." if is_entry and key else "" if is_entry else None)
                key = None
            elif isinstance(event, yaml.CollectionEndEvent):
                prefixes.pop()
                key = None
            elif isinstance(event, yaml.NodeEvent):
                value = event.value if isinstance(event, yaml.ScalarEvent) else ""
                if key is not None and prefix is not None:
                    yield f"{prefix}{key}", value
                key = value if key is None else None
    except yaml.YAMLError:
        return


def _start_of(path: Path) -> str:
    try:
        with open_regular(path) as file:
            return file.read(_MOST_BYTES).decode("utf-8-sig", errors="replace")
    except (OSError, SourceUnreadableError):
        return ""


def _first_title(entries: Mapping[str, object], *keys: str) -> str:
    values = (entries.get(key) for key in keys)
    titles = (title(value) for value in values if isinstance(value, str))
    return next(filter(None, titles), "")
