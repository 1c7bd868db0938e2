"""References that a database's source doesn't declare, settled by its code and its values."""

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bench.collected.declared import Reference, stated_reference

# What a reference may stand on; those of `open` are neither true nor false.
_TRUE = ("code", "document", "meaning")


@dataclass(frozen=True)
class Settled:
    """The references that count as true beside the declared ones, and the doubtful ones."""

    true: tuple[Reference, ...] = ()
    open: tuple[Reference, ...] = ()


def read_settled(half: str) -> dict[str, Settled]:
    """Read what was settled of a half of the list, by the database's name."""
    path = Path(__file__).parent / f"settled_{half.replace('-', '_')}.toml"
    return parse_settled(path.read_text(encoding="utf-8"))


def parse_settled(text: str) -> dict[str, Settled]:
    content = tomllib.loads(text)
    settled = {name: Settled() for name in content.pop("nothing_to_add")}
    for name, entry in content.items():
        true = tuple(each for kind in _TRUE for each in _references(entry, kind))
        settled[name] = Settled(true, tuple(_references(entry, "open")))
    return settled


def _references(entry: dict[str, list[str]], kind: str) -> Iterable[Reference]:
    return (replace(stated_reference(text), kind=kind) for text in entry.get(kind, ()))


def settled_truth(truth: dict[str, Any], settled: Settled) -> dict[str, Any]:
    """Return a truth with the settled references; open ones are as those the data denies."""
    entries = [
        {
            "from_table": each.child,
            "from_columns": list(each.columns),
            "to_table": each.parent,
            "to_columns": list(each.parent_columns),
            "kind": each.kind,
            "supported": is_true,
        }
        for is_true, references in ((True, settled.true), (False, settled.open))
        for each in references
    ]
    return {**truth, "foreign_keys": [*truth["foreign_keys"], *entries]}
