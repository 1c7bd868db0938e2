"""Every error that Fluid Forge raises on purpose.

    FluidError
      ├── UsageError                the command or call itself is wrong
      ├── SourceError               the data could not be reached or read
      │     ├── UnknownSourceError      no such kind of source
      │     ├── SourceNotFoundError     nothing is at that place
      │     ├── SourceUnreachableError  a server does not answer, or refuses
      │     ├── SourceUnreadableError   it is there and is not what it should be
      │     ├── EmptySourceError        it holds no table
      │     └── SourceChangedError      it has changed since the model was generated
      ├── BuildFailedError          a relation of the model could not be built as planned
      ├── DbtError                  dbt could not be run on a project
      │     ├── DbtMissingError         it is not installed
      │     └── DbtFailedError          it gave up before it built anything
      ├── NotTrustedError           a folder asks for what only its user may allow
      ├── OutputError               a result could not be written
      └── ContractError             a contract breaks the FLUID schema

Each carries ``message`` (one sentence: what happened) and ``hint`` (one sentence: what to do).
Neither may hold a password; see ``fluid_build.secrets.redact``.
"""

from collections.abc import Iterable

from fluid_build.text import did_you_mean


class FluidError(Exception):
    """Root of all errors that users see and that aren't bugs in Fluid Forge.

    ``command`` is a command line that does what the hint advises, fit to be pasted in a shell.
    """

    def __init__(
        self, message: str, *, hint: str | None = None, command: str | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.command = command


class UsageError(FluidError):
    """An invalid option, argument or combination of them."""


def unknown_name(
    noun: str, name: str, known: Iterable[str], *, aliases: Iterable[str] = ()
) -> UsageError:
    """Return the error for a name that isn't one of the known ones, with the nearest as a guess.

    ``noun`` says what the name is of ("technique"). Aliases are guessed at and not listed.
    """
    names = [*known]
    return UsageError(
        f"Unknown {noun} {name!r}.",
        hint=f"{did_you_mean(name, [*names, *aliases])}Known {noun}s: {', '.join(names)}.",
    )


class SourceError(FluidError):
    """The source could not be reached or read."""


class UnknownSourceError(SourceError):
    """The URI's scheme or the file's ending names no kind of source we read."""


class SourceNotFoundError(SourceError):
    """No file, folder, database or schema is at that place."""


class SourceUnreachableError(SourceError):
    """A server does not answer, or refuses the credentials."""


class SourceUnreadableError(SourceError):
    """The source is there, but locked, corrupt, or not of the kind it claims to be."""


class EmptySourceError(SourceError):
    """The source is readable and holds no table."""


class SourceChangedError(SourceError):
    """The source has lost or changed something that the model was made of."""


class BuildFailedError(FluidError):
    """A build failed, or what came out is not what the plan promises."""


class NotTrustedError(FluidError):
    """A folder asks for what only its user may allow: a server, a far file, running its code."""


class OutputError(FluidError):
    """A result could not be written: no room, no permission, something in the way."""


class ContractError(FluidError):
    """A contract breaks the FLUID schema; the findings say where."""


class DbtError(FluidError):
    """dbt could not be run on a project."""


class DbtMissingError(DbtError):
    """dbt is not installed beside Fluid Forge."""


class DbtFailedError(DbtError):
    """dbt gave up before it built anything: the project, its profile or its database is wrong."""
