"""What identifies a row of a fact: its key, unless that is unique only by accident.

In few rows many columns are unique: each patient has been treated once, each dose given once. Such
a key that the source doesn't declare is believed if it's named or placed as the number of the rows.
Else what the rows must refer to and their date identify them, if that's unique.
"""

from dataclasses import dataclass

from fluid_build.decisions.language import Grain
from fluid_build.decisions.reasons import decided_reason
from fluid_build.lexicon import terms
from fluid_build.modeling.alternate_keys import related_key
from fluid_build.modeling.conceptual import Attribute, Entity
from fluid_build.modeling.dimensional.column_purposes import is_date, is_remark, kind
from fluid_build.modeling.dimensional.judging.reference_graph import (
    AttributeNames,
    ReferenceGraph,
    is_mandatory,
)
from fluid_build.modeling.measures import is_category_name
from fluid_build.profiling.names.words import words
from fluid_build.text import counted, listed

_ENOUGH_ROWS = 50
"""Rows in which a key is hardly unique by accident. In fewer, its names must say so too."""
_MOST_COLUMNS = 5
"""Columns of a grain. With more of them, anything is unique in few rows."""


@dataclass(frozen=True, slots=True)
class StatedGrain:
    """The columns that identify a row, and how certain that is; "" where nothing is to be said.

    Where the rows contradict a grain that a person insists on, ``identity`` has the columns that
    identify a row all the same.
    """

    columns: AttributeNames
    remark: str = ""
    identity: AttributeNames | None = None

    @property
    def identifying(self) -> AttributeNames:
        """Return the columns that identify a row."""
        return self.columns if self.identity is None else self.identity


def decided_grain(decision: Grain, rows: int, own: StatedGrain) -> StatedGrain:
    """Return the grain that was decided for a table of so many rows; ``own`` is what holds."""
    reason, evidence = decided_reason(decision), decision.evidence
    violations = evidence.violations if evidence is not None else 0
    if not violations:
        return StatedGrain(decision.columns, reason)
    remark = (
        f"{reason} It's declared and violated: {violations:,} of {counted(rows, 'row')} repeat a"
        " value or have a null."
    )
    if own.columns:
        verb = "identifies" if len(own.columns) == 1 else "identify"
        remark = f"{remark} {listed(own.columns)} {verb} a row."
    return StatedGrain(decision.columns, remark, own.columns)


def believable_grain(graph: ReferenceGraph, entity: Entity, event_date: str | None) -> StatedGrain:
    """Return the grain of an entity's rows; ``event_date`` is its own column, if it has one."""
    key = graph.keys[entity.name]
    if not key or _is_certain(graph, entity, key):
        return StatedGrain(key, _also_identified(graph, entity, key))
    rows = counted(entity.rows, "row")
    wider = {
        name
        for parent in graph.direct_parents(entity.name)
        if is_mandatory(parent)
        for name in parent.from_attributes
    }
    if wider and event_date:
        wider |= {event_date}
    is_unique = any(unique <= wider for unique in graph.unique[entity.name])
    if is_unique and len(wider) <= _MOST_COLUMNS:
        columns = tuple(a.name for a in entity.attributes if a.name in wider)
        return StatedGrain(columns, f"They identify each of the {rows}, but no key is declared.")
    if any(_identifies_nothing(entity.attribute(name), event_date) for name in key):
        return StatedGrain(
            (), f"{', '.join(key)} is unique in the {rows}, but doesn't look like a key."
        )
    return StatedGrain(key)


def _also_identified(graph: ReferenceGraph, entity: Entity, key: AttributeNames) -> str:
    """Return the sentence that says what a row is about, besides the number that it was given."""
    if len(key) != 1 or graph.is_referring(entity.name, key[0]) or graph.children[entity.name]:
        return ""
    columns = related_key(entity, graph.unique[entity.name], graph.direct_parents(entity.name))
    return f"No two rows have the same {listed(columns)}." if columns else ""


def _is_certain(graph: ReferenceGraph, entity: Entity, key: AttributeNames) -> bool:
    """Return whether a key is declared, holds in many rows, or is named or placed as one."""
    is_declared = any(k.kind == "declared" and k.attributes == key for k in entity.keys)
    if is_declared or not entity.rows or entity.rows >= _ENOUGH_ROWS:
        return True
    own = [entity.attribute(name) for name in key if not graph.is_referring(entity.name, name)]
    first_names = {attribute.name for attribute in entity.attributes[: len(key)]}
    is_first = set(key) == first_names and (len(key) > 1 or bool(own))
    is_numbered = any(terms("key_word") & set(words(a.name)) for a in own)
    return (is_first or is_numbered) and not any(_is_quantity(attribute) for attribute in own)


def _identifies_nothing(attribute: Attribute, event_date: str | None) -> bool:
    """Return whether a column belongs in no key: an amount, a remark, another date, a category."""
    is_other_date = is_date(attribute) and attribute.name != event_date
    return is_other_date or _is_quantity(attribute)


def _is_quantity(attribute: Attribute) -> bool:
    """Return whether a column measures, describes or sorts its row."""
    return (
        attribute.measure is not None
        or kind(attribute) not in {"integer", "text", "date", "timestamp"}
        or is_remark(attribute)
        or is_category_name(attribute.name)
    )
