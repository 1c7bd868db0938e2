"""What a run leaves in memory: names and shapes, never values."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from fluid_build.json_types import JsonObject
from fluid_build.modeling.logical import LogicalModel
from fluid_build.profiling.profile import Profile
from fluid_build.text import clip

EPISODES = "memory/episodic"

_MOST_TEXT = 20_000
"""Characters to search a record by: the names of some two hundred tables."""
_MOST_KEY = 200
"""Characters of a product's name in a key; a digest of its tables follows."""


@dataclass(frozen=True, slots=True)
class ModelMemory:
    """A record: its key, its value, and the text that it is found by."""

    key: str
    value: JsonObject
    text: str


def model_memory(profile: Profile, model: LogicalModel) -> ModelMemory:
    """Return what is remembered of a model, to be found again for a similar source.

    A later run on a source of the same name and tables replaces it.
    """
    tables = [table.name for table in profile.tables]
    digest = hashlib.sha256("\0".join(tables).encode()).hexdigest()[:8]
    name = "".join(c if c.isprintable() else "_" for c in profile.source_name)
    value: JsonObject = {
        "name": profile.source_name,
        "technique": model.technique,
        "tables": [
            {
                "name": table.name,
                "columns": [column.name for column in table.columns],
                "key": list(table.primary_key or ()),
            }
            for table in profile.tables
        ],
        "relationships": [
            [key.from_table, list(key.from_columns), key.to_table, list(key.to_columns)]
            for key in profile.foreign_keys
        ],
        "entities": [entity.name for entity in model.conceptual.entities],
    }
    key = f"{clip(name, _MOST_KEY)}-{model.technique}-{digest}"
    return ModelMemory(key, value, search_text(profile, model))


def search_text(profile: Profile, model: LogicalModel | None = None) -> str:
    """Return the names of a source's tables, entities and columns, those that say most first."""
    names = [profile.source_name, *(table.name for table in profile.tables)]
    if model is not None:
        names += [entity.name for entity in model.conceptual.entities]
    names += [column.name for table in profile.tables for column in table.columns]
    return clip(" ".join(dict.fromkeys(names)), _MOST_TEXT)
