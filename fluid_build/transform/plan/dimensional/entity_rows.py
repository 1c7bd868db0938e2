"""Where the rows of a source table are in a star."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class EntityRows:
    """Where an entity's rows are in the star: ``FROM ...``, and the SQL of each attribute."""

    from_clause: str
    expressions: Mapping[str, str]
