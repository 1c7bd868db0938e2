"""Measures token estimates against true counts, by kind of text.

Run: ``python bench/token_estimates.py``. For each kind it prints the lowest estimate over the true
count, where the true count is the highest of all vocabularies; the lowest and the highest over one
vocabulary; and characters per token. Exit code 1 where an estimate falls short. Then it prints the
time per megabyte.

The true counts are in ``tests/copilot/context/token_counts.json``. To make that file again, in an
environment of its own (none of these packages is a dependency):

    pip install tiktoken tokenizers mistral-common
    pip download litellm --no-deps && unzip litellm-*.whl -d litellm
    python bench/token_estimates.py --count litellm/litellm/litellm_core_utils/tokenizers

litellm's wheel has the vocabularies cl100k and o200k (OpenAI), Anthropic's of Claude 2, the last
that was published, and DeepSeek's; mistral-common's has tekken. No download happens after that.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from fluid_build.copilot.context.token_estimate import estimate_tokens  # noqa: E402
from tests.copilot.context.text_kinds import KINDS, digest_of, make_text, texts_of  # noqa: E402
from tests.copilot.context.true_counts import (  # noqa: E402
    TABLE,
    UNCOVERED,
    KindCounts,
    is_whole,
    true_counts,
)

Counter = Callable[[str], int]


def load_vocabularies(folder: Path) -> dict[str, Counter]:
    """Return the counters by vocabulary; ``folder`` has the files of litellm's wheel."""
    os.environ["TIKTOKEN_CACHE_DIR"] = str(folder)
    import tiktoken
    from mistral_common.tokens.tokenizers.tekken import Tekkenizer
    from tokenizers import Tokenizer

    def of_tiktoken(name: str) -> Counter:
        encoding = tiktoken.get_encoding(name)
        return lambda text: len(encoding.encode(text, disallowed_special=()))

    def of_file(name: str) -> Counter:
        tokenizer = Tokenizer.from_file(str(folder / name))
        return lambda text: len(tokenizer.encode(text, add_special_tokens=False))

    import mistral_common

    data = Path(mistral_common.__file__).parent / "data"
    tekken = Tekkenizer.from_file(max(data.glob("tekken_*.json")))
    return {
        "cl100k": of_tiktoken("cl100k_base"),
        "o200k": of_tiktoken("o200k_base"),
        "claude-2": of_file("anthropic_tokenizer.json"),
        "deepseek": of_file("deepseek_tokenizer.json"),
        "tekken": lambda text: len(tekken.encode(text, bos=False, eos=False)),
    }


def write_counts(folder: Path) -> None:
    """Count every text of every kind, and write the table."""
    vocabularies = load_vocabularies(folder)
    kinds = {
        kind: {
            "digest": digest_of(texts_of(kind)),
            "counts": [[count(text) for text in texts_of(kind)] for count in vocabularies.values()],
        }
        for kind in KINDS
    }
    lines = ",\n".join(f"  {json.dumps(kind)}: {json.dumps(row)}" for kind, row in kinds.items())
    TABLE.write_text(
        f'{{"vocabularies": {json.dumps([*vocabularies])}, "kinds": {{\n{lines}\n}}}}\n'
    )


def show_kind(counts: KindCounts) -> bool:
    """Print a kind's row; return whether no estimate of more than a few words falls short."""
    rows = [
        (len(text), estimate_tokens(text), counts.highest[index], counts.lowest[index])
        for index, text in enumerate(counts.texts)
        if is_whole(text)
    ]
    ratio = min(estimate / highest for _, estimate, highest, _ in rows)
    largest = max(estimate / lowest for _, estimate, _, lowest in rows)
    characters = min(size / highest for size, _, highest, _ in rows)
    note = "  not covered" if counts.kind in UNCOVERED else "" if ratio >= 1 else "  FALLS SHORT"
    print(f"{counts.kind:30} {ratio:6.2f} {largest:6.2f} {characters:6.2f}{note}")
    return ratio >= 1 or counts.kind in UNCOVERED


def show_times() -> None:
    """Print the CPU time of an estimate, for large texts and for a short one."""
    for kind in ("english prose", "JSON rows", "hex ids", "chinese prose"):
        text = make_text(kind, 1_000_000, 0)
        started = time.process_time()
        estimate_tokens(text)
        elapsed = (time.process_time() - started) * 1000
        print(f"{kind}: {elapsed / len(text.encode()) * 1e6:.1f} ms per MB")
    started = time.process_time()
    for _ in range(10_000):
        estimate_tokens("List the tables, please.")
    print(f"a short text: {(time.process_time() - started) * 100:.1f} µs")


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["--count"]:
        write_counts(Path(arguments[1]))
        return 0
    print(f"{'kind':30} {'least':>6} {'most':>6} {'c/tok':>6}")
    results = [show_kind(counts) for counts in true_counts()]
    show_times()
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
