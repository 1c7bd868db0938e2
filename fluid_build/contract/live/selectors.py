"""Which columns a quality rule speaks of, and the lists that its labels hold."""

import json
from collections.abc import Sequence

from fluid_build.contract.fluid import DqRule


def selected_columns(rule: DqRule, names: Sequence[str]) -> tuple[str, ...]:
    """The columns of a rule, out of the names that its expose promises.

    They stand in the label ``columns``, or in the selector, one or several parted by commas.
    Empty where the selector is missing, or says anything but names of columns.
    """
    listed = label_list(rule, "columns")
    if listed:
        return listed if set(listed) <= set(names) else ()
    selector = rule.selector
    if selector is None:
        return ()
    if selector in names:
        return (selector,)
    parts = tuple(part.strip() for part in selector.split(","))
    return parts if all(part in names for part in parts) else ()


def label_list(rule: DqRule, name: str) -> tuple[str, ...]:
    """A label that holds a JSON array of texts; empty where it is missing or is none."""
    text = (rule.labels or {}).get(name)
    if text is None:
        return ()
    try:
        listed = json.loads(text)
    except (ValueError, RecursionError):
        return ()
    is_list = isinstance(listed, list) and all(isinstance(item, str) for item in listed)
    return tuple(listed) if is_list else ()
