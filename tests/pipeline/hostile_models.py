"""Models that answer at random, lie or attack, by name, and attacks through every field."""

import json
from collections.abc import Callable

from tests.copilot.llm.characters import ATTACKS, Character, attacker, liar, random_model
from tests.fault_server import Reply
from tests.pipeline.hostile_runs import ACTING
from tests.pipeline.lies import Lie, believable_liar

CHARACTERS: dict[str, Callable[[list[Lie], int], Character]] = {
    "random": lambda _, seed: random_model(seed),
    "liar": lambda _, seed: liar(seed),
    "believable liar": believable_liar,
    "attacker": lambda _, seed: attacker(seed),
}
KINDS = ("describe", "rename", "set_key", "classify", "split", "domain", "name", "type", "measure")
LONE_SURROGATE = "\x00\ud800"
READABLE_ATTACKS = tuple(attack for attack in ATTACKS if attack != LONE_SURROGATE)


def attack_everything(attacks: tuple[str, ...], table: str, column: str) -> Character:
    """Return a model that attacks through every field of decisions about an existing column."""
    entries = [
        {
            "decision": kind,
            "table": table,
            "columns": [column],
            "to_columns": [attack],
            "value": attack,
            "reason": attack,
        }
        for kind in KINDS
        for attack in attacks
    ]
    texts = [
        {"decision": "describe", "table": table, "columns": [], "value": attack, "reason": attack}
        for attack in attacks
        if not ACTING.search(attack) and len(attack) < 2000
    ]
    answer = json.dumps({"decisions": [*entries, *texts[-1:], *texts[:1]]})
    return lambda _: Reply(answer)
