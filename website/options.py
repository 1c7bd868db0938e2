"""The reference of options: every command with its usage, its example and its options.

It is made of the commands themselves, so it can't disagree with ``--help``.
"""

import re
from collections.abc import Collection, Iterator
from typing import Any

_INTRODUCTION = """\
# Options of every command

What `--help` prints, of all commands on one page; [commands](commands.md) says what they do beyond
that. Every command also has `--help`, and `--debug`, which shows the traceback of an error as well.
"""
_OF_EVERY_COMMAND = ("--help", "--debug")
_EXAMPLE = re.compile(r"^(?:Example:)? +(?=fluid )", re.MULTILINE)
_SPECIAL = re.compile(r"[\\*_<\[]")
_CODE = re.compile(r"(`[^`]*`)|((?<![\w-])--[a-z][a-z-]*)")
"""What is code in a help text: what is in backticks, and the names of options."""


def options_page(root: Any, described: Collection[str]) -> str:
    """Return a page in Markdown about a tree of commands.

    ``described`` are the commands that commands.md has a section on.
    """
    contexts = _contexts(root, "fluid", None)
    sections = [_section(context, context.command_path in described) for context in contexts]
    return "\n".join([_INTRODUCTION, *sections])


def _contexts(command: Any, name: str, parent: Any) -> Iterator[Any]:
    """Yield a context for a command and for each one below it, in the order of the help."""
    command = command.load() if hasattr(command, "load") else command
    context = command.context_class(command, info_name=name, parent=parent)
    yield context
    for word, below in _subcommands(context):
        yield from _contexts(below, word, context)


def _subcommands(context: Any) -> list[tuple[str, Any]]:
    """Return the commands of a group by their names; none of a command."""
    group = context.command
    names = group.list_commands(context) if hasattr(group, "list_commands") else ()
    return [(name, group.get_command(context, name)) for name in names]


def _section(context: Any, is_described: bool) -> str:
    path = _path(context)
    usage = " ".join([context.command_path, *context.command.collect_usage_pieces(context)])
    parts = [f"## {path}", *_paragraphs(context.command.help or ""), f"Usage: `{usage}`"]
    if is_described:
        parts[-1] += f" · [more about it](commands.md#{anchor(path)})"
    if below := _subcommands(context):
        parts.append("\n".join(_summary(path, name, command) for name, command in below))
    parts += _definitions(context)
    return "\n\n".join(parts) + "\n"


def anchor(path: str) -> str:
    """Return the anchor of a command's heading."""
    return path.lower().replace(" ", "-")


def _path(context: Any) -> str:
    """Return the name of a command with those of its groups, without the arguments of these."""
    return re.sub(r" \{[^}]*\}", "", context.command_path)


def _paragraphs(text: str) -> Iterator[str]:
    """Yield the paragraphs of a help text; one that keeps its lines has examples."""
    for paragraph in re.split(r"\n\s*\n", text.replace("\b\n", "\b")):
        if paragraph.startswith("\b"):
            yield f"```sh\n{_EXAMPLE.sub('', paragraph[1:])}\n```"
        else:
            yield _escaped(" ".join(paragraph.split()))


def _summary(path: str, name: str, command: Any) -> str:
    summary = _escaped(command.get_short_help_str(limit=1000))
    return f"- [`{name}`](#{anchor(f'{path} {name}')}): {summary}"


def _definitions(context: Any) -> Iterator[str]:
    for parameter in context.command.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None and parameter.opts[0] not in _OF_EVERY_COMMAND:
            names, text = record
            # Of an argument, the help has the type as well, which says nothing to a reader.
            shown = names if parameter.param_type_name == "option" else names.partition(" <")[0]
            yield f"`{shown}`\n:   {_escaped(text)}"


def _escaped(text: str) -> str:
    """Return a help text as Markdown, in which only its code has a meaning."""
    parts, end = [], 0
    for code in _CODE.finditer(text):
        parts += [_SPECIAL.sub(r"\\\g<0>", text[end : code.start()]), code[1] or f"`{code[2]}`"]
        end = code.end()
    return "".join([*parts, _SPECIAL.sub(r"\\\g<0>", text[end:])])
