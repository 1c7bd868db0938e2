"""Which columns of a table are likely to be part of a key: by names, types and other tables.

A table may have hundreds of columns, and combinations of all of them can't be searched. Types alone
choose badly: a wide table of measures has many whole numbers with more values than its key.
"""

from collections import Counter
from collections.abc import Sequence

from fluid_build.lexicon import terms
from fluid_build.profiling.keys.accidents import is_quantity
from fluid_build.profiling.measure.key_forms import key_form
from fluid_build.profiling.measure.schema import MeasuredColumn, MeasuredTable
from fluid_build.profiling.weights import KeySearchWeights

DISTINGUISHING_WORDS = terms(
    "line", "line_number", "sequence", "position", "index", "step", "version", "date", "day",
    "month", "year", "period", "week", "quarter", "since", "season", "round",
)  # fmt: skip
"""Words that number the rows below a parent or place them in time."""
PRICE_WORDS = terms("key_amount")
"""Words for columns that are unique by chance in a number; a price category is a code."""
UNLIKELY_WORDS = terms("unlikely_in_key") | PRICE_WORDS
"""Words for columns that are unique by chance or by technique, and identify nothing to people."""
CAPTION_WORDS = terms("label", "caption")
"""Words for what people call a row."""


def key_likelihoods(
    tables: Sequence[MeasuredTable], weights: KeySearchWeights
) -> list[dict[str, float]]:
    """Return how likely each column is to be part of its table's key, for each table by name."""
    shared = Counter(
        name for table in tables for name in {c.parsed_name.bare_squashed for c in table.columns}
    )
    return [
        {
            column.name: _likelihood(column, shared[column.parsed_name.bare_squashed], weights)
            for column in table.columns
        }
        for table in tables
    ]


def _likelihood(column: MeasuredColumn, tables_with_name: int, weights: KeySearchWeights) -> float:
    name = column.parsed_name
    likelihood = key_form(column.stats)
    if name.has_key_word:
        likelihood += weights.key_word
    words = set(name.bare)
    if words & DISTINGUISHING_WORDS or column.stats.kind == "temporal":
        likelihood += weights.distinguishing
    if words & (UNLIKELY_WORDS | CAPTION_WORDS) or is_quantity(column):
        likelihood += weights.unlikely
    likelihood += weights.shared_name * min(tables_with_name - 1, weights.shared_name_most)
    return likelihood + weights.early * (1.0 - column.position / len(column.table.columns))
