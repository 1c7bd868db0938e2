"""Groups of options that several commands have: a parameter whose type is a dataclass."""

import functools
import inspect
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from typing import get_type_hints


def with_option_groups(command: Callable[..., int]) -> Callable[..., int]:
    """Return a command whose groups of options are taken apart, into a parameter for each field.

    Typer reads options from a signature, where each has to be a parameter of its own.
    """
    hints = get_type_hints(command, include_extras=True)
    groups = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
    parameters: list[inspect.Parameter] = []
    for parameter in inspect.signature(command).parameters.values():
        if parameter.name in groups:
            parameters += _field_parameters(hints[parameter.name])
        else:
            annotation = hints[parameter.name]
            parameters.append(parameter.replace(annotation=annotation, kind=parameter.KEYWORD_ONLY))

    @functools.wraps(command)
    def run(**arguments: object) -> int:
        for name, group in groups.items():
            options = {field.name: arguments.pop(field.name) for field in fields(group)}
            arguments[name] = hints[name](**options)
        return command(**arguments)

    run.__dict__["__signature__"] = inspect.Signature(parameters)
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def _field_parameters(group: type[object]) -> Iterator[inspect.Parameter]:
    """Yield the fields of a dataclass as parameters; each needs a default."""
    hints = get_type_hints(group, include_extras=True)
    for name, default in inspect.signature(group).parameters.items():
        kind = inspect.Parameter.KEYWORD_ONLY
        yield inspect.Parameter(name, kind, default=default.default, annotation=hints[name])
