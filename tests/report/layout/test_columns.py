from hypothesis import given
from hypothesis import strategies as st

from fluid_build.report.layout.columns import assign_columns
from fluid_build.report.layout.graph import Graph
from fluid_build.report.layout.nets import nets_of
from tests.report.layout.graphs import graph_of, graphs


@given(graphs(), st.floats(100, 2000))
def test_what_must_be_left_of_a_box_is_in_an_earlier_column(graph: Graph, limit: float) -> None:
    if graph.nodes:
        nets = nets_of(graph)

        columns = assign_columns([node.height for node in graph.nodes], nets, limit)

        assert all(columns[left] < columns[right] for net in nets for left, right in net.arcs)
        assert set(columns) == set(range(max(columns) + 1))


def test_many_children_are_in_columns_of_the_allowed_height() -> None:
    graph = graph_of(41, [(child, 0) for child in range(1, 41)])

    columns = assign_columns([100.0] * 41, nets_of(graph), 1000)

    assert max(columns.count(column) for column in columns) == 10
