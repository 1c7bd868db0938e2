"""The scratchpad: what is written is read, and only by writing is it changed."""

from __future__ import annotations

import copy
import json
import operator
import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from fluid_build.copilot.scratchpad import (
    CriticFinding,
    RetrievalResult,
    Scratchpad,
    StageFeedback,
)


def test_documented_samples() -> None:
    """The samples of the page run as they are written."""
    scratchpad = Scratchpad()
    scratchpad.add_critic_finding(
        CriticFinding(
            stage="logical",
            severity="warning",
            message="hub_customer has no business_key_columns",
            suggestion="set business_key_columns to ['customer_id']",
            target="dv2.hubs.hub_customer.business_key_columns",
        )
    )
    scratchpad.add_feedback(
        StageFeedback(
            source_stage="validator",
            target_stage="builder",
            summary="3 errors in metadata; retry with corrections",
            structured={"errors": ["domain missing", ...]},
        )
    )
    findings = scratchpad.critic_findings_for_stage("logical")
    errors = [f for f in findings if f.severity == "error"]
    feedback = scratchpad.feedback_for_stage("builder")
    top = scratchpad.top_retrievals(limit=3, namespace="memory/semantic")
    assert (len(findings), errors, len(feedback), top) == (1, [], 1, [])


def test_reads_are_copies() -> None:
    """Nothing that a reader or a writer does to its own value changes the scratchpad."""
    scratchpad = Scratchpad()
    structured = {"errors": ["one"]}
    scratchpad.add_feedback(StageFeedback("a", "b", "s", structured))
    scratchpad.put_raw("slot", structured)
    structured["errors"].append("two")
    scratchpad.feedback[0].structured.clear()
    scratchpad.feedback.clear()
    scratchpad.raw["slot"].clear()
    scratchpad.critic_findings.append(CriticFinding("a", "info", "m"))
    assert scratchpad.feedback[0].structured == {"errors": ["one"]}
    assert scratchpad.raw == {"slot": {"errors": ["one"]}}
    assert scratchpad.critic_findings == []


WRITES: dict[str, Callable[[dict[str, Any]], object]] = {
    "assignment": lambda raw: operator.setitem(raw, "x", 1),
    "deletion": lambda raw: operator.delitem(raw, "slot"),
    "update": lambda raw: raw.update(x=1),
    "union": lambda raw: operator.ior(raw, {"x": 1}),
    "setdefault": lambda raw: raw.setdefault("x", 1),
    "pop": lambda raw: raw.pop("slot"),
    "popitem": lambda raw: raw.popitem(),
    "clear": lambda raw: raw.clear(),
}


@pytest.mark.parametrize("write", WRITES)
def test_writing_to_the_copy_of_the_free_form_slots_is_refused(write: str) -> None:
    scratchpad = Scratchpad()
    scratchpad.put_raw("slot", 1)
    with pytest.raises(TypeError, match=r"scratchpad\.put_raw\(key, value\)"):
        WRITES[write](scratchpad.raw)
    assert scratchpad.raw == {"slot": 1}


def test_the_free_form_slots_are_an_ordinary_dict_to_readers() -> None:
    scratchpad = Scratchpad()
    scratchpad.put_raw("slot", [1])
    raw = scratchpad.raw
    assert isinstance(raw, dict)
    assert json.dumps(raw) == '{"slot": [1]}'
    copies = [copy.copy(raw), copy.deepcopy(raw), pickle.loads(pickle.dumps(raw)), raw | {}]
    for plain in copies:
        plain["x"] = 1
        assert plain == {"slot": [1], "x": 1}


def test_threads_lose_no_free_form_slot() -> None:
    scratchpad = Scratchpad()
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(lambda n: scratchpad.put_raw(f"slot {n}", n), range(300)))
    assert len(scratchpad.raw) == 300


def test_top_retrievals() -> None:
    """The nearest come first, each record once, of one namespace or of all."""
    scratchpad = Scratchpad()
    for namespace, key, similarity in [
        ("memory/semantic", "a", 0.2),
        ("memory/semantic", "b", 0.9),
        ("memory/semantic", "a", 0.7),
        ("memory/episodic", "c", 0.8),
    ]:
        scratchpad.add_retrieval(RetrievalResult(namespace, key, similarity))
    top = scratchpad.top_retrievals(limit=3, namespace="memory/semantic")
    assert [(result.key, result.similarity) for result in top] == [("b", 0.9), ("a", 0.7)]
    assert [result.key for result in scratchpad.top_retrievals(2)] == ["b", "c"]
    assert scratchpad.top_retrievals(-1) == []
    assert len(scratchpad.retrievals) == 4


def test_findings_by_stage() -> None:
    """Findings and feedback are found under the stage that they are meant for."""
    scratchpad = Scratchpad()
    scratchpad.add_critic_finding(CriticFinding("logical", "error", "m"))
    scratchpad.add_critic_finding(CriticFinding("builder", "info", "m"))
    scratchpad.add_feedback(StageFeedback("builder", "logical", "s"))
    assert [f.severity for f in scratchpad.critic_findings_for_stage("logical")] == ["error"]
    assert scratchpad.feedback_for_stage("builder") == []


def test_severity_is_checked() -> None:
    """There are three severities."""
    with pytest.raises(ValueError, match="error, warning, info"):
        CriticFinding("logical", "fatal", "m")  # type: ignore[arg-type]


def test_threads_lose_nothing() -> None:
    """Three threads that write at the same time drop nothing."""
    scratchpad = Scratchpad()

    def work(stage: str) -> None:
        for _ in range(300):
            scratchpad.add_critic_finding(CriticFinding(stage, "info", "m"))

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(work, ["a", "b", "c"]))
    assert len(scratchpad.critic_findings) == 900
