"""Tables that a decision merges into another, as long as no row is lost."""

import pytest

from fluid_build.decisions.language import Merge
from fluid_build.modeling.dimensional.dimensions.merges import merge_obstacle
from tests.modeling.profiles import reference
from tests.modeling.sources import conceptual, source

MERGE = Merge(table="detail", columns=("id",), into_table="person", into_columns=("id",))


@pytest.mark.parametrize(("orphans", "nulls"), [(0, 0), (0, 1), (1, 0), (2, 3)])
def test_a_merge_that_would_lose_a_row_is_refused_with_their_number(
    orphans: int, nulls: int
) -> None:
    """A row without a match is lost, and so is one that refers to nothing."""
    found = reference("detail", "id", "person", "id", orphans, nulls=nulls)
    model = conceptual(source("person *id, name text\ndetail *id, note text", found))
    lost = orphans + nulls
    assert bool(merge_obstacle(model, MERGE)) == bool(lost)
    if lost:
        assert f": {lost} of 100 rows have no row there" in merge_obstacle(model, MERGE)
