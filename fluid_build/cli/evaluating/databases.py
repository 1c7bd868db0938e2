"""The databases that ``fluid eval`` forges: the demo, or those of folders that say what is true."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from fluid_build.cli.reading.folder_sources import folder_requests, source_places
from fluid_build.decisions.files import DECISIONS_FILE, recorded_decisions
from fluid_build.demo import build_shop
from fluid_build.errors import NotTrustedError, UsageError
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
        places = [each for each in (folder, *_below(folder)) if _is_database(each)]
        if not places:
            raise UsageError(f"{folder} has no database whose truth is known.", hint=_KINDS)
        for place in places:
            name = place.resolve().name
            if name in databases:
                raise UsageError(
                    f"Two databases are called {name!r}.", hint="Rename one of the folders."
                )
            has_file = (place / TRUTH_FILE).is_file()
            databases[name] = _with_file(place) if has_file else _decided(place)
    return tuple(databases.values())


def _below(folder: Path) -> Iterator[Path]:
    if not folder.is_dir():
        raise UsageError(f"There is no folder {folder}.", hint="Check the path.")
    yield from (path for path in sorted(folder.iterdir()) if path.is_dir())


def _is_database(folder: Path) -> bool:
    forged = (folder / MANIFEST_FILE, folder / DECISIONS_FILE)
    return (folder / TRUTH_FILE).is_file() or all(path.is_file() for path in forged)


def _with_file(folder: Path) -> Database:
    """Return a database whose truth is in a file."""
    data = sorted(folder.glob("data*"))
    if len(data) != 1:
        found = "no data" if not data else "several"
        raise UsageError(f"{folder} has {found} next to its {TRUTH_FILE}.", hint=_KINDS)
    truth = read_truth(folder / TRUTH_FILE)
    return Database(folder.resolve().name, truth, (SourceRequest(locate(str(data[0]))),))


def _decided(folder: Path) -> Database:
    """Return a forged folder as a database whose truth is what a person has decided."""
    decisions = recorded_decisions(folder).decisions
    truth = decided_truth(decisions)
    if truth == Truth(is_whole=False):
        raise UsageError(
            f"No decision of a person in {folder} is about a key, a reference, a name or a"
            " description.",
            hint="Answer what `fluid review` asks, or leave the folder out.",
        )
    head = read_folder_head(folder)
    try:
        places = source_places(head, {}, ())
    except NotTrustedError as error:
        raise NotTrustedError(
            error.message,
            hint="On a terminal you're asked. Elsewhere, put the data next to the folder.",
        ) from None
    return Database(
        folder.resolve().name,
        truth,
        tuple(folder_requests(head, places)),
        undecided(decisions),
        head.manifest.technique,
    )
