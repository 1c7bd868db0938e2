"""The tools of the server, in the order in which an assistant reads about them."""

from __future__ import annotations

from typing import Any

from fluid_build.mcp import forging_tools, measuring_tools, readable, results, workspace_tools
from fluid_build.mcp.tool import ServedTool

TOOLS: tuple[ServedTool[Any, Any], ...] = (
    ServedTool(
        "list_sources",
        "List sources",
        "List what there is to work on: data files of the workspace, sources that the user named,"
        " and forged folders. Says whether the server may write and whether values are shared.",
        workspace_tools.ListSourcesArguments,
        results.WorkspaceListing,
        workspace_tools.list_sources,
        readable.readable_listing,
    ),
    ServedTool(
        "profile_source",
        "Profile a source",
        "Measure a source: its tables with their keys, the relationships that hold, declared or"
        " not, with the rows that break them, and open questions. Large sources take a while the"
        " first time; the result is kept until the files change.",
        measuring_tools.ProfileSourceArguments,
        results.SourceProfile,
        measuring_tools.profile_source,
        readable.readable_profile,
    ),
    ServedTool(
        "describe_table",
        "Describe a table",
        "Describe a table column by column: type, nulls, distinct values, meaning, whether it's"
        " personal data, its keys and relationships.",
        measuring_tools.DescribeTableArguments,
        results.TableDescription,
        measuring_tools.describe_table,
        readable.readable_table,
    ),
    ServedTool(
        "check_key",
        "Check a key",
        "Check on every row whether columns identify the rows of a table: how many repeat, how many"
        " have a null. Call it before you claim a key.",
        measuring_tools.CheckKeyArguments,
        results.KeyCheck,
        measuring_tools.check_key,
        readable.readable_key,
    ),
    ServedTool(
        "check_relationship",
        "Check a relationship",
        "Check on every row whether columns of one table refer to another: how many rows have no"
        " match, with the query that finds them. Call it before you claim a relationship.",
        measuring_tools.CheckRelationshipArguments,
        results.RelationshipCheck,
        measuring_tools.check_relationship,
        readable.readable_relationship,
    ),
    ServedTool(
        "propose_decision",
        "Propose a decision",
        "Propose a decision that overrules a judgement of the next forge: a key, a relationship, a"
        " name, a description, a role. It's measured on the data; what the data contradicts is"
        " refused. On a server that may write, an accepted one goes into the folder's"
        " decisions.yaml.",
        forging_tools.ProposeDecisionArguments,
        results.ProposedDecision,
        forging_tools.propose_decision,
        readable.readable_decision,
        writes=True,
    ),
    ServedTool(
        "forge",
        "Forge a model",
        "Generate a logical model, a data contract and a dbt project from a source, and prove on"
        " all rows that nothing is lost. On a read-only server, or with preview, it says what it"
        " would write. Files that somebody edited are kept.",
        forging_tools.ForgeArguments,
        results.ForgedModel,
        forging_tools.forge_model,
        readable.readable_forge,
        writes=True,
        replaces=True,
    ),
    ServedTool(
        "verify",
        "Verify a folder",
        "Prove again that a forged folder's model holds everything that its source does, and that"
        " its contract agrees with it.",
        forging_tools.VerifyArguments,
        results.Verification,
        forging_tools.verify_model,
        readable.readable_verification,
        writes=True,
    ),
    ServedTool(
        "validate_contract",
        "Validate a contract",
        "Check a data contract against FLUID 0.7.2, and say what is wrong where.",
        workspace_tools.ValidateContractArguments,
        results.ContractCheck,
        workspace_tools.validate_contract,
        readable.readable_contract,
    ),
    ServedTool(
        "search_memory",
        "Search earlier models",
        "Find models of earlier forges by the names of their tables and columns.",
        workspace_tools.SearchMemoryArguments,
        results.MemorySearch,
        workspace_tools.search_memory,
        readable.readable_memory,
    ),
)
