"""The selection of the messages to keep when a conversation doesn't fit.

System messages and the latest exchange always stay; of the other messages, the groups that rank
highest. The gap that whole groups leave is filled with the next group, clipped, unless only a short
fragment of it would fit. If the messages that must stay don't fit either, they are clipped too,
system messages last.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

from fluid_build.copilot.context.message_clipping import clip_to_tokens
from fluid_build.copilot.context.message_parts import MessageGroup, group_messages
from fluid_build.copilot.errors import ContextOverflowError
from fluid_build.copilot.messages import Message, text_of, tool_calls, tool_results
from fluid_build.json_types import JsonValue

_SHORTEST_USEFUL_TEXT = 80
"""Characters: about a line, enough to say what a clipped message was about."""
_SHORTEST_FILLING_TEXT = 200
"""Characters of a message that only fills a gap: two or three sentences. A shorter fragment says
too little, and a model may take it for the whole."""
_TRIES_TO_FILL = 10
"""Groups that are tried for a gap: clipping each takes a search, and later ones rank lower."""
_GAP_NOT_WORTH_FILLING = 0.02
"""The share of the window below which filling a gap costs more time than the tokens are worth."""
_LARGEST_GAP = 0.1
"""The documented goal: less than a tenth of the window is wasted."""

Ranking = Callable[[Sequence[str]], list[float]]
"""A function from the groups' texts, oldest first and the query last, to scores; higher stays."""


@dataclass(slots=True)
class Selection:
    """The messages that stay, by position in the conversation, and their tokens.

    ``lost`` are the positions of messages that are left out, or fill a gap clipped.
    """

    chosen: dict[int, dict[str, JsonValue]] = field(default_factory=dict)
    tokens: int = 0
    lost: list[int] = field(default_factory=list)

    @property
    def messages(self) -> list[dict[str, JsonValue]]:
        """Return the messages that stay, in order."""
        return [self.chosen[position] for position in sorted(self.chosen)]


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
    room: int | None = None,
) -> Selection:
    """Select messages of at most ``limit`` tokens, and of ``target`` where that is possible.

    ``room``: tokens that are filled at most with what needn't stay; by default all of ``limit``.
    ``whole_suffix``: stop at the first group that doesn't fit, even clipped, so that there are no
    gaps.
    ``also_keep``: positions that must stay too, unless that would clip a system message.
    ``reserved``: tokens to leave free, if the messages that must stay allow it.
    Raises ``ContextOverflowError`` where those don't fit, however they are clipped.
    """
    # By their last message, since a group is as recent as that.
    groups = sorted(group_messages(messages, count), key=lambda group: group.positions[-1])
    pinned, optional = _separate_pinned(groups, messages, also_keep)
    if sum(group.tokens for group in pinned) <= limit:
        return _select_whole(
            pinned,
            optional,
            messages,
            room=limit if room is None else room,
            target=target,
            ranking=ranking,
            count=count,
            whole_suffix=whole_suffix,
            reserved=reserved,
        )
    selection = _clip_current(pinned, messages, limit, count)
    if selection is None and also_keep:
        return select(
            messages,
            limit=limit,
            target=target,
            ranking=ranking,
            count=count,
            whole_suffix=whole_suffix,
            reserved=reserved,
            room=room,
        )
    if selection is None:
        selection = _clip_everything(pinned, messages, limit, count)
    selection.lost = _positions_in(optional)
    return selection


def _separate_pinned(
    groups: Sequence[MessageGroup], messages: Sequence[Message], also_keep: frozenset[int]
) -> tuple[list[MessageGroup], list[MessageGroup]]:
    """Return the groups that must stay, and those that may go."""
    pinned = [
        group
        for group in groups
        if group.is_system
        or _is_current(group, groups, messages)
        or not also_keep.isdisjoint(group.positions)
    ]
    return pinned, [group for group in groups if group not in pinned]


def _select_whole(
    pinned: Sequence[MessageGroup],
    optional: Sequence[MessageGroup],
    messages: Sequence[Message],
    *,
    room: int,
    target: int,
    ranking: Ranking,
    count: Callable[[Message], int],
    whole_suffix: bool,
    reserved: int,
) -> Selection:
    """Keep the pinned groups and the best others whole, and fill the gap with clipped ones."""
    selection = Selection()
    for group in pinned:
        _keep(selection, group, messages)
    target = max(target - reserved, selection.tokens)
    dropped = _keep_best(selection, optional, messages, target, ranking, whole_suffix)
    fill = partial(_fill, selection, dropped, messages, count=count, whole_suffix=whole_suffix)
    fill(target=target)
    if selection.tokens + reserved < room * (1 - _LARGEST_GAP):
        # Several calls with their results are long even when each is clipped to a line.
        fill(target=room - reserved, shortest_in_exchange=_SHORTEST_USEFUL_TEXT)
    selection.lost = _positions_in(dropped)
    return selection


def _positions_in(groups: Sequence[MessageGroup]) -> list[int]:
    return sorted(position for group in groups for position in group.positions)


def _is_current(
    group: MessageGroup, groups: Sequence[MessageGroup], messages: Sequence[Message]
) -> bool:
    """Return whether a group has the last message, or calls that may yet be answered."""
    if len(messages) - 1 in group.positions:
        return True
    return group.is_open and not any(
        messages[later.positions[0]].get("role") == "assistant"
        for later in groups
        if later.positions[0] > group.positions[0]
    )


def _keep(selection: Selection, group: MessageGroup, messages: Sequence[Message]) -> None:
    selection.tokens += group.tokens
    for position in group.positions:
        selection.chosen[position] = dict(messages[position])


def _keep_best(
    selection: Selection,
    optional: Sequence[MessageGroup],
    messages: Sequence[Message],
    target: int,
    ranking: Ranking,
    whole_suffix: bool,
) -> list[MessageGroup]:
    """Keep groups while they fit; return the others, the best first."""
    texts = [
        "\n".join(_searchable_text(messages[p]) for p in group.positions) for group in optional
    ]
    scores = ranking([*texts, _query(messages)])
    order = sorted(range(len(optional)), key=lambda i: (scores[i], i), reverse=True)
    dropped: list[MessageGroup] = []
    for index in order:
        group = optional[index]
        if (whole_suffix and dropped) or selection.tokens + group.tokens > target:
            dropped.append(group)
        else:
            _keep(selection, group, messages)
    return dropped


def _fill(
    selection: Selection,
    dropped: Sequence[MessageGroup],
    messages: Sequence[Message],
    *,
    target: int,
    count: Callable[[Message], int],
    whole_suffix: bool,
    shortest_in_exchange: int = _SHORTEST_FILLING_TEXT,
) -> None:
    """Fill the gap that whole groups leave with the best of those that were dropped, clipped.

    ``shortest_in_exchange``: characters of a text in a group of calls and results.
    """
    candidates = [group for group in dropped if group.positions[0] not in selection.chosen]
    for group in candidates[:_TRIES_TO_FILL]:
        gap = target - selection.tokens
        if gap < target * _GAP_NOT_WORTH_FILLING:
            return
        parts = [messages[position] for position in group.positions]
        shortest = _SHORTEST_FILLING_TEXT if len(parts) == 1 else shortest_in_exchange
        clipped = clip_to_tokens(parts, gap, count, shortest=shortest)
        if clipped is not None:
            selection.chosen.update(zip(group.positions, clipped, strict=True))
            selection.tokens += sum(map(count, clipped))
        elif whole_suffix:
            return


def _clip_current(
    pinned: Sequence[MessageGroup],
    messages: Sequence[Message],
    limit: int,
    count: Callable[[Message], int],
) -> Selection | None:
    """Return system messages whole and the other pinned ones clipped; None if that won't do."""
    system = [p for group in pinned if group.is_system for p in group.positions]
    current = [p for group in pinned if not group.is_system for p in group.positions]
    system_tokens = sum(group.tokens for group in pinned if group.is_system)
    parts = [messages[p] for p in current]
    copies = clip_to_tokens(parts, limit - system_tokens, count, shortest=_SHORTEST_USEFUL_TEXT)
    if copies is None and system_tokens <= limit / 2:  # the others' own frames are large
        copies = clip_to_tokens(parts, limit - system_tokens, count)
    if copies is None:
        return None
    selected = {p: dict(messages[p]) for p in system}
    selected.update(zip(current, copies, strict=True))
    return Selection(selected, sum(map(count, selected.values())))


def _clip_everything(
    pinned: Sequence[MessageGroup],
    messages: Sequence[Message],
    limit: int,
    count: Callable[[Message], int],
) -> Selection:
    """Return all pinned messages clipped, system messages too."""
    positions = [p for group in pinned for p in group.positions]
    copies = clip_to_tokens([messages[p] for p in positions], limit, count)
    if copies is None:
        raise ContextOverflowError(
            f"The system messages and the latest exchange don't fit {limit:,} tokens, even when "
            "their texts are clipped.",
            hint="Give the window more tokens, or use fewer system messages or calls at once.",
            context_window=limit,
        )
    return Selection(dict(zip(positions, copies, strict=True)), sum(map(count, copies)))


def _searchable_text(message: Message) -> str:
    """Return the text, calls and results of a message as text."""
    parts = [text_of(message)]
    parts += [f"{call.name} {call.arguments}" for call in tool_calls(message)]
    parts += [result.content for result in tool_results(message)]
    return "\n".join(part for part in parts if part)


def _query(messages: Sequence[Message]) -> str:
    """Return the current topic: the user's last message, and the last message."""
    last = _searchable_text(messages[-1])
    question = next((text_of(m) for m in reversed(messages) if m.get("role") == "user"), "")
    return f"{question}\n{last}"


def by_recency(texts: Sequence[str]) -> list[float]:
    """Score later texts higher, from 0 to 1."""
    return [index / max(len(texts) - 1, 1) for index in range(len(texts))]


def by_relevance(texts: Sequence[str]) -> list[float]:
    """Score texts by the terms they share with the query, rare ones higher, from 0 to 1."""
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


def mean_of(*rankings: Ranking) -> Ranking:
    """Return a ranking by the mean of several."""

    def rank(texts: Sequence[str]) -> list[float]:
        scores = zip(*(ranking(texts) for ranking in rankings), strict=True)
        return [sum(parts) / len(rankings) for parts in scores]

    return rank
