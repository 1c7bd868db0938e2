"""The queue of a composite agent as a flowchart in Mermaid."""

from __future__ import annotations

from collections.abc import Sequence

from fluid_build.copilot.agents.composite.state import (
    Composite,
    DelegateStep,
    FunctionStep,
    Item,
    Step,
)

_SIGNS = str.maketrans({'"': "'", "\n": " ", "<": "(", ">": ")", "`": "'", "#": "no. ", ";": ","})
"""Signs that mean something in a label of Mermaid, by what stands for them."""


def composite_diagram(composite: Composite | Sequence[Item]) -> str:
    """Return the steps of a state, or of a queue, as a Mermaid flowchart from top to bottom.

    A completion is a rounded box, a delegation a box with double sides that names its agent, and a
    function a plain box. The steps of a group are side by side. What ``get_next_steps`` adds isn't
    known before the run.
    """
    items = composite.steps if isinstance(composite, Composite) else composite
    lines, before, number = ["flowchart TD", "    start([start])"], ["start"], 0
    for item in items:
        ids = []
        for step in [item] if isinstance(item, Step) else item:
            number += 1
            ids.append(f"s{number}")
            lines.append(f"    s{number}{_shape(step)}")
        lines += [f"    {' & '.join(before)} --> {' & '.join(ids)}"] if ids else []
        before = ids or before
    return "\n".join([*lines, "    done([end])", f"    {' & '.join(before)} --> done"]) + "\n"


def _shape(step: Step) -> str:
    name = _label(step.name)
    if isinstance(step, FunctionStep):
        return f'["{name}"]'
    if isinstance(step, DelegateStep):
        own = getattr(step.agent, "name", None)
        kind = step.agent if isinstance(step.agent, type) else type(step.agent)
        return f'[["{name}<br/>{_label(own if isinstance(own, str) else kind.__name__)}"]]'
    return f'("{name}")'


def _label(text: str) -> str:
    return text.translate(_SIGNS)
