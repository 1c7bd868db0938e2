"""The DuckDB connection that every source is read through, and the private folder beside it."""

import importlib.util
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import duckdb

from fluid_build import extras
from fluid_build.errors import SourceError, SourceUnreadableError, UsageError
from fluid_build.secrets import redact
from fluid_build.sources.engine import machine
from fluid_build.sources.engine.extensions import Extension
from fluid_build.sources.engine.interrupts import stop, was_interrupted
from fluid_build.sources.sql import literal, quote
from fluid_build.sources.text_values.personal_text import without_values
from fluid_build.temporary import OwnedFolder, owned_folder
from fluid_build.text import as_sentence, clip

# Where the wheels have DuckDB's extensions: nothing is downloaded at run time.
# https://duckdb.org/docs/stable/extensions/overview


def install_command(extension: Extension) -> str:
    """Return the command that installs an extension."""
    if extension.extra:
        return extras.install_command(extension.extra)
    return f"pip install {extension.wheel}=={duckdb.__version__}"


def extension_file(extension: Extension) -> Path:
    """Return an extension's file in its wheel.

    Raises SourceError where the wheel is missing or made for another version of DuckDB.
    """
    spec = importlib.util.find_spec(extension.wheel.replace("-", "_"))
    if spec is None or not spec.submodule_search_locations:
        raise SourceError(
            f"This source needs DuckDB's extension {extension.name}, which isn't installed.",
            hint="Install it:",
            command=install_command(extension),
        )
    folder = Path(next(iter(spec.submodule_search_locations))) / "extensions"
    file = folder / f"v{duckdb.__version__}/{extension.name}.duckdb_extension"
    if not file.is_file():
        raise SourceError(
            f"The installed extension {extension.name} wasn't made for DuckDB"
            f" {duckdb.__version__}.",
            hint="Install the matching one:",
            command=install_command(extension),
        )
    return file


STAGE = "staged"
"""The database inside the connection that text and row stores are read into once."""

SCRATCH = f"{STAGE}.scratch"
"""The schema for tables on the way: one transaction may write to one database only."""

# Writing a table compressed to disk costs more than twice what reading its text does; in memory
# it's spilled to disk all the same where it exceeds the memory limit.
IN_MEMORY_UP_TO = 1024 * 1024 * 1024
_LONGEST_REASON = 240
_SCANNERS_QUERY = re.compile(r'^Failed to \w+ (?:\w+ ){0,3}query ".*?[`)\w]": ')
"""What MySQL's scanner says before the server's own message: our query."""

MORE_MEMORY = (
    "Raise the limit with --memory, or the environment variable FLUID_MEMORY_LIMIT, such as 8GB."
)
MORE_ROOM = (
    "Free space on the disk, or name a folder on a larger one with --scratch, or the environment"
    " variable FLUID_SCRATCH."
)

DUCKDB_ERRORS = (duckdb.Error, UnicodeDecodeError)
"""What DuckDB raises: its own errors, and one from Python where a message quotes broken UTF-8."""

READING_ERRORS = (
    duckdb.IOException,
    duckdb.InvalidInputException,
    duckdb.NotImplementedException,
    duckdb.SerializationException,
    duckdb.OutOfMemoryException,
    duckdb.InternalException,
    UnicodeDecodeError,
)
"""Those of them that data can cause, and not the SQL that was asked."""


@dataclass
class Engine:
    """A connection and the private temporary folder that lives as long as it."""

    connection: duckdb.DuckDBPyConnection
    temporary: OwnedFolder

    @property
    def folder(self) -> Path:
        """Where temporary files may be put; gone after ``close``."""
        return self.temporary.path

    def close(self) -> None:
        """Close the connection and remove the folder."""
        try:
            stop(self.connection)
        finally:
            self.temporary.cleanup()

    cleanup = close

    def load(self, extension: Extension) -> None:
        """Load an extension that turns out to be needed; the errors are those of ``starting``."""
        _load(self.connection, extension, extension_file(extension))

    def stage(self, source_bytes: int) -> None:
        """Attach the database STAGE for a source of about that size.

        A small one is staged in memory, a large one in a compressed temporary file.
        """
        place = ":memory:" if source_bytes <= IN_MEMORY_UP_TO else str(self.folder / "staged.db")
        self.connection.execute(f"ATTACH {literal(place)} AS {quote(STAGE)}")
        self.connection.execute(f"CREATE SCHEMA {SCRATCH}")


@contextmanager
def starting(
    memory_limit: str | None = None, *, extensions: Sequence[Extension] = ()
) -> Iterator[Engine]:
    """Provide an engine that is closed if the block raises, and left open for its source if not.

    ``memory_limit`` is DuckDB's wording (``"2GB"``); the default is half of the machine's memory or
    of the container's. ``extensions`` are loaded from their wheels, by path,
    without a network. Raises UsageError for a limit that DuckDB can't read, and SourceError where
    an extension is missing or made for another version of DuckDB.
    """
    files = {extension: extension_file(extension) for extension in extensions}
    temporary = owned_folder()
    try:
        connection = _connect(temporary.path, memory_limit, trusting=bool(files))
    except BaseException:
        temporary.cleanup()
        raise
    engine = Engine(connection, temporary)
    try:
        for extension, file in files.items():
            _load(connection, extension, file)
        yield engine
    except BaseException as error:
        engine.close()
        if was_interrupted(error):
            raise KeyboardInterrupt from None
        raise


def _connect(
    folder: Path, memory_limit: str | None, *, trusting: bool
) -> duckdb.DuckDBPyConnection:
    limit = machine.memory_limit(memory_limit)
    try:
        connection = duckdb.connect(
            ":memory:",
            config={
                "autoinstall_known_extensions": False,
                "autoload_known_extensions": False,
                # A stranger's table name must never resolve to a variable of this process.
                "python_enable_replacements": False,
                "memory_limit": limit,
                "threads": machine.threads(),
                "temp_directory": str(folder / "spill"),
                # Checking a signature reads all of the 35 MB and takes 0.15 s. A wheel comes from
                # the same installed packages as this code, and nothing else is ever loaded.
                "allow_unsigned_extensions": trusting,
            },
        )
    except duckdb.Error:
        raise UsageError(
            f"{limit!r} isn't a valid memory size.", hint='Use a size such as "2GB" or "512MB".'
        ) from None
    connection.execute("SET TimeZone = 'UTC'")
    # DuckDB counts how far a query is only for a bar; ours is drawn elsewhere. In a notebook it
    # refuses that without ipywidgets, and then a long query reports nothing until its end.
    with suppress(duckdb.InvalidInputException):
        connection.execute("SET enable_progress_bar = true")
        connection.execute("SET enable_progress_bar_print = false")
        connection.execute("SET progress_bar_time = 0")
    connection.execute("SET parquet_metadata_cache = true")
    return connection


def _load(connection: duckdb.DuckDBPyConnection, extension: Extension, file: Path) -> None:
    try:
        connection.execute(f"LOAD {literal(str(file))}")
        for name, value in extension.settings.items():
            connection.execute(f"SET GLOBAL {name} = {literal(value)}")
    except duckdb.Error as error:
        raise SourceError(
            f"DuckDB's extension {extension.name} couldn't be loaded: {reason(error, file)}",
            hint="Install it again:",
            command=install_command(extension),
        ) from None


def reason(error: Exception, *places: Path) -> str:
    """Return what went wrong, in one sentence, from an error of DuckDB or the system.

    Passwords and the values that it quotes are left out.

    Each of the places is named without its folder, so that the sentence is the same elsewhere.
    """
    if isinstance(error, UnicodeDecodeError):
        return "It has text that isn't valid UTF-8."
    text = without_values(redact(str(error))).strip()
    for place in places:
        text = text.replace(str(place), place.name)
    text = re.sub(r"^(?:[A-Z]\w*(?: [A-Z]?\w+){0,3} )?Error: ", "", text.split("\n\n", 1)[0])
    text = _SCANNERS_QUERY.sub("", text)
    line = " ".join(text.split("\n", 1)[0].split()) or type(error).__name__
    return as_sentence(clip(line, _LONGEST_REASON))


def is_disk_full(error: BaseException) -> bool:
    """Whether DuckDB failed because there's no room for its temporary files."""
    # It has no class of its own for a full disk, and calls its own bound one "offload".
    text = str(error)
    return "No space left on device" in text or "max_temp_directory_size" in text


def unreadable(name: str, error: Exception) -> SourceUnreadableError:
    """Return the error for a source that could be opened, and fails when it's read."""
    if isinstance(error, duckdb.OutOfMemoryException):
        return SourceUnreadableError(
            f"Reading {name} exceeds the memory limit: {reason(error)}",
            hint=MORE_MEMORY,
        )
    if is_disk_full(error):
        return SourceUnreadableError(
            f"Reading {name} takes more temporary files than there is room for: {reason(error)}",
            hint=MORE_ROOM,
        )
    return SourceUnreadableError(
        f"Reading {name} failed: {reason(error)}",
        hint="Check for incomplete or damaged files, and export them again.",
    )
