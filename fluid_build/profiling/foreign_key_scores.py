"""How credible a reference is: names, values and dirt weighed in log odds.

The weights are set by hand, from reasoning about what each sign is worth; nothing is fitted.
"""

import math

from fluid_build.profiling.inclusion import Inclusion
from fluid_build.profiling.measured_tables import MeasuredColumn
from fluid_build.profiling.name_similarity import is_hierarchical

_COUNTING_WORDS = frozenset("number no nr num nbr count cnt".split())
_SUBTYPE_SHARE = 0.98


def value_evidence(child: MeasuredColumn, parent: MeasuredColumn, inclusion: Inclusion) -> float:
    """How unlikely the match is by chance, in nats.

    Values of a key without gaps prove little: any small number is among them. What counts there is
    how well the child fills the parent's range. Strings and sparse numbers count one by one.
    """
    matched = inclusion.distinct_matched
    if not matched:
        return 0.0
    if parent.comparable == "text":
        length = parent.stats.avg_length or 0.0
        return matched * min(4.0, max(0.2, 0.8 * (length - 0.5)))
    if parent.comparable in {"uuid", "date"}:
        return matched * (20.0 if parent.comparable == "uuid" else 0.5)
    low, high = parent.low, parent.high
    if low is None or high is None or child.low is None or child.high is None:
        return 0.0
    if inclusion.parent_near:
        width = min(high, child.high) - max(low, child.low) + 1
        density = min(1.0, inclusion.parent_near / max(width, 1))
    else:
        density = min(1.0, inclusion.parent_distinct / (high - low + 1))
    sparse = matched * (-math.log(density) if density < 0.95 else 0.0)
    offset = matched * min(3.0, math.log1p(low / (high - low + 1))) if low > 1 else 0.0
    return sparse + offset + _range_fit(child, low, high, matched)


def _range_fit(child: MeasuredColumn, low: int, high: int, matched: int) -> float:
    """Evidence that a column spans just the range of a dense key; up to 4 nats."""
    if matched < 3 or child.high is None or child.low is None:
        return 0.0
    span = high - low + 1
    missing = (max(0, high - child.high) + max(0, child.low - low)) / span
    expected = 1.0 / (matched + 1)
    if missing > 4 * expected + 0.02:
        return 0.0
    return min(4.0, 0.8 * math.log(matched))


def judge(
    child: MeasuredColumn,
    parent: MeasuredColumn,
    name_score: float,
    inclusion: Inclusion,
    evidence: float,
) -> float:
    """Weigh names, values and dirt to log odds that the reference is meant."""
    owned = parent.self_explaining
    odds = -4.2 + 6.5 * name_score
    odds += 0.35 * min(evidence, 12.0) + min(1.5, 0.3 * math.log(max(evidence, 12.0) / 12.0))
    odds += 0.8 * inclusion.coverage + (0.4 if inclusion.coverage == 1.0 else 0.0)
    odds += 0.6 * owned
    odds += 0.5 if child.name.keyed else -0.8
    odds -= _dirt(child, parent, name_score, inclusion, evidence)
    if parent.stats.nulls:
        odds -= 0.8
    if (parent.stats.name,) != parent.table.primary_key:
        odds -= 1.6 if child.name.keyed else 3.0
    elif evidence > 30.0 and child.name.squashed == parent.name.squashed:
        odds += 1.5
    if name_score < 0.2 and child.name.bare and child.name.bare[-1] in _COUNTING_WORDS:
        odds -= 4.0
    own = child.self_explaining
    if child.table is not parent.table:
        odds -= 2.0 * own * (1.0 - name_score)
    if child.table.primary_key == (child.stats.name,):
        odds -= (
            1.0
            + 2.5 * own
            + (2.0 if own > 0.9 else 0.0)
            + (4.0 if inclusion.share < _SUBTYPE_SHARE else 0.0)
        )
    elif child.stats.is_key and not child.name.keyed:
        odds -= 0.5
    if child.table is parent.table and not is_hierarchical(child.name, parent.table.names.table):
        odds -= 1.5
    return odds


def _dirt(
    child: MeasuredColumn,
    parent: MeasuredColumn,
    name_score: float,
    inclusion: Inclusion,
    evidence: float,
) -> float:
    """What orphans cost: the less the names say, the more, unless chance can't explain the rest."""
    missing = 1.0 - inclusion.share
    cost = 40.0 * missing * (1.12 - name_score)
    same_name = child.name.bare_squashed == parent.name.bare_squashed
    return cost * (0.4 if same_name and evidence > 30.0 else 1.0)
