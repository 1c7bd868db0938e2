"""What each hazard of a database costs: the same made-up databases with one of them and without."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bench.keys.databases import profile_database
from bench.keys.naming import renaming
from bench.keys.scores import Score, score_foreign_keys, score_primary_keys
from bench.worlds.world import World, make_world
from fluid_build.profiling.profile import Profile
from fluid_build.profiling.weights import Weights


@dataclass
class Scores:
    """The scores of databases: of all references, of composite ones, and of primary keys."""

    references: Score = field(default_factory=Score)
    composites: Score = field(default_factory=Score)
    keys: Score = field(default_factory=Score)

    def add(self, other: "Scores") -> None:
        self.references.add(other.references)
        self.composites.add(other.composites)
        self.keys.add(other.keys)

    def line(self) -> str:
        found = f"{self.composites.right} of {self.composites.right + self.composites.missed}"
        return f"{self.references.line()}  {found:10}  {self.keys.f1:.3f}"


def show_hazards(
    scratch: Path, hazards: Sequence[str], count: int, seed: int, weights: Weights
) -> None:
    """Print the scores of made-up databases for each hazard, beside those without it.

    A database that a hazard doesn't change (it has nothing to be renamed) counts in neither.
    """
    pairs = {hazard: (Scores(), Scores()) for hazard in hazards}
    affected = dict.fromkeys(hazards, 0)
    none = Scores()
    for number in range(count):
        plain = make_world(seed, number, frozenset())
        without = _score(plain, scratch / "none", weights)
        none.add(without)
        for hazard in hazards:
            world = make_world(seed, number, frozenset({hazard}))
            if list(_contents(world)) != list(_contents(plain)):
                affected[hazard] += 1
                pairs[hazard][0].add(_score(world, scratch / hazard, weights))
                pairs[hazard][1].add(without)
    heading = f"{'foreign keys':30}{'composite':12}{'keys F1':9}"
    print(f"{'hazard':20}{'databases':>9}  {heading}without it: {heading.rstrip()}")
    print(f"{'none':20}{count:>9}  {none.line()}")
    for hazard, (scores, others) in pairs.items():
        print(f"{hazard:20}{affected[hazard]:>9}  {scores.line()}    {'':12}{others.line()}")


def _score(world: World, folder: Path, weights: Weights) -> Scores:
    world.write(folder / world.name)
    truth = world.truth()
    names = renaming("as-is", truth)
    return scores_of(profile_database(folder / world.name, truth, names, weights), truth)


def scores_of(profile: Profile, truth: dict) -> Scores:
    """Return the scores of a database whose names are as they are."""
    names = renaming("as-is", truth)
    foreign, composite = score_foreign_keys(profile, truth, names)
    return Scores(foreign, composite, score_primary_keys(profile, truth, names))


def _contents(world: World) -> Iterator[tuple[str, str, str, list[object]]]:
    """Yield the columns of a database with all that is in them."""
    for table in world.tables:
        for column in table.columns:
            yield table.name, column.name, column.type, column.values
