"""The context window manager, which keeps a conversation within its window.

Once a message would fill the window past ``pruning_threshold``, the strategy leaves out so much
that it's just below that share again. System messages and the latest exchange stay, up to
``max_tokens``, and a tool call never stays without its result. Source: the implementation plan of
agentic primitives, section 1.1.
"""

from __future__ import annotations

import heapq
import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import partial
from typing import Any, Protocol

from fluid_build.copilot.context.message_parts import split_countable, without_earlier_thinking
from fluid_build.copilot.context.pruning import (
    Ranking,
    Selection,
    by_recency,
    by_relevance,
    mean_of,
    select,
)
from fluid_build.copilot.context.summary import Summarizer, summarize_messages
from fluid_build.copilot.context.token_budget import HeuristicTokenCounter
from fluid_build.copilot.messages import Message

_FILLED_AFTER_PRUNING = 0.95
"""The share of the threshold that pruning aims at. Some room is left, or every further message
would prune and invalidate the provider's cache."""

_SUMMARY_SHARE = 0.1
"""The share of the window for a summary: more would push out messages that are still whole."""
_CHARACTERS_PER_TOKEN = 3
"""Of an extract, at most: prose has a few more, and what is too long is clipped."""


class ContextPruningStrategy(Enum):
    """The messages to drop first when a conversation outgrows its window."""

    RECENCY = "recency"
    """The oldest messages."""
    RELEVANCE = "relevance"
    """The messages that have least to do with the current query."""
    HYBRID = "hybrid"
    """Both age and relevance count."""
    SUMMARIZE = "summarize"
    """The oldest messages, of which a summary stays: by the summarizer, or else an extract."""


@dataclass
class ContextWindow:
    """A conversation and its tokens by the manager's counter.

    ``metadata`` says what was done: how many ``prunings`` there were, and of the last one the
    ``strategy``, how many messages it ``left_out`` or clipped, and what they are ``summarized_by``:
    the ``summarizer``, an ``extract``, or ``None``.
    """

    max_tokens: int
    current_tokens: int
    messages: list[Message]
    metadata: dict[str, Any]

    @property
    def utilization(self) -> float:
        """Return the share of the window in use, from 0.0 to 1.0."""
        return self.current_tokens / self.max_tokens

    @property
    def remaining_tokens(self) -> int:
        """Return the free tokens."""
        return self.max_tokens - self.current_tokens


@dataclass(frozen=True, slots=True)
class _Pruning:
    """What is left of a conversation, and how many messages aren't there whole any more."""

    messages: list[Message]
    left_out: int
    summarized_by: str | None = None


class TokenCounter(Protocol):
    """A counter of the tokens of a text."""

    def count_tokens(self, text: str) -> int:
        """Return the tokens in ``text``, not negative."""
        ...


class ContextWindowManager:
    """A maker of windows that prunes by its strategy.

    ``token_counter`` defaults to the estimate of ``token_budget``; a message is counted as
    ``str(message)``, but for images, documents and thinking, whose tokens are estimated.
    ``pruning_threshold`` is the share of the window from which on messages are left out, and which
    they fill afterwards as far as they can. ``summarizer`` turns a transcript into a summary, for
    ``SUMMARIZE``; without one, or when it fails, the summary is an extract of the transcript.
    ``relevance`` scores texts against the last of them, for
    ``RELEVANCE`` and ``HYBRID``; by default by the rare words they share.
    """

    def __init__(
        self,
        max_tokens: int = 8000,
        token_counter: TokenCounter | None = None,
        pruning_strategy: ContextPruningStrategy = ContextPruningStrategy.HYBRID,
        pruning_threshold: float = 0.8,
        *,
        summarizer: Summarizer | None = None,
        relevance: Ranking | None = None,
    ) -> None:
        if max_tokens <= 0:
            raise ValueError("max_tokens must be positive")
        if not 0 < pruning_threshold <= 1:
            raise ValueError("pruning_threshold must be over 0 and at most 1")
        self.max_tokens = max_tokens
        self.token_counter: TokenCounter = token_counter or HeuristicTokenCounter()
        self.pruning_strategy = pruning_strategy
        self.pruning_threshold = pruning_threshold
        self.summarizer = summarizer
        self.relevance = relevance

    def create_window(self, initial_messages: Sequence[Message] | None = None) -> ContextWindow:
        """Return a window with a copy of ``initial_messages``, pruned past the threshold."""
        window = ContextWindow(self.max_tokens, 0, [], {})
        return self._fit(window, list(initial_messages or []))

    def add_message(
        self, window: ContextWindow, message: Message, auto_prune: bool = True
    ) -> ContextWindow:
        """Add ``message`` to the window, pruned where that is needed; return the same window.

        Without ``auto_prune`` the window may outgrow its limit. Raises ``ContextOverflowError``,
        and leaves the window as it was, where even the clipped message doesn't fit with the system
        messages.
        """
        tokens = self._count(message)
        if auto_prune and window.current_tokens + tokens > self._room(window.max_tokens):
            return self._fit(window, [*window.messages, message])
        window.messages.append(message)
        window.current_tokens += tokens
        return window

    def _fit(self, window: ContextWindow, messages: list[Message]) -> ContextWindow:
        """Give the window as much of ``messages`` as it can hold; the last one stays."""
        total = sum(map(self._count, messages))
        if total > self._room(window.max_tokens):
            pruning = self._pruned(without_earlier_thinking(messages), window.max_tokens)
            messages = pruning.messages
            total = sum(map(self._count, messages))
            window.metadata |= {
                "prunings": window.metadata.get("prunings", 0) + 1,
                "strategy": self.pruning_strategy.value,
                "left_out": pruning.left_out,
                "summarized_by": pruning.summarized_by,
            }
        window.messages = messages
        window.current_tokens = total
        return window

    def _room(self, max_tokens: int) -> int:
        """Return the tokens that messages may fill before some are left out."""
        return int(max_tokens * self.pruning_threshold)

    def _pruned(self, messages: list[Message], limit: int) -> _Pruning:
        if self.pruning_strategy is ContextPruningStrategy.SUMMARIZE:
            for name, summarizer in self._summarizers(limit):
                summarized = self._summarized(messages, limit, summarizer)
                if summarized is not None:
                    return replace(summarized, summarized_by=name)
        selection = self._select(messages, limit)
        return _Pruning([*selection.messages], len(selection.lost))

    def _summarizers(self, limit: int) -> Iterator[tuple[str, Summarizer]]:
        """Yield the ways to summarize, the best first; the last one never fails."""
        if self.summarizer is not None:
            yield "summarizer", self.summarizer
        most = int(limit * _SUMMARY_SHARE) * _CHARACTERS_PER_TOKEN
        yield "extract", partial(extract, most_characters=most)

    def _summarized(
        self, messages: list[Message], limit: int, summarizer: Summarizer
    ) -> _Pruning | None:
        """Return the latest messages after a summary of the lost ones, if one fits."""
        room = int(limit * _SUMMARY_SHARE)
        lost = self._select(messages, limit, reserved=room).lost
        if not lost:
            return None
        summary = summarize_messages(
            [messages[position] for position in lost],
            summarizer,
            max_tokens=room,
            count=self._count,
        )
        if summary is None:
            return None
        tokens = self._count(summary)
        selection = self._select(messages, limit, reserved=tokens)
        if selection.tokens + tokens > limit:  # the messages that must stay need all of the window
            return None
        before = [selection.chosen[p] for p in sorted(selection.chosen) if p < lost[0]]
        return _Pruning([*before, summary, *selection.messages[len(before) :]], len(selection.lost))

    def _select(self, messages: list[Message], limit: int, *, reserved: int = 0) -> Selection:
        ranking, room = self._ranking(), self._room(limit)
        return select(
            messages,
            limit=limit,
            room=room,
            target=int(room * _FILLED_AFTER_PRUNING),
            ranking=ranking,
            count=self._count,
            whole_suffix=ranking is by_recency,
            reserved=reserved,
        )

    def _ranking(self) -> Ranking:
        relevance = self.relevance or by_relevance
        if self.pruning_strategy is ContextPruningStrategy.RELEVANCE:
            return relevance
        if self.pruning_strategy is ContextPruningStrategy.HYBRID:
            return mean_of(relevance, by_recency)
        return by_recency

    def _count(self, message: Message) -> int:
        plain, other_tokens = split_countable(message)
        return self.token_counter.count_tokens(str(plain)) + other_tokens


_LONGEST_SENTENCE = 240
"""Characters: of a longer one, such as a table's rows, the beginning says what it is."""
_MOST_SENTENCES = 2_000
"""Sentences that are weighed: more make no better extract, and each costs time."""
_SENTENCE = re.compile(r"[^\n]+?(?:[.!?](?=\s)|(?=\n)|\Z)")
_WORD = re.compile(r"[^\W\d_]{3,}")
_SPEAKER = re.compile(r"\A(?:\w+(?: called \S+| attached)?|result of [^:\n]{1,80}): ")


def extract(transcript: str, most_characters: int) -> str:
    """Return the sentences that say most of a transcript, in their order, each on a line.

    Each says much by words that those before it in the choice don't have, frequent ones first. The
    first one stays: it's what was asked for. Together they have at most ``most_characters``.
    """
    sentences = _sentences(transcript)
    if not sentences:
        return ""
    chosen = _chosen(sentences, most_characters)
    return "\n".join(sentences[place] for place in sorted(chosen))[:most_characters]


def _chosen(sentences: list[str], most_characters: int) -> set[int]:
    """Return the places of the sentences that together say most."""
    words = [set(_WORD.findall(sentence.lower())) for sentence in sentences]
    seen_in = Counter(word for each in words for word in each)
    said = set(words[0])
    chosen, room = {0}, most_characters - len(sentences[0]) - 1

    def weight(place: int) -> float:
        new = sum(1 + math.log(seen_in[word]) for word in words[place] - said)
        return new / math.sqrt(1 + len(words[place]))

    # What was said before makes no weight larger, so a sentence that stays first is the best.
    heap = [(-weight(place), place) for place in range(1, len(sentences))]
    heapq.heapify(heap)
    while heap and heap[0][0] < 0:
        _, place = heapq.heappop(heap)
        now = -weight(place)
        if heap and now > heap[0][0]:
            heapq.heappush(heap, (now, place))
        elif now < 0 and len(sentences[place]) < room:
            chosen.add(place)
            said |= words[place]
            room -= len(sentences[place]) + 1
    return chosen


def _sentences(transcript: str) -> list[str]:
    """Return the sentences of a transcript, each with who said it, long ones cut."""
    sentences: list[str] = []
    speaker = ""
    for line in transcript.splitlines():
        match = _SPEAKER.match(line)
        if match is not None:
            speaker, line = match[0], line[match.end() :]
        for sentence in _SENTENCE.findall(line):
            text = " ".join(sentence.split())
            if text:
                cut = text if len(text) <= _LONGEST_SENTENCE else f"{text[:_LONGEST_SENTENCE]}…"
                sentences.append(f"{speaker}{cut}")
            if len(sentences) == _MOST_SENTENCES:
                return sentences
    return sentences
