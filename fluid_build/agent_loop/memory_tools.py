"""The tool that searches what earlier forges left."""

from __future__ import annotations

from contextlib import closing

from pydantic import BaseModel, Field

from fluid_build.copilot.retrieval import RetrievalConfig, retrieve_similar_models
from fluid_build.copilot.store.configured import open_store
from fluid_build.copilot.tools.registry import forge_tool
from fluid_build.json_types import JsonObject
from fluid_build.text import clip

_MOST_RESULTS = 10
_LONGEST_TEXT = 2_000


class SearchMemoryArgs(BaseModel):
    """The arguments of ``search_memory``."""

    query: str = Field(description="Words such as names of tables.", max_length=500)
    limit: int = Field(default=3, ge=1, le=_MOST_RESULTS)


@forge_tool(args_schema=SearchMemoryArgs, read_only=True, tags=["memory"])
def search_memory(args: SearchMemoryArgs) -> JsonObject:
    """Find models of earlier forges that are like this one."""
    with closing(open_store()) as store:
        results = retrieve_similar_models(
            args.query, store=store, config=RetrievalConfig(limit=args.limit)
        )
        return {
            "results": [
                {
                    "name": result.key,
                    "similarity": round(result.similarity, 3),
                    "about": clip(result.text, _LONGEST_TEXT),
                }
                for result in results
            ]
        }
