"""Which of what is gone may be which of what is new: a question for each, with its candidates."""

from collections.abc import Callable, Mapping, Sequence

from fluid_build.changes.change import OtherName
from fluid_build.changes.likeness import WORTH_ASKING, Likeness

_MOST_NAMES = 3
"""Candidates that are shown: more of them say that none is likely."""


def paired(
    gone: Sequence[str],
    new: Sequence[str],
    likeness: Callable[[str, str], Likeness | None],
    decided: Mapping[str, str],
) -> dict[str, tuple[OtherName, ...]]:
    """Return the candidates of what is gone and may be there under a new name, best first.

    The first candidate is one's own: of two that may have the same new name, the likelier has it.
    Those that somebody ``decided`` are certain, and two without a likeness were decided to be two.
    What has no candidate is gone.
    """
    pairs: dict[str, tuple[OtherName, ...]] = {
        old: (OtherName(name=name, likelihood=1.0, reason="somebody decided so"),)
        for old, name in decided.items()
        if old in gone
    }
    free = [name for name in new if name not in decided.values()]
    found = {(old, name): likeness(old, name) for old in gone if old not in pairs for name in free}
    asked = {pair: like for pair, like in found.items() if like and like.likelihood >= WORTH_ASKING}
    # Equally likely ones pair in the order of their places.
    ranked = sorted(
        asked, key=lambda pair: (-asked[pair].likelihood, gone.index(pair[0]), new.index(pair[1]))
    )
    own: dict[str, str] = {}
    for old, name in ranked:
        if old not in own and name not in own.values():
            own[old] = name
    for old, name in own.items():
        others = [pair for pair in ranked if pair[0] == old and pair[1] != name]
        pairs[old] = tuple(
            OtherName(name=pair[1], likelihood=asked[pair].likelihood, reason=asked[pair].reason)
            for pair in [(old, name), *others][:_MOST_NAMES]
        )
    return pairs
