"""What a column is for, as far as the rules of a vault ask: a name, a date, record keeping."""

import re
from collections.abc import Collection

from fluid_build.modeling.conceptual import Attribute
from fluid_build.modeling.types import family
from fluid_build.profiling.names import words

_NAMING = frozenset("name title label caption".split())
_SHORTEST_GLUED_WORD = 4
"""Letters that a word needs to be looked for inside another: ``no`` would be met in ``piano``."""
_NAMING_TYPES = frozenset({"person_name", "company_name", "username"})
_VERB = r"""
    (?:ch(?:an)?g|creat|crtd?|edit|ins(?:ert)?|load|mod(?:if)?|refresh|sync|touch|upd(?:at|t)?)
    (?:e|ed|ied|y|ion)?
"""
_WHEN = r"(?:at|date|datetime|dt|on|stamp|time|timestamp|ts|utc)*"
_WRITTEN = re.compile(rf"(?:row|record|last)?{_VERB}{_WHEN}", re.VERBOSE)
"""Names such as ``last_update``, ``modified_on`` and ``row_created_at``, without their
separators. The whole name must match, since ``update_due_date`` says when something is due."""
_CREATED = re.compile(rf"(?:row|record)?(?:creat|crtd?|ins(?:ert)?|load)(?:e|ed|ion)?{_WHEN}")


def last_word(name: str, vocabulary: Collection[str]) -> str:
    """Return the word of a vocabulary that a name ends in, or "".

    A longer word is also recognised where it's glued to what precedes it, as in ``ordernumber``.
    """
    parts = words(name)
    if not parts or parts[-1] in vocabulary:
        return parts[-1] if parts else ""
    glued = (
        word
        for word in vocabulary
        if len(word) >= _SHORTEST_GLUED_WORD and parts[-1].endswith(word)
    )
    return max(glued, key=len, default="")


def is_naming(attribute: Attribute) -> bool:
    """Return whether an attribute holds names, which entities have and events don't."""
    if attribute.semantic_type in _NAMING_TYPES:
        return True
    ends_in_name = bool(last_word(attribute.name, _NAMING))
    # A file name says where something came from, not what the row is about.
    return ends_in_name and attribute.type != "boolean" and words(attribute.name)[-1] != "filename"


def is_technical(attribute: Attribute) -> bool:
    """Return whether an attribute is about the row as a record: a UUID, or when it was written."""
    if attribute.type == "uuid" or attribute.semantic_type == "uuid":
        return True
    return _is_date(attribute) and bool(_WRITTEN.fullmatch(_squashed(attribute)))


def is_change_stamp(attribute: Attribute) -> bool:
    """Return whether an attribute is the time of the last change, which every change updates."""
    squashed = _squashed(attribute)
    return (
        _is_date(attribute)
        and bool(_WRITTEN.fullmatch(squashed))
        and not _CREATED.fullmatch(squashed)
    )


def is_event_date(attribute: Attribute) -> bool:
    """Return whether an attribute says when something happened."""
    return _is_date(attribute) and not is_change_stamp(attribute)


def _is_date(attribute: Attribute) -> bool:
    return family(attribute.type) in {"date", "timestamp"}


def _squashed(attribute: Attribute) -> str:
    return "".join(words(attribute.name))
