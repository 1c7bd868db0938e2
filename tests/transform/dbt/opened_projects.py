"""What dbt would read by a project's files: the templates rendered, the SQL run on the source."""

import re
import string
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import jinja2
import yaml

from fluid_build.modeling.logical import LogicalModel
from fluid_build.modeling.techniques import build_model
from fluid_build.profiling import profile_source
from fluid_build.sources import open_source
from fluid_build.sources.base import Source
from fluid_build.sources.options import Nested
from fluid_build.sources.sql import literal, quote
from fluid_build.sources.uri import locate
from fluid_build.transform.dbt.built_database import built_by_dbt
from fluid_build.transform.dbt.project import dbt_project
from fluid_build.transform.dbt.running import DbtResult
from fluid_build.transform.dbt.source_access import source_access, write_copies
from fluid_build.transform.dbt.source_entries import SourceAccess
from fluid_build.transform.dbt.targets import Target
from fluid_build.transform.plan.elements import PlanSource, TransformPlan
from fluid_build.transform.plan.execution import built
from fluid_build.transform.plan.techniques import transform_plan

_JINJA = jinja2.Environment(autoescape=False)


@dataclass(frozen=True)
class Project:
    """A source that is open, its plan, and the dbt project that was written for it."""

    source: Source
    model: LogicalModel
    plan: TransformPlan
    access: SourceAccess
    folder: Path

    def attach(self) -> None:
        """Attach what the profile attaches."""
        profile = yaml.safe_load(self.access.profiles_yml)
        (output,) = next(iter(profile.values()))["outputs"].values()
        for one in output.get("attach", []):
            kind = f"TYPE {one['type']}, " if "type" in one else ""
            self.source.connection.execute(
                f"ATTACH {literal(render(one['path'], {}))} AS {one['alias']} ({kind}READ_ONLY)"
            )

    def external(self, source_id: str) -> str:
        """The SQL in place of a source table, its templates still in it."""
        return self.access.entry(source_id).meta.get("external_location", "")

    def differing(self, source_id: str, variables: Mapping[str, str] | None = None) -> int:
        """Return how many rows dbt reads differently than the forge, cast as in the staging."""
        one = next(one for one in self.plan.sources if one.id == source_id)
        ours = next(table for table in self.source.tables if table.name == one.table).relation
        theirs = self._relation(one, variables or {})
        selected = ", ".join(f"CAST({quote(n)} AS {t}) AS {quote(n)}" for n, t in one.columns)
        count = 0
        for left, right in ((ours, theirs), (theirs, ours)):
            row = self.source.connection.execute(
                f"SELECT count(*) FROM (SELECT {selected} FROM {left} EXCEPT ALL"
                f" SELECT {selected} FROM {right})"
            ).fetchone()
            count += row[0] if row else 0
        return count

    def _relation(self, one: PlanSource, variables: Mapping[str, str]) -> str:
        entry = self.access.entry(one.id)
        location = entry.meta.get("external_location")
        if location is None:
            return f'"{entry.database}"."{entry.schema}"."{entry.identifier}"'
        rendered = render(location, variables)
        if entry.meta.get("formatter") == "template":
            return string.Template(rendered).substitute()
        return rendered.format_map({})


def built_alike(made: Project, result: DbtResult, *, published: int) -> None:
    """Every published relation has the rows of a direct run, and dbt warned of nothing."""
    assert result.ok and result.warnings == ()
    with built(made.source, made.plan) as direct:
        ours = {
            build.name: sorted(
                map(
                    repr,
                    direct.connection.execute(
                        f"SELECT COLUMNS(*)::VARCHAR FROM model.{build.name}"
                    ).fetchall(),
                )
            )
            for build in made.plan.published
        }
    assert len(ours) == published
    file = made.folder / f"{made.access.database}.duckdb"
    with built_by_dbt(made.source, made.plan, file) as theirs:
        for name, rows in ours.items():
            found = theirs.connection.execute(f"SELECT COLUMNS(*)::VARCHAR FROM model.{name}")
            assert sorted(map(repr, found.fetchall())) == rows


def render(text: str, variables: Mapping[str, str]) -> str:
    """A template as dbt renders it that is run in this folder."""

    def env_var(name: str, default: str | None = None) -> str:
        value = variables.get(name, default)
        assert value is not None, f"{name} is not set"
        return value

    flags = SimpleNamespace(PROFILES_DIR=str(Path.cwd()))
    modules = {"re": re}
    return _JINJA.from_string(text).render(env_var=env_var, flags=flags, modules=modules)


@contextmanager
def project_of(
    uri: str, folder: Path, *, target: Target = "duckdb", nested: Nested = "split"
) -> Iterator[Project]:
    """The dbt project of a source, written to ``folder``, with the source's database attached.

    The process must be in ``folder``, as dbt is.
    """
    with open_source(uri, nested=nested) as source:
        model = build_model(profile_source(source), "flat")
        plan = transform_plan(model)
        access = source_access(source, plan, locate(uri), project_dir=folder, target=target)
        for name, text in dbt_project(plan, model, target=target, access=access).items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="")
        (folder / "land").mkdir()
        write_copies(source, plan, access, folder / "land")
        made = Project(source, model, plan, access, folder)
        made.attach()
        yield made
