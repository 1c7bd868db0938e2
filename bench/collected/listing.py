"""The list of databases, ``bench/sources.toml``, and the draw of its two halves.

A third part, ``fresh``, was collected later and is never drawn: *look-once* has been read since.
"""

import random
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

LEARN, LOOK_ONCE, FRESH = "learn", "look-once", "fresh"


@dataclass(frozen=True)
class Source:
    """One database of the list: where its files are, and how they are loaded.

    ``files`` are paths in the repository, or patterns of them, in the order in which they run.
    ``replace`` has pairs of a regular expression and what takes its place in the text of scripts,
    for what the server that runs them spells differently. ``options`` are those of the loader.
    ``references`` are those that only a document states, ``composite`` is how many composite ones
    it has.
    """

    name: str
    repository: str
    commit: str
    format: str
    files: tuple[str, ...]
    licence: str = ""
    language: str = ""
    replace: tuple[tuple[str, str], ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    references: tuple[str, ...] = ()
    half: str = ""
    composite: int = 0

    @property
    def owner(self) -> str:
        return self.repository.rstrip("/").split("/")[-2]

    @property
    def clone(self) -> str:
        """The name of the clone's folder: owner and name with a plus between them."""
        return "+".join(self.repository.rstrip("/").split("/")[-2:])


def read_sources(path: Path) -> list[Source]:
    """Read the list, in its order."""
    entries = tomllib.loads(path.read_text(encoding="utf-8"))["database"]
    return [
        Source(
            name=entry["name"],
            repository=entry["repository"],
            commit=entry["commit"],
            format=entry["format"],
            files=tuple(entry["files"]),
            licence=entry.get("licence", ""),
            language=entry.get("language", ""),
            replace=tuple((old, new) for old, new in entry.get("replace", ())),
            options=entry.get("options", {}),
            references=tuple(entry.get("references", ())),
            half=entry.get("half", ""),
            composite=entry.get("composite", 0),
        )
        for entry in entries
    ]


def draw_halves(sources: list[Source], seed: int) -> dict[str, str]:
    """Return the half of each database that has none yet.

    Databases of one owner stay together: they share habits, and one in *learn* would give the
    others away. The owners are shuffled. Those who have composite references are dealt first, each
    to the half with fewer of these, which are too rare to leave to chance; the rest go to the half
    with fewer databases.
    """
    halves = {source.name: source.half for source in sources if source.half}
    owners = sorted({source.owner for source in sources if not source.half})
    random.Random(seed).shuffle(owners)
    theirs = {owner: [each for each in sources if each.owner == owner] for owner in owners}
    owners.sort(key=lambda owner: not any(each.composite for each in theirs[owner]))
    for owner in owners:
        by_composites = any(each.composite for each in theirs[owner])
        weights = dict.fromkeys((LOOK_ONCE, LEARN), 0)
        for source in sources:
            if source.name in halves:
                weights[halves[source.name]] += source.composite if by_composites else 1
        drawn = min(weights, key=lambda half: weights[half])
        settled = [halves[each.name] for each in theirs[owner] if each.name in halves]
        for source in theirs[owner]:
            halves.setdefault(source.name, settled[0] if settled else drawn)
    return halves


def set_fields(text: str, name: str, values: Mapping[str, str | int]) -> str:
    """Return the list's text with an entry's values set, each on a line of its own."""
    entries = text.split("[[database]]\n")
    for index, entry in enumerate(entries):
        if f'name = "{name}"\n' not in entry:
            continue
        lines = entry.rstrip("\n").split("\n")
        for key, value in values.items():
            line = f'{key} = "{value}"' if isinstance(value, str) else f"{key} = {value}"
            kept = [each for each in lines if not each.startswith(f"{key} = ")]
            place = len(lines) if len(kept) == len(lines) else lines.index(
                next(each for each in lines if each.startswith(f"{key} = "))
            )  # fmt: skip
            lines = [*kept[:place], line, *kept[place:]]
        entries[index] = "\n".join(lines) + "\n\n"
        return "[[database]]\n".join(entries).rstrip("\n") + "\n"
    raise ValueError(f"The list has no database {name!r}.")
