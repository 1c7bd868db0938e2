"""The files of schedulers and of CIs, from templates.

What a folder says is a stranger's text: a template puts it through ``shell``, ``systemd``
or ``json``, which is also YAML and Python. Names and titles have only letters, digits and dashes.
"""

import json
import shlex
from collections.abc import Mapping
from functools import cache
from typing import Literal, TypeAlias

from jinja2 import Environment, PackageLoader, StrictUndefined

from fluid_build.automation.routine import Routine

Scheduler: TypeAlias = Literal["airflow", "dagster", "prefect", "cron", "systemd"]
Ci: TypeAlias = Literal["github", "gitlab", "jenkins", "circleci", "azure"]

_SCHEDULES: Mapping[Scheduler, Mapping[str, str]] = {
    "airflow": {"dags/{name}.py": "airflow.py.j2"},
    "dagster": {"{name}.py": "dagster.py.j2"},
    "prefect": {"{name}.py": "prefect.py.j2"},
    "cron": {"{title}.cron": "cron.j2"},
    "systemd": {"{title}.service": "systemd.service.j2", "{title}.timer": "systemd.timer.j2"},
}
_CI: Mapping[Ci, Mapping[str, str]] = {
    "github": {".github/workflows/{title}.yml": "github.yml.j2"},
    "gitlab": {".gitlab/{title}.yml": "gitlab.yml.j2"},
    "jenkins": {"Jenkinsfile.{title}": "jenkins.j2"},
    "circleci": {".circleci/config.yml": "circleci.yml.j2"},
    "azure": {"azure-pipelines-{title}.yml": "azure.yml.j2"},
}
_SCRIPTS = {"ci/{title}-review.sh": "review.sh.j2", "ci/{title}-nightly.sh": "nightly.sh.j2"}
"""What all of them run, so that it's also run by hand."""
CI_NOTES: Mapping[Ci, str] = {
    "github": "The schedule and the pull requests are in the workflow.",
    "gitlab": "Include it in .gitlab-ci.yml, and add a pipeline schedule.",
    "jenkins": "Make a multibranch pipeline of it.",
    "circleci": "Add a schedule trigger for the main branch in the project's settings.",
    "azure": "Make a pipeline of it; reviews of Azure Repos need a build validation policy.",
}


def schedule_files(routine: Routine, scheduler: Scheduler) -> dict[str, str]:
    """Return the files with which a scheduler runs a folder each night, by their paths."""
    return _files(_SCHEDULES[scheduler], routine)


def ci_files(routine: Routine, ci: Ci) -> dict[str, str]:
    """Return the files with which a CI reviews a folder's changes and applies it each night."""
    return _files({**_CI[ci], **_SCRIPTS}, routine)


def _files(templates: Mapping[str, str], routine: Routine) -> dict[str, str]:
    return {
        path.format(name=routine.name, title=routine.title): _environment()
        .get_template(template)
        .render(routine=routine)
        for path, template in templates.items()
    }


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("fluid_build.automation"),
        undefined=StrictUndefined,
        autoescape=False,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "shell": shlex.quote,
        "words": lambda words: "".join(f" {shlex.quote(word)}" for word in words),
        "systemd": _systemd,
        "json": lambda value: json.dumps(value, ensure_ascii=False),
    }
    return environment


def _systemd(value: str) -> str:
    """Return a word of a command line in a unit file."""
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + escaped.replace("%", "%%").replace("$", "$$") + '"'
