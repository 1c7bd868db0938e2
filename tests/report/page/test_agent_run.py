"""The page of a run of agents."""

import re
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from fluid_build.report.page.agent_run import OperationFacts, agent_run_page, processes

HOSTILE = "<script>alert(1)</script>"


def operation(number: int, parent: int | None, **facts: object) -> OperationFacts:
    values = {"kind": "step", "name": f"s{number}", "started": 100.0 + number, "seconds": 1.0}
    parent_id = None if parent is None else str(parent)
    return OperationFacts(str(number), parent_id, **(values | facts))  # type: ignore[arg-type]


def test_a_row_sums_up_what_is_inside_it() -> None:
    facts = {"kind": "model", "tokens": 10, "cost_usd": Decimal("0.25"), "attempts": 3}
    (process,) = processes(
        [
            operation(0, None, kind="agent"),
            operation(1, 0),
            operation(2, 1, **facts),
            operation(3, 1, **facts),
        ]
    )
    assert [(row.depth, row.tokens, row.cost_usd) for row in process.rows] == [
        (0, 20, Decimal("0.50")),
        (1, 20, Decimal("0.50")),
        (2, 10, Decimal("0.25")),
        (2, 10, Decimal("0.25")),
    ]
    sums = dict(process.sums)
    assert (sums["Calls of models"], sums["Tokens"], sums["Retries"]) == ("2", "20", "4")


def test_an_unknown_price_is_no_zero() -> None:
    (process,) = processes([operation(0, None), operation(1, 0, kind="model", tokens=5)])
    assert process.rows[0].cost_usd is None


def test_attempts_of_a_step_are_numbered() -> None:
    (process,) = processes(
        [
            operation(0, None, kind="agent"),
            operation(1, 0, name="a", error="ValueError"),
            operation(2, 0, name="a"),
            operation(3, 0, name="a"),
            operation(4, 0, name="b"),
        ]
    )
    assert [row.repeated for row in process.rows] == [0, 1, 2, 0, 0]


def test_each_process_has_its_own_axis() -> None:
    found = processes([operation(0, None), operation(1, 0), operation(9_000_000, None)])
    assert [len(process.rows) for process in found] == [2, 1]
    assert all(0 <= row.bar.start <= 100 for process in found for row in process.rows)


@given(
    parents=st.lists(st.integers(0, 30), max_size=30),
    seconds=st.lists(st.one_of(st.none(), st.floats(0, 1e6)), min_size=31, max_size=31),
)
def test_every_operation_is_on_the_page_once(
    parents: list[int], seconds: list[float | None]
) -> None:
    operations = [operation(0, None, seconds=seconds[0])]
    operations += [
        operation(number, parent if parent < number else None, seconds=seconds[number])
        for number, parent in enumerate(parents, start=1)
    ]
    rows = [row.operation.id for process in processes(operations) for row in process.rows]
    assert sorted(rows) == sorted(each.id for each in operations)


def test_names_are_escaped_and_nothing_is_loaded_or_run() -> None:
    page = agent_run_page(HOSTILE, [operation(0, None, name=HOSTILE, error=HOSTILE)])
    assert "<script" not in page
    assert page.count("&lt;script&gt;") >= 3
    assert not re.search(r"(src|href)=", page)
    assert "default-src &#39;none&#39;" in page
