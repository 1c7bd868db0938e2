"""From the log odds of a judgement to the probability that it's right.

The weights are set by hand, so that their log odds only rank. The tables in ``calibration.json``
say how often judgements of such log odds were right; ``bench/calibrate.py`` fits them.
"""

import json
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Literal, TypeAlias

from fluid_build.profiling.references.scores import confidence

Role = Literal["single", "composite", "ruled_out"]
"""A judged reference of one column or of several, or one that another reference or the rest of the
schema rules out: that one is hardly ever right, however high its log odds."""

Table: TypeAlias = Sequence[tuple[float, float]]
"""Log odds and probabilities, both ascending."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """A table for each role; a role without one is taken at its word."""

    tables: Mapping[str, Table]

    def confidence(self, role: Role, log_odds: float) -> float:
        """Return the probability that a judgement is right, interpolated between two points."""
        table = self.tables.get(role)
        if not table:
            return confidence(log_odds)
        index = bisect_right(table, log_odds, key=lambda point: point[0])
        if index in {0, len(table)}:
            return table[max(index - 1, 0)][1]
        (low, low_share), (high, high_share) = table[index - 1], table[index]
        return low_share + (high_share - low_share) * (log_odds - low) / (high - low)


def read_calibration(text: str) -> Calibration:
    """Return the tables of a JSON text: lists of pairs by role."""
    tables = json.loads(text)
    return Calibration(
        {role: tuple((odds, share) for odds, share in table) for role, table in tables.items()}
    )


CALIBRATION = read_calibration(
    (files(__package__) / "calibration.json").read_text(encoding="utf-8")
)
