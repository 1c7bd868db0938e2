"""The three states that a plan compares, each as a digest: folder, source and warehouse.

A digest moves with what a plan rests on and with nothing else: rows that come and go in the source
and in the warehouse don't make a plan untrue.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from fluid_build.changes import SourceChange
from fluid_build.decisions.files import DECISIONS_FILE
from fluid_build.evolution.deployments import Deployment
from fluid_build.evolution.warehouse import Relation
from fluid_build.modeling.element import ModelPart
from fluid_build.profiling.profile import Profile
from fluid_build.transform.proof.folder_changes import digest_on_disk
from fluid_build.transform.proof.manifest import Manifest

_TEXTS = (".json", ".md", ".sql", ".yaml", ".yml")
"""Files that say what is built. Copies of tables are as large as the tables, and aren't read."""


class States(ModelPart):
    """What a plan compares, each as a digest."""

    folder: str
    source: str
    warehouse: str


def folder_digest(folder: Path, manifest: Manifest) -> str:
    """Return the digest of what a folder promises, with its decisions and edits."""
    names = {DECISIONS_FILE, *(name for name in manifest.files if name.endswith(_TEXTS))}
    return _digest([name, digest_on_disk(folder / name)] for name in sorted(names))


def source_digest(profile: Profile, changes: Sequence[SourceChange]) -> str:
    """Return the digest of how a source is made, and of what changed in it."""
    columns = [
        [table.name, *([column.name, column.type] for column in table.columns)]
        for table in profile.tables
    ]
    changed = [
        [each.kind, each.table, each.columns, each.to_table, each.to_columns, each.effect]
        for each in changes
    ]
    return _digest((columns, changed))


def warehouse_digest(relations: Mapping[str, Relation], deployments: Sequence[Deployment]) -> str:
    """Return the digest of the relations of a warehouse, and of what was applied to it."""
    columns = [[name, *relations[name].columns.items()] for name in sorted(relations)]
    return _digest((columns, [[each.number, each.outcome] for each in deployments]))


def _digest(content: Iterable[object]) -> str:
    return hashlib.sha256(json.dumps(list(content)).encode()).hexdigest()
