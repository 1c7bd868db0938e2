"""SQL that is stated as the call of a macro, which a plan renders and a dbt project repeats.

The macros are Jinja (``macros/*.sql``), so that a project has them as they are, and its
readers change how something is loaded in one place. They call others for what depends on the
database and on the hashing: here those are functions.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from fluid_build.modeling.data_vault.elements import HashKeyStrategy
from fluid_build.sources.sql import literal
from fluid_build.transform.plan.database_words import duckdb_words
from fluid_build.transform.plan.elements import (
    BEFORE_ANY_LOAD,
    GHOST,
    LOAD_DATE,
    MacroCall,
    Query,
    Relation,
    SourceTable,
    Sql,
)
from fluid_build.transform.plan.hashing import (
    exact,
    hash_of,
    hashed_row,
    or_token,
    written,
    zero_key,
)
from fluid_build.transform.plan.sql_layout import nested

if TYPE_CHECKING:
    from jinja2 import Template

_FOLDER = files("fluid_build.transform.plan").joinpath("macros")
MACROS = {
    name: _FOLDER.joinpath(f"{name}.sql").read_text("utf-8")
    for name in (
        *("quarantine", "history", "vault"),
        *("star", "dimension", "fact", "hierarchy", "calendar"),
    )
}
"""The macros by the name of their file."""


def macro_call(macro: str, **arguments: object) -> MacroCall:
    """Return a call without the arguments that are empty: those are the defaults."""
    return MacroCall(
        macro=macro,
        arguments={
            name: value for name, value in arguments.items() if value not in ("", [], (), {}, False)
        },
    )


def hashed_columns(
    columns: Sequence[tuple[str, str]], strategy: HashKeyStrategy
) -> dict[str, object]:
    """Return the arguments that say which columns a row's hash is made of, and as what.

    Each column is given with its type.
    """
    rows = exact(strategy)
    hash_as = {}
    text = []
    for name, type_ in columns:
        part = written(name, type_, rows)
        if part == written(name, "VARCHAR", rows):
            text.append(name)
        elif part != _as_text(name):
            hash_as[name] = Sql(part)
    return {"columns": [name for name, _ in columns], "text": text, "hash_as": hash_as}


@dataclass(frozen=True, slots=True)
class CalledSql:
    """What a call renders to: the SQL of a first load, and that of the next ones."""

    sql: str
    next_load: str | None


def called_sql(call: MacroCall, own: str, strategy: HashKeyStrategy) -> CalledSql:
    """Return the SQL of a call for the build of that name."""
    sql, next_sql = (_rendered(call, own, strategy, again=again) for again in (False, True))
    return CalledSql(sql, next_sql if next_sql != sql else None)


def _rendered(call: MacroCall, own: str, strategy: HashKeyStrategy, *, again: bool) -> str:
    module = _macros(strategy).make_module(
        {"this": f"model.{own}", "is_incremental": lambda: again, "is_there_already": lambda: again}
    )
    arguments = {name: _in_plan(value) for name, value in call.arguments.items()}
    return str(getattr(module, call.macro)(**arguments))


def _in_plan(value: object) -> object:
    if isinstance(value, Relation):
        return f"model.{value}"
    if isinstance(value, SourceTable):
        return f"source.{value}"
    if isinstance(value, Query):
        return nested(value)
    if isinstance(value, Mapping):
        return {key: _in_plan(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_in_plan(item) for item in value]
    return value


@cache
def _macros(strategy: HashKeyStrategy) -> "Template":
    from jinja2 import Environment  # Commands that plan nothing start without it.

    # No text is escaped: it's SQL, not a page.
    environment = Environment(autoescape=False)
    return environment.from_string("".join(MACROS.values()), globals=_functions(strategy))


def _functions(strategy: HashKeyStrategy) -> dict[str, Callable[..., object]]:
    rows = exact(strategy)

    def hash_of_columns(
        columns: Sequence[str], text: Sequence[str], hash_as: Mapping[str, str]
    ) -> str:
        parts = (
            hash_as.get(name)
            or (written(name, "VARCHAR", rows) if name in text else _as_text(name))
            for name in columns
        )
        return hashed_row([or_token(part, rows) for part in parts], rows)

    return {
        "load_moment": lambda: LOAD_DATE,
        "var": lambda _, default: default,
        "before_any_load": lambda: BEFORE_ANY_LOAD,
        "ghost_source": lambda: literal(GHOST),
        "zero_key": lambda: zero_key(strategy),
        "whole_number": lambda: "BIGINT",
        "is_same": lambda left, right: f"{left} IS NOT DISTINCT FROM {right}",
        "hashed": hash_of_columns,
        "hash_of": lambda text: hash_of(text, rows),
        "as_text": _as_text,
        "recursive_columns": lambda columns: f" ({', '.join(columns)})",
        **duckdb_words(),
    }


def _as_text(name: str) -> str:
    return f"CAST({name} AS VARCHAR)"
