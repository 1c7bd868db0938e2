"""References that follow from others are found, however the others hang together."""

from fluid_build.profiling.choose.implied import find_implied
from fluid_build.profiling.measure.schema import MeasuredColumn, MeasuredTable
from fluid_build.profiling.references.composites import CompositeReference
from fluid_build.profiling.references.features import composite_features, reference_features
from fluid_build.profiling.references.inclusion import Inclusion
from fluid_build.profiling.references.single_columns import ColumnReference
from fluid_build.profiling.weights import DEFAULT_WEIGHTS
from tests.profiling.databases import database, tables_of

INCLUSION = Inclusion(1, 1, 1, 1, 1, 1)


def test_composite_references_may_lead_in_a_circle() -> None:
    """Three tables that refer to each other in turn lead nowhere else."""
    script = ";".join(f"CREATE TABLE {name} AS SELECT 1 AS x, 2 AS y" for name in "abcde")
    with database(script) as source:
        a, b, c, d, e = tables_of(source)
        circle = [_composite(*tables) for tables in ((d, a), (a, b), (b, c), (c, a))]
        single = _single(d.columns[0], e.columns[0])
        assert find_implied([single], circle) == set()
        inward = _single(c.columns[0], e.columns[0])
        assert find_implied([single, inward], circle) == {id(single)}


def _composite(child: MeasuredTable, parent: MeasuredTable) -> CompositeReference:
    columns, key = tuple(child.columns), tuple(parent.columns)
    features = composite_features(columns, key, 1.0, INCLUSION, {}, (), ())
    return CompositeReference(columns, key, features, INCLUSION, 0.0)


def _single(child: MeasuredColumn, parent: MeasuredColumn) -> ColumnReference:
    features = reference_features(child, parent, 1.0, INCLUSION, DEFAULT_WEIGHTS.values)
    return ColumnReference(child, parent, features, INCLUSION, 0.0)
