"""The order in which models are listed: families by their newest version, without other media."""

import re
from collections import defaultdict
from collections.abc import Iterable

_OTHER_MEDIA = re.compile(
    r"(^|[^a-z])(audio|banana|embedding|image|live|moderation|realtime|transcribe|tts|whisper)"
    r"([^a-z]|$)"
)
_INCOMPLETE = re.compile(r"^ft:|-$")
"""A price for fine-tuned models, whose names go on with an id of their owner's."""
_VERSION = re.compile(r"\d+(?![\dbk])")
"""A number, but not a size: 26b parameters, a window of 32k."""


def writes_text(name: str) -> bool:
    """Return whether a model can be asked questions, as far as its name says."""
    return not _OTHER_MEDIA.search(name) and not _INCOMPLETE.search(name)


def newest_first(names: Iterable[str]) -> list[str]:
    """Return names with families together, the newest version first.

    The price list has no dates, so the numbers in names decide: a family is a name without them.
    """
    families: dict[str, list[str]] = defaultdict(list)
    for name in sorted(names):
        families[_family(name)].append(name)
    for members in families.values():
        members.sort(key=_version, reverse=True)
    ranked = sorted(families.values(), key=lambda members: _version(members[0]), reverse=True)
    return [name for members in ranked for name in members]


def _family(name: str) -> str:
    return "-".join(filter(None, re.split(r"[-.]", _VERSION.sub("", name))))


def _version(name: str) -> tuple[int, ...]:
    return tuple(map(int, _VERSION.findall(name)))
