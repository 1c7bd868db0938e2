"""The tools that look around: what there is to read, a contract, and what earlier forges left."""

from __future__ import annotations

from contextlib import closing
from itertools import islice
from pathlib import Path

from fluid_build.assistants.arguments import (
    ListSourcesArguments,
    SearchMemoryArguments,
    ValidateContractArguments,
)
from fluid_build.assistants.desk import LONGEST_TEXT, Desk
from fluid_build.assistants.jobs import Job
from fluid_build.assistants.results import (
    AvailableSource,
    ContractCheck,
    ContractFinding,
    MemorySearch,
    RememberedModel,
    WorkspaceListing,
)
from fluid_build.contract.read.files import validate_file
from fluid_build.contract.validation import validate
from fluid_build.copilot.errors import ForbiddenPathError, PathTraversalError
from fluid_build.copilot.retrieval import RetrievalConfig, retrieve_similar_models
from fluid_build.copilot.store.configured import open_store
from fluid_build.copilot.tools.confinement import resolve_confined
from fluid_build.errors import UsageError
from fluid_build.text import clip

_MOST_FINDINGS = 50
_MOST_LISTED = 100
_MOST_COUNTED = 1_000


def list_sources(desk: Desk, _arguments: ListSourcesArguments, job: Job) -> WorkspaceListing:
    """List the data of the workspace, the sources that were named, and forged folders."""
    files = []
    for file in islice(desk.workspace.data_files(), _MOST_COUNTED):
        job.raise_if_stopped()
        files.append(file)
    sources = [
        *(
            AvailableSource(source=name, kind=address.kind.label)
            for name, address in desk.settings.named_sources.items()
        ),
        *(
            AvailableSource(source=desk.name(file.as_posix()), kind=file.suffix.lstrip("."))
            for file in files
        ),
    ]
    folders = islice(desk.workspace.forged_folders(), _MOST_LISTED)
    return WorkspaceListing(
        sources=sources[:_MOST_LISTED],
        more_sources=max(0, len(sources) - _MOST_LISTED),
        forged_folders=[desk.workspace.shown(folder) for folder in folders],
        is_read_only=not desk.settings.allow_write,
        values_shared=desk.settings.share_values,
    )


def validate_contract(desk: Desk, arguments: ValidateContractArguments, _job: Job) -> ContractCheck:
    """Check a contract against FLUID 0.7.2."""
    if (arguments.path is None) == (arguments.contract is None):
        raise UsageError(
            "Pass either path or contract.", hint="path names a file of the workspace."
        )
    findings = validate(arguments.contract)
    if arguments.path is not None:
        findings = validate_file(_contract_file(desk, arguments.path))
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
    with closing(open_store()) as store:
        results = retrieve_similar_models(
            arguments.query, store=store, config=RetrievalConfig(limit=arguments.limit)
        )
    return MemorySearch(
        models=[
            RememberedModel(
                name=desk.name(result.key),
                similarity=round(result.similarity, 3),
                names=clip(result.text, 2 * LONGEST_TEXT),
            )
            for result in results
        ]
    )


def _contract_file(desk: Desk, path: str) -> Path:
    try:
        return resolve_confined(desk.workspace.root, path, suffixes=[".yaml", ".yml", ".json"])
    except PathTraversalError as error:
        raise UsageError(
            "The path is outside of the workspace.",
            hint="Use a path relative to the workspace that stays inside it.",
        ) from error
    except ForbiddenPathError:
        raise UsageError(
            "A contract is a .yaml, .yml or .json file.", hint="Name one of the workspace."
        ) from None
