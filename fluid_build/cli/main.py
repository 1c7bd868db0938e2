"""The ``fluid`` command: which commands there are, and how each of them ends.

The commands' modules are imported when they are called. What is imported here is all that
``fluid --help`` waits for.
"""

import gc
import importlib
import os
import sys
from collections.abc import Callable, Mapping, Sequence
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
        return _real_command(str(self.name), getattr(importlib.import_module(module), function))


class Group(TyperGroup):
    """A group that shows its help when it is called without a command."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the group's own options; no command at all is wrong usage."""
        if not args:
            sys.stderr.write(ctx.get_help() + "\n")
            raise typer.Exit(failures.NOT_DONE)
        return super().parse_args(ctx, args)


class Formats(Group):
    """A group with one command a format, made of the formats' records when it is asked for them.

    ``place`` is ``module:function``; that function returns the commands' functions by name.
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
        """Return the command of a format; UsageError names the known ones."""
        known = self.list_commands(ctx)
        if args[0] not in known and not args[0].startswith("-"):
            hint = f"Known here: {', '.join(known)}."
            raise UsageError(f"There is no format {args[0]!r}.", hint=hint)
        return super().resolve_command(ctx, args)

    def _functions(self) -> Mapping[str, Callable[..., int]]:
        module, _, function = self.place.partition(":")
        functions: Mapping[str, Callable[..., int]] = getattr(
            importlib.import_module(module), function
        )()
        return functions


def _real_command(name: str, function: Callable[..., int]) -> Any:
    """Return the command that a function is; the first line of its help is its summary."""
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    app.command(name, short_help=(function.__doc__ or "").partition("\n")[0])(function)
    return get_command(app)


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
        Formats(
            "export",
            "fluid_build.cli.export:commands",
            "Write a contract in one of the open formats.",
        ),
        Formats(
            "import",
            "fluid_build.cli.import_:commands",
            "Turn a contract in another format into a FLUID contract.",
        ),
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
