"""The ``fluid`` command: which commands there are, and how each of them ends.

The commands' modules are imported when they are called. What is imported here is all that
``fluid --help`` waits for.
"""

import gc
import importlib
import os
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

import fluid_build
from fluid_build.cli import failures, interrupts
from fluid_build.cli.interrupts import Interrupts
from fluid_build.errors import UsageError


class LazyCommand(TyperCommand):
    """A command that is known by its name and summary until it is called.

    ``place`` is ``module:function``, inside this package.
    """

    def __init__(self, name: str, place: str, summary: str) -> None:
        super().__init__(name, help=summary, short_help=summary)
        self.place = place

    def make_context(
        self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any
    ) -> Any:
        """Import the real command, and let it read its arguments."""
        return self.load().make_context(info_name, args, parent=parent, **extra)

    def load(self) -> Any:
        """The real command."""
        module, _, function = self.place.partition(":")
        app = typer.Typer(add_completion=False, rich_markup_mode=None)
        app.command(self.name)(getattr(importlib.import_module(module), function))
        return get_command(app)


class Group(TyperGroup):
    """A group that shows its help when it is called without a command."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the group's own options; no command at all is wrong usage."""
        if not args:
            sys.stderr.write(ctx.get_help() + "\n")
            raise typer.Exit(failures.NOT_DONE)
        return super().parse_args(ctx, args)


class Formats(Group):
    """A group whose commands are formats."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command of a format; UsageError names the known ones."""
        if args[0] not in self.commands and not args[0].startswith("-"):
            known = ", ".join(self.commands)
            raise UsageError(f"There is no format {args[0]!r}.", hint=f"Known here: {known}.")
        return super().resolve_command(ctx, args)


def _show_version(wanted: bool) -> None:
    if wanted:
        sys.stdout.write(f"fluid {fluid_build.__version__}\n")
        raise typer.Exit


def _options(
    _version: Annotated[
        bool,
        typer.Option("--version", help="Print the version.", is_eager=True, callback=_show_version),
    ] = False,
) -> None:
    """Turn an undocumented database or a folder of files into a data product you can trust.

    \b
    Start here:  fluid demo
    Your data:   fluid profile postgresql://user@host/shop
    """


def command_tree() -> TyperGroup:
    """The root of all commands, none of them imported yet."""
    app = typer.Typer(add_completion=False, rich_markup_mode=None, cls=Group)
    app.callback()(_options)
    root = get_command(app)
    assert isinstance(root, TyperGroup)
    for command in (
        LazyCommand(
            "demo",
            "fluid_build.cli.demo:demo",
            "Make a small shop database without any keys, and take it apart.",
        ),
        LazyCommand(
            "profile",
            "fluid_build.cli.profile:profile",
            "Show the keys, relationships and dirt that are really in the data.",
        ),
        _forge(),
        LazyCommand(
            "validate",
            "fluid_build.cli.validate:validate",
            "Check a data contract against FLUID 0.7.2.",
        ),
        LazyCommand(
            "test",
            "fluid_build.cli.testing:test",
            "Test live data against a contract.",
        ),
        LazyCommand(
            "diff",
            "fluid_build.cli.diff:diff",
            "Compare two contracts or two models.",
        ),
        LazyCommand(
            "verify",
            "fluid_build.cli.verify:verify",
            "Prove that nothing was lost: build the model anew and compare it with its source.",
        ),
        _export(),
        _import(),
    ):
        root.add_command(command)
    return root


def _forge() -> TyperGroup:
    data_model = Group(
        name="data-model",
        rich_markup_mode=None,
        help="Write a logical model, a data contract and a dbt project, and prove them.",
        commands=[
            LazyCommand(
                "from-source",
                "fluid_build.cli.forge:from_source",
                "Forge a model, a contract and a dbt project from a database or from files.",
            ),
            LazyCommand(
                "from-ddl",
                "fluid_build.cli.forge:from_ddl",
                "Forge a model, a contract and a dbt project from CREATE TABLE statements.",
            ),
        ],
    )
    return Group(
        name="forge",
        rich_markup_mode=None,
        help="Write what was found as a model, a contract and a dbt project.",
        commands=[data_model],
    )


def _export() -> TyperGroup:
    return Formats(
        name="export",
        rich_markup_mode=None,
        help="Write a contract in one of the open formats.",
        commands=[
            LazyCommand(
                "odcs",
                "fluid_build.cli.export:odcs",
                "Write a contract as one of the Open Data Contract Standard.",
            ),
            LazyCommand(
                "dcs",
                "fluid_build.cli.export:dcs",
                "Write a contract as one of the Data Contract Specification 1.2.1.",
            ),
            LazyCommand(
                "osi",
                "fluid_build.cli.export:osi",
                "Write a contract's semantic model as Open Semantic Interchange 0.1.1.",
            ),
        ],
    )


def _import() -> TyperGroup:
    return Formats(
        name="import",
        rich_markup_mode=None,
        help="Write a contract of another format as a FLUID contract.",
        commands=[
            LazyCommand(
                "odcs",
                "fluid_build.cli.import_:odcs",
                "Write a contract of the Open Data Contract Standard as a FLUID contract.",
            ),
        ],
    )


def run(arguments: Sequence[str], watch: Interrupts) -> int:
    """Run one command line and return its exit code; nothing but a bug in here raises."""
    try:
        return _run(arguments, watch)
    except BrokenPipeError:
        _discard_output()
        return failures.READER_GONE


def _run(arguments: Sequence[str], watch: Interrupts) -> int:
    try:
        return _finish(_invoke(arguments, watch))
    except BrokenPipeError:
        raise
    except KeyboardInterrupt as error:
        return _interrupted(error, arguments)
    except Exception as error:  # noqa: BLE001  the last line: no traceback may reach a user
        if watch.received:
            return _interrupted(error, arguments)
        return _failed(error, arguments)


def _invoke(arguments: Sequence[str], watch: Interrupts) -> int:
    root = command_tree()
    try:
        with root.make_context("fluid", list(arguments), obj=watch) as context:
            return root.invoke(context) or failures.DONE
    except typer.Exit as end:
        return end.exit_code


def _finish(code: int) -> int:
    """Flush, so that a full disk or a closed pipe is noticed while it can still be told."""
    sys.stdout.flush()
    sys.stderr.flush()
    return code


def _failed(error: Exception, arguments: Sequence[str]) -> int:
    if "--debug" in arguments:
        failures.show_traceback(error)
    failures.show(failures.explain(error))
    try:
        sys.stdout.flush()
    except OSError:
        _discard_output()
    return failures.NOT_DONE


def _interrupted(error: BaseException, arguments: Sequence[str]) -> int:
    if "--debug" in arguments:
        failures.show_traceback(error)
    failures.show(failures.Failure(interrupts.MESSAGE, interrupts.HINT))
    return interrupts.EXIT_CODE


def _discard_output() -> None:
    """Keep Python from writing once more, at its end, what could not be written."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        os.dup2(nowhere, stream.fileno())


def _prepare_streams() -> None:
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # Whoever started the process closed it.
            stream = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
            setattr(sys, name, stream)
        # A name that the terminal's encoding lacks is shown as an escape rather than as a crash.
        stream.reconfigure(errors="backslashreplace")


def main() -> None:
    """Run the command line of this process, and end the process."""
    _prepare_streams()
    # A forge keeps what it makes until its end, and a model has a million parts: looking through
    # them again after every 700 new ones finds nothing and takes a tenth of the time.
    gc.set_threshold(100_000, 50, 100)
    with Interrupts() as watch:
        code = run(sys.argv[1:], watch)
        if watch.received:
            # The engine may still be at work in its threads; Python would wait for them.
            os._exit(code)
    sys.exit(code)


if __name__ == "__main__":
    main()
