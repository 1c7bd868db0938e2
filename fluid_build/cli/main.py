"""The ``fluid`` command: which commands there are, and how each of them ends.

The commands' modules are imported when they are called, so ``fluid --help`` waits only for the
imports below.
"""

import gc
import importlib
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

import fluid_build
from fluid_build.cli import completion, failures
from fluid_build.cli.error_pages import known_code, section_text
from fluid_build.cli.interrupts import EXIT_CODE, HINT, MESSAGE, Interrupts
from fluid_build.errors import UsageError
from fluid_build.text import did_you_mean


class ConfiguredCommand(TyperCommand):
    """A command that starts with a valid configuration.

    Its help needs none: it is shown while the arguments are parsed.
    """

    def invoke(self, ctx: Any) -> Any:
        """Read the configuration, then run; raises ConfigError before anything is done."""
        from fluid_build.copilot.unified_config import current_config

        current_config()
        return super().invoke(ctx)


class LazyCommand(TyperCommand):
    """A command that is known by its name and summary until it is called.

    ``place`` is ``module:function`` in this package.
    """

    def __init__(self, name: str, place: str, summary: str) -> None:
        super().__init__(name, help=summary, short_help=summary)
        self.place = place

    kind: type[TyperCommand] = ConfiguredCommand
    """The class of the real command."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any
    ) -> Any:
        """Import the real command, and let it parse its arguments."""
        return self.load().make_context(info_name, args, parent=parent, **extra)

    def load(self) -> Any:
        """Return the real command."""
        return _real_command(str(self.name), imported(self.place), self.kind)


class LazyRepair(LazyCommand):
    """A command that works with a broken configuration too, to find and to repair it."""

    kind = TyperCommand


class Group(TyperGroup):
    """A group that shows its help when it is called without a command."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the group's own options; no command at all is wrong usage."""
        if not args:
            sys.stderr.write(ctx.get_help() + "\n")
            raise typer.Exit(failures.NOT_DONE)
        return super().parse_args(ctx, args)


class Root(Group):
    """The group of all commands, with the words that stand for options of theirs."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Take ``help COMMAND`` as ``COMMAND --help``, and see to the completion of shells."""
        if args[:1] == ["help"] and len(args) == 2 and (code := known_code(args[1])):
            sys.stdout.write(section_text(code))
            raise typer.Exit
        if args[:1] == ["help"] and "--help" not in args:
            args = [*args[1:], "--help"]
        elif args[:1] and args[0] in ("--install-completion", "--show-completion"):
            _see_to_completion(*args[:2])
            raise typer.Exit
        return super().parse_args(ctx, args)


class ForgeGroup(Group):
    """The group of forges; without a command of its own, it's a guided forge."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Take options without a command as those of the guided forge."""
        is_guided = not args or (args[0].startswith("-") and args[0] != "--help")
        return super().parse_args(ctx, ["guided", *args] if is_guided else args)


class Kinds(Group):
    """A group whose commands follow its argument: ``fluid decide DIR set-key …``."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command of a kind; UsageError lists the known ones."""
        kinds, name = self.list_commands(ctx), args[0].replace("_", "-")
        if name not in kinds and not name.startswith("-"):
            raise UsageError(
                f"Unknown decision {args[0]!r}.",
                hint=f"{did_you_mean(name, kinds)}Known decisions: {', '.join(kinds)}.",
            )
        return super().resolve_command(ctx, [name, *args[1:]])


class LazyKinds(LazyCommand):
    """A group with an argument and a command per kind, known by its name until it is called.

    ``kinds_place`` is a ``module:mapping`` with the commands' functions by name.
    """

    def __init__(self, name: str, place: str, kinds_place: str, summary: str) -> None:
        super().__init__(name, place, summary)
        self._kinds_place = kinds_place

    def load(self) -> Any:
        """Return the real group."""
        app = typer.Typer(add_completion=False, rich_markup_mode=None, cls=Kinds)
        app.callback()(imported(self.place))
        for kind, function in imported(self._kinds_place).items():
            summary = (function.__doc__ or "").partition("\n")[0]
            app.command(kind, cls=ConfiguredCommand, short_help=summary)(function)
        return get_command(app)


class Formats(Group):
    """A group with one command per format, made from the formats' records when they are needed.

    ``place`` is a ``module:function`` that returns the commands' functions by name.
    """

    def __init__(self, name: str, place: str, summary: str) -> None:
        super().__init__(name=name, help=summary, rich_markup_mode=None)
        self.place = place

    def list_commands(self, _ctx: Any) -> list[str]:
        """Return the names of the formats."""
        return list(self._functions())

    def get_command(self, _ctx: Any, cmd_name: str) -> Any:
        """Return the command of a format, None where there is none."""
        function = self._functions().get(cmd_name)
        return None if function is None else _real_command(cmd_name, function)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command of a format; UsageError lists the known ones."""
        formats = self.list_commands(ctx)
        if args[0] not in formats and not args[0].startswith("-"):
            raise UsageError(
                f"Unknown format {args[0]!r}.",
                hint=f"{did_you_mean(args[0], formats)}"
                f"Use `{ctx.command_path} {'|'.join(formats)} CONTRACT`.",
            )
        return super().resolve_command(ctx, args)

    def _functions(self) -> Mapping[str, Callable[..., int]]:
        functions: Mapping[str, Callable[..., int]] = imported(self.place)()
        return functions


def imported(place: str) -> Any:
    """Import and return a ``module:function`` of this package."""
    module, _, function = place.partition(":")
    return getattr(importlib.import_module(f"fluid_build.cli.{module}"), function)


def _real_command(
    name: str, function: Callable[..., int], kind: type[TyperCommand] = ConfiguredCommand
) -> Any:
    """Return a function as a command; the first line of its help is its summary."""
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    summary = (function.__doc__ or "").partition("\n")[0]
    app.command(name, cls=kind, short_help=summary)(function)
    return get_command(app)


def _show_version(is_requested: bool) -> None:
    if is_requested:
        sys.stdout.write(f"fluid {fluid_build.__version__}\n")
        raise typer.Exit


def _see_to_completion(option: str, shell: str = "") -> None:
    """Print or install the completion of a shell, by default of the one that called us."""
    shell = shell or completion.current_shell()
    if option == "--show-completion":
        sys.stdout.write(completion.script(shell))
    else:
        path = completion.install(shell)
        sys.stdout.write(f"The completion is in {path}. Open a new {shell} to use it.\n")


def _options(
    _version: Annotated[
        bool,
        typer.Option("--version", help="Print the version.", is_eager=True, callback=_show_version),
    ] = False,
    _install: Annotated[
        bool,
        typer.Option("--install-completion", help="Set up tab completion for bash, zsh or fish."),
    ] = False,
    _show: Annotated[
        bool,
        typer.Option("--show-completion", help="Print the completion script of bash, zsh or fish."),
    ] = False,
) -> None:
    """Turn an undocumented database or a folder of files into a data product you can trust.

    \b
    Start here:  fluid demo
    Your data:   fluid profile postgresql://user@host/shop
    """


def command_tree() -> TyperGroup:
    """Return the root of all commands, none of them imported yet."""
    app = typer.Typer(add_completion=False, rich_markup_mode=None, cls=Root)
    app.callback()(_options)
    root = get_command(app)
    assert isinstance(root, TyperGroup)
    for command in _commands():
        root.add_command(command)
    return root


def _commands() -> Iterator[TyperCommand | TyperGroup]:
    """Yield the commands in the order of the help: those on data first."""
    yield from _commands_on_data()
    yield from _commands_on_folders()
    yield from _commands_on_runs()
    yield from _commands_on_settings()


def _commands_on_data() -> Iterator[TyperCommand | TyperGroup]:
    yield LazyCommand(
        "demo",
        "demo:demo",
        "Make a small shop database without keys, and show what its data says.",
    )
    yield LazyCommand(
        "profile",
        "profile:profile",
        "Show the keys and relationships that hold in the data, and what breaks them.",
    )
    yield ForgeGroup(
        name="forge",
        rich_markup_mode=None,
        help="Turn a source into a model, a contract and a dbt project. Without a command, it looks"
        " at this folder and asks at most four questions.",
        short_help="Turn a source into a model, a contract and a dbt project.",
        commands=[
            LazyCommand(
                "guided",
                "forging.guided:guided",
                "Look at this folder, propose what to forge, and ask at most four questions.",
            ),
            _data_model(),
        ],
    )


def _commands_on_folders() -> Iterator[TyperCommand | TyperGroup]:
    yield LazyCommand(
        "report",
        "report:report",
        "Show a forged folder as one page: the data, the model, the evidence and the run.",
    )
    yield LazyCommand(
        "review",
        "deciding.review:review",
        "List the open judgement calls of a model, and take answers.",
    )
    yield LazyKinds(
        "decide",
        "deciding.decide:decide",
        "deciding.decide:KINDS",
        "Overrule a judgement: write a decision that the next forge of DIR follows.",
    )
    yield LazyCommand(
        "validate", "checking.validate:validate", "Check a data contract against FLUID 0.7.2."
    )
    yield LazyCommand("test", "checking.live_test:test", "Test live data against a contract.")
    yield LazyCommand("diff", "checking.diff:diff", "Compare two contracts or two models.")
    yield LazyCommand(
        "verify",
        "checking.verify:verify",
        "Prove that nothing was lost: rebuild the model and compare it with its source.",
    )
    yield LazyCommand(
        "plan",
        "deploying.plan:plan",
        "Say what an apply would change: source, model, contract and warehouse.",
    )
    yield LazyCommand(
        "apply",
        "deploying.apply:apply",
        "Bring a folder to its warehouse: forge again, migrate, load, and prove what is there.",
    )
    yield LazyCommand(
        "status",
        "deploying.status:status",
        "Show how a folder is doing: what was deployed, what is off, and what to do.",
    )
    yield _group(
        "generate",
        "Write files with which your own scheduler or CI runs a folder.",
        LazyCommand(
            "schedule",
            "deploying.generate:schedule",
            "Write the files with which a scheduler brings DIR to its warehouse every night.",
        ),
        LazyCommand(
            "ci",
            "deploying.generate:ci",
            "Write the files with which a CI reviews changes of DIR, and loads its warehouse every"
            " night.",
        ),
    )
    yield LazyCommand(
        "rollback",
        "deploying.rollback:rollback",
        "Take a warehouse and its folder back to an earlier deployment.",
    )
    yield Formats(
        "export",
        "checking.contract_formats:export_commands",
        "Write a contract in one of the open formats.",
    )
    yield Formats(
        "import",
        "checking.contract_formats:import_commands",
        "Turn a contract in another format into a FLUID contract.",
    )


def _commands_on_runs() -> Iterator[TyperCommand | TyperGroup]:
    yield _group(
        "runs",
        "Look at the forges that are recorded, and resume those that were interrupted.",
        LazyCommand("list", "runs:list_runs", "List the runs that are recorded, newest first."),
        LazyCommand(
            "show",
            "runs:show_run",
            "Show what a run was asked, how far it came, and its receipt.",
        ),
        LazyCommand(
            "resume",
            "runs:resume",
            "Resume a run that was interrupted, killed or stopped, where it was.",
        ),
        LazyCommand(
            "rm",
            "runs:remove",
            "Remove the record of a run and what is saved to resume it; its files stay.",
        ),
        LazyCommand(
            "approvals",
            "approvals:list_approvals",
            "List the calls of agents that wait for a person, the oldest first.",
        ),
        LazyCommand(
            "answer",
            "approvals:answer",
            "Approve or deny a call that waits; the program that resumes the run follows it.",
        ),
    )
    yield LazyCommand(
        "eval",
        "evaluating.commands:evaluate",
        "Say what each language model adds to a forge, and whether it's worth its money.",
    )
    yield _group(
        "ai",
        "Choose the language model that agents use, if you want one.",
        LazyCommand("setup", "ai:setup", "Choose the model that agents use, and save its API key."),
        LazyCommand(
            "status",
            "ai:status",
            "Show which model agents use, where its key is, and with --check whether it answers.",
        ),
        LazyCommand(
            "models",
            "ai:models",
            "List the models whose prices and windows are known, without asking anyone.",
        ),
    )


def _commands_on_settings() -> Iterator[TyperCommand | TyperGroup]:
    yield _group(
        "config",
        "Show and change the settings.",
        LazyRepair(
            "show", "config:show_config", "Show every setting, and where its value comes from."
        ),
        LazyRepair("set", "config:set_config", "Change one setting of the configuration file."),
        LazyRepair(
            "migrate",
            "config:migrate_config",
            "Move the settings of the older files to config.yaml.",
        ),
    )
    yield _group(
        "credentials",
        "Keep what logs in to data catalogs in the system's keyring.",
        LazyCommand(
            "set",
            "reading.credentials:set_credential",
            "Store a field of a credential in the system's keyring; the value is asked for,"
            " unseen.",
        ),
        LazyCommand(
            "list",
            "reading.credentials:list_credentials",
            "List the credentials with their fields and where each is, without any value.",
        ),
        LazyCommand(
            "rm",
            "reading.credentials:remove_credential",
            "Remove a credential from the system's keyring.",
        ),
    )
    yield _group(
        "memory",
        "Look at what earlier forges left for later ones, and forget it.",
        LazyCommand("list", "memory:list_memory", "List what is remembered of earlier forges."),
        LazyCommand("search", "memory:search_memory", "Search what is remembered by words."),
        LazyCommand("show", "memory:show_memory", "Show one record in full, as JSON."),
        LazyCommand("forget", "memory:forget_memory", "Forget records for good."),
    )
    yield _group(
        "mcp",
        "Let an assistant in an editor work with your data, over MCP.",
        LazyCommand(
            "serve",
            "mcp:serve",
            "Serve an assistant on stdin and stdout, or over HTTP on this machine.",
        ),
        LazyCommand(
            "config", "mcp:show_config", "Print what to put into an editor's configuration."
        ),
    )
    yield LazyRepair(
        "doctor",
        "doctor:doctor",
        "Check the installation, the configuration, the store and the model provider.",
    )

    yield LazyRepair(
        "help", "help:show_help", "Show the help of a command, of all of them, or of an error."
    )


def _data_model() -> TyperGroup:
    return _group(
        "data-model",
        "Write a logical model, a data contract and a dbt project, and verify them against the"
        " source.",
        LazyCommand(
            "from-source",
            "forging.commands:from_source",
            "Generate a model, a contract and a dbt project from a database, files or a data"
            " catalog.",
        ),
        LazyCommand(
            "from-ddl",
            "forging.commands:from_ddl",
            "Generate a model, a contract and a dbt project from CREATE TABLE statements.",
        ),
        LazyCommand(
            "from-intent",
            "forging.from_intent:from_intent",
            "Generate a data product from what the business wants of it.",
        ),
        LazyCommand(
            "validate",
            "checking.model_validation:validate_model",
            "Review a forged model, and check it against its standards.",
        ),
        LazyCommand("diff", "checking.diff:diff", "Compare two contracts or two models."),
    )


def _group(name: str, summary: str, *commands: TyperCommand | TyperGroup) -> TyperGroup:
    return Group(
        name=name, rich_markup_mode=None, help=summary, short_help=summary, commands=commands
    )


def run(arguments: Sequence[str], interrupts: Interrupts) -> int:
    """Run one command line and return its exit code; only a bug in this module raises."""
    try:
        return _run(arguments, interrupts)
    except BrokenPipeError:
        _discard_output()
        return failures.READER_GONE


def _run(arguments: Sequence[str], interrupts: Interrupts) -> int:
    try:
        return _finish(_invoke(arguments, interrupts))
    except BrokenPipeError:
        raise
    except KeyboardInterrupt as error:
        return _interrupted(error, arguments)
    except Exception as error:  # noqa: BLE001  the last line of defence: no traceback may reach a user
        if interrupts.received:
            return _interrupted(error, arguments)
        return _failed(error, arguments)


def _invoke(arguments: Sequence[str], interrupts: Interrupts) -> int:
    root = command_tree()
    try:
        with root.make_context("fluid", _with_help_in_full(arguments), obj=interrupts) as context:
            return root.invoke(context) or failures.DONE
    except typer.Exit as end:
        return end.exit_code


def _with_help_in_full(arguments: Sequence[str]) -> list[str]:
    """Return the arguments with ``-h`` in full; what follows ``--`` are values."""
    end = _end_of_options(arguments)
    options = ["--help" if word == "-h" else word for word in arguments[:end]]
    return [*options, *arguments[end:]]


def _end_of_options(arguments: Sequence[str]) -> int:
    return arguments.index("--") if "--" in arguments else len(arguments)


def _finish(code: int) -> int:
    """Flush, so that a full disk or a closed pipe is noticed while it can still be reported."""
    sys.stdout.flush()
    sys.stderr.flush()
    return code


def _failed(error: Exception, arguments: Sequence[str]) -> int:
    if "--debug" in arguments:
        failures.show_traceback(error)
    code = failures.exit_code_of(error)
    failures.tell(error, failures.explain(error), code, as_json=_wants_json(arguments))
    try:
        sys.stdout.flush()
    except OSError:
        _discard_output()
    return code


def _wants_json(arguments: Sequence[str]) -> bool:
    return "--json" in arguments[: _end_of_options(arguments)]


def _interrupted(error: BaseException, arguments: Sequence[str]) -> int:
    if "--debug" in arguments:
        failures.show_traceback(error)
    failure = failures.Failure(MESSAGE, HINT)
    return failures.tell(KeyboardInterrupt(), failure, EXIT_CODE, as_json=_wants_json(arguments))


def _discard_output() -> None:
    """Keep Python from trying again, at its end, to write what could not be written."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        os.dup2(nowhere, stream.fileno())


def _prepare_streams() -> None:
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # The parent process closed it.
            stream = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
            setattr(sys, name, stream)
        # A character that the terminal's encoding lacks becomes an escape instead of a crash.
        stream.reconfigure(errors="backslashreplace")


def main() -> None:
    """Run the command line of this process, and end the process."""
    _prepare_streams()
    if shell := os.environ.get(completion.VARIABLE):
        completion.complete(sys.argv[1:], shell)
        return
    # `fluid forge` keeps a million objects alive until its end. With Python's default of a
    # collection after every 700 new ones, collecting finds nothing and takes a tenth of the time.
    gc.set_threshold(100_000, 50, 100)
    with Interrupts() as interrupts:
        code = run(sys.argv[1:], interrupts)
        if interrupts.received:
            # The engine may still be at work in its threads; Python would wait for them.
            os._exit(code)
    sys.exit(code)


if __name__ == "__main__":
    main()
