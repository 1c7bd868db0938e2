"""Evaluations: how answers are scored, how sure a figure is, and what has changed."""

from __future__ import annotations

import asyncio
import math
import random
import subprocess
import sys
import threading
from decimal import Decimal
from pathlib import Path
from statistics import NormalDist, fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.copilot import (
    Agent,
    LlmConfig,
    LlmPrompt,
    ScriptedProvider,
)
from fluid_build.copilot.errors import CostLimitExceeded
from fluid_build.copilot.evals import (
    Case,
    EvalRun,
    Scorer,
    Trial,
    compare,
    contains,
    equals,
    evaluate,
    evaluate_sync,
    read_cases,
)
from fluid_build.copilot.evals.runs import estimate
from fluid_build.copilot.llm.answers import Usage
from fluid_build.copilot.messages import text_of
from fluid_build.errors import FaultyFileError, UsageError
from tests.fault_server import LoopbackServer, Reply, unauthorized

SUMS = [Case(f"{n}+1", f"{n} + 1", str(n + 1)) for n in range(6)]


def right_of(total: int) -> ScriptedProvider:
    """A model that knows the first sums, and no other."""

    def answer(prompt: LlmPrompt) -> str:
        first = int(text_of(prompt.messages[-1]).split()[0])
        return str(first + 1) if first < total else "many"

    return ScriptedProvider(answer)


def run_of(known: int, repeats: int = 1) -> EvalRun:
    return evaluate_sync(Agent(right_of(known)), SUMS, [equals], repeats=repeats)


@pytest.mark.parametrize("known", range(len(SUMS) + 1))
def test_the_score_is_the_share_that_the_agent_knows(known: int) -> None:
    run = run_of(known, repeats=2)
    assert run.scores["equals"].mean == pytest.approx(known / len(SUMS))
    assert [(trial.case, trial.repeat) for trial in run.trials[:3]] == [
        ("0+1", 1),
        ("0+1", 2),
        ("1+1", 1),
    ]


def test_a_function_is_evaluated_as_an_agent_is() -> None:
    def add(prompt: str) -> str:
        assert threading.current_thread() is not threading.main_thread()
        return str(int(prompt.split()[0]) + 1)

    async def add_later(prompt: str) -> str:
        await asyncio.sleep(0)
        return add_quietly(prompt)

    def add_quietly(prompt: str) -> str:
        return str(int(prompt.split()[0]) + 1)

    assert evaluate_sync(add, SUMS, [equals]).scores["equals"].mean == 1
    assert evaluate_sync(add_later, SUMS, [equals]).scores["equals"].mean == 1


def test_a_scorer_may_wait_and_may_have_nothing_to_say() -> None:
    async def even(trial: Trial) -> float | None:
        await asyncio.sleep(0)
        return None if trial.output == "1" else int(trial.output) % 2 == 0

    run = evaluate_sync(lambda prompt: str(int(prompt.split()[0]) + 1), SUMS, [even, contains])
    assert run.scores["even"].count == len(SUMS) - 1
    assert run.scores["even"].mean == 3 / 5
    assert run.scores["contains"].mean == 1


def test_a_trial_that_fails_scores_nothing_and_stops_nothing() -> None:
    def fail(prompt: str) -> str:
        if prompt == "2 + 1":
            raise ValueError("a key: sk-proj-abcdefghijklmnopqrstuvwxyz0123456789")
        return str(int(prompt.split()[0]) + 1)

    run = evaluate_sync(fail, SUMS, [equals])
    (failed,) = run.failures
    assert (failed.case, failed.scores) == ("2+1", {"equals": 0.0})
    assert failed.error is not None
    assert failed.error.startswith("ValueError: a key")
    assert "abcdefghijklmnop" not in failed.error
    assert run.scores["equals"].mean == pytest.approx(5 / 6)


def test_no_more_trials_run_at_once_than_allowed() -> None:
    running, most = 0, 0

    async def count(_: str) -> str:
        nonlocal running, most
        running, most = running + 1, max(most, running + 1)
        await asyncio.sleep(0.001)
        running -= 1
        return ""

    evaluate_sync(count, SUMS, [equals], repeats=4, parallel=3)
    assert most == 3


def test_the_ceiling_holds_over_all_trials_and_what_was_reached_is_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reply = Reply("1", usage=Usage(1_000, 1_000))
    with LoopbackServer(lambda _: reply) as server:
        monkeypatch.setenv("OPENAI_API_KEY", server.key)
        config = LlmConfig("openai", "gpt-4.1", base_url=server.base_url("openai"))
        agent = Agent(config, max_output_tokens=1_000)
        with pytest.raises(CostLimitExceeded) as caught:
            evaluate_sync(agent, SUMS, [equals], repeats=9, max_cost="0.05")
    run = caught.value.result
    assert isinstance(run, EvalRun)
    assert run.cost_usd is not None
    assert Decimal("0.02") < run.cost_usd <= Decimal("0.05")
    assert len(run.trials) == len(server.requests) == 5


def test_a_failing_provider_is_a_failure_of_each_trial(monkeypatch: pytest.MonkeyPatch) -> None:
    with LoopbackServer(lambda _: unauthorized()) as server:
        monkeypatch.setenv("OPENAI_API_KEY", server.key)
        config = LlmConfig("openai", "gpt-4.1", base_url=server.base_url("openai"))
        run = evaluate_sync(Agent(config), SUMS, [equals])
    assert len(run.failures) == len(SUMS)
    assert run.failures[0].error is not None
    assert run.failures[0].error.startswith("ProviderAuthError")


def test_an_error_of_a_scorer_is_raised_after_the_trials_under_way() -> None:
    ended = []

    async def slow(prompt: str) -> str:
        await asyncio.sleep(0.01 if prompt == SUMS[1].input else 0)
        ended.append(prompt)
        return prompt

    def broken(_: Trial) -> float:
        raise KeyError("a bug")

    with pytest.raises(KeyError, match="a bug"):
        asyncio.run(evaluate(slow, SUMS, [broken], parallel=2))
    assert ended == [SUMS[0].input, SUMS[1].input]


def test_what_cannot_be_evaluated_is_refused() -> None:
    def nothing(_: Trial) -> float:
        return math.nan

    twice = [Case("same", 1), Case("same", 2)]
    scorers: list[Scorer] = [equals, equals]
    for cases, judges, says in (
        ([], [equals], "no cases"),
        (twice, [equals], "'same'"),
        (SUMS, [], "scorers"),
        (SUMS, scorers, "scorers"),
        (SUMS, [nothing], "returned nan"),
    ):
        with pytest.raises(UsageError, match=says):
            evaluate_sync(str, cases, judges)
    with pytest.raises(UsageError, match="at least 1"):
        evaluate_sync(str, SUMS, [equals], repeats=0)


def test_a_run_is_read_again_as_it_was_written() -> None:
    run = run_of(3, repeats=2)
    assert EvalRun.model_validate_json(run.model_dump_json()) == run
    assert str(run) == "equals: 0.50 [0.14, 0.86]\n12 trials, 0 failed"


def test_two_runs_are_compared_case_by_case() -> None:
    (difference,) = compare(run_of(2), run_of(5))
    assert difference.better == ("2+1", "3+1", "4+1")
    assert difference.worse == ()
    assert difference.change.mean == pytest.approx(0.5)
    assert not difference.is_clear  # Three of six may be chance.
    (clear,) = compare(run_of(0), run_of(6))
    assert clear.is_clear
    assert str(clear) == "equals: 0.00 to 1.00, +1.00 [+1.00, +1.00]"
    with pytest.raises(UsageError, match="in common"):
        compare(run_of(2), evaluate_sync(str, [Case("other", 1, "1")], [equals]))


def test_an_interval_contains_the_truth_as_often_as_it_says() -> None:
    chance = random.Random(5)
    for share in (0.1, 0.5, 0.9):
        for per_case in (1, 3):
            hits = 0
            for _ in range(400):
                # Each case has a difficulty of its own, so its trials resemble each other.
                cases = [chance.betavariate(4 * share, 4 * (1 - share)) for _ in range(12)]
                trials = [[float(chance.random() < p) for _ in range(per_case)] for p in cases]
                found = estimate(trials)
                assert found.low is not None
                assert found.high is not None
                hits += found.low <= share <= found.high
            assert hits >= 0.93 * 400, (share, per_case, hits)


@given(st.lists(st.lists(st.floats(0, 1), min_size=1, max_size=4), min_size=1, max_size=40))
def test_bounds_are_around_the_mean_and_within_what_a_score_can_be(
    scores: list[list[float]],
) -> None:
    found = estimate(scores)
    expected = fmean(map(fmean, scores))
    assert found.mean == pytest.approx(expected)
    if found.low is not None and found.high is not None:
        assert -1e-9 <= found.low <= found.mean + 1e-9
        assert found.mean - 1e-9 <= found.high <= 1 + 1e-9


def test_few_figures_are_trusted_less_than_a_normal_distribution_says() -> None:
    few, many = estimate([[4.0], [5.0], [6.0]]), estimate([[4.0], [5.0], [6.0]] * 100)
    assert few.high is not None
    assert many.high is not None
    normal = NormalDist().inv_cdf(0.975)
    assert few.high - few.mean == pytest.approx(4.303 / math.sqrt(3), rel=1e-3)
    assert many.high - many.mean == pytest.approx(normal * 0.818 / math.sqrt(300), rel=0.01)
    assert estimate([[5.0]]).low is None


def test_cases_are_read_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "cases.yaml"
    path.write_text("- {name: a, input: 2 + 2, expected: {sum: 4}}\n- {name: b, input: [1, 2]}\n")
    assert read_cases(path) == [Case("a", "2 + 2", {"sum": 4}), Case("b", [1, 2])]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("- {name: a, input: x, expects: y}", "case 1 expects"),
        ("- {name: a, input: x}\n- {input: y}\n- {name: 3, input: z}", "2 problems"),
        ("a: b", "the file"),
        ("- {name: [", "isn't YAML"),
        ("\udcff", "isn't UTF-8"),
        (None, "can't be read"),
    ],
)
def test_a_file_of_cases_that_is_wrong_is_refused_by_what_is_wrong(
    tmp_path: Path, text: str | None, says: str
) -> None:
    path = tmp_path / "cases.yaml"
    if text is not None:
        path.write_text(text, "utf-8", errors="surrogateescape")
    with pytest.raises(FaultyFileError, match=says):
        read_cases(path)


def test_an_evaluation_needs_pydantic_alone() -> None:
    code = (
        "import sys; from fluid_build.copilot import Agent, ScriptedProvider;"
        "from fluid_build.copilot.evals import Case, contains, evaluate_sync;"
        "agent = Agent(ScriptedProvider(['Paris.']));"
        "assert evaluate_sync(agent, [Case('a', 'Capital?', 'paris')], [contains]).scores;"
        "print(*sys.modules)"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not {"httpx", "stamina", "yaml", "numpy", "duckdb", "genai_prices"} & set(loaded)
