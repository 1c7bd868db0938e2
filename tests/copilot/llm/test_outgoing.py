"""The last check of a request: no secret of this machine is in it, wherever it was."""

import json

from hypothesis import given
from hypothesis import strategies as st

from fluid_build.copilot.llm.outgoing import without_secrets

PASSWORD = "p4ss-w0rd-of-the-shop"
SECRETS = [PASSWORD, "sk-ant-api03-abcdefgh12345678", "AKIAABCDEFGHIJKLMNOP"]

plain = st.text(st.characters(codec="utf-8"), max_size=12).filter(lambda text: "sk-" not in text)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(-1e9, 1e9) | plain,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(plain, inner, max_size=3),
    max_leaves=12,
)  # fmt: skip


@given(st.dictionaries(plain, values))
def test_a_body_without_secrets_stays_as_it_is(body):
    """Whatever it is made of."""
    assert without_secrets(body, [PASSWORD]) == body


@given(st.dictionaries(plain, values), st.sampled_from(SECRETS), plain, st.booleans())
def test_a_secret_is_removed_wherever_it_is(body, secret, before, is_name):
    """In a text or a name, at any depth, after any other text."""
    hidden = f"{before}\n{secret}"
    nested = {hidden: 1} if is_name else {"a": [{"b": hidden}]}
    cleaned = without_secrets({**body, "last": nested}, [PASSWORD])
    assert secret not in json.dumps(cleaned)
    assert {name: value for name, value in cleaned.items() if name in body and name != "last"} == {
        name: value for name, value in body.items() if name != "last"
    }


def test_what_json_cannot_carry_is_replaced():
    """Half a character, and what isn't a number."""
    body = {"a": ["x\ud800"], "b": float("nan"), "c": {"d": float("inf")}}
    assert without_secrets(body, []) == {"a": ["x?"], "b": None, "c": {"d": None}}
