"""The CriticAgent: reviews what the stages of a run return, by rules and without a model.

Source: Agentic Primitives, "CriticAgent".
"""

from collections.abc import Iterable

from pydantic import BaseModel

from fluid_build.contract.write.yaml_text import as_document
from fluid_build.copilot.scratchpad import CriticFinding, Scratchpad
from fluid_build.pipeline.critic.conceptual_rules import CONCEPTUAL_RULES
from fluid_build.pipeline.critic.contract_rules import CONTRACT_RULES
from fluid_build.pipeline.critic.dimensional_rules import DIMENSIONAL_RULES
from fluid_build.pipeline.critic.findings import (
    ContractRule,
    LogicalRule,
    TransformRule,
    bounded,
)
from fluid_build.pipeline.critic.transform_rules import TRANSFORM_RULES
from fluid_build.pipeline.critic.vault_rules import VAULT_RULES

LOGICAL_RULES: tuple[LogicalRule, ...] = (*VAULT_RULES, *DIMENSIONAL_RULES, *CONCEPTUAL_RULES)


class CriticAgent:
    """A reviewer of logical models, contracts and transform plans.

    A rule is a function that returns findings. ``CriticAgent(logical_rules=...)`` takes other rules
    than ``LOGICAL_RULES``, and a method may be overridden. Findings come in the order of the rules,
    and within a rule in the order of the reviewed value.
    """

    def __init__(
        self,
        *,
        logical_rules: Iterable[LogicalRule] = LOGICAL_RULES,
        contract_rules: Iterable[ContractRule] = CONTRACT_RULES,
        transform_rules: Iterable[TransformRule] = TRANSFORM_RULES,
    ) -> None:
        self._logical_rules = tuple(logical_rules)
        self._contract_rules = tuple(contract_rules)
        self._transform_rules = tuple(transform_rules)

    def review_logical(
        self, logical: object, *, scratchpad: Scratchpad | None = None
    ) -> list[CriticFinding]:
        """Review a ``LogicalModel``, or anything with some of its layers.

        Layers and attributes that aren't there are passed over.
        """
        return _noted((rule(logical) for rule in self._logical_rules), scratchpad)

    def review_contract(
        self, contract: object, *, scratchpad: Scratchpad | None = None
    ) -> list[CriticFinding]:
        """Review a FLUID contract, as a ``FluidContract`` or as its document."""
        document = as_document(contract) if isinstance(contract, BaseModel) else contract
        return _noted((rule(document) for rule in self._contract_rules), scratchpad)

    def review_transform(
        self, transform_plan: object, logical: object, *, scratchpad: Scratchpad | None = None
    ) -> list[CriticFinding]:
        """Review a ``TransformPlan``, or anything with builds and what each depends on."""
        return _noted((rule(transform_plan, logical) for rule in self._transform_rules), scratchpad)


def review_everything(model: object, contract: object, plan: object) -> list[CriticFinding]:
    """Return the findings of all rules on what a run made."""
    critic = CriticAgent()
    return [
        *critic.review_logical(model),
        *critic.review_contract(contract),
        *critic.review_transform(plan, model),
    ]


def _noted(
    findings_by_rule: Iterable[Iterable[CriticFinding]], scratchpad: Scratchpad | None
) -> list[CriticFinding]:
    findings = [item for findings in findings_by_rule for item in bounded(findings)]
    if scratchpad is not None:
        for item in findings:
            scratchpad.add_critic_finding(item)
    return findings
