"""The databases that ``fluid eval`` forges: the demo, or those of folders that say what is true."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from fluid_build.cli import messages
from fluid_build.cli.reading.folder_sources import folder_requests, source_places
from fluid_build.decisions.files import DECISIONS_FILE, recorded_decisions
from fluid_build.decisions.language import AnyDecision
from fluid_build.demo import build_shop
from fluid_build.errors import NotTrustedError, SourceError, UsageError
from fluid_build.pipeline.evaluation.evaluating import Database
from fluid_build.pipeline.evaluation.truth import (
    TRUTH_FILE,
    Truth,
    decided_truth,
    read_truth,
    shop_truth,
    undecided,
)
from fluid_build.sources.combined import SourceRequest
from fluid_build.sources.uri import locate
from fluid_build.transform.proof.manifest import MANIFEST_FILE
from fluid_build.verification import read_folder_head

_KINDS = (
    f"A database is a folder with a {TRUTH_FILE} and its data, as data.duckdb or in data/, or one"
    f" that `fluid forge` wrote and a person has decided on, with {DECISIONS_FILE}."
)


def demo_database(folder: Path) -> Database:
    """Make the demo shop in a folder."""
    path = folder / "shop.db"
    build_shop(path)
    return Database("shop", shop_truth(), (SourceRequest(locate(str(path))),))


def databases_in(folders: Sequence[Path]) -> tuple[Database, ...]:
    """Return the databases that folders are, or that are in them.

    Raises UsageError where a folder has none, or two have the same name; NotTrustedError where a
    forged folder names a source that isn't next to it, and its user doesn't agree.
    """
    databases: dict[str, Database] = {}
    for folder in folders:
        found = [known for place in (folder, *_below(folder)) for known in _databases_of(place)]
        if not found:
            raise UsageError(f"{folder} has no database whose truth is known.", hint=_KINDS)
        for database in found:
            if databases.setdefault(database.name, database) is not database:
                raise UsageError(
                    f"Two databases are called {database.name!r}.",
                    hint="Rename one of the folders.",
                )
    return tuple(databases.values())


def _below(folder: Path) -> Iterator[Path]:
    if not folder.is_dir():
        raise UsageError(f"There is no folder {folder}.", hint="Check the path.")
    yield from (path for path in sorted(folder.iterdir()) if path.is_dir())


def _databases_of(folder: Path) -> Iterator[Database]:
    """Yield the database that a folder is, if its truth is known."""
    if (folder / TRUTH_FILE).is_file():
        yield _with_file(folder)
    elif (folder / MANIFEST_FILE).is_file():
        decisions = recorded_decisions(folder).decisions
        truth = decided_truth(decisions)
        if truth == Truth(is_whole=False):
            messages.tell(f"{folder} is left out: you have decided on no key, reference or text.")
        else:
            yield _decided(folder, truth, undecided(decisions))


def _with_file(folder: Path) -> Database:
    """Return a database whose truth is in a file."""
    data = sorted(folder.glob("data*"))
    if len(data) != 1:
        found = "no data" if not data else "several"
        raise UsageError(f"{folder} has {found} next to its {TRUTH_FILE}.", hint=_KINDS)
    truth = read_truth(folder / TRUTH_FILE)
    return Database(folder.resolve().name, truth, (SourceRequest(locate(str(data[0]))),))


def _decided(folder: Path, truth: Truth, followed: Sequence[AnyDecision]) -> Database:
    """Return a forged folder as a database whose truth is what a person has decided."""
    head = read_folder_head(folder)
    try:
        places = source_places(head, {}, ())
    except (NotTrustedError, SourceError) as error:
        # There is no --uri: several folders may be evaluated.
        error.hint = "On a terminal you're asked; or forge the folder again where its data is now."
        error.command = None
        raise
    return Database(
        folder.resolve().name,
        truth,
        tuple(folder_requests(head, places)),
        tuple(followed),
        head.manifest.technique,
    )
