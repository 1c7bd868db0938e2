"""The window manager: the documented samples, and what every strategy must hold to."""

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluid_build.copilot.agents.errors import ContextOverflowError
from fluid_build.copilot.context.summary import SUMMARY_HEADING
from fluid_build.copilot.context.window_manager import (
    ContextPruningStrategy,
    ContextWindow,
    ContextWindowManager,
    extract,
)
from tests.copilot.context.conversations import (
    assert_pairs_are_whole,
    conversations,
    system_messages,
)


def test_context_window_creation():
    """Test creating a context window."""
    manager = ContextWindowManager(max_tokens=1000)
    window = manager.create_window()

    assert window.max_tokens == 1000
    assert window.current_tokens == 0
    assert window.utilization == 0.0


def test_add_message_without_pruning():
    """Test adding messages below pruning threshold."""
    manager = ContextWindowManager(max_tokens=1000, pruning_threshold=0.8)
    window = manager.create_window()

    # Add small message
    window = manager.add_message(window, {"role": "user", "content": "Hello"})

    assert len(window.messages) == 1
    assert window.current_tokens > 0


def test_automatic_pruning():
    """Test automatic pruning when threshold exceeded."""
    manager = ContextWindowManager(
        max_tokens=100,
        pruning_strategy=ContextPruningStrategy.RECENCY,
        pruning_threshold=0.5,
    )
    window = manager.create_window()

    # Add messages until pruning triggers
    for i in range(10):
        window = manager.add_message(window, {"role": "user", "content": f"Message {i}" * 10})

    # Should have pruned some messages
    assert window.utilization <= 1.0
    assert len(window.messages) < 10


def test_the_documented_orchestrator_builds_a_prompt():
    """The integration sample: system, history with automatic pruning, then the user's input."""
    manager = ContextWindowManager(
        max_tokens=8000, pruning_strategy=ContextPruningStrategy.HYBRID, pruning_threshold=0.8
    )
    window = manager.create_window()
    window = manager.add_message(
        window, {"role": "system", "content": "You are a therapeutic narrative generator..."}
    )
    for turn in range(50):
        window = manager.add_message(window, {"role": "user", "content": f"turn {turn} " * 200})
    window = manager.add_message(window, {"role": "user", "content": "now"})
    assert window.messages[0]["role"] == "system"
    assert window.messages[-1]["content"] == "now"
    assert window.current_tokens <= 8000


def test_the_defaults_are_the_documented_ones():
    """8000 tokens, hybrid, from 80 % on."""
    manager = ContextWindowManager()
    assert manager.max_tokens == 8000
    assert manager.pruning_strategy is ContextPruningStrategy.HYBRID
    assert manager.pruning_threshold == 0.8


def test_a_window_knows_its_share_and_its_rest():
    """Utilization and remaining_tokens."""
    window = ContextWindow(max_tokens=200, current_tokens=50, messages=[], metadata={})
    assert (window.utilization, window.remaining_tokens) == (0.25, 150)


class Words:
    """A counter of a caller's own."""

    def count_tokens(self, text):
        return len(text.split())


def test_a_callers_counter_is_used():
    """Messages are counted as str(message) by whatever counter is given."""
    manager = ContextWindowManager(token_counter=Words())
    window = manager.add_message(manager.create_window(), {"role": "user", "content": "a b"})
    assert window.current_tokens == len(str({"role": "user", "content": "a b"}).split())


every_strategy = pytest.mark.parametrize("strategy", list(ContextPruningStrategy))


def manager_of(
    strategy, max_tokens, summarizer=lambda text: "They read files. " * 20, threshold=1.0
):
    return ContextWindowManager(max_tokens, None, strategy, threshold, summarizer=summarizer)


thresholds = st.sampled_from([0.2, 0.35, 0.5, 0.8, 1.0])


@every_strategy
@given(sizes=st.lists(st.integers(20, 160), min_size=30, max_size=60), threshold=thresholds)
def test_pruning_begins_at_the_threshold_and_ends_just_below_it(strategy, sizes, threshold):
    """Not before; and what stays fills nine tenths of that share of the window."""
    manager = manager_of(strategy, 4000, threshold=threshold)
    window = manager.create_window()
    for number, size in enumerate(sizes):
        message = {"role": "user", "content": f"{number} " + "word " * (size // 5)}
        before = window.current_tokens + manager.token_counter.count_tokens(str(message))
        prunings = window.metadata.get("prunings", 0)
        window = manager.add_message(window, message)
        is_pruned = window.metadata.get("prunings", 0) > prunings
        assert is_pruned == (before > 4000 * threshold)
        assert window.utilization <= threshold
        if is_pruned:
            assert window.current_tokens >= 0.9 * 4000 * threshold - 1


@every_strategy
def test_another_threshold_makes_another_window(strategy):
    """The lower it is, the less stays."""
    texts = [f"Message {number} says a few words. " * 5 for number in range(60)]
    sizes = []
    for threshold in (0.2, 0.4, 0.6, 0.8, 1.0):
        manager = manager_of(strategy, 2000, threshold=threshold)
        sizes.append(manager.create_window([{"role": "user", "content": t} for t in texts]))
    tokens = [window.current_tokens for window in sizes]
    assert tokens == sorted(set(tokens))


@every_strategy
def test_what_must_stay_may_pass_the_threshold(strategy):
    """System messages and the last message are whole as long as the window has room for them."""
    manager = manager_of(strategy, 1000, threshold=0.2)
    system = {"role": "system", "content": "rule " * 300}
    last = {"role": "user", "content": "ask " * 200}
    window = manager.create_window([system, {"role": "user", "content": "old " * 300}])
    window = manager.add_message(window, last)
    assert (window.messages[0], window.messages[-1]) == (system, last)
    assert 0.2 < window.utilization <= 1.0


@every_strategy
@given(messages=conversations(), max_tokens=st.integers(450, 2000))
def test_no_conversation_outgrows_its_window(strategy, messages, max_tokens):
    """After every message: within the limit, system messages there, pairs whole, newest last."""
    manager = manager_of(strategy, max_tokens)
    given_messages = copy.deepcopy(messages)
    window = manager.create_window()
    for number, message in enumerate(messages, 1):
        window = manager.add_message(window, message)
        recount = sum(manager.token_counter.count_tokens(str(m)) for m in window.messages)
        assert window.current_tokens == recount <= max_tokens
        assert system_messages(window.messages) == system_messages(messages[:number])
        assert_pairs_are_whole(messages[:number], window.messages)
        assert window.messages[-1]["role"] == message["role"]
    assert messages == given_messages


@every_strategy
@given(messages=conversations(), max_tokens=st.integers(450, 2000))
def test_a_window_that_starts_too_full_is_pruned_at_once(strategy, messages, max_tokens):
    """create_window holds to the limit as well, and does not touch the list it was given."""
    given_messages = copy.deepcopy(messages)
    window = manager_of(strategy, max_tokens).create_window(messages)
    assert window.current_tokens <= max_tokens
    assert system_messages(window.messages) == system_messages(messages)
    assert_pairs_are_whole(messages, window.messages)
    assert messages == given_messages


@every_strategy
@given(sizes=st.lists(st.integers(1, 3000), min_size=1, max_size=15))
def test_pruning_wastes_at_most_a_tenth_of_the_window(strategy, sizes):
    """Where something had to go, what stays fills 90 % of the window or more."""
    manager = manager_of(strategy, 1000)
    window = manager.create_window()
    for size in sizes:
        before = window.metadata.get("prunings", 0)
        window = manager.add_message(window, {"role": "user", "content": "word " * (size // 5 + 1)})
        if window.metadata.get("prunings", 0) > before:
            assert window.utilization >= 0.9


@every_strategy
def test_an_oversized_message_is_clipped(strategy):
    """It keeps its role, its head and its tail, and says how much is missing."""
    manager = manager_of(strategy, 500)
    window = manager.create_window([{"role": "system", "content": "s"}])
    window = manager.add_message(window, {"role": "user", "content": "A" + "b" * 100_000 + "Z"})
    content = window.messages[-1]["content"]
    assert window.current_tokens <= 500
    assert content.startswith("A")
    assert content.endswith("Z")
    assert "characters left out" in content


def test_oversized_tool_arguments_become_the_documented_marker():
    """The call keeps its id and name; the arguments keep a preview and their length."""
    manager = manager_of(ContextPruningStrategy.RECENCY, 500)
    call = {"id": "c1", "name": "write", "arguments": {"text": "x" * 50_000}}
    window = manager.add_message(
        manager.create_window(), {"role": "assistant", "content": "", "tool_calls": [call]}
    )
    contents = window.messages[0]["tool_calls"][0]
    assert (contents["id"], contents["name"]) == ("c1", "write")
    assert contents["arguments"]["_truncated"] is True
    assert contents["arguments"]["_total_chars"] > 50_000
    assert contents["arguments"]["_preview"]


def test_a_call_waits_for_its_result():
    """However large what comes between, a result that arrives finds its call still there."""
    manager = manager_of(ContextPruningStrategy.RECENCY, 400)
    window = manager.create_window()
    calls = [{"id": i, "name": "read", "arguments": {}} for i in ("c1", "c2")]
    window = manager.add_message(window, {"role": "assistant", "content": "", "tool_calls": calls})
    for i in ("c1", "c2"):
        window = manager.add_message(
            window, {"role": "tool", "tool_call_id": i, "content": "row " * 2000}
        )
    assert [m["role"] for m in window.messages] == ["assistant", "tool", "tool"]
    assert window.current_tokens <= 400


def test_system_messages_stay_whole_while_there_is_any_room():
    """The user's text is clipped before the system's."""
    manager = manager_of(ContextPruningStrategy.HYBRID, 400)
    system = {"role": "system", "content": "rule " * 150}
    window = manager.create_window([system])
    window = manager.add_message(window, {"role": "user", "content": "ask " * 1000})
    assert window.messages[0] == system
    assert window.current_tokens <= 400


def test_system_messages_larger_than_the_window_are_clipped_but_stay():
    """Nothing else could give way."""
    manager = manager_of(ContextPruningStrategy.HYBRID, 300)
    window = manager.create_window([{"role": "system", "content": "rule " * 5000}])
    window = manager.add_message(window, {"role": "user", "content": "ask"})
    assert [m["role"] for m in window.messages] == ["system", "user"]
    assert window.current_tokens <= 300


def test_what_cannot_fit_at_all_is_an_error_and_leaves_the_window_as_it_was():
    """A window smaller than a message's frame says so."""
    manager = manager_of(ContextPruningStrategy.RECENCY, 5)
    window = manager.create_window()
    with pytest.raises(ContextOverflowError):
        manager.add_message(window, {"role": "user", "content": "hello"})
    assert (window.messages, window.current_tokens) == ([], 0)


def test_without_auto_prune_nothing_is_left_out():
    """The caller's own risk."""
    manager = manager_of(ContextPruningStrategy.RECENCY, 50)
    window = manager.create_window()
    for _ in range(5):
        window = manager.add_message(
            window, {"role": "user", "content": "x" * 100}, auto_prune=False
        )
    assert len(window.messages) == 5
    assert window.remaining_tokens < 0


def talked(manager, *contents):
    window = manager.create_window()
    for content in contents:
        window = manager.add_message(window, {"role": "user", "content": content})
    return window


def talk(manager, *contents):
    return " ".join(m["content"] for m in talked(manager, *contents).messages)


def test_recency_keeps_the_latest():
    """The oldest goes first."""
    contents = talk(
        manager_of(ContextPruningStrategy.RECENCY, 250),
        "alpha " * 60, "beta " * 60, "gamma " * 60, "delta " * 20,
    )  # fmt: skip
    assert "gamma" in contents
    assert "alpha" not in contents


@given(messages=conversations(), max_tokens=st.integers(450, 2000))
def test_recency_never_drops_a_message_and_keeps_an_older_one(messages, max_tokens):
    """Not even a fragment of it: what stays, besides system messages, is the end of the talk."""
    numbered = [{**message, "number": number} for number, message in enumerate(messages)]
    manager = manager_of(ContextPruningStrategy.RECENCY, max_tokens)
    window = manager.create_window()
    for number, message in enumerate(numbered):
        window = manager.add_message(window, message)
        stayed = [m["number"] for m in window.messages if m["role"] != "system"]
        talk_so_far = [m["number"] for m in numbered[: number + 1] if m["role"] != "system"]
        assert stayed == talk_so_far[len(talk_so_far) - len(stayed) :]


@every_strategy
@given(
    sizes=st.lists(st.integers(1, 4000), min_size=2, max_size=12), max_tokens=st.integers(300, 1500)
)
def test_pruning_leaves_no_short_fragments(strategy, sizes, max_tokens):
    """A message that was clipped to fill a gap still has some two hundred characters."""
    manager = manager_of(strategy, max_tokens, None)
    texts = [f"{number} " + "word " * (size // 5) for number, size in enumerate(sizes)]
    window = manager.create_window([{"role": "user", "content": text} for text in texts])
    for message in window.messages[:-1]:
        is_summary = message["content"].startswith(SUMMARY_HEADING)
        assert is_summary or message["content"] in texts or len(message["content"]) >= 195


def test_a_result_is_as_recent_as_it_arrived():
    """Where not both fit, the result stays whole, and not what was said before it came."""
    manager = manager_of(ContextPruningStrategy.RECENCY, 420)
    call = {"id": "c1", "name": "read", "arguments": {}}
    window = manager.create_window(
        [
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "user", "content": "waiting " * 60},
            {"role": "tool", "tool_call_id": "c1", "content": "row " * 150},
            {"role": "user", "content": "and now?"},
        ]
    )
    whole = {m["role"]: m["content"] for m in window.messages if "left out" not in m["content"]}
    assert whole == {"assistant": "", "tool": "row " * 150, "user": "and now?"}


def test_relevance_keeps_what_the_query_is_about():
    """An old message on the subject outlives a later one off it."""
    contents = talk(
        manager_of(ContextPruningStrategy.RELEVANCE, 250),
        "alpha invoices " * 20, "beta weather " * 20, "what about these invoices? " * 12,
    )  # fmt: skip
    assert contents.count("alpha invoices") == 20
    assert contents.count("beta weather") < 20


def test_a_callers_relevance_is_used():
    """Semantic scores can be plugged in."""
    manager = ContextWindowManager(
        250,
        pruning_strategy=ContextPruningStrategy.RELEVANCE,
        pruning_threshold=1.0,
        relevance=lambda texts: [1.0 if "beta" in text else 0.0 for text in texts],
    )
    contents = talk(manager, "alpha " * 60, "beta " * 60, "gamma " * 60, "ask " * 10)
    assert contents.count("beta") == 60


def test_summarize_puts_a_summary_where_the_oldest_stood():
    """The summarizer gets what goes, and its words stay as a user message."""
    seen = []

    def summarizer(text):
        seen.append(text)
        return "They spoke of alpha."

    contents = talk(
        manager_of(ContextPruningStrategy.SUMMARIZE, 400, summarizer),
        "alpha " * 100, "beta " * 100, "gamma " * 100, "delta " * 20,
    )  # fmt: skip
    assert contents.startswith(SUMMARY_HEADING)
    assert "They spoke of alpha." in contents
    assert "alpha" in seen[0]


def raising(text):
    raise RuntimeError("no model")


FACTS = [
    "The customer table has a key customer_no, and orders refer to it.",
    "We agreed that orders before 2020 are left out.",
]


@pytest.mark.parametrize("summarizer", [None, raising, lambda text: "  "])
def test_without_a_summary_of_a_model_older_context_is_extracted(summarizer):
    """No summarizer, one that raises, one that says nothing: what was said isn't just dropped."""
    manager = ContextWindowManager(
        max_tokens=1500,
        pruning_strategy=ContextPruningStrategy.SUMMARIZE,
        pruning_threshold=0.8,
        summarizer=summarizer,
    )
    window = manager.create_window([{"role": "user", "content": fact} for fact in FACTS])
    for number in range(40):
        filler = f"Step {number} went well. We looked at orders and at the customer table again. "
        window = manager.add_message(window, {"role": "assistant", "content": filler * 4})
    first = window.messages[0]["content"]
    assert first.startswith(SUMMARY_HEADING)
    assert FACTS[0] in first
    assert window.current_tokens <= 0.8 * 1500
    assert window.metadata["summarized_by"] == "extract"
    assert window.metadata["left_out"] > 0


def test_a_summary_that_is_summarised_again_keeps_its_lines():
    """As often as it takes: each line says once who spoke, and the earlier summary isn't cut."""
    manager = manager_of(ContextPruningStrategy.SUMMARIZE, 12_000, None)
    window = manager.create_window([{"role": "user", "content": fact} for fact in FACTS])
    for number in range(300):
        said = f"Table {chr(97 + number % 26) * 5}{number} has {number} rows. " * 12
        window = manager.add_message(window, {"role": "assistant", "content": said})
    heading, *lines = window.messages[0]["content"].splitlines()
    assert window.metadata["prunings"] > 5
    assert heading == SUMMARY_HEADING
    assert lines[:2] == [f"user: {fact}" for fact in FACTS]
    assert all(line.count("assistant: ") == 1 for line in lines[2:])


def test_the_window_says_what_was_done():
    """How often it was pruned, how, and what stands for what is gone."""
    manager = manager_of(ContextPruningStrategy.SUMMARIZE, 400, lambda text: "They spoke.")
    window = manager.create_window()
    assert window.metadata == {}
    for word in ("alpha ", "beta ", "gamma "):
        window = manager.add_message(window, {"role": "user", "content": word * 100})
    assert window.metadata["strategy"] == "summarize"
    assert window.metadata["summarized_by"] == "summarizer"
    recent = talked(manager_of(ContextPruningStrategy.RECENCY, 250), "alpha " * 90, "beta " * 90)
    assert recent.metadata["summarized_by"] is None
    assert recent.metadata["prunings"] == 1


@given(st.text(max_size=3000), st.integers(1, 500))
def test_an_extract_is_no_longer_than_asked_and_of_the_text(text, most):
    """Whatever the text is; each of its lines is a sentence of it, or its beginning."""
    extracted = extract(text, most)
    assert len(extracted) <= most
    assert len(extracted.splitlines()) <= len(text) + 1


@pytest.mark.parametrize(
    "arguments", [{"max_tokens": 0}, {"pruning_threshold": 0}, {"pruning_threshold": 1.5}]
)
def test_limits_that_cannot_be_meant_are_refused(arguments):
    """A window without room, or a threshold beyond it."""
    with pytest.raises(ValueError, match="must be"):
        ContextWindowManager(**arguments)
