"""Models that call a macro, and the macros: those of the plan, and what depends on the database."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from fluid_build.block_yaml import block_yaml
from fluid_build.decisions.conventions import ColumnNames
from fluid_build.modeling.data_vault.elements import HashKeyStrategy
from fluid_build.sources.sql import literal
from fluid_build.transform.dbt.dialects import TargetDialect
from fluid_build.transform.dbt.jinja_references import with_references
from fluid_build.transform.dbt.portable_paths import jinja_string
from fluid_build.transform.plan.database_words import PLACES, TYPE_WORDS, WORDS
from fluid_build.transform.plan.elements import (
    BEFORE_ANY_LOAD,
    GHOST,
    LOAD_DATE,
    Build,
    MacroCall,
    Query,
    Relation,
    SourceTable,
    Sql,
    SqlType,
)
from fluid_build.transform.plan.hashing import (
    MOST_IN_A_CHAIN,
    exact,
    hash_of,
    or_token,
    written,
    zero_key,
)
from fluid_build.transform.plan.macro_calls import MACROS
from fluid_build.transform.plan.sql_layout import LINE_WIDTH, nested, within_width

_PLACE, _OTHER = PLACES
_DESCRIBED = re.compile(r"\{#-((?:(?!#\}).)*)-#\}\n\{% macro (\w+)", re.DOTALL)
_DEFINED, _CALLED = re.compile(r"macro (\w+)\("), re.compile(r"\b(\w+)\(")


def call_text(call: MacroCall, dialect: TargetDialect) -> str:
    """Return a call as the text of a model, one argument a line."""
    lines = [
        argument_text(f"    {name}=", value, dialect, ends=",")
        for name, value in call.arguments.items()
    ]
    return "\n".join((f"{{{{ {call.macro}(", *lines, ") }}"))


class _Expression(str):
    """An expression of Jinja as an argument."""

    __slots__ = ()


def prepared_call(
    call: MacroCall, sources: Mapping[str, str], written: Callable[[str], str]
) -> tuple[str, MacroCall]:
    """Return a call as a model of dbt has it, after what sets the queries that it's called with.

    ``sources`` is what dbt calls each table of the source by its id, ``written`` puts a query into
    the text of a model.
    """
    queries = {name: sql for name, sql in call.arguments.items() if isinstance(sql, Query)}
    settings = "".join(
        f"{{% set {name} -%}}\n{nested(written(sql))}\n{{%- endset %}}\n\n"
        for name, sql in queries.items()
    )

    def prepared(value: object) -> object:
        if isinstance(value, SourceTable):
            return _Expression(sources[value])
        if isinstance(value, Mapping):
            return {key: prepared(item) for key, item in value.items()}
        return value

    arguments = {
        name: _Expression(name) if name in queries else prepared(value)
        for name, value in call.arguments.items()
    }
    return settings, MacroCall(macro=call.macro, arguments=arguments)


def macro_files(
    builds: Iterable[Build],
    strategy: HashKeyStrategy,
    columns: ColumnNames,
    dialect: TargetDialect,
) -> dict[str, str]:
    """Return the macros that models call, by their paths, and those that these call."""
    called = {build.call.macro for build in builds if build.call is not None}
    if not called:
        return {}
    macros = {
        **{name: with_column_names(text, columns) for name, text in MACROS.items()},
        "hashing": _hashing_macros(strategy, dialect),
        "database": _database_macros(dialect),
    }
    defined = {name: set(_DEFINED.findall(text)) for name, text in macros.items()}
    needed: dict[str, None] = {}
    found = [name for name in macros if defined[name] & called]
    while found:
        needed |= dict.fromkeys(found)
        called = {call for name in found for call in _CALLED.findall(macros[name])}
        found = [name for name in macros if name not in needed and defined[name] & called]
    files = {f"macros/{name}.sql": macros[name] for name in macros if name in needed}
    return {**files, "macros/_macros.yml": _macro_properties(files.values())}


def _macro_properties(macros: Iterable[str]) -> str:
    """Return what each macro is for, as its comment says, for the documentation of the project."""
    described = (match for text in macros for match in _DESCRIBED.finditer(text))
    entries = [{"name": match[2], "description": " ".join(match[1].split())} for match in described]
    return block_yaml({"version": 2, "macros": entries})


def with_column_names(macros: str, columns: ColumnNames) -> str:
    """Return macros in which the columns that loads add have these names."""
    if not columns.replaced:
        return macros
    mentions = re.compile(rf"\b({'|'.join(sorted(columns.replaced))})\b")
    return mentions.sub(lambda found: columns.replaced[found[0]], macros)


def argument_text(start: str, value: object, dialect: TargetDialect, *, ends: str) -> str:
    """Return an argument after its name: in a line, or where it's too long an item a line."""
    text = f"{start}{_text(value, dialect)}{ends}"
    if len(text) <= LINE_WIDTH or not isinstance(value, Mapping | list | tuple):
        return text if len(text) <= LINE_WIDTH else _long_text(start, value, dialect, ends=ends)
    indent = " " * (len(start) - len(start.lstrip()))
    opens, items, closes = _parts(value)
    words = [f"{name}{_text(item, dialect)}," for name, item in items]
    is_filled = all(isinstance(item, str) for _, item in items)
    if is_filled and max(map(len, words)) <= LINE_WIDTH - len(indent) - 4:
        body = _filled(words, f"{indent}    ")
    else:
        body = "\n".join(_item(f"{indent}    {name}", item, dialect) for name, item in items)
    return f"{start}{opens}\n{body}\n{indent}{closes}{ends}"


def _item(start: str, value: object, dialect: TargetDialect) -> str:
    """Return an item after its name: its own items fill the line, and those that follow it."""
    text = f"{start}{_text(value, dialect)},"
    if len(text) <= LINE_WIDTH or not isinstance(value, Mapping | list | tuple):
        return text if len(text) <= LINE_WIDTH else _long_text(start, value, dialect, ends=",")
    indent = f"{' ' * (len(start) - len(start.lstrip()))}    "
    opens, items, closes = _parts(value)
    lines = [f"{start}{opens}"]
    for name, item in items:
        word = f"{name}{_text(item, dialect)},"
        between = "" if lines[-1].endswith(opens) else " "
        # The last one is followed by what closes the item.
        if len(lines[-1]) + len(between) + len(word) + len(closes) <= LINE_WIDTH:
            lines[-1] += f"{between}{word}"
        else:
            lines += _item(f"{indent}{name}", item, dialect).split("\n")
    last = lines[-1].removesuffix(",")
    between = " " if last.endswith(closes) else ""
    if len(f"{last}{between}{closes},") > LINE_WIDTH:
        return "\n".join((*lines[:-1], f"{last},", f"{indent.removesuffix('    ')}{closes},"))
    return "\n".join((*lines[:-1], f"{last}{between}{closes},"))


def _long_text(start: str, value: object, dialect: TargetDialect, *, ends: str) -> str:
    """Return a text after its name in several strings, which Jinja puts together."""
    indent = f"{' ' * (len(start) - len(start.lstrip()))}    "
    if (
        isinstance(value, Relation | SqlType | _Expression)
        or not isinstance(value, str)
        or " " not in value
    ):
        text = f"{_text(value, dialect)}{ends}"
        return f"{start.rstrip()}\n{indent}{text}" if start.endswith(" ") else f"{start}{text}"
    text = expression(value, dialect) if isinstance(value, Sql) else value
    # Quotes and what is escaped take up to twice the room.
    width = max(LINE_WIDTH - len(start), LINE_WIDTH // 2)
    pieces = [""]
    for word in re.findall(r"\S+\s*|\s+", text):
        if pieces[-1] and len(string(pieces[-1] + word)) >= width:
            pieces.append("")
        pieces[-1] += word
    strings = f"\n{indent}".join(map(string, pieces))
    return f"{start}{strings}{ends}"


def _parts(
    value: Mapping[object, object] | Sequence[object],
) -> tuple[str, list[tuple[str, object]], str]:
    """Return a list or a mapping as what opens it, its items, each with its name, the close."""
    if isinstance(value, Mapping):
        return "{", [(f"{string(str(key))}: ", item) for key, item in value.items()], "}"
    return "[", [("", item) for item in value], "]"


def _filled(words: Iterable[str], indent: str) -> str:
    """Return words in lines that are as full as they may be."""
    lines = [indent]
    for word in words:
        if len(lines[-1]) + len(word) + 1 > LINE_WIDTH and lines[-1] != indent:
            lines.append(indent)
        lines[-1] += word if lines[-1] == indent else f" {word}"
    return "\n".join(lines)


def _text(value: object, dialect: TargetDialect) -> str:
    """Return an argument as Jinja; SQL and types are the database's."""
    if isinstance(value, Relation):
        return f"ref('{value}')"
    if isinstance(value, _Expression):
        return str(value)
    if isinstance(value, Sql):
        return string(expression(value, dialect))
    if isinstance(value, SqlType):
        return string(dialect.type(value))
    if isinstance(value, str):
        return string(value)
    if isinstance(value, Mapping):
        items = ", ".join(f"{string(str(k))}: {_text(v, dialect)}" for k, v in value.items())
        # Two braces would end the call for a reader.
        return f"{{{items} }}" if items.endswith("}") else f"{{{items}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(_text(item, dialect) for item in value)}]"
    if isinstance(value, int) and value is not True:
        return str(value)
    assert value is True, "a truth value that is false is a default"
    return "true"


def string(text: str) -> str:
    """Return a string of Jinja, which may be in quotes of either kind."""
    return (
        f'"{text}"' if "'" in text and not {'"', "\\", "\n", "\r"} & {*text} else jinja_string(text)
    )


def expression(sql: str, dialect: TargetDialect) -> str:
    """Return an SQL expression in the database's dialect."""
    return dialect.query(f"SELECT {sql}").removeprefix("SELECT").strip()


def _hashing_macros(strategy: HashKeyStrategy, dialect: TargetDialect) -> str:
    """Return the macros of what depends on the database, and of how a row is hashed."""
    rows = exact(strategy)

    def piece(sql: str, *names: str) -> str:
        return _with_arguments(sql, names, dialect)

    pieces: tuple[tuple[str, str, str], ...] = (
        ("when the run loads", "load_moment()", piece(LOAD_DATE)),
        ("the load date of ghost records", "before_any_load()", piece(BEFORE_ANY_LOAD)),
        ("where ghost records are from", "ghost_source()", piece(literal(GHOST))),
        ("the key of what isn't there", "zero_key()", piece(zero_key(strategy))),
        ("the type of counts", "whole_number()", dialect.type("BIGINT")),
        (
            "two values are equal, or both null",
            "is_same(left, right)",
            piece(f"{_PLACE} IS NOT DISTINCT FROM {_OTHER}", "left", "right"),
        ),
        ("a value as text", "as_text(column)", piece(f"CAST({_PLACE} AS VARCHAR)", "column")),
        ("what separates parts", "delimiter()", piece(literal(rows.delimiter))),
        ("the hash of a text", "hash_of(input)", piece(hash_of(_PLACE, rows), "input")),
    )
    hashed_row = _HASHED
    if rows.style is not None and rows.style.all_null == "zero_key":
        pieces += (("what is in the place of a null", "null_token()", literal(rows.null_token)),)
        hashed_row = _HASHED.replace(_HASH, _HASH_OR_ZERO_KEY)
    macros = [_macro(what, name, text, dialect) for what, name, text in pieces]
    macros += (
        _macro_by_length(
            "a text in which no character has a meaning to the hash",
            "escaped",
            "column",
            piece(written(_PLACE, "VARCHAR", rows), "column"),
            _LONG_COLUMN,
            dialect,
        ),
        _macro_by_length(
            "a part of the hash, or what stands for a null",
            "or_null_token",
            "part",
            piece(or_token(_PLACE, rows), "part"),
            _LONG_PART,
            dialect,
        ),
    )
    return "\n".join((_HASHING_HEAD, *macros, hashed_row))


def _database_macros(dialect: TargetDialect) -> str:
    """Return the macros of what databases write differently in a star."""
    types = (
        _macro(says, f"{name}()", dialect.type(type_), dialect)
        for name, (type_, says) in TYPE_WORDS.items()
    )
    words = (
        _macro(
            word.says,
            f"{word.name}({', '.join(word.arguments)})",
            _with_arguments(word.sql, word.arguments, dialect),
            dialect,
        )
        for word in WORDS
    )
    return "\n".join((_DATABASE_HEAD, *types, *words, _recursive_columns(dialect)))


def _recursive_columns(dialect: TargetDialect) -> str:
    """Return the macro of the columns of a recursive query: Snowflake wants to be told them.

    BigQuery can't be.
    """
    columns = "" if dialect.target == "bigquery" else " ({{ columns | join(', ') }})"
    return _macro(
        "the columns of a recursive query", "recursive_columns(columns)", columns, dialect
    )


def _macro(says: str, signature: str, text: str, dialect: TargetDialect) -> str:
    line = f"{{% macro {signature} %}}{text}{{% endmacro %}}"
    if len(line) > LINE_WIDTH or "\n" in text:
        lines = within_width(text, backslashes=dialect.backslashes)
        line = f"{{% macro {signature} -%}}\n{lines}\n{{%- endmacro %}}"
    return f"{{#- {says} -#}}\n{line}\n"


def _macro_by_length(
    says: str, name: str, argument: str, text: str, most: int, dialect: TargetDialect
) -> str:
    """Return a macro whose calls are broken where the argument has more than ``most`` letters."""
    lines = within_width(text, backslashes=dialect.backslashes, width=_NARROW)
    if lines == text:
        return _macro(says, f"{name}({argument})", text, dialect)
    lines = lines.replace(f"{{{{ {argument} }}}}", f"{{{{ {argument} | indent(4) }}}}")
    return (
        f"{{#- {says} -#}}\n{{% macro {name}({argument}) -%}}\n"
        f"{{%- if {argument} | length > {most} -%}}\n{lines}\n"
        f"{{%- else -%}}\n{text}\n{{%- endif -%}}\n{{%- endmacro %}}\n"
    )


def _with_arguments(sql: str, names: Sequence[str], dialect: TargetDialect) -> str:
    """Return SQL in the database's dialect, with the arguments of a macro in their places."""
    text = expression(sql, dialect)
    text = with_references(text, own="", sources={}, backslashes=dialect.backslashes)
    for place, name in zip(PLACES, names, strict=False):
        text = re.sub(rf"\b{place}\b", f"{{{{ {name} }}}}", text)
    return text


# A part of a hash has a margin of 12, "|| '||' || " before it and the null token's call around it.
_LONG_COLUMN, _LONG_PART = 20, 60
_NARROW = 20
"""A call is broken at all of its parentheses where its argument is a long one."""
_HASHING_HEAD = """\
{#- What is written otherwise in other databases, and how a row is hashed. -#}
"""
_HASH = """\
{%- set input = joined | join(between) -%}
{%- if '\\n' in input or input | length > 80 -%}
{{ hash_of('\\n    ' ~ input | indent(4) ~ '\\n') }}
{%- else -%}
{{ hash_of(input) }}
{%- endif -%}"""
_HASH_OR_ZERO_KEY = f"""\
{{%- set made -%}}
{_HASH}
{{%- endset -%}}
{{%- set is_null = ' = ' ~ null_token() -%}}
CASE
    WHEN
        {{{{ parts | join(is_null ~ '\\n        AND ') | indent(8) }}}}{{{{ is_null }}}}
        THEN {{{{ zero_key() }}}}
    ELSE {{{{ made | indent(4) }}}}
END"""
_DATABASE_HEAD = """\
{#- Types, moments and days, as the database writes them. -#}
"""
_HASHED = f"""\
{{#-
    The hash of several columns: each as text, escaped so that no other values have the same input,
    or the null token, one after the other. Parentheses keep long chains from nesting too deep.
-#}}
{{% macro hashed(columns, text=[], hash_as={{}}) -%}}
{{%- set parts = [] -%}}
{{%- for column in columns -%}}
    {{%- set own = escaped(column) if column in text else as_text(column) -%}}
    {{%- set _ = parts.append(or_null_token(hash_as.get(column, own))) -%}}
{{%- endfor -%}}
{{%- set between = '\\n|| ' ~ delimiter() ~ ' || ' -%}}
{{%- set groups = parts | batch({MOST_IN_A_CHAIN}) | list -%}}
{{%- set joined = [] -%}}
{{%- for group in groups -%}}
    {{%- set chain = group | join(between) -%}}
    {{%- set _ = joined.append(chain if groups | length == 1
        else '(\\n    ' ~ chain | indent(4) ~ '\\n)') -%}}
{{%- endfor -%}}
{_HASH}
{{%- endmacro %}}
"""
