"""The tools that look around: what there is to read, a contract, and what earlier forges left."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from fluid_build.agent_loop.contract_tools import ValidateContractArgs, contract_findings
from fluid_build.agent_loop.memory_tools import SearchMemoryArgs
from fluid_build.agent_loop.memory_tools import search_memory as search_store
from fluid_build.copilot.errors import ForbiddenPathError, PathTraversalError
from fluid_build.errors import UsageError
from fluid_build.mcp.jobs import Job
from fluid_build.mcp.results import (
    AvailableSource,
    ContractCheck,
    ContractFinding,
    MemorySearch,
    RememberedModel,
    WorkspaceListing,
)
from fluid_build.mcp.tool import LONGEST_TEXT, Desk, ToolArguments
from fluid_build.text import clip

_MOST_FINDINGS = 50
_MOST_LISTED = 100


class ListSourcesArguments(ToolArguments):
    """No arguments."""


class ValidateContractArguments(ToolArguments):
    """The arguments of ``validate_contract``: a path, or else a document."""

    path: str | None = Field(
        default=None,
        max_length=1_000,
        description="A contract file, relative to the workspace: YAML or JSON.",
    )
    contract: dict[str, Any] | None = Field(default=None, description="A FLUID contract, as JSON.")


class SearchMemoryArguments(ToolArguments):
    """The arguments of ``search_memory``."""

    query: str = Field(
        min_length=1, max_length=500, description="Words, such as names of tables and columns."
    )
    limit: int = Field(default=3, ge=1, le=10)


def list_sources(desk: Desk, _arguments: ListSourcesArguments, job: Job) -> WorkspaceListing:
    """List the data of the workspace, the sources that were named, and forged folders."""
    files = desk.workspace.data_files()
    job.check_wanted()
    sources = [
        *(
            AvailableSource(source=name, kind=address.kind.label)
            for name, address in desk.workspace.named_sources.items()
        ),
        *(
            AvailableSource(source=desk.name(file.as_posix()), kind=file.suffix.lstrip("."))
            for file in files
        ),
    ]
    folders = desk.workspace.forged_folders()
    return WorkspaceListing(
        sources=sources[:_MOST_LISTED],
        more_sources=max(0, len(sources) - _MOST_LISTED),
        forged_folders=[desk.workspace.shown(folder) for folder in folders][:_MOST_LISTED],
        is_read_only=not desk.allow_write,
        values_shared=desk.share_values,
    )


def validate_contract(desk: Desk, arguments: ValidateContractArguments, _job: Job) -> ContractCheck:
    """Check a contract against FLUID 0.7.2."""
    if (arguments.path is None) == (arguments.contract is None):
        raise UsageError(
            "Pass either path or contract.", hint="path names a file of the workspace."
        )
    document = ValidateContractArgs(path=arguments.path, contract=arguments.contract)
    try:
        findings = contract_findings(document, desk.workspace.root)
    except (PathTraversalError, ForbiddenPathError) as error:
        is_outside = isinstance(error, PathTraversalError)
        raise UsageError(
            "The path is outside of the workspace."
            if is_outside
            else "A contract is a .yaml, .yml or .json file.",
            hint="Use a path relative to the workspace that stays inside it.",
        ) from None
    return ContractCheck(
        is_valid=not any(finding.level == "error" for finding in findings),
        findings=[
            ContractFinding(
                path=clip(finding.path, LONGEST_TEXT),
                line=finding.line,
                message=clip(finding.message, LONGEST_TEXT),
                found=clip(finding.found, LONGEST_TEXT),
                allowed=clip(finding.allowed, LONGEST_TEXT),
            )
            for finding in findings[:_MOST_FINDINGS]
        ],
        more_findings=max(0, len(findings) - _MOST_FINDINGS),
    )


def search_memory(desk: Desk, arguments: SearchMemoryArguments, _job: Job) -> MemorySearch:
    """Find models of earlier forges that are like this one."""
    answer = search_store(SearchMemoryArgs(query=arguments.query, limit=arguments.limit))
    results = answer["results"]
    assert isinstance(results, list)
    return MemorySearch(
        models=[
            RememberedModel(
                name=desk.name(result["name"]),
                similarity=result["similarity"],
                names=clip(result["about"], 2 * LONGEST_TEXT),
            )
            for result in results
        ]
    )
