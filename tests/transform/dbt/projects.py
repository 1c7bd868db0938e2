"""dbt projects for tests: a DuckDB file as their source, written to a folder, run by dbt."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import jinja2
import yaml

from fluid_build.block_yaml import block_yaml
from fluid_build.transform.dbt import guard_macros
from fluid_build.transform.dbt.project_names import project_name
from fluid_build.transform.dbt.promise_macros import MACRO_FILE
from fluid_build.transform.dbt.running import run_dbt
from fluid_build.transform.dbt.source_entries import SourceAccess, SourceEntry
from fluid_build.transform.plan.elements import TransformPlan

TARGETS = ("postgres", "snowflake", "bigquery", "databricks")
SCHEMA = "main"


def duckdb_access(plan: TransformPlan, path: Path) -> SourceAccess:
    """A source that is a DuckDB file, which the profile attaches."""
    name = project_name(plan)
    output = {
        "type": "duckdb",
        "path": f"{name}.duckdb",
        "threads": 2,
        "attach": [{"path": str(path), "alias": "shop_source", "read_only": True}],
    }
    return SourceAccess(
        name="raw",
        entries=tuple(
            SourceEntry(
                source.id, source.table, between_quotes(source.table), SCHEMA, "shop_source"
            )
            for source in plan.sources
        ),
        profiles_yml=block_yaml({name: {"target": "dev", "outputs": {"dev": output}}}),
        database=name,
        schema=SCHEMA,
    )


def schema_access(plan: TransformPlan, schema: str, output: Mapping[str, object]) -> SourceAccess:
    """A source that is a schema of the target's own database."""
    profile = {project_name(plan): {"target": "dev", "outputs": {"dev": output}}}
    return SourceAccess(
        name="raw",
        entries=tuple(
            SourceEntry(source.id, source.table, between_quotes(source.at_source), schema)
            for source in plan.sources
        ),
        profiles_yml=block_yaml(profile),
        schema=SCHEMA,
    )


def between_quotes(name: str) -> str:
    """A name as dbt puts it between quotes, of which it doubles none."""
    return name.replace('"', '""')


def written(files: Mapping[str, str], folder: Path) -> Path:
    """The files of a project, written to a folder."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")
    return folder


def compiled_models(files: Mapping[str, str], *, again: bool) -> Iterator[tuple[str, str]]:
    """The query of every model of a plan by its path, as dbt makes it of the project's macros.

    With ``again`` its relation exists already. Relations are in the schema ``x``.
    """
    macros = [
        text
        for name, text in files.items()
        if name.startswith("macros/") and name.endswith(".sql") and name not in OF_RUNS
    ]
    for path, text in files.items():
        if path.endswith(".sql") and not path.startswith(("macros/", "models/semantic/")):
            functions = {
                "ref": lambda name: f"x.{name}",
                "source": lambda _, name: f"x.{name}",
                "this": f"x.{Path(path).stem}",
                "config": lambda **_: "",
                "load_date": lambda: LOAD_DATE,
                "var": lambda _, default: default,
                "is_incremental": lambda: again,
                "is_there_already": lambda: again,
            }
            template = jinja2.Environment().from_string("".join((*macros, text)), functions)
            yield path, template.render().strip()


LOAD_DATE = "2000-01-01"
OF_RUNS = {
    MACRO_FILE,
    guard_macros.MACRO_FILE,
    "macros/load_date.sql",
    "macros/is_there_already.sql",
}


def compiled_tests(files: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The query of every test of a project's own by its name, as dbt makes it of the macros."""
    macros = files[MACRO_FILE].replace("{% test ", "{% macro ").replace("{% endtest", "{% endmacro")
    template = jinja2.Environment(extensions=["jinja2.ext.do"]).from_string(
        macros,
        {"api": _Api, "execute": False, "load_moment": lambda: f"TIMESTAMP '{LOAD_DATE}'"},
    )
    properties = [
        yaml.safe_load(text)
        for name, text in files.items()
        if name.startswith("models/") and name.endswith(".yml")
    ]
    for model in (model for document in properties for model in document.get("models", ())):
        for entry in model.get("data_tests", ()):
            ((kind, test),) = entry.items()
            arguments = _evaluated(test.get("arguments", {}))
            query = getattr(template.module, kind)(f"x.{model['name']}", **arguments)
            yield test["name"], str(query)


class _Api:
    """What a macro sees of dbt's adapter."""

    class Column:
        """The names of types."""

        @staticmethod
        def translate_type(name: str) -> str:
            """The type that every dialect reads as a text."""
            assert name == "string"
            return "VARCHAR"


def _evaluated(value: Any) -> Any:
    """What dbt makes of an argument: Jinja is rendered, a reference is a relation."""
    if isinstance(value, str):
        found = re.fullmatch(r"ref\('(\w+)'\)", value)
        return f"x.{found[1]}" if found else jinja2.Template(value).render()
    if isinstance(value, list):
        return [_evaluated(item) for item in value]
    if isinstance(value, dict):
        return {key: _evaluated(item) for key, item in value.items()}
    return value


def load(project: Path, load_date: str) -> None:
    """Let dbt build a project as a load of that moment; its tests may fail, its models not."""
    result = run_dbt(project, variables={"load_date": load_date})
    models = {node.status for node in result.nodes if node.kind == "model"}
    assert models == {"built"}, result


def manifest(project: Path, target: Path) -> dict[str, object]:
    """Return what dbt makes of a project when it parses it, without a warning."""
    result = subprocess.run(
        [
            *(sys.executable, "-m", "dbt.cli.main", "--warn-error", "parse"),
            *("--target-path", str(target), "--log-path", str(target)),
            *("--project-dir", str(project), "--profiles-dir", str(project)),
        ],
        cwd=project,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout
    document: dict[str, object] = json.loads((target / "manifest.json").read_text("utf-8"))
    return document
