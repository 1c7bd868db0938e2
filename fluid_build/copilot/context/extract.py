"""An extract of a transcript: the sentences of it that say most, made without a model."""

import heapq
import math
import re
from collections import Counter

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
