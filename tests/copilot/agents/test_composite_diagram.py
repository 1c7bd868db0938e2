"""The queue of a composite as a flowchart in Mermaid."""

import re

from hypothesis import given
from hypothesis import strategies as st

from fluid_build.copilot import Composite, completion, delegate
from fluid_build.copilot.agents.composite import StepResult, function_step
from fluid_build.copilot.agents.composite.diagram import composite_diagram


class Critic:
    def get_response(self, args: object) -> str:
        return str(args)


def test_a_queue_is_drawn_with_its_groups_side_by_side() -> None:
    steps = [
        completion("formulate", "Say what to review."),
        [delegate("pedantic", Critic(), dict), delegate("state_flow", Critic, dict)],
        function_step("write", lambda _state: StepResult("x")),
    ]
    expected = """flowchart TD
    start([start])
    s1("formulate")
    start --> s1
    s2[["pedantic<br/>Critic"]]
    s3[["state_flow<br/>Critic"]]
    s1 --> s2 & s3
    s4["write"]
    s2 & s3 --> s4
    done([end])
    s4 --> done
"""
    assert composite_diagram(Composite(steps=steps)) == composite_diagram(steps) == expected


@given(names=st.lists(st.text(), max_size=6))
def test_no_name_breaks_the_drawing(names: list[str]) -> None:
    drawing = composite_diagram([completion(name, "x") for name in names])
    lines = drawing.split("\n")[2:-3]
    assert len(lines) == 2 * len(names)
    assert all(re.fullmatch(r'    s\d+\("[^"`<>#;]*"\)', line) for line in lines[::2])
