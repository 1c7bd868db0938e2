"""Every error that Fluid Forge raises on purpose.

    FluidError
      ├── UsageError                the command or call itself is wrong
      │     ├── MissingExtraError       an optional package isn't installed
      │     └── FaultyFileError         something that the user wrote isn't valid, with its places
      │           ├── DecisionError         a file of decisions, or one of its entries
      │           └── IntentError           an intent
      ├── SourceError               the data couldn't be reached or read
      │     ├── UnknownSourceError      no such kind of source
      │     ├── SourceNotFoundError     nothing exists at that path or address
      │     ├── SourceUnreachableError  a server doesn't answer, or refuses
      │     ├── SourceUnreadableError   it exists but is locked, damaged or of another kind
      │     ├── EmptySourceError        it has no tables
      │     └── SourceChangedError      it has changed since the model was generated
      ├── BuildFailedError          a relation of the model couldn't be built as planned
      ├── DbtError                  dbt couldn't be run on a project
      │     ├── DbtMissingError         it isn't installed
      │     └── DbtFailedError          it gave up before it built anything
      ├── WarehouseError            a warehouse can't be reached, or isn't as the command needs it
      │     ├── WarehouseBusyError      somebody else is applying or rolling back there
      │     └── VersionsLostError       rows that it held before a load are gone or changed
      ├── PlanOutdatedError         what a plan was made of has changed since
      ├── UndecidedError            somebody has to decide something before
      ├── NotTrustedError           a folder needs permission that only the user can give
      ├── OutputError               a result couldn't be written
      └── ContractError             a contract violates the FLUID schema

Each carries ``message`` (one sentence: what happened) and ``hint`` (one sentence: what to do).
Neither may hold a password; see ``fluid_build.secrets.redact``.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fluid_build.text import counted, did_you_mean


class FluidError(Exception):
    """Root of all errors that users see and that aren't bugs in Fluid Forge.

    ``command`` is a command line that does what the hint advises, fit to be pasted in a shell.
    ``details`` are what the message counts or names a part of: all of it, each in words.
    """

    def __init__(
        self,
        message: str,
        *,
        hint: str | None = None,
        command: str | None = None,
        details: Iterable[str] = (),
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.command = command
        self.details = tuple(details)


class UsageError(FluidError):
    """An invalid option, argument or combination of them."""


class MissingExtraError(UsageError):
    """A package of the optional ``extra`` that isn't installed. ``hint`` has the command."""

    def __init__(self, message: str, *, extra: str, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.extra = extra


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


@dataclass(frozen=True, slots=True)
class DecisionProblem:
    """What is wrong in a file of decisions or an intent, and where.

    ``line`` and ``entry`` count from 1. ``entry`` is None for what is wrong outside of the entries,
    ``line`` for what has no place. ``decision`` is the entry's kind where it's known. ``allowed``
    is a sentence, or "".
    """

    message: str
    line: int | None = None
    entry: int | None = None
    decision: str = ""
    allowed: str = ""

    def __str__(self) -> str:
        kind = f" ({self.decision})" if self.decision else ""
        places = [
            *([f"line {self.line}"] if self.line is not None else []),
            *([f"entry {self.entry}{kind}"] if self.entry is not None else []),
        ]
        place = f"{', '.join(places)}: " if places else ""
        return f"{place}{self.message}" + (f" {self.allowed}" if self.allowed else "")


class FaultyFileError(UsageError):
    """A file that a user wrote isn't valid; ``problems`` has everything that is wrong in it."""

    def __init__(
        self, file: str, problems: Sequence[DecisionProblem], *, hint: str | None = None
    ) -> None:
        (first, *others) = problems
        message = f"{file} has {counted(len(problems), 'problem')}." if others else ""
        super().__init__(
            message or f"{file}, {first}",
            hint=hint or "Correct it and try again.",
            details=map(str, problems),
        )
        self.file = file
        self.problems = tuple(problems)


class DecisionError(FaultyFileError):
    """A file of decisions isn't valid."""


class IntentError(FaultyFileError):
    """An intent isn't valid."""


class SourceError(FluidError):
    """The source couldn't be reached or read."""


class UnknownSourceError(SourceError):
    """The URI's scheme or the file's ending names no kind of source we read."""


class SourceNotFoundError(SourceError):
    """No file, folder, database or schema is at that place."""


class SourceUnreachableError(SourceError):
    """A server doesn't answer, or refuses the credentials."""


class SourceUnreadableError(SourceError):
    """The source is there, but locked, corrupt, or not of the kind it claims to be."""


class EmptySourceError(SourceError):
    """The source is readable but has no tables."""


class ScanTooLargeError(SourceError):
    """Reading a warehouse would scan more than is scanned unasked."""


class SourceChangedError(SourceError):
    """The source has lost or changed something that the model was made of."""


class BuildFailedError(FluidError):
    """A build failed, or its result doesn't match the plan."""


class ScratchFullError(BuildFailedError):
    """A build or its proof needs more room for temporary files than there is."""


class WarehouseError(FluidError):
    """A warehouse can't be reached, or isn't as the command needs it."""


class WarehouseBusyError(WarehouseError):
    """Somebody else is applying to a warehouse or rolling it back, or has its file open."""


class VersionsLostError(WarehouseError):
    """Rows that a warehouse held before a load are gone or changed after it."""


class UndecidedError(FluidError):
    """Something that only a person knows isn't decided; each of ``commands`` is an answer."""

    def __init__(
        self, message: str, *, hint: str, commands: Sequence[str], details: Iterable[str] = ()
    ) -> None:
        super().__init__(message, hint=hint, details=details)
        self.commands = tuple(commands)


class PlanOutdatedError(FluidError):
    """A folder, its source or its warehouse isn't as it was when a plan was made."""


class NotTrustedError(FluidError):
    """A folder needs the user's permission: for a server, a distant file, or running its code."""


class OutputError(FluidError):
    """A result couldn't be written: no space, no permission, or something in the way."""


class ContractError(FluidError):
    """A contract violates the FLUID schema; the findings say where."""


class DbtError(FluidError):
    """dbt couldn't be run on a project."""


class DbtMissingError(DbtError):
    """dbt isn't installed in the environment of Fluid Forge, or doesn't run on its Python."""


class DbtFailedError(DbtError):
    """dbt gave up before it built anything: the project, its profile or its database is wrong."""
