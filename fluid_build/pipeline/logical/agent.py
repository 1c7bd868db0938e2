"""The LogicalAgent: one question to the model, answered in decisions."""

from dataclasses import replace

from fluid_build.copilot.agents.base import BaseStageAgent
from fluid_build.copilot.llm.providers import make_provider
from fluid_build.json_types import JsonObject
from fluid_build.pipeline.logical.compact_profile import as_document
from fluid_build.pipeline.logical.proposals import Proposals


class LogicalAgent(BaseStageAgent):
    """Asks the run's model for decisions about the draft of a model."""

    stage = "logical"

    async def propose(self, system: str, document: JsonObject) -> Proposals:
        """Return what the model proposes; raises as ``BaseStageAgent.call`` does."""
        return await self.call(Proposals, system=system, user=as_document(document))

    def fast(self) -> "LogicalAgent | None":
        """Return the agent of the provider's fast model, which shares this agent's connections.

        None where the provider has no fast model, or it's the run's model already.
        """
        config = self.session.get_llm_config()
        client = self._ready_client()
        provider = getattr(client, "provider", None) or make_provider(
            config.provider, config.base_url
        )
        fast_model = getattr(provider, "fast_model", None)
        if fast_model is None or fast_model == config.model:
            return None
        session = replace(self.session, llm_config=replace(config, model=fast_model))
        return LogicalAgent(session, client)
