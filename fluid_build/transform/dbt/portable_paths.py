"""Where a source lies, said so that the project may move: from its folder, or by a variable.

A path leads from the project's folder, wherever dbt is run. No password is ever part of it.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fluid_build.secrets import passwords, surely_without_passwords
from fluid_build.sources.sql import literal
from fluid_build.sources.uri import as_pattern, is_glob, path_from
from fluid_build.transform.dbt.jinja import Jinja, literally

PATH_VARIABLE = "FLUID_SOURCE_PATH"
DSN_VARIABLE = "FLUID_SOURCE_DSN"
DATABASE_VARIABLE = "FLUID_DATABASE_PATH"
"""The DuckDB file to build in, where it isn't the project's own."""
_PROJECT = "flags.PROFILES_DIR"
"""The project's folder, in Jinja: the one in which dbt found ``profiles.yml``, as every project has
its own. dbt offers templates no other way to it, and a relative path leads from the caller's."""
_FOR_GLOBS = ("[*?[]", r"[\g<0>]")
"""What ``as_pattern`` does, as a pattern and its replacement: for a path known only to dbt."""


@dataclass(frozen=True, slots=True)
class Base:
    """The file or folder that the variable stands for, and where it is from the project.

    ``relative`` has ``/`` between folders; it is None where no relative path leads there (another
    drive of Windows).
    """

    path: Path
    relative: str | None

    @property
    def jinja(self) -> Jinja:
        """The place as a template that renders to it."""
        return Jinja(f"{{{{ {self._expression} }}}}")

    @property
    def _expression(self) -> str:
        if self.relative is None:
            return f"env_var('{PATH_VARIABLE}')"
        return f"env_var('{PATH_VARIABLE}', {_PROJECT} ~ {jinja_string('/' + self.relative)})"

    @property
    def variables(self) -> Mapping[str, str]:
        """The variable, and what it is for."""
        what = "file" if self.path.is_file() else "folder"
        if self.relative is None:
            return {PATH_VARIABLE: f"The source's {what}; no relative path leads there."}
        return {PATH_VARIABLE: f"The source's {what}, where it has moved."}

    def sql(self, path: Path, *, pattern: str = "", template: bool) -> Jinja:
        """A path at or below this one as an SQL string; ``pattern`` is a glob below that path.

        ``template`` says that dbt-duckdb will take ``$`` for a placeholder, and braces otherwise.
        """
        below = Path(os.path.relpath(path.absolute(), self.path)).as_posix()
        rest = "" if below == "." else f"/{below}"
        return _sql_string(self._expression, as_pattern(rest) + pattern, template=template)


def database_file(name: str) -> Jinja:
    """The DuckDB file that is built in, as a template that renders to its path."""
    own = f"{_PROJECT} ~ {jinja_string('/' + name)}"
    return Jinja(f"{{{{ env_var('{DATABASE_VARIABLE}', {own}) }}}}")


def in_project(name: str) -> Jinja:
    """A file or folder of the project as a template that renders to its path."""
    return Jinja(f"{{{{ {_PROJECT} }}}}/{name}")


def sql_in_project(name: str) -> Jinja:
    """A file of the project as an SQL string, where dbt-duckdb takes braces for placeholders."""
    return _sql_string(_PROJECT, f"/{name}", template=False)


def _sql_string(folder: str, below: str, *, template: bool) -> Jinja:
    """A path as an SQL string: ``folder`` is a Jinja expression, ``below`` a pattern under it.

    Whatever is in the path, neither DuckDB takes it for a pattern nor dbt-duckdb for a placeholder.
    """
    marks = [("$", "$$")] if template else [("{", "{{"), ("}", "}}")]
    for mark, meant in marks:
        below = below.replace(mark, meant)
    filters = "".join(
        f" | replace({jinja_string(mark)}, {jinja_string(meant)})"
        for mark, meant in [("'", "''"), *marks]
    )
    pattern, replacement = map(jinja_string, _FOR_GLOBS)
    path = f"modules.re.sub({pattern}, {replacement}, {folder}){filters}"
    return Jinja(f"'{{{{ {path} }}}}{literally(literal(below)[1:-1])}'")


def base_of(place: str, project: Path) -> Base:
    """What the path or glob of a source is named by: itself, or the folder that a glob is below."""
    path = Path(place)
    if is_glob(place) and not path.exists():
        parts = path.parts
        plain = next((i for i, part in enumerate(parts) if is_glob(part)), len(parts))
        path = Path(*parts[:plain])
    return Base(path.absolute(), path_from(project, path))


def connection_string(dsn: str) -> Jinja:
    """A server's connection string, without any password, as a template that renders to it."""
    return variable(DSN_VARIABLE, surely_without_passwords(dsn))


def connection_variables(dsn: str, password_variable: str) -> Mapping[str, str]:
    """The variables by which the server is reached, each with what it is for."""
    what = (
        "where it is another one than the forge read"
        if surely_without_passwords(dsn)
        else "without a password"
    )
    found = {DSN_VARIABLE: f"The connection string of the source, {what}."}
    if passwords(dsn):
        found[password_variable] = "The password, which is in no file of the project."
    return found


def variable(name: str, default: str | None = None) -> Jinja:
    """The value of an environment variable; without a default dbt stops where it is not set."""
    given = "" if default is None else f", {jinja_string(default)}"
    return Jinja(f"{{{{ env_var('{name}'{given}) }}}}")


def jinja_string(text: str) -> str:
    """A string inside a Jinja expression.

    Jinja undoes the escapes of Python, and parts no string at a brace.
    """
    escapes = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r"}
    return "'" + "".join(escapes.get(character, character) for character in text) + "'"


def common_folder(paths: Sequence[Path]) -> Path:
    """The lowest folder that all files are in."""
    return Path(os.path.commonpath([path.absolute().parent for path in paths]))
