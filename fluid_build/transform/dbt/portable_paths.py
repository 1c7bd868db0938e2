"""Where a source is, written so that the project can move: from its folder, or in a variable.

A path starts at the project's folder, wherever dbt is run. A password is never part of it.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fluid_build.secrets import passwords, surely_without_passwords
from fluid_build.sources.addresses.kinds import RemoteFilesKind
from fluid_build.sources.origin import RemoteFolder
from fluid_build.sources.sql import literal
from fluid_build.sources.uri import as_pattern, is_glob, path_from
from fluid_build.transform.dbt.jinja import Jinja, literally

PATH_VARIABLE = "FLUID_SOURCE_PATH"
DSN_VARIABLE = "FLUID_SOURCE_DSN"
DATABASE_VARIABLE = "FLUID_DATABASE_PATH"
"""The DuckDB file to build in, where it isn't the project's own."""
PROJECT = "flags.PROFILES_DIR"
"""The project's folder, in Jinja: where dbt found ``profiles.yml``, as every project has its own.
dbt has no other variable for it, and a relative path would start at the caller's folder."""
_FOR_GLOBS = ("[*?[]", r"[\g<0>]")
"""What ``as_pattern`` does, as a pattern and its replacement: for a path known only to dbt."""


@dataclass(frozen=True, slots=True)
class Base:
    """The file or folder that the variable names, and its path from the project.

    ``relative`` has ``/`` between folders; it's None where there's no relative path (another drive
    on Windows). ``variable`` is the environment variable that has the path of a moved source.
    ``url`` is the default of remote files, whose local copies are at ``path``; it's empty where it
    holds a secret.
    """

    path: Path
    relative: str | None
    variable: str = PATH_VARIABLE
    url: str | None = None
    has_globs: bool = True

    @property
    def jinja(self) -> Jinja:
        """The place as a template that renders to it."""
        return Jinja(f"{{{{ {self._expression} }}}}")

    @property
    def _expression(self) -> str:
        if self.url:
            return f"env_var('{self.variable}', {jinja_string(self.url)})"
        if self.relative is None:
            return f"env_var('{self.variable}')"
        return f"env_var('{self.variable}', {PROJECT} ~ {jinja_string('/' + self.relative)})"

    @property
    def variables(self) -> Mapping[str, str]:
        """The variable, and what it is for."""
        kind = "file" if self.path.is_file() else "folder"
        if self.url is not None:
            return {
                self.variable: f"The URL of the source's {kind}"
                + (", if it has moved." if self.url else ", which has a secret.")
            }
        if self.relative is None:
            return {self.variable: f"The source's {kind}; there is no relative path to it."}
        return {self.variable: f"The source's {kind}, if it has moved."}

    def sql(self, path: Path, *, pattern: str = "", template: bool) -> Jinja:
        """Return a path at or below this one as an SQL string, with a glob ``pattern`` below it.

        ``template`` says that dbt-duckdb reads ``$`` as a placeholder, and braces if not.
        """
        below = Path(os.path.relpath(path.absolute(), self.path)).as_posix()
        path_below = "" if below == "." else f"/{below}"
        below_pattern = as_pattern(path_below) + pattern
        return _sql_string(
            self._expression, below_pattern, template=template, has_globs=self.has_globs
        )


def database_file(name: str) -> Jinja:
    """Return the DuckDB file to build in, as a template that renders to its path."""
    own = f"{PROJECT} ~ {jinja_string('/' + name)}"
    return Jinja(f"{{{{ env_var('{DATABASE_VARIABLE}', {own}) }}}}")


def in_project(name: str) -> Jinja:
    """Return a file or folder of the project as a template that renders to its path."""
    return Jinja(f"{{{{ {PROJECT} }}}}/{name}")


def sql_in_project(name: str) -> Jinja:
    """Return a file of the project as an SQL string; dbt-duckdb reads braces as placeholders."""
    return _sql_string(PROJECT, f"/{name}", template=False)


def _sql_string(folder: str, below: str, *, template: bool, has_globs: bool = True) -> Jinja:
    """Return a path as an SQL string; ``folder`` is a Jinja expression, ``below`` a pattern in it.

    ``has_globs`` says whether DuckDB reads wildcards in it, which it doesn't in a web address.

    Nothing in the path is a pattern to DuckDB or a placeholder to dbt-duckdb.
    """
    marks = [("$", "$$")] if template else [("{", "{{"), ("}", "}}")]
    for mark, escaped in marks:
        below = below.replace(mark, escaped)
    filters = "".join(
        f" | replace({jinja_string(mark)}, {jinja_string(escaped)})"
        for mark, escaped in [("'", "''"), *marks]
    )
    pattern, replacement = map(jinja_string, _FOR_GLOBS)
    escaped = f"modules.re.sub({pattern}, {replacement}, {folder})" if has_globs else f"({folder})"
    path = f"{escaped}{filters}"
    return Jinja(f"'{{{{ {path} }}}}{literally(literal(below)[1:-1])}'")


def of_source(variable: str, name: str) -> str:
    """Return the variable of one of several sources, by its name; "" for the only source."""
    return f"{variable}_{name.upper()}" if name else variable


def base_of(place: str, project: Path, variable: str = PATH_VARIABLE) -> Base:
    """Return the base of a source's path or glob: the path, or the folder that a glob starts in."""
    path = Path(place)
    if is_glob(place) and not path.exists():
        parts = path.parts
        plain = next((i for i, part in enumerate(parts) if is_glob(part)), len(parts))
        path = Path(*parts[:plain])
    return Base(path.absolute(), path_from(project, path), variable)


def base_of_url(
    remote: RemoteFolder, url: str, kind: RemoteFilesKind, variable: str = PATH_VARIABLE
) -> Base:
    """Return the base of remote files; a URL with a secret isn't written anywhere."""
    public = surely_without_passwords(url) == url
    return Base(remote.root, None, variable, url if public else "", has_globs=kind.lists)


def connection_string(dsn: str, name: str = DSN_VARIABLE) -> Jinja:
    """Return a server's connection string without a password, as a template that renders to it."""
    return variable(name, surely_without_passwords(dsn))


def connection_variables(
    dsn: str, password_variable: str, name: str = DSN_VARIABLE
) -> Mapping[str, str]:
    """Return the variables by which the server is reached, each with what it is for."""
    condition = (
        "if it has moved since the project was written"
        if surely_without_passwords(dsn)
        else "without a password"
    )
    variables = {name: f"The connection string of the source, {condition}."}
    if passwords(dsn):
        variables[password_variable] = "The password, which isn't stored in the project."
    return variables


def variable(name: str, default: str | None = None) -> Jinja:
    """Return the value of an environment variable; dbt stops if it's unset and has no default."""
    argument = "" if default is None else f", {jinja_string(default)}"
    return Jinja(f"{{{{ env_var('{name}'{argument}) }}}}")


def jinja_string(text: str) -> str:
    """Return a string inside a Jinja expression.

    Jinja decodes Python's escapes, and a brace inside of a string has no meaning.
    """
    escapes = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r"}
    return "'" + "".join(escapes.get(character, character) for character in text) + "'"


def common_folder(paths: Sequence[Path]) -> Path:
    """Return the lowest folder that all files are in."""
    return Path(os.path.commonpath([path.absolute().parent for path in paths]))
