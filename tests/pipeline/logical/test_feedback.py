"""Feedback on proposals that the data contradicts: names and figures, no values."""

from collections.abc import Sequence
from dataclasses import replace

from fluid_build.copilot.llm.testing import ScriptedProvider
from fluid_build.decisions.language import AnyDecision
from fluid_build.decisions.verdicts import Verdict
from fluid_build.forging.options import ForgeOptions
from fluid_build.forging.stages import decide, design, look_closer, measure
from fluid_build.pipeline.logical.draft import Draft
from tests.pipeline.logical.drafts import answer, document, run
from tests.profiling.databases import database

CANARY = "Zyxwvut"
DATA = f"""
    CREATE TABLE people AS SELECT i AS id, '{CANARY}' || (i % 7) AS name, '{CANARY}' || i AS mail
        FROM range(60) AS t(i);
    CREATE TABLE visits AS SELECT i AS id, '{CANARY}' || (i % 90) AS mail, '{CANARY}1,5' AS paid,
        7700000 + i % 50 AS score FROM range(300) AS t(i);
"""
LIES = [
    {"decision": "set_key", "table": "visits", "columns": ["mail"]},
    {"decision": "business_key", "table": "people", "columns": ["name"]},
    {"decision": "grain", "table": "visits", "columns": ["score"]},
    {"decision": "type", "table": "visits", "columns": ["paid"], "value": "number comma"},
    {"decision": "type", "table": "people", "columns": ["mail"], "value": "date %d/%m/%Y"},
    {"decision": "measure", "table": "people", "columns": ["name"], "value": "additive"},
    {"decision": "rename", "table": "ghosts", "value": "spirits"},
    {
        "decision": "add_relationship",
        "table": "visits",
        "columns": ["mail"],
        "to_table": "people",
        "to_columns": ["mail"],
    },
    {
        "decision": "split",
        "table": "visits",
        "columns": ["score"],
        "to_columns": ["mail"],
        "value": "score",
    },
]


def test_refused_proposals_go_back_with_figures_and_without_values() -> None:
    """The real judgement of the data says what is wrong, in rows and not in values."""
    options = ForgeOptions(technique="data_vault_2")
    with database(DATA) as source:
        measured = measure(source)
        draft = decide(source, measured, options)
        observations = look_closer(source, measured)

        def judge(decisions: Sequence[AnyDecision]) -> Sequence[Verdict]:
            proposed = replace(options, decisions=tuple(decisions))
            decided = decide(source, measured, proposed)
            return design(decided, look_closer(source, decided.profile), proposed).verdicts

        model = ScriptedProvider([answer(*({**lie, "reason": "R."} for lie in LIES)), answer()])
        first = Draft(draft.profile, design(draft, observations, options).model)
        outcome = run(model, first, judge)
    correction = document(model.prompts[1])
    reasons = [refusal["why"] for refusal in correction["refused"]]
    assert "`visits.mail` isn't unique: 210 of 300 rows repeat a value." in reasons
    assert len(reasons) >= 6
    assert list(correction["tables"]) == ["people", "visits"]
    assert not any(CANARY in str(prompt.messages) for prompt in model.prompts)
    assert not any("77000" in str(prompt.messages) for prompt in model.prompts)
    assert not any(CANARY in verdict.message for verdict in outcome.verdicts)
