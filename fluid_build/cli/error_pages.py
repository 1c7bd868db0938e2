"""The errors of the command by their codes: when each is raised, and what to do about it.

A code is the name of the error's class, which stays the same. ``docs/errors.md`` is made of these
sections, and ``fluid help ERROR`` prints one.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import typer

from fluid_build.errors import FluidError


@dataclass(frozen=True, slots=True)
class ErrorSection:
    """When an error is raised, and what to do about it: sentences in Markdown."""

    when: str
    remedy: str


SYSTEM, MEMORY, BUG, INTERRUPTED = "SystemError", "MemoryError", "InternalError", "Interrupted"

SECTIONS: Mapping[str, ErrorSection] = {
    code: ErrorSection(when, remedy)
    for code, when, remedy in (
        # What was typed, and what is installed.
        ("UsageError", "An option, an argument, or a combination of them is wrong.",
         "Read the hint, or run the command with `--help`."),
        ("MissingExtraError", "The command needs an optional package that isn't installed.",
         "Install the extra that the hint names, in the environment of `fluid`."),
        ("FaultyFileError", "A file that you wrote isn't valid.",
         "Correct what the message lists: it has every problem, with its line."),
        ("DecisionError", "A file of decisions isn't valid.",
         "Correct the entries that the message lists; `fluid decide --schema` prints the schema."),
        ("IntentError", "An intent isn't valid.",
         "Correct the fields that the message lists."),
        ("ConfigError", "The configuration isn't valid.",
         "Correct the line that the message names, or run `fluid config set`."),
        # Sources and warehouses.
        ("SourceError", "A source can't be reached or read.",
         "Read the hint; `fluid doctor` checks what is installed."),
        ("UnknownSourceError", "The URI's scheme or the file's ending names no kind of source.",
         "Check the spelling; `fluid profile --help` lists the kinds."),
        ("SourceNotFoundError", "No file, folder, database or schema is at that place.",
         "Check the path or the address."),
        ("SourceUnreachableError", "A server doesn't answer, or refuses the credentials.",
         "Check the address, the network and the credentials."),
        ("SourceUnreadableError", "The source is there, but locked, corrupt, or of another kind.",
         "Close the program that has it open, or check the file."),
        ("EmptySourceError", "The source is readable and has no tables.",
         "Check that it's the right source, and that you may read its tables."),
        ("ScanTooLargeError", "Reading a warehouse would scan more than is scanned unasked.",
         "Read fewer tables, or allow the scan with the option that the hint names."),
        ("SourceChangedError", "The source has lost or changed what the model was made of.",
         "Run `fluid plan` to see the changes, and forge again."),
        ("WarehouseError", "A warehouse can't be reached, or isn't as the command needs it.",
         "Check its address and its rights."),
        ("WarehouseBusyError", "Somebody else is applying to the warehouse, or has it open.",
         "Wait for them, or close that program."),
        ("VersionsLostError", "Rows that the warehouse held before a load are gone or changed.",
         "Look at the load before you go on: `fluid rollback` restores the state before it."),
        ("UndecidedError", "Something that only a person knows isn't decided.",
         "Run one of the commands that the message shows; each is an answer."),
        ("PlanOutdatedError", "A folder, its source or its warehouse isn't as it was planned.",
         "Run `fluid plan` again."),
        ("NotTrustedError", "A folder needs your permission: for a server, a file, or its code.",
         "Check where the folder is from, and allow it with the option that the hint names."),
        # What is built and written.
        ("BuildFailedError", "A build failed, or its result doesn't match the plan.",
         "Read the message; the source may hold what the plan doesn't know."),
        ("ScratchFullError", "A build needs more disk for temporary files than there is.",
         "Name a folder on a larger disk with `--scratch`, or let it use more memory: `--memory`."),
        ("OutputError", "A result couldn't be written.",
         "Free some space, or check the permissions of the folder."),
        ("ContractError", "A contract violates the FLUID schema.",
         "Correct what `fluid validate` lists."),
        ("DbtError", "dbt couldn't be run on a project.",
         "Read dbt's own message."),
        ("DbtMissingError", "dbt isn't installed, or doesn't run on this Python.",
         "Install the extra `dbt`."),
        ("DbtFailedError", "dbt gave up before it built anything.",
         "Correct the project, its profile or its database."),
        # Language models.
        ("FluidGenerationError", "An output could not be generated.",
         "Read the message, and run the command again."),
        ("AgentExecutionError", "A call of an agent failed.",
         "Read the message; a forge goes on without a model with `--no-llm`."),
        ("ProviderError", "The provider refused or failed, and no other class fits.",
         "Read the provider's message, and look at its status page."),
        ("RateLimitError", "The provider had too many requests, or the quota is used up.",
         "Wait as long as the message says. Three attempts were made already."),
        ("ProviderTimeoutError", "No answer came in time.",
         "Check the network, or raise `FLUID_LLM_TIMEOUT_SECONDS`."),
        ("ContextOverflowError", "Prompt and answer don't fit the model's window.",
         "Choose a model with a larger window, or compact earlier"
         " (`FLUID_AGENT_COMPACT_AFTER`)."),
        ("ProviderAuthError", "The key is missing, wrong, expired, or has the wrong scope.",
         "Check the variable of the key, or run `fluid ai setup`."),
        ("ProviderServerError", "The provider's server failed, or sent what can't be read.",
         "Try again later. Three attempts were made already."),
        ("SchemaValidationError", "A model's answer breaks the schema it was asked to follow.",
         "Choose a stronger model; for OpenAI, set `FLUID_OPENAI_STRICT_SCHEMA=1`."),
        ("AnswerRefusedError", "The model, or its provider's filter, declined to answer.",
         "Ask for something else, or choose another model."),
        ("AnswerCutOffError", "The answer ended before it was complete.",
         "Raise `llm.max_output_tokens`."),
        ("ToolValidationError", "A model called a tool with wrong arguments.",
         "Nothing, mostly: the model is told. Where it goes on, choose a stronger model."),
        ("UnknownTool", "A model called a tool that doesn't exist.",
         "Register the tool, or choose a stronger model."),
        ("ToolResultError", "A tool returned what JSON can't hold.",
         "Return dictionaries, lists, texts and numbers from it."),
        ("PathTraversalError", "A path leads out of the workspace.",
         "Name a path in the workspace, or start in another folder."),
        ("ForbiddenPathError", "A path of the workspace may not be used by this tool.",
         "Name a file of a kind that the tool reads."),
        ("FileTooLargeError", "A file is over the tool's limit.",
         "Use a smaller file, or a part of it."),
        ("TurnLimitError", "An agent has no answer after all of its turns.",
         "Resume it with more turns, or ask for less at once."),
        ("RunLimitError", "An agent has reached its limit of calls, tokens or seconds.",
         "Resume it with a higher limit, or ask for less at once."),
        ("ApprovalRequiredError", "A call of a tool waits for a person, in a run that isn't saved.",
         "Save the run (`store=` and `run_id=`), and resume it with your decision."),
        ("ApprovalError", "A decision about a call can't be followed; the run still waits.",
         "Decide about the calls that `fluid runs approvals` lists, with arguments that fit."),
        ("ProviderMismatchError", "A run was asked to use a second provider.",
         "Use one provider in a run, or start another run."),
        ("CostLimitExceeded", "A run has passed its cost limit, or its next call could.",
         "Raise the limit (`--max-cost`, `FLUID_COST_LIMIT_USD`), and resume the run."),
        ("UnknownPriceError", "There is a cost limit, and the model has no known price.",
         "Write its price into the configuration (`prices.prices`), or lift the limit."),
        # Runs and their store.
        ("StoreError", "The store can't be reached, read or written.",
         "Check `FLUID_STORE`, or the folder `~/.fluid`."),
        ("CheckpointError", "A run can't be saved or resumed.",
         "Read the hint, or start the run anew."),
        ("RunExistsError", "A new run has an id that is in use.",
         "Resume that run, or choose another id."),
        ("RunNotFoundError", "The store doesn't have that run.",
         "`fluid runs list` shows those there are."),
        ("RunOwnedError", "Another process still has the run.",
         "Wait for it, or stop it."),
        ("StaleCheckpointError", "The code of a run's agent has changed since it was saved.",
         "Resume with the earlier version, or accept the change with `--accept-changed-code`."),
        ("UnsavableStepError", "A step of a run couldn't be found again by another process.",
         "Give it a function that can be imported, or name it in `known_steps`."),
        # Servers of the Model Context Protocol.
        ("McpError", "An MCP server, or the connection to it, failed.",
         "Read the log: the server's own message is there."),
        ("McpConnectionError", "An MCP server can't be started or reached.",
         "Check its command or its address."),
        ("McpToolError", "A tool of an MCP server reported that it failed.",
         "Read the log: the server's own message is there."),
        ("McpResultTooLargeError", "A tool of an MCP server returned too much.",
         "Ask for less, or raise `max_result_bytes`."),
        # What isn't an error of ours to type.
        (SYSTEM, "The operating system refused something: a file, a folder, a connection.",
         "Check that the path exists, that you may use it, and that the disk isn't full."),
        (MEMORY, "The machine ran out of memory.",
         "Close other programs, or read fewer tables at a time."),
        (INTERRUPTED, "You stopped the command.",
         "Run it again; what was written is whole."),
        (BUG, "A bug in Fluid Forge stopped the command.",
         "Run the same command with `--debug`, and report what it prints."),
    )
}  # fmt: skip


def code_of(error: BaseException) -> str:
    """Return the code of an error: that of its class, or of the nearest one that has a section."""
    if isinstance(error, FluidError):
        names = (kind.__name__ for kind in type(error).__mro__)
        return next((name for name in names if name in SECTIONS), BUG)
    if isinstance(error, typer.TyperException):
        return "UsageError"
    if isinstance(error, OSError):
        return SYSTEM
    if isinstance(error, KeyboardInterrupt):
        return INTERRUPTED
    return MEMORY if isinstance(error, MemoryError) else BUG


def known_code(word: str) -> str | None:
    """Return the code that a word names, in any case; None where it names none."""
    return next((code for code in SECTIONS if code.casefold() == word.casefold()), None)


def section_text(code: str) -> str:
    """Return the section of a code, as Markdown."""
    section = SECTIONS[code]
    return f"## {code}\n\n{section.when}\n\n**What to do:** {section.remedy}\n"


def errors_page() -> str:
    """Return ``docs/errors.md``."""
    return "\n".join([_OPENING, *map(section_text, SECTIONS)])


_OPENING = """\
# Errors

A command that fails says on stderr what happened and what to do. With `--json`, it prints an object
on stdout too:

| field | is |
|---|---|
| `error` | the code of the error, one of those below; codes don't change |
| `message` | what happened, in a sentence or two |
| `hint` | what to do about it |
| `commands` | command lines that the hint mentions |
| `details` | all that the message counts or names: problems of a file, lost rows, questions |
| `exit_code` | 2 where it wasn't done, 4 where it waits for a decision, 1 where a check failed |

`fluid verify` adds `holds` and `changes` where the source has changed.

`fluid help ERROR` prints the section of a code. In Python, each is an exception of that name, a
`fluid_build.errors.FluidError`, but for the last four.
"""
