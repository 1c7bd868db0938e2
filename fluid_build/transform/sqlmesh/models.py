"""The models: for each build a file with what sqlmesh has to know of it, and its query.

A relation that keeps rows reads itself, so its query is the plan's for a relation that exists. Of a
first load sqlmesh makes the table from the query again, whatever it has from one that was cut off:
``@has_loads()`` makes the relation read itself as empty then.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from fluid_build.sources.sql import literal
from fluid_build.transform.dbt.dialects import TargetDialect
from fluid_build.transform.dbt.jinja import literally
from fluid_build.transform.dbt.model_files import FOLDERS
from fluid_build.transform.plan.elements import Build
from fluid_build.transform.plan.sql_references import references
from fluid_build.transform.sqlmesh.audits import Audits
from fluid_build.transform.sqlmesh.sources import check_name

OWNER = "unassigned"
HAS_LOADS = """\
\"\"\"Whether a model has been loaded before, for models that read their own rows.\"\"\"

from sqlglot import exp
from sqlmesh import macro


@macro()
def has_loads(evaluator):
    \"\"\"Return FALSE while a model is loaded for the first time, and TRUE afterwards.\"\"\"
    snapshot = evaluator.locals.get("snapshot")
    return exp.Boolean(this=snapshot is None or bool(snapshot.intervals))
"""
_JINJA = re.compile(r"\{[{%#]")
_LOAD_DATE = "@execution_ts"


@dataclass(frozen=True, slots=True)
class Names:
    """What stands for relations in SQL: those of the source, and the schema of the built ones."""

    schema: str
    sources: Mapping[str, str]

    def relation(self, build: str) -> str:
        """Return the name of a built relation."""
        return f"{self.schema}.{build}"


def model_path(build: Build) -> str:
    """Return the path of a build's model in the project."""
    return f"models/{FOLDERS[build.layer]}/{build.name}.sql"


def model_text(
    build: Build, audits: Audits, names: Names, dialect: TargetDialect, *, kind: str = ""
) -> str:
    """Return the model of a build, of the kind that it's built by where none is given."""
    properties = {
        "name": names.relation(build.name),
        "kind": kind or _kind(build),
        "owner": OWNER,
        **dict(_properties(build, audits, names, dialect)),
    }
    head = ",\n".join(f"  {name} {value}" for name, value in properties.items())
    query = sql_text(dialect.query(build.next_sql), names, own=build.name)
    return f"MODEL (\n{head}\n);\n\n{as_query(query)}\n"


def united_text(name: str, query: str, names: Names, dialect: TargetDialect) -> str:
    """Return the model that puts the tables of a source together."""
    sql = as_query(sql_text(dialect.query(query), names))
    head = f"  name {names.relation(name)},\n  kind VIEW,\n  owner {OWNER}"
    return f"MODEL (\n{head}\n);\n\n{sql}\n"


def as_query(sql: str) -> str:
    """Return a query as it stands in a file; sqlmesh parses what looks like Jinja, so it's told."""
    if _JINJA.search(sql) is None:
        return sql
    return f"JINJA_QUERY_BEGIN;\n{literally(sql)}\nJINJA_END;"


def sql_text(sql: str, names: Names, *, own: str = "", itself: str = "") -> str:
    """Return the plan's SQL as sqlmesh reads it: with its relations and the load date.

    ``own`` is the build that reads itself, and ``itself`` what stands for it then; by default, its
    rows of earlier loads. Raises UsageError for a name that sqlmesh would change.
    """
    table = names.relation(own)
    itself = itself or f"(SELECT * FROM {table} WHERE @has_loads())"
    pieces: list[str] = []
    start = 0
    for token in references(sql):
        pieces.append(sql[start : token.start()])
        start = token.end()
        if token["quoted"]:
            check_name(token[0])
            pieces.append(token[0])
        elif token["load_date"]:
            pieces.append(_LOAD_DATE)
        elif token["kind"] == "source":
            pieces.append(names.sources[token["name"]])
        else:
            pieces.append(itself if token["name"] == own else names.relation(token["name"]))
    return "".join((*pieces, sql[start:]))


def kind_name(build: Build, kinds: Mapping[str, str]) -> str:
    """Return the name of a model's kind; ``kinds`` are those that don't follow from the build."""
    return (kinds.get(build.name) or _kind(build)).partition(" ")[0]


def reads_itself(build: Build) -> bool:
    """Return whether a build keeps rows of earlier loads."""
    return build.next_load is not None


def _properties(
    build: Build, audits: Audits, names: Names, dialect: TargetDialect
) -> Iterator[tuple[str, str]]:
    """Yield what describes a model, without what there's nothing to say of."""
    yield "tags", _tuple(_tags(build))
    description = " ".join(filter(None, (build.description, build.reason)))
    if description:
        yield "description", literal(description)
    types = (f"{column.name} {dialect.type(column.type)}" for column in build.columns)
    yield "columns", _lines(types)
    described = ((column.name, column.description or column.reason) for column in build.columns)
    descriptions = [f"{name} = {literal(text)}" for name, text in described if text]
    if descriptions:
        yield "column_descriptions", _lines(descriptions)
    if build.key:
        yield "grain", _tuple(build.key)
    references_made = list(_references(build))
    if references_made:
        yield "references", _lines(references_made)
    if build.name in audits.depends_on:
        yield "depends_on", _tuple(map(names.relation, audits.depends_on[build.name]))
    if build.name in audits.calls:
        yield "audits", _lines(audits.calls[build.name])


def _kind(build: Build) -> str:
    if build.materialization == "view":
        return "VIEW"
    if build.materialization == "incremental" and not (build.replaced and build.key):
        # Such a model only gets rows added, and neither a change of it nor a restatement makes
        # sqlmesh load it from nothing: it holds what the source no longer has.
        return "INCREMENTAL_UNMANAGED"
    if not reads_itself(build):
        return "FULL"
    key = ", ".join(build.key)
    return (
        f"INCREMENTAL_BY_UNIQUE_KEY (\n    unique_key ({key}),\n    forward_only true,\n"
        "    disable_restatement true\n  )"
    )


def _tags(build: Build) -> Iterator[str]:
    yield build.layer
    if any(column.pii for column in build.columns):
        yield "pii"


def _references(build: Build) -> Iterator[str]:
    """Yield the columns by which a model refers to the key of another, each once."""
    seen: set[str] = set()
    for test in build.tests:
        if not test.is_join or len(test.columns) != 1 or test.columns[0] in seen:
            continue
        seen.add(test.columns[0])
        (column,), (theirs,) = test.columns, test.to_columns
        yield column if column == theirs else f"{column} AS {theirs}"


def _tuple(items: Iterable[str]) -> str:
    return f"({', '.join(items)})"


def _lines(items: Iterable[str]) -> str:
    return "(\n    " + ",\n    ".join(items) + "\n  )"
