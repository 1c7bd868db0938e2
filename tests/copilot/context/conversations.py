"""Conversations for property tests, and what must hold of any that was pruned or compacted."""

from hypothesis import strategies as st

from fluid_build.copilot.messages import call_ids, result_ids

texts = st.one_of(
    st.text(max_size=60),
    st.builds(
        lambda word, n: (word + " ") * n,
        st.sampled_from(["data", "4711", "数据"]),
        st.integers(1, 300),
    ),
)


@st.composite
def turns(draw, number):
    """A user turn, an answer, or calls with their results in one of the two spellings."""
    kind = draw(st.sampled_from(["user", "assistant", "entries", "blocks"]))
    if kind in ("user", "assistant"):
        return [{"role": kind, "content": draw(texts)}]
    ids = [f"call_{number}_{i}" for i in range(draw(st.integers(1, 3)))]
    arguments = [{"path": draw(texts)} for _ in ids]
    if kind == "entries":
        calls = [
            {"id": i, "name": "read", "arguments": a} for i, a in zip(ids, arguments, strict=True)
        ]
        return [
            {"role": "assistant", "content": draw(texts), "tool_calls": calls},
            *({"role": "tool", "tool_call_id": i, "content": draw(texts)} for i in ids),
        ]
    return [
        {
            "role": "assistant",
            "content": [
                {"type": "tool_use", "id": i, "name": "read", "input": a}
                for i, a in zip(ids, arguments, strict=True)
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": i, "content": draw(texts)} for i in ids
            ],
        },
    ]


@st.composite
def conversations(draw, max_turns=12):
    """A system message, then turns; now and then another system message between them."""
    messages = [{"role": "system", "content": "Be brief and exact."}]
    for number in range(draw(st.integers(1, max_turns))):
        if draw(st.integers(0, 9)) == 0:
            messages.append({"role": "system", "content": f"Note {number}."})
        messages += draw(turns(number))
    return messages


def assert_pairs_are_whole(before, after):
    """No call lost its result, and no result its call, that had it before."""
    calls = {i for m in before for i in call_ids(m)}
    results = {i for m in before for i in result_ids(m)}
    kept_calls = {i for m in after for i in call_ids(m)}
    kept_results = {i for m in after for i in result_ids(m)}
    assert kept_calls & results == kept_results & calls


def system_messages(messages):
    return [m for m in messages if m["role"] == "system"]
