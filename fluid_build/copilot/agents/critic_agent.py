"""The documented import path of the critic; see ``fluid_build.pipeline.critic``."""

from fluid_build.copilot.scratchpad import CriticFinding
from fluid_build.pipeline.critic.agent import LOGICAL_RULES, CriticAgent
from fluid_build.pipeline.critic.contract_rules import CONTRACT_RULES
from fluid_build.pipeline.critic.transform_rules import TRANSFORM_RULES

__all__ = [
    "CONTRACT_RULES",
    "LOGICAL_RULES",
    "TRANSFORM_RULES",
    "CriticAgent",
    "CriticFinding",
]
