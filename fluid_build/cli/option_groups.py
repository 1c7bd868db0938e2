"""Groups of options that several commands have: a parameter whose type is a dataclass."""

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, is_dataclass
from typing import Annotated, Any, get_args, get_type_hints

import typer

from fluid_build.errors import UsageError
from fluid_build.stated_options import StatedOption, stated_options, with_values


@dataclass(frozen=True, slots=True)
class Offered:
    """Which of the options that a dataclass states a command offers, by keyword, in that order.

    ``check`` refuses what contradicts itself.
    """

    keywords: tuple[str, ...]
    check: Callable[[Any], None] | None = None


def with_option_groups(command: Callable[..., int]) -> Callable[..., int]:
    """Return a command whose groups of options are taken apart, into a parameter for each field.

    Typer reads options from a signature, where each has to be a parameter of its own. A group is a
    dataclass of Typer's options, or of stated ones where the annotation says which are ``Offered``.
    """
    hints = get_type_hints(command, include_extras=True)
    groups = {
        name: group
        for name, hint in hints.items()
        if (group := _stated_group(hint) or _typed_group(hint)) is not None
    }
    parameters: list[inspect.Parameter] = []
    for parameter in inspect.signature(command).parameters.values():
        if parameter.name in groups:
            parameters += groups[parameter.name].parameters
        else:
            annotation = hints[parameter.name]
            parameters.append(parameter.replace(annotation=annotation, kind=parameter.KEYWORD_ONLY))

    @functools.wraps(command)
    def run(**arguments: object) -> int:
        for name, group in groups.items():
            arguments[name] = group.make(
                {each.name: arguments.pop(each.name) for each in group.parameters}
            )
        return command(**arguments)

    run.__dict__["__signature__"] = inspect.Signature(parameters)
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


@dataclass(frozen=True, slots=True)
class _Group:
    """The parameters that stand for a dataclass, and how it's made of their arguments."""

    parameters: tuple[inspect.Parameter, ...]
    make: Callable[[Mapping[str, object]], object]


def _typed_group(hint: Any) -> _Group | None:
    """Return the fields of a dataclass as parameters; each needs a default."""
    if not (isinstance(hint, type) and is_dataclass(hint)):
        return None
    hints = get_type_hints(hint, include_extras=True)
    return _Group(
        tuple(
            parameter.replace(kind=parameter.KEYWORD_ONLY, annotation=hints[name])
            for name, parameter in inspect.signature(hint).parameters.items()
        ),
        lambda arguments: hint(**arguments),
    )


def _stated_group(hint: Any) -> _Group | None:
    offered = next((m for m in getattr(hint, "__metadata__", ()) if isinstance(m, Offered)), None)
    if offered is None:
        return None
    kind = get_args(hint)[0]
    stated = {option.keyword: option for option in stated_options(kind)}
    options = [stated[keyword] for keyword in offered.keywords]

    def made(arguments: Mapping[str, object]) -> object:
        values = {option.keyword: _value(option, arguments[option.keyword]) for option in options}
        whole = with_values(kind, values)
        if offered.check is not None:
            offered.check(whole)
        return whole

    return _Group(tuple(map(_parameter, options)), made)


def _parameter(option: StatedOption) -> inspect.Parameter:
    """Return an option as Typer reads it."""
    type_: Any = str | None
    default: object = None
    if option.type in (bool, str):
        type_, default = option.type, option.default
    elif option.type == int | None:
        type_ = option.type
    elif option.flag.read is not None or option.default == ():
        type_ = list[str] | None
    flag = option.flag
    return inspect.Parameter(
        option.keyword,
        inspect.Parameter.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[type_, typer.Option(flag.name, metavar=flag.value, help=flag.help)],
    )


def _value(option: StatedOption, typed: Any) -> object:
    """Return the value of what was typed; UsageError for what is none of the few."""
    flag = option.flag
    if flag.read is not None:
        return flag.read(typed or ())
    if typed is None:
        return option.default
    if option.choices and typed not in option.choices:
        raise UsageError(f"{typed!r} isn't {flag.noun}.", hint=flag.hint)
    return tuple(typed) if isinstance(typed, list) else typed
