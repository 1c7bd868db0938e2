"""The sections of a contract that are validated and carried, and that no code reads key by key.

How the data is made and run, who may do what with it, where it comes from, how it lives, is watched
and served. What each may hold is the table ``sections.yaml``.
"""

from collections.abc import Iterator
from importlib import resources
from typing import Annotated, Any, Literal

import yaml
from pydantic import Discriminator, Field, Tag

from fluid_build.contract.fluid.common import (
    Count,
    Distinct,
    FreeForm,
    Identifier,
    Integer,
    IsoDuration,
    Labels,
    Number,
    NumberRule,
    Percent,
    PositiveCount,
    Problem,
    SemVer,
    Share,
    Tags,
    TextPattern,
    expects,
    requires,
)
from fluid_build.contract.fluid.plain_parts import LIST, PlainPart

PERMISSIONS = tuple("read select query write insert update delete create admin manage".split())
PATTERNS = ("hybrid-reference", "embedded-logic", "multi-stage")
_ENGINES = ("dbt", "sql", "python", "spark", "glue", "custom")
_LITERAL: Any = Literal


def _text_or(kind: str, python_type: type) -> Discriminator:
    """Return what distinguishes a text from a value of another type."""

    def choose(value: object) -> str | None:
        return (
            "text" if isinstance(value, str) else kind if isinstance(value, python_type) else None
        )

    return Discriminator(choose)


_TYPES: dict[str, Any] = {
    "text": str,
    "flag": bool,
    "number": Number,
    "whole": Integer,
    "count": Count,
    "positive": PositiveCount,
    "share": Share,
    "percent": Percent,
    "duration": IsoDuration,
    "id": Identifier,
    "version": SemVer,
    "anything": Any,
    "mapping": FreeForm,
    "texts": Labels,
    "numbers": dict[str, Number],
    "materializations": dict[str, Literal["table", "view", "incremental", "ephemeral"]],
    "severity": Literal["info", "warning", "critical"],
    "permission": _LITERAL[PERMISSIONS],
    "iceberg-file": Literal["parquet", "orc", "avro"],
    "iceberg-version": Annotated[int, NumberRule(whole=True, words=(1, 2))],
    "availability": Annotated[
        str,
        TextPattern(
            r"^(100(\.0+)?|\d{2}(\.\d+)?)%$",
            "a percentage with two digits before the decimal point, such as `99.9%`, or `100%`",
        ),
    ],
    "model-name": Annotated[
        str,
        TextPattern(
            r"^[a-z0-9]([a-z0-9_.-]*[a-z0-9])?$",
            "a model's name of lower-case letters, digits, `-`, `_` and `.`, beginning and ending "
            "with a letter or digit",
        ),
    ],
    "provider-action": Annotated[
        str,
        TextPattern(
            r"^[a-z0-9_]+\.[a-z0-9_]+$",
            "a service and its action, lower case, separated by a dot, such as `s3.ensure_bucket`",
        ),
    ],
    "engine": Annotated[
        str,
        TextPattern(
            rf"^({'|'.join(_ENGINES)})\Z|^dbt-[a-z0-9]+([_-][a-z0-9]+)*$",
            "`dbt`, `sql`, `python`, `spark`, `glue`, `custom`, or dbt with its adapter such as "
            "`dbt-duckdb`",
            _ENGINES,
        ),
    ],
    "text or texts": Annotated[
        Annotated[str, Tag("text")] | Annotated[list[str], Tag("list")], _text_or("list", list)
    ],
}
"""The types by their names in ``sections.yaml``; each section is one more."""


def _task_problems(task: FreeForm) -> Iterator[Problem]:
    """Yield what a task lacks for its type.

    The schema's conditions on ``params`` hold where the task *may* be of a type: a task that says
    neither its ``type`` nor an ``operator`` must satisfy them all.
    """
    if task.get("type") == "provider_action":
        for key in ("provider", "action", "params"):
            if key not in task:
                yield requires(key, of="a task of type `provider_action`")
    params = task.get("params")
    if params is None:
        return
    if _may_be(task, "fluid_execute", "FluidExecute"):
        if "contract_path" not in params:
            of = _task_type(task, "fluid_execute")
            yield requires("contract_path", under=("params",), of=of)
        for key in ("contract_path", "build_id"):
            if key in params and not isinstance(params[key], str):
                yield expects("text", under=("params", key), value=params[key])
    for type_, mark, keys in (
        ("bash", "Bash", ("bash_command", "command")),
        ("python", "Python", ("python_callable", "callable")),
    ):
        if _may_be(task, type_, mark) and not any(key in params for key in keys):
            yield requires(*keys, under=("params",), of=_task_type(task, type_))


def _may_be(task: FreeForm, type_: str, mark: str) -> bool:
    return task.get("type") in (None, type_) or mark in task.get("operator", mark)


def _task_type(task: FreeForm, type_: str) -> str:
    if task.get("type") == type_ or ("type" in task and "operator" in task):
        return f"the task, being a {type_} task,"
    unsaid = "type" if "type" not in task else "operator"
    return f"the task has no `{unsaid}`, so it may be a {type_} task, which"


def _unpatterned_problems(build: FreeForm) -> Iterator[Problem]:
    """Yield that properties need a pattern.

    The schema applies the conditions of every pattern to a build that doesn't say its own, and no
    properties can satisfy them all.
    """
    if "properties" in build:
        yield requires("pattern", of="a build with `properties`")


def _part(node: dict[str, Any], around: str = "closed") -> PlainPart:
    """Return the part that a mapping of the table describes; ``around`` is the openness outside."""
    openness = node.get("_", around)
    keys: dict[str, Any] = {}
    required = set()
    for words, described in node.items():
        for word in words.split() if words != "_" else ():
            key = word.rstrip("!+")
            type_ = _type(described, openness)
            keys[key] = Annotated[type_, Field(min_length=1)] if word.endswith("+") else type_
            if word.endswith("!"):
                required.add(key)
    if openness == "tagged":
        keys |= {"tags": Tags, "labels": Labels}
    return PlainPart(keys, frozenset(required), is_open=openness == "open")


def _type(described: Any, openness: str) -> Any:
    if isinstance(described, dict):
        return _part(described, openness).type
    if isinstance(described, list):
        return LIST[_type(described[0], openness)]
    if described.startswith("set of "):
        return Annotated[LIST[_type(described.removeprefix("set of "), openness)], Distinct]
    if described.startswith("one of "):
        return _LITERAL[tuple(described.split()[2:])]
    return _TYPES[described]


def _read_sections() -> dict[str, PlainPart]:
    """Read the table; a section may use those before it as types."""
    text = resources.files(__package__).joinpath("sections.yaml").read_text(encoding="utf-8")
    sections = {}
    for name, node in yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)).items():
        sections[name] = part = _part(node)
        if name == "task":
            part = part.with_rule(_task_problems)
        _TYPES[name] = part.type
        if name == "dataset":
            _TYPES["text or dataset"] = Annotated[
                Annotated[str, Tag("text")] | Annotated[FreeForm, part, Tag("mapping")],
                _text_or("mapping", dict),
            ]
    return sections


SECTIONS = _read_sections()
"""The sections by name."""


def pattern_of(build: object) -> str:
    """Return the key in ``BUILDS`` of the part that a build is judged as."""
    pattern = build.get("pattern") if isinstance(build, dict) else None
    return pattern if isinstance(pattern, str) and pattern in PATTERNS else "unpatterned"


def _build(pattern: str) -> PlainPart:
    """Return a build that says its pattern, and has the properties of that pattern."""
    keys = {"pattern": _LITERAL[pattern], "properties": SECTIONS[pattern].type}
    return SECTIONS["build"].with_keys(keys, "pattern")


BUILDS = {pattern: _build(pattern) for pattern in PATTERNS} | {
    "unpatterned": SECTIONS["build"]
    .with_keys({"pattern": _LITERAL[PATTERNS], "properties": FreeForm})
    .with_rule(_unpatterned_problems)
}
"""Builds by their patterns, and those that don't say theirs."""
