"""``completions.json``: every command with its options, for the completion of shells."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

from typer.core import TyperOption

import fluid_build.cli
from fluid_build.cli.completion import DATA
from fluid_build.cli.main import LazyCommand, command_tree
from fluid_build.cli.reading.source_options import CHOICES
from fluid_build.forging.options import ForgeOptions
from fluid_build.modeling.dimensional.elements import Variant
from fluid_build.modeling.techniques import TECHNIQUES
from fluid_build.sources.options import ReadOptions
from fluid_build.stated_options import stated_options
from fluid_build.transform.dbt.targets import TARGET_LABELS
from fluid_build.transform.plan.project_tools import ProjectTool

PLACE = Path(fluid_build.cli.__file__).parent / DATA
VALUES: Mapping[str, Sequence[str]] = {
    **{
        option.flag.name: [str(choice) for choice in option.choices if choice is not None]
        for kind in (ReadOptions, ForgeOptions)
        for option in stated_options(kind)
        if option.choices
    },
    "--technique": (*TECHNIQUES, "dv2"),
    "--variant": get_args(Variant),
    "--target": tuple(TARGET_LABELS),
    "--for": get_args(ProjectTool),
    "--source": CHOICES,
}
"""The values of options that take one of a few; the options themselves take any text."""


def completions_json() -> str:
    """Return the file as it should be."""
    root = command_tree()
    context = root.make_context("fluid", ["demo"], resilient_parsing=True)
    return json.dumps(_command(root, context), indent=1, ensure_ascii=True) + "\n"


def _command(command: Any, context: Any) -> dict[str, Any]:
    command = command.load() if isinstance(command, LazyCommand) else command
    data: dict[str, Any] = {"options": dict(_options(command, context))}
    if hasattr(command, "list_commands"):
        data["commands"] = {
            name: {"help": _summary(child), **_command(child, context)}
            for name in command.list_commands(context)
            if (child := command.get_command(context, name)) is not None
        }
    return data


def _options(command: Any, context: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    for parameter in command.params:
        if isinstance(parameter, TyperOption) and not parameter.hidden:
            for name in (*parameter.opts, *parameter.secondary_opts):
                option: dict[str, Any] = {"help": _first_sentence(parameter.help or "")}
                if not parameter.is_flag:
                    option["takes_value"] = True
                if name in VALUES:
                    option["values"] = [*VALUES[name]]
                yield name, option


def _summary(command: Any) -> str:
    return _first_sentence(command.short_help or command.help or "")


def _first_sentence(text: str) -> str:
    """Return the part of a summary that fits in a list of completions."""
    return text.partition("\n")[0].partition(". ")[0].rstrip(".")


def main() -> None:
    PLACE.write_text(completions_json(), encoding="utf-8")


if __name__ == "__main__":
    main()
