"""Evaluations: an agent answers cases several times, scorers judge, and two runs are compared.

A ``Case`` is what is asked and what is expected. ``evaluate`` asks an ``Agent``, or calls any
function, and has each answer scored by functions. The ``EvalRun`` that it returns has each score's
mean with its confidence interval, is JSON, and is compared with another one by
``compare``. It needs Pydantic alone, and PyYAML where cases are read from a file.
"""

from fluid_build.copilot.evals.comparing import Difference, compare
from fluid_build.copilot.evals.running import Scorer, contains, equals, evaluate, evaluate_sync
from fluid_build.copilot.evals.runs import Case, Estimate, EvalRun, ScoredTrial, Trial, read_cases

__all__ = [
    "Case",
    "Difference",
    "Estimate",
    "EvalRun",
    "ScoredTrial",
    "Scorer",
    "Trial",
    "compare",
    "contains",
    "equals",
    "evaluate",
    "evaluate_sync",
    "read_cases",
]
