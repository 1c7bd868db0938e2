"""Chooses what of a conversation stays when not all of it fits.

System messages and the latest exchange always stay; of the rest, the units that rank highest. The
room that is left over by whole units is filled with the next one, clipped. If even what must stay
does not fit, it is clipped too, system messages last.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from fluid_build.copilot.context.message_clipping import clip_to_tokens
from fluid_build.copilot.context.message_groups import Unit, group_into_units
from fluid_build.copilot.errors import ContextOverflowError
from fluid_build.copilot.messages import Message, text_of, tool_calls, tool_results

_SHORTEST_USEFUL_TEXT = 80
_SHORTEST_FILLING_TEXT = 16
_TRIES_TO_FILL = 10
_GAP_NOT_WORTH_FILLING = 0.02
_LARGEST_GAP = 0.1

Ranking = Callable[[Sequence[str]], list[float]]
"""Scores the units' texts, oldest first; the last text is the current query. Higher stays."""


@dataclass(slots=True)
class Selection:
    """What stays, by position in the conversation, and how many tokens that has.

    ``lost`` are the positions of what is left out, or filled in clipped.
    """

    kept: dict[int, dict[str, Any]] = field(default_factory=dict)
    tokens: int = 0
    lost: list[int] = field(default_factory=list)

    @property
    def messages(self) -> list[dict[str, Any]]:
        """What stays, in order."""
        return [self.kept[position] for position in sorted(self.kept)]


def select(
    messages: Sequence[Message],
    *,
    limit: int,
    target: int,
    ranking: Ranking,
    count: Callable[[Message], int],
    whole_suffix: bool,
    also_keep: frozenset[int] = frozenset(),
    reserved: int = 0,
) -> Selection:
    """What stays of ``messages`` in at most ``limit`` tokens, ``target`` of them if it can be.

    ``whole_suffix``: stop at the first unit that does not fit, so that what stays has no gaps.
    ``also_keep``: positions that stay as well, unless that would cost a system message its text.
    ``reserved``: tokens that are to stay free, if what must stay leaves them.
    Raises ``ContextOverflowError`` where what must stay does not fit however it is clipped.
    """
    units = group_into_units(messages, count)
    pinned = [
        unit
        for unit in units
        if unit.is_system
        or _is_current(unit, units, messages)
        or not also_keep.isdisjoint(unit.positions)
    ]
    others = [unit for unit in units if unit not in pinned]
    if sum(unit.tokens for unit in pinned) > limit:
        clipped = _clip_current(pinned, messages, limit, count)
        if clipped is None and also_keep:
            return select(
                messages,
                limit=limit,
                target=target,
                ranking=ranking,
                count=count,
                whole_suffix=whole_suffix,
                reserved=reserved,
            )
        selection = clipped or _clip_everything(pinned, messages, limit, count)
        selection.lost = sorted(p for unit in others for p in unit.positions)
        return selection
    selection = Selection()
    for unit in pinned:
        _keep(selection, unit, messages)
    target = max(target - reserved, selection.tokens)
    dropped = _keep_best(selection, others, messages, target, ranking, whole_suffix)
    _fill(selection, dropped, messages, target, count)
    if selection.tokens + reserved < limit * (1 - _LARGEST_GAP):
        _fill(selection, dropped, messages, limit - reserved, count)
    selection.lost = sorted(position for unit in dropped for position in unit.positions)
    return selection


def _is_current(unit: Unit, units: Sequence[Unit], messages: Sequence[Message]) -> bool:
    """The unit of the last message, and calls that may yet be answered."""
    if len(messages) - 1 in unit.positions:
        return True
    return unit.is_open and not any(
        messages[later.positions[0]].get("role") == "assistant"
        for later in units
        if later.positions[0] > unit.positions[0]
    )


def _keep(selection: Selection, unit: Unit, messages: Sequence[Message]) -> None:
    selection.tokens += unit.tokens
    for position in unit.positions:
        selection.kept[position] = dict(messages[position])


def _keep_best(
    selection: Selection,
    others: Sequence[Unit],
    messages: Sequence[Message],
    target: int,
    ranking: Ranking,
    whole_suffix: bool,
) -> list[Unit]:
    """Keeps units while they fit; returns the rest, the best first."""
    texts = ["\n".join(_searchable_text(messages[p]) for p in unit.positions) for unit in others]
    scores = ranking([*texts, _query(messages)])
    order = sorted(range(len(others)), key=lambda i: (scores[i], i), reverse=True)
    dropped: list[Unit] = []
    for index in order:
        unit = others[index]
        if (whole_suffix and dropped) or selection.tokens + unit.tokens > target:
            dropped.append(unit)
        else:
            _keep(selection, unit, messages)
    return dropped


def _fill(
    selection: Selection,
    dropped: Sequence[Unit],
    messages: Sequence[Message],
    target: int,
    count: Callable[[Message], int],
) -> None:
    """Uses the gap that whole units left for the best that were dropped, clipped."""
    candidates = [unit for unit in dropped if unit.positions[0] not in selection.kept]
    for unit in candidates[:_TRIES_TO_FILL]:
        gap = target - selection.tokens
        if gap < target * _GAP_NOT_WORTH_FILLING:
            return
        parts = [messages[position] for position in unit.positions]
        clipped = clip_to_tokens(parts, gap, count, shortest=_SHORTEST_FILLING_TEXT)
        if clipped is not None:
            selection.kept.update(zip(unit.positions, clipped, strict=True))
            selection.tokens += sum(map(count, clipped))


def _clip_current(
    pinned: Sequence[Unit],
    messages: Sequence[Message],
    limit: int,
    count: Callable[[Message], int],
) -> Selection | None:
    """System messages whole and the rest of ``pinned`` clipped; ``None`` where that is no use."""
    system = [p for unit in pinned if unit.is_system for p in unit.positions]
    current = [p for unit in pinned if not unit.is_system for p in unit.positions]
    taken = sum(unit.tokens for unit in pinned if unit.is_system)
    parts = [messages[p] for p in current]
    copies = clip_to_tokens(parts, limit - taken, count, shortest=_SHORTEST_USEFUL_TEXT)
    if copies is None and taken <= limit / 2:  # it is the rest's own frame that is large
        copies = clip_to_tokens(parts, limit - taken, count)
    if copies is None:
        return None
    kept = {p: dict(messages[p]) for p in system}
    kept.update(zip(current, copies, strict=True))
    return Selection(kept, sum(map(count, kept.values())))


def _clip_everything(
    pinned: Sequence[Unit],
    messages: Sequence[Message],
    limit: int,
    count: Callable[[Message], int],
) -> Selection:
    """All of ``pinned`` clipped, system messages too: what does not fit otherwise."""
    positions = [p for unit in pinned for p in unit.positions]
    copies = clip_to_tokens([messages[p] for p in positions], limit, count)
    if copies is None:
        raise ContextOverflowError(
            f"The system messages and the latest exchange do not fit {limit:,} tokens, even "
            "when their texts are cut.",
            hint="Give the window more tokens, or use fewer system messages or calls at once.",
            context_window=limit,
        )
    return Selection(dict(zip(positions, copies, strict=True)), sum(map(count, copies)))


def _searchable_text(message: Message) -> str:
    """Everything in the message that says what it is about: text, calls, results."""
    parts = [text_of(message)]
    parts += [f"{call.name} {call.arguments}" for call in tool_calls(message)]
    parts += [result.content for result in tool_results(message)]
    return "\n".join(part for part in parts if part)


def _query(messages: Sequence[Message]) -> str:
    """What the conversation is at: the last message, and the last that the user wrote."""
    last = _searchable_text(messages[-1])
    asked = next((text_of(m) for m in reversed(messages) if m.get("role") == "user"), "")
    return f"{asked}\n{last}"


def by_recency(texts: Sequence[str]) -> list[float]:
    """The later, the higher: from 0 to 1."""
    return [index / max(len(texts) - 1, 1) for index in range(len(texts))]


def by_relevance(texts: Sequence[str]) -> list[float]:
    """Terms shared with the query, the rarer the heavier, over the text's length: from 0 to 1."""
    terms = [Counter(re.findall(r"\w{2,}", text.lower())) for text in texts]
    seen_in = Counter(term for counted in terms for term in counted)
    weight = {term: math.log(1 + len(texts) / n) for term, n in seen_in.items()}
    query = terms[-1]
    scores = [
        sum(weight[term] for term in query.keys() & counted.keys())
        / math.sqrt(1 + sum(counted.values()))
        for counted in terms
    ]
    highest = max(scores[:-1], default=0.0)
    return [score / highest if highest else 0.0 for score in scores]


def joined(*rankings: Ranking) -> Ranking:
    """The mean of several rankings, each with the same weight."""

    def rank(texts: Sequence[str]) -> list[float]:
        scores = zip(*(ranking(texts) for ranking in rankings), strict=True)
        return [sum(each) / len(rankings) for each in scores]

    return rank
