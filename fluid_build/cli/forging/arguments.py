"""The options of every forge of a named source: decisions, the model, the result and its report."""

from __future__ import annotations

import decimal
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from fluid_build.cli.forging.runs import ForgeCommand, Reporting
from fluid_build.cli.machine_options import Memory, Scratch, Threads
from fluid_build.cli.options import (
    Decisions,
    Deterministic,
    Diff,
    DomainName,
    DryRun,
    Force,
    Json,
    JsonLines,
    LlmEndpoint,
    LlmModel,
    LlmProvider,
    MaxCost,
    NoCache,
    Out,
    ReceiptFile,
    RequireLlm,
    ShareSamples,
    Tiered,
)
from fluid_build.cli.typed_decisions import typed_decision
from fluid_build.copilot.cost import parse_cost_limit
from fluid_build.decisions.language import AnyDecision
from fluid_build.forging import ForgeOptions
from fluid_build.pipeline.requests import ModelUse
from fluid_build.sources.combined import SourceRequest


@dataclass(frozen=True, slots=True)
class ForgeArguments:
    """Options as they were typed, in the order of the help."""

    decisions: Decisions = None
    llm_provider: LlmProvider = None
    llm_model: LlmModel = None
    llm_endpoint: LlmEndpoint = None
    tiered: Tiered = False
    no_cache: NoCache = False
    deterministic: Deterministic = False
    require_llm: RequireLlm = False
    share_samples: ShareSamples = False
    domain: DomainName = None
    max_cost: MaxCost = None
    dry_run: DryRun = False
    out: Out = None
    force: Force = False
    diff: Diff = False
    receipt: ReceiptFile = None
    memory: Memory = None
    threads: Threads = None
    scratch: Scratch = None
    json: Json = False
    json_lines: JsonLines = False

    @property
    def model_use(self) -> ModelUse:
        """Whether and how the run uses a language model."""
        return ModelUse(
            provider=self.llm_provider,
            model=self.llm_model,
            endpoint=self.llm_endpoint,
            tiered=self.tiered,
            no_cache=self.no_cache,
            deterministic=self.deterministic,
            is_required=self.require_llm,
            share_samples=self.share_samples,
        )

    @property
    def cost_limit(self) -> decimal.Decimal | None:
        """The most that the run may cost; raises UsageError for what isn't an amount."""
        return None if self.max_cost is None else parse_cost_limit(self.max_cost, "--max-cost")

    @property
    def reporting(self) -> Reporting:
        """How the result is reported."""
        return Reporting(self.json, self.json_lines, self.receipt, is_dry=self.dry_run)

    def command(
        self,
        kind: Literal["from-source", "from-ddl", "from-intent"],
        sources: Sequence[SourceRequest],
        options: ForgeOptions,
    ) -> ForgeCommand:
        """Return the command that these options and its own arguments make."""
        return ForgeCommand(
            kind,
            tuple(sources),
            options,
            self.model_use,
            decisions=self.decisions,
            out=self.out,
            overwrite=self.force,
            is_preview=self.diff,
            max_cost=self.cost_limit,
            added=self._domain_decisions,
        )

    @property
    def _domain_decisions(self) -> tuple[AnyDecision, ...]:
        """What --domain says, as a person's decision; raises UsageError for what isn't a name."""
        if self.domain is None:
            return ()
        decision = typed_decision(
            {"decision": "domain", "domain": self.domain},
            complaint="--domain isn't a name",
            hint="Use a short name, such as Sales.",
        )
        return (decision,)
