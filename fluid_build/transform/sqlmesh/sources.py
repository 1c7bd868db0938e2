"""How a sqlmesh project reaches its database, and reads the tables of the source there.

dbt's project says both in Jinja, which sqlmesh renders in ``config.yaml`` too. In a model there's
no environment, so there the SQL names the files by their path from the project's folder.
"""

import re
from collections.abc import Mapping
from string import Template

from fluid_build.block_yaml import block_yaml
from fluid_build.errors import UsageError
from fluid_build.sources.sql import quote
from fluid_build.transform.dbt.jinja import Jinja
from fluid_build.transform.dbt.portable_paths import PROJECT, database_file
from fluid_build.transform.dbt.source_entries import SourceAccess, SourceEntry
from fluid_build.transform.dbt.targets import TARGET_LABELS, Target
from fluid_build.transform.plan.elements import TransformPlan
from fluid_build.transform.plan.sql_references import references

_TARGETS: tuple[Target, ...] = ("duckdb", "postgres")
"""The databases in which the rows of such a project were compared with those of dbt's."""
_FIELDS = {"dbname": "database"}
"""The fields of a connection that sqlmesh calls otherwise than dbt."""
_MACRO = re.compile(
    r"@(?:[@{]|(?:(?:start|end|execution)_\w+|this_\w+|runtime_stage|model_kind_name|gateway|schemas"
    r"|views|snapshots?)\b)",
    re.IGNORECASE,
)
"""What sqlmesh replaces inside of quoted names: there's no way to write it that stays."""
_WITH_SCANNERS = {"disabled_optimizers": "cte_inlining"}
"""sqlmesh first runs a query for no rows, where DuckDB 1.5 fails to inline a table of SQLite."""
_EXPRESSION = re.compile(r"\{\{ (?P<value>.*?)(?: \| as_number)? \}\}")
_IN_ATTACH = """ | replace("'", "''")"""
"""sqlmesh puts the path of a database between quotes as it is."""


def check_buildable(target: Target) -> None:
    """Raise UsageError for a database that no sqlmesh project is written for."""
    if target not in _TARGETS:
        raise UsageError(
            f"A sqlmesh project for {TARGET_LABELS[target]} can't be written yet.",
            hint="--for sqlmesh works with --target duckdb and postgres; leave --for out for a dbt"
            f" project in {TARGET_LABELS[target]}.",
        )


def check_readable(access: SourceAccess) -> None:
    """Raise UsageError for a source that a sqlmesh project can't read."""
    if access.logs_in:
        raise UsageError(
            "A sqlmesh project can't log in to an object store with the credentials of your"
            " environment, as the dbt project does.",
            hint="--for sqlmesh works with databases, with local files and with files on the web;"
            " download the files, or leave --for out for a dbt project.",
        )


def connection(plan: TransformPlan, access: SourceAccess, target: Target) -> dict[str, object]:
    """Return the connection of ``config.yaml``: where models are built, and what is attached."""
    if target != "duckdb":
        fields = {_FIELDS.get(name, name): _value(value) for name, value in access.login.items()}
        return {"type": target, **fields}
    own = database_file(f"{access.database}.duckdb")
    catalogs: dict[str, object] = {plan.name: _value(own, _IN_ATTACH)}
    for attached in access.attached:
        type_ = "duckdb" if attached.scanner is None else attached.scanner.database_type
        path = _value(attached.path, _IN_ATTACH)
        catalogs[attached.alias] = {"type": type_, "path": path, "read_only": True}
    settings = dict(access.settings)
    if any(attached.scanner is not None for attached in access.attached):
        settings |= _WITH_SCANNERS
    return {"type": "duckdb", "catalogs": catalogs, "connector_config": settings}


def _value(value: object, filters: str = "") -> object:
    """Return a field of dbt's profile as sqlmesh reads it: a path starts at the project's folder.

    sqlmesh renders the file before it's YAML, so what comes of the environment is written as JSON.
    """
    expression = _EXPRESSION.fullmatch(value) if isinstance(value, Jinja) else None
    if expression is None:
        return value
    text = expression["value"].replace(f"{PROJECT} ~ '/", "'")
    return Jinja(f"{{{{ {text}{filters} | tojson }}}}")


def rendered_yaml(document: Mapping[str, object]) -> str:
    """Return a YAML file that sqlmesh renders first: only texts of the type Jinja are Jinja."""
    values: list[Jinja] = []

    def marked(value: object) -> object:
        if isinstance(value, Jinja):
            values.append(value)
            return f"__value_{len(values)}__"
        if isinstance(value, Mapping):
            return {key: marked(item) for key, item in value.items()}
        return value

    text = block_yaml({key: marked(value) for key, value in document.items()})
    text = text.replace("{", "{{ '{' }}")
    for number, value in enumerate(values, start=1):
        text = text.replace(f": __value_{number}__\n", f": {value}\n", 1)
    return text


def source_tables(access: SourceAccess) -> dict[str, str]:
    """Return by the plan's name of each source table the SQL that may follow FROM."""
    return {entry.id: _checked(_table(entry)) for entry in access.entries}


def external_models(plan: TransformPlan, access: SourceAccess) -> list[dict[str, object]]:
    """Return what sqlmesh should know of the tables that it reads and doesn't build."""
    sources = {source.id: source for source in plan.sources}
    return [
        {
            "name": _table(entry),
            "description": f"The source table {entry.table}.",
            **({"columns": dict(sources[entry.id].columns)} if entry.id in sources else {}),
        }
        for entry in access.entries
        if not entry.meta
    ]


def _table(entry: SourceEntry) -> str:
    location = entry.meta.get("external_location")
    if location is not None:
        text = _rendered(location)
        # dbt-duckdb formats the text, and what it would replace is doubled.
        is_template = entry.meta.get("formatter") == "template"
        return Template(text).substitute() if is_template else text.format()
    names = [_rendered(name) for name in (entry.database, entry.schema) if name]
    # A quote inside of an identifier is doubled already.
    return ".".join((*map(quote, names), f'"{entry.identifier}"'))


def _rendered(text: str) -> str:
    """Return what dbt makes of a text, where the environment has none of our variables."""
    if not isinstance(text, Jinja):
        return text
    from jinja2 import Environment  # Commands that write no sqlmesh project start without it.

    def by_default(name: str, default: str | None = None) -> str:
        if default is None:
            raise UsageError(
                f"A sqlmesh project can't read its source from the variable {name}.",
                hint="Put the source on the drive of the output folder and where no secret is part"
                " of its address, or leave --for out for a dbt project.",
            )
        return default

    # No text is escaped: it's SQL, not a page.
    environment = Environment(autoescape=False)
    return environment.from_string(text).render(
        env_var=by_default, var=by_default, flags={"PROFILES_DIR": "."}, modules={"re": re}
    )


def check_name(name: str) -> None:
    """Raise UsageError for a quoted name that sqlmesh would take for one with a macro in it."""
    if _MACRO.search(name):
        raise UsageError(
            f"sqlmesh replaces a part of the name {name} by a value of its own.",
            hint="Rename it in the source, leave its table out with --exclude, or leave --for out"
            " for a dbt project.",
        )


def _checked(sql: str) -> str:
    for token in references(sql):
        if token["quoted"]:
            check_name(token["quoted"])
    return sql
