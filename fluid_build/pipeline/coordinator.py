"""The coordinator: a composite agent that takes a source through all stages, to its folder.

The steps, their order and their names are those of the Agentic Primitives page, "Composing them".
The steps hand large values to each other through the run's values; its state stays small.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from fluid_build.contract.consistency import check_consistency
from fluid_build.contract.write.yaml_text import as_document
from fluid_build.copilot import retrieval
from fluid_build.copilot.agents.composite import (
    Composite,
    CompositeAgent,
    FunctionStep,
    Halt,
    StepResult,
    function_step,
    put_state,
)
from fluid_build.copilot.agents.composite.behaviour import Args
from fluid_build.copilot.agents.composite.state import Item
from fluid_build.copilot.cost import get_cost_tracker
from fluid_build.copilot.scratchpad import (
    CriticFinding,
    RetrievalResult,
    Scratchpad,
    StageFeedback,
)
from fluid_build.decisions.verdicts import Verdict
from fluid_build.forging import Forged, ForgeOptions, Preview
from fluid_build.forging.documents import refuse_invalid
from fluid_build.forging.folder import preview_folder, write_folder
from fluid_build.forging.project_edits import KeptEdits
from fluid_build.forging.stages import decide, measure, prove, report_stage
from fluid_build.forging.undelivered import with_undelivered
from fluid_build.json_types import JsonObject, JsonValue
from fluid_build.observations.observe import Observations
from fluid_build.pipeline.builder import BuilderAgent
from fluid_build.pipeline.conformance.agent import ConformanceAgent
from fluid_build.pipeline.conformance.report import conformance_errors, verdicts_by_standard
from fluid_build.pipeline.critic.agent import CriticAgent
from fluid_build.pipeline.derived import Derived, errors_of
from fluid_build.pipeline.logical.draft import LogicalOutcome
from fluid_build.pipeline.memory import EPISODES, model_memory, search_text
from fluid_build.pipeline.sessions import restore_session, saved_session
from fluid_build.pipeline.stage_clock import StageClock
from fluid_build.pipeline.validator import ValidationReport, ValidatorAgent, with_critic_errors
from fluid_build.pipeline.values import (
    DECISIONS,
    OBSERVATIONS,
    PROFILE,
    PROOF,
    PROPOSED,
    VERDICTS,
)
from fluid_build.pipeline.workplace import Workplace
from fluid_build.transform.proof.folder_changes import FileChange

_MOST_ATTEMPTS = 2
"""How often a model is asked for decisions: once more with feedback, and then not at all."""

Work = Callable[[Composite], JsonObject]
AskingWork = Callable[[Composite], Awaitable[JsonObject]]


class Coordinator(CompositeAgent):
    """The agent that runs the staged pipeline. A run without a model goes the same way."""

    name = "coordinator"

    def __init__(self, workplace: Workplace) -> None:
        self.place = workplace
        self.preview: Preview | None = None
        self._derived: Derived | None = None
        self._clock = StageClock(workplace.session)
        self._stages: dict[str, FunctionStep] = {
            "logical": self._asking_step("logical", self._logical)
        }
        self._stages |= {
            name: self._step(name, work)
            for name, work in {
                "profile": self._profile,
                "logical_critic": self._run_logical_critic,
                "retrieval": self._retrieve_similar_models,
                "builder": self._builder,
                "conformance": self._run_pre_emit_conformance,
                "ddl": self._ddl,
                "dbt": self._dbt,
                "docs": self._docs,
                "validator": self._validator,
                "escalation": self._escalate,
                "repair": self._maybe_repair_physical,
                "write": self._write,
                "episode": self._record_forge_episode,
                "memory": self._write_semantic_record,
            }.items()
        }

    # The order of the stages.

    def init(self, args: Args) -> Composite:
        """Return the first state: all stages, in the documented order."""
        del args
        first, last = ["profile"], ["write", "episode", "memory"]
        return Composite(
            steps=[
                *(self._stages[name] for name in first),
                *self._modelling_stages(),
                *(self._stages[name] for name in last),
            ],
            internal={"attempt": 0, "first_finding": 0, "stages": []},
        )

    def _modelling_stages(self) -> list[Item]:
        names = ("logical", "logical_critic", "retrieval", "builder", "conformance")
        ending = ("validator", "escalation", "repair")
        return [
            *(self._stages[name] for name in names),
            [self._stages[name] for name in ("ddl", "dbt", "docs")],
            *(self._stages[name] for name in ending),
        ]

    def get_next_steps(self, step: FunctionStep, state: Composite) -> Sequence[Item]:
        """Return the stages to repeat where the repair asks for it."""
        is_repeated = step.name == "repair" and state.response["rerun"] is not None
        return self._modelling_stages() if is_repeated else []

    # The life of a stage.

    def on_step_start(self, step: FunctionStep, state: Composite) -> Composite:
        """Report that a stage has begun."""
        self.place.on_stage(self._clock.start(step.name))
        return state

    def on_step_complete(self, step: FunctionStep, state: Composite) -> Composite:
        """Note what a stage has done and used, and report that it has ended."""
        event = self._clock.end(step.name, "finished")
        self.place.on_stage(event)
        row = {
            "name": event.name,
            "seconds": event.seconds,
            "input_tokens": event.input_tokens,
            "output_tokens": event.output_tokens,
            "cost_usd": str(event.cost_usd),
            "findings": event.findings,
            "spans": [[event.began, round(event.began + event.seconds, 3)]],
        }
        stages = state.internal["stages"]
        assert isinstance(stages, list)
        state = put_state(state, "stages", [*stages, row])
        state = put_state(state, step.name, state.response)
        if step.name == "repair" and state.response["rerun"] is not None:
            state = put_state(state, "attempt", _number(state, "attempt") + 1)
            state = put_state(state, "first_finding", len(self._scratchpad.critic_findings))
        return state

    def on_error(self, step: FunctionStep, error: object, state: Composite) -> Halt:
        """Stop at a failed stage; the run can be resumed there."""
        self.place.on_stage(self._clock.end(step.name, "failed", error))
        return Halt(state)

    def dump_internal(self, internal: Mapping[str, Any]) -> JsonValue:
        """Return the notes of the run, with those of its session."""
        return {**internal, "session": saved_session(self.place.session)}

    def load_internal(self, dumped: Any) -> Mapping[str, object]:
        """Restore the session, and return the notes of the run."""
        notes = dict(dumped)
        restore_session(self.place.session, notes.pop("session"))
        self._clock.continue_from(
            max((end for row in notes["stages"] for _, end in row.get("spans", ())), default=0.0)
        )
        return notes

    # The stages.

    def _profile(self, _state: Composite) -> JsonObject:
        request = self.place.request
        # A damaged file, or another choice of tables, is said before anything is measured.
        _ = self.place.earlier
        with_undelivered(self.place.source, request.out, request.options.decisions)
        profile = measure(self.place.source, self.place.on_progress)
        self.place.values.put(PROFILE, profile)
        return {"tables": len(profile.tables)}

    async def _logical(self, state: Composite) -> JsonObject:
        """Let the model of the run propose decisions, and measure them all on the data."""
        place = self.place
        outcome = await self._proposed(state)
        place.values.put(PROPOSED, outcome.verdicts)
        place.values.put(DECISIONS, outcome.decisions)
        profile, source = place.values.require(PROFILE), place.source
        decided = decide(source, profile, self._options())
        place.values.put(VERDICTS, decided.verdicts)
        observations = place.look_closer(decided.profile)
        place.values.put(OBSERVATIONS, observations)
        self._derived = None
        report_stage(place.on_progress, "model")
        return {
            "decisions": len(outcome.decisions),
            "relations": len(self.derived.designed.plan.published),
            "invalid": [entry.fault for entry in outcome.invalid],
            "unread": outcome.unread,
            "chunks": outcome.chunks,
        }

    def _run_logical_critic(self, _state: Composite) -> JsonObject:
        findings = CriticAgent().review_logical(
            self.derived.designed.model, scratchpad=self._scratchpad
        )
        return {"findings": len(findings)}

    def _retrieve_similar_models(self, _state: Composite) -> JsonObject:
        query = search_text(self.place.values.require(PROFILE))
        similar = self.retrieve_similar_models(query)
        return {"similar": [result.key for result in similar]}

    def retrieve_similar_models(self, query: str) -> list[RetrievalResult]:
        """Return remembered models that are like this one, and add them to the scratchpad."""
        return retrieval.retrieve_similar_models(
            query, store=self.place.session.store, scratchpad=self._scratchpad
        )

    def _builder(self, _state: Composite) -> JsonObject:
        report_stage(self.place.on_progress, "contract")
        derived = self.derived
        built = BuilderAgent().build(derived.designed, derived.options, scratchpad=self._scratchpad)
        derived.contract = built.contract
        CriticAgent().review_contract(built.contract, scratchpad=self._scratchpad)
        return {"similar_models": list(built.similar_models)}

    def _run_pre_emit_conformance(self, _state: Composite) -> JsonObject:
        derived, agent = self.derived, ConformanceAgent()
        model = agent.apply_dialect_mapper(derived.designed.model)
        report = agent.run(logical=model, contract=derived.contract)
        return {
            "summary": report.summary(),
            "standards": verdicts_by_standard(report),
            "errors": conformance_errors(report),
        }

    def _ddl(self, _state: Composite) -> JsonObject:
        return {"files": len(self.derived.outputs.schema)}

    def _dbt(self, _state: Composite) -> JsonObject:
        report_stage(self.place.on_progress, "project")
        return {"files": len(self.derived.outputs.project.files)}

    def _docs(self, _state: Composite) -> JsonObject:
        return {"files": len(self.derived.outputs.documents)}

    def _validator(self, _state: Composite) -> JsonObject:
        place, derived = self.place, self.derived
        proof = prove(place.source, derived.designed, derived.options, place.on_progress)
        place.values.put(PROOF, proof)
        plan, model = derived.designed.plan, derived.designed.model
        CriticAgent().review_transform(plan, model, scratchpad=self._scratchpad)
        variant = model.technique if model.dimensional is None else model.dimensional.variant
        warnings = check_consistency(as_document(derived.contract))
        get_cost_tracker().record_variant_lint(variant, len(warnings))
        report = ValidatorAgent().validate(derived.contract, proof)
        return {**asdict(report), "variant_lint": {variant: len(warnings)}}

    def _escalate(self, state: Composite) -> JsonObject:
        report = replace(
            _report_of(state, "validator"),
            conformance_errors=self.conformance_errors(state),
        )
        return asdict(self._escalate_critic_errors_into_report(report, self.findings(state)))

    def _escalate_critic_errors_into_report(
        self, report: ValidationReport, findings: Sequence[CriticFinding]
    ) -> ValidationReport:
        """Return the report with the critic's errors: they count as the validator's own."""
        return with_critic_errors(report, findings)

    def _maybe_repair_physical(self, state: Composite) -> JsonObject:
        """Ask for another run of the stage at fault, where that can change anything.

        A draft is made by rules: what is wrong with it is wrong the next time too. So only what
        a model's decisions did is repeated, with feedback, and then without those decisions.
        """
        report = _report_of(state, "escalation")
        fault = self._fault_of_decisions(report)
        if not fault:
            refuse_invalid(report.contract_errors)
            return {"rerun": None}
        place = self.place
        place.session.record_repair("logical", fault)
        feedback = StageFeedback("validator", "logical", fault, {"errors": list(report.faults)})
        self._scratchpad.add_feedback(feedback)
        return {"rerun": "logical"}

    def _fault_of_decisions(self, report: ValidationReport) -> str:
        """Return what is wrong with the model, and wouldn't be without the model's decisions."""
        place = self.place
        if report.ok or not place.values.require(DECISIONS):
            return ""
        draft = self._draft()
        errors = {*report.contract_errors, *report.conformance_errors, *report.critic_errors}
        errors -= errors_of(draft)
        if errors:
            return "; ".join(sorted(errors))
        if not report.loss:
            return ""
        proof = prove(place.source, draft.designed, draft.options)
        return "" if proof.verdict == "lost" else report.loss

    def _write(self, _state: Composite) -> JsonObject:
        place, request, outputs = self.place, self.place.request, self.derived.outputs
        proof = place.values.require(PROOF)
        report_stage(place.on_progress, "write")
        if request.is_preview:
            self.preview = preview_folder(outputs, proof)
            return {"files": [], "kept": [], "edits": {}}
        written = write_folder(outputs, proof)
        return {
            "files": [str(path) for path in written.files],
            "kept": [asdict(change) for change in written.kept],
            "edits": {name: list(places) for name, places in asdict(written.edits).items()},
        }

    def _record_forge_episode(self, state: Composite) -> JsonObject:
        """Remember what this run has made, for `fluid memory` and later runs."""
        place, model = self.place, self.derived.designed.model
        if place.request.is_preview:
            return {}
        memory = model_memory(self.derived.decided.profile, model)
        episode = {
            "run": self._run_id,
            "model": memory.key,
            "technique": model.technique,
            "proof": place.values.require(PROOF).verdict,
            "attempts": _number(state, "attempt") + 1,
            "fallback_used": place.session.fallback_used,
        }
        place.session.store.put(EPISODES, self._run_id, episode, text=memory.text)
        return {}

    def _write_semantic_record(self, _state: Composite) -> JsonObject:
        if not self.place.request.is_preview:
            self.write_semantic_record()
        return {}

    def write_semantic_record(self) -> None:
        """Remember the model, so that runs on similar sources find it."""
        memory = model_memory(self.derived.decided.profile, self.derived.designed.model)
        retrieval.write_semantic_record(
            self.place.session.store, memory.key, memory.value, text=memory.text
        )

    # Results.

    def forged(self, state: Composite) -> Forged:
        """Return what a finished run has made."""
        written = _notes_of(state, "write")
        return self.derived.outputs.forged(
            self.place.values.require(PROOF),
            tuple(Path(path) for path in written["files"]),
            tuple(FileChange(**change) for change in written["kept"]),
            KeptEdits(**{name: tuple(places) for name, places in written["edits"].items()}),
        )

    @property
    def derived(self) -> Derived:
        """What follows from the values that the stages have measured so far."""
        if self._derived is None:
            values = self.place.values
            self._derived = self._derive(
                self._options(), values.require(VERDICTS), values.require(OBSERVATIONS)
            )
        return self._derived

    def conformance(self, state: Composite) -> dict[str, str]:
        """Return what became of each standard that the results were checked against."""
        return dict(_notes_of(state, "conformance")["standards"])

    def variant_lint(self, state: Composite) -> dict[str, int]:
        """Return how many warnings the validator has about the contract, by the model's variant."""
        return dict(_notes_of(state, "validator").get("variant_lint", {}))

    def conformance_errors(self, state: Composite) -> tuple[str, ...]:
        """Return where the results don't conform to a standard, each as a sentence."""
        return tuple(_notes_of(state, "conformance")["errors"])

    # Parts of stages.

    async def _proposed(self, state: Composite) -> LogicalOutcome:
        """Return what the run's model contributes; nothing once it was asked twice."""
        if self.place.session.llm_config is None:
            return LogicalOutcome()
        if _number(state, "attempt") >= _MOST_ATTEMPTS:
            return LogicalOutcome(verdicts=self._dropped_proposals())
        # Most runs ask no model, and what asks one takes a fifth of a second to import.
        from fluid_build.pipeline.proposing import proposed

        return await proposed(self.place)

    def _dropped_proposals(self) -> tuple[Verdict, ...]:
        """Return the last proposals as refused, for what the validator said of their model."""
        place = self.place
        faults = place.session.get_scratchpad().feedback_for_stage("logical")
        message = f"Dropped, since the model with it wasn't right: {faults[-1].summary}"
        return tuple(
            replace(verdict, status="refused", message=message)
            if verdict.status != "refused"
            else verdict
            for verdict in place.values.require(PROPOSED)
        )

    def _draft(self) -> Derived:
        """Return what follows without the model's decisions."""
        place = self.place
        options = place.request.options
        decided = decide(place.source, place.values.require(PROFILE), options)
        observations = place.look_closer(decided.profile)
        return self._derive(options, decided.verdicts, observations)

    def _derive(
        self, options: ForgeOptions, verdicts: tuple[Verdict, ...], observations: Observations
    ) -> Derived:
        place = self.place
        profile = place.values.require(PROFILE)
        return Derived(
            place.source,
            options,
            place.request.out,
            profile,
            verdicts,
            observations,
            place.earlier,
            place.request.overwrite,
        )

    def _options(self) -> ForgeOptions:
        """Return the options with the model's decisions, in the order of the file they go into."""
        options = self.place.request.options
        decisions = (*options.decisions, *self.place.values.require(DECISIONS))
        return replace(options, decisions=decisions)

    def findings(self, state: Composite) -> list[CriticFinding]:
        """Return the critic's findings on the current attempt."""
        return self._scratchpad.critic_findings[_number(state, "first_finding") :]

    @property
    def _scratchpad(self) -> Scratchpad:
        return self.place.session.get_scratchpad()

    @property
    def _run_id(self) -> str:
        return self.place.session.run_id or ""

    def _step(self, name: str, work: Work) -> FunctionStep:
        def timed(state: Composite) -> StepResult:
            with self._clock.working(name):
                return StepResult(work(state))

        return function_step(name, timed)

    def _asking_step(self, name: str, work: AskingWork) -> FunctionStep:
        async def timed(state: Composite) -> StepResult:
            with self._clock.working(name):
                return StepResult(await work(state))

        return function_step(name, timed)


def _number(state: Composite, key: str) -> int:
    number = state.internal[key]
    assert isinstance(number, int)
    return number


def _notes_of(state: Composite, stage: str) -> Mapping[str, Any]:
    notes = state.internal[stage]
    assert isinstance(notes, Mapping)
    return notes


def _report_of(state: Composite, stage: str) -> ValidationReport:
    saved = _notes_of(state, stage)
    return ValidationReport(
        tuple(saved["contract_errors"]),
        tuple(saved["conformance_errors"]),
        tuple(saved["critic_errors"]),
        saved["loss"],
    )
