"""The tools of assistants, in the order in which one reads about them.

What they do is imported when one is called first: an editor waits for the list of tools, and
measuring takes as long to import as the SDK.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from pydantic_core import from_json, to_json

from fluid_build.assistants import arguments, readable, results
from fluid_build.copilot.llm.outgoing import without_secrets
from fluid_build.errors import UsageError
from fluid_build.json_types import JsonObject
from fluid_build.text import did_you_mean, listed

if TYPE_CHECKING:
    from fluid_build.assistants.desk import Desk
    from fluid_build.assistants.jobs import Job

_MOST_BYTES = 400_000
"""Of an answer, in JSON: its parts are bounded, so only many long names can come to that."""

A = TypeVar("A", bound=arguments.ToolArguments)
R = TypeVar("R", bound=results.ToolResult)


@dataclass(frozen=True, slots=True)
class ServedTool(Generic[A, R]):
    """A tool as it's listed and called.

    ``place`` is ``module:function`` in this package, which does the work. ``readable`` says the
    answer in words. ``writes`` says that the tool changes files where the user allows that, and
    ``replaces`` that it may then replace or remove some.
    """

    name: str
    title: str
    description: str
    arguments: type[A]
    result: type[R]
    place: str
    readable: Callable[[R], str]
    writes: bool = False
    replaces: bool = False

    def answer(self, desk: Desk, checked: A, job: Job) -> JsonObject:
        """Do the tool's work on the thread of a job, and return a ``result`` without secrets.

        Raises UsageError where it's too long.
        """
        module, _, function = self.place.partition(":")
        work: Callable[[Desk, A, Job], R] = getattr(
            importlib.import_module(f"fluid_build.assistants.{module}"), function
        )
        result: JsonObject = from_json(to_json(work(desk, checked, job)))
        document = without_secrets(result, desk.settings.secrets)
        if len(to_json(document)) > _MOST_BYTES:
            raise UsageError(
                "The answer is too long.", hint="Ask for fewer tables or columns at a time."
            )
        return document


TOOLS: tuple[ServedTool[Any, Any], ...] = (
    ServedTool(
        "list_sources",
        "List sources",
        "List what there is to work on: data files of the workspace, sources that the user named,"
        " and forged folders. Says whether the server may write and whether values are shared.",
        arguments.ListSourcesArguments,
        results.WorkspaceListing,
        "workspace_tools:list_sources",
        readable.readable_listing,
    ),
    ServedTool(
        "profile_source",
        "Profile a source",
        "Measure a source: its tables with their keys, the relationships that hold, declared or"
        " not, with the rows that break them, and open questions. Large sources take a while the"
        " first time; the result is kept until the files change.",
        arguments.ProfileSourceArguments,
        results.SourceProfile,
        "measuring_tools:profile_source",
        readable.readable_profile,
    ),
    ServedTool(
        "describe_table",
        "Describe a table",
        "Describe a table column by column: type, nulls, distinct values, meaning, whether it's"
        " personal data, its keys and relationships.",
        arguments.DescribeTableArguments,
        results.TableDescription,
        "measuring_tools:describe_table",
        readable.readable_table,
    ),
    ServedTool(
        "check_key",
        "Check a key",
        "Check on every row whether columns identify the rows of a table: how many repeat, how many"
        " have a null. Call it before you claim a key.",
        arguments.CheckKeyArguments,
        results.KeyCheck,
        "measuring_tools:check_key",
        readable.readable_key,
    ),
    ServedTool(
        "check_relationship",
        "Check a relationship",
        "Check on every row whether columns of one table refer to another: how many rows have no"
        " match, with the query that finds them. Call it before you claim a relationship.",
        arguments.CheckRelationshipArguments,
        results.RelationshipCheck,
        "measuring_tools:check_relationship",
        readable.readable_relationship,
    ),
    ServedTool(
        "propose_decision",
        "Propose a decision",
        "Propose a decision that overrules a judgement of the next forge: a key, a relationship, a"
        " name, a description, a role. It's measured on the data; what the data contradicts is"
        " refused. On a server that may write, an accepted one goes into the folder's"
        " decisions.yaml.",
        arguments.ProposeDecisionArguments,
        results.ProposedDecision,
        "forging_tools:propose_decision",
        readable.readable_decision,
        writes=True,
    ),
    ServedTool(
        "forge",
        "Forge a model",
        "Generate a logical model, a data contract and a dbt project from a source, and prove on"
        " all rows that nothing is lost. On a read-only server, or with preview, it says what it"
        " would write. Files that somebody edited are kept.",
        arguments.ForgeArguments,
        results.ForgedModel,
        "forging_tools:forge_model",
        readable.readable_forge,
        writes=True,
        replaces=True,
    ),
    ServedTool(
        "verify",
        "Verify a folder",
        "Prove again that a forged folder's model holds everything that its source does, and that"
        " its contract agrees with it.",
        arguments.VerifyArguments,
        results.Verification,
        "forging_tools:verify_model",
        readable.readable_verification,
        writes=True,
    ),
    ServedTool(
        "validate_contract",
        "Validate a contract",
        "Check a data contract against FLUID 0.7.2, and say what is wrong where.",
        arguments.ValidateContractArguments,
        results.ContractCheck,
        "workspace_tools:validate_contract",
        readable.readable_contract,
    ),
    ServedTool(
        "search_memory",
        "Search earlier models",
        "Find models of earlier forges by the names of their tables and columns.",
        arguments.SearchMemoryArguments,
        results.MemorySearch,
        "workspace_tools:search_memory",
        readable.readable_memory,
    ),
)


def find_tool(name: str) -> ServedTool[Any, Any]:
    """Return the tool of that name; UsageError where there is none."""
    tools = {tool.name: tool for tool in TOOLS}
    if name not in tools:
        raise UsageError(
            f"No tool is named {name!r}.",
            hint=f"{did_you_mean(name, tools)}The tools are {listed(tools)}.",
        )
    return tools[name]
