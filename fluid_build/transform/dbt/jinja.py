"""Text that dbt passes to Jinja: ours may be Jinja, a stranger's never is.

Jinja 3 (https://jinja.palletsprojects.com/en/stable/templates/): ``{{``, ``{%`` and ``{#`` open a
tag, every line break becomes a line feed, and one line feed at the end of a template is dropped.
"""

import re
from collections.abc import Mapping, Sequence

_OPENS = re.compile(r"\{+(?=[%#])|\{{2,}|\{\Z|\r")


class Jinja(str):
    """A text of our own that Jinja renders."""

    __slots__ = ()


def literally(text: str) -> str:
    """Return a part of a template that renders to exactly this text, whatever follows it."""
    return _OPENS.sub(_printed, text) if "{" in text or "\r" in text else text


def literal_document(value: object) -> object:
    """Return a YAML document in which every text but those of type ``Jinja`` renders to itself."""
    if isinstance(value, Jinja):
        return str(value)
    if isinstance(value, str):
        return _whole(value)
    if isinstance(value, Mapping):
        return {key: literal_document(item) for key, item in value.items()}
    if isinstance(value, Sequence):
        return [literal_document(item) for item in value]
    return value


def _whole(text: str) -> str:
    if text.endswith("\n"):
        return literally(text[:-1]) + r'{{ "\n" }}'
    return literally(text)


def _printed(match: re.Match[str]) -> str:
    text = r"\r" if match[0] == "\r" else match[0]
    return f'{{{{ "{text}" }}}}'
