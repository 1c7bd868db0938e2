"""Forges with hostile models: they end, stay as true as the draft, and act nowhere else."""

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from fluid_build.cli.interrupts import Interrupts
from fluid_build.cli.main import run
from fluid_build.copilot.llm.testing import (
    LoopbackServer,
    attacker,
    liar,
    random_model,
)
from fluid_build.copilot.llm.testing.characters import Character
from fluid_build.copilot.store.backends.sqlite import SqliteBackend
from fluid_build.forge import Forged, forge
from fluid_build.pipeline.requests import ModelUse
from fluid_build.profiling import profile_source
from fluid_build.sources import open_source
from tests.pipeline.demo_shop import small_demo
from tests.pipeline.hostile_runs import (
    Tally,
    acting_parts,
    false_claims,
    faults_of_contract,
)
from tests.pipeline.lies import Lie, believable_liar, believable_lies, contents
from tests.pipeline.small_runs import forge_run, request_for

TECHNIQUES = ("flat", "data_vault_2", "dimensional")
CHARACTERS: dict[str, Callable[[list[Lie], int], Character]] = {
    "random": lambda _, seed: random_model(seed),
    "liar": lambda _, seed: liar(seed),
    "believable liar": believable_liar,
    "attacker": lambda _, seed: attacker(seed),
}


@dataclass(frozen=True)
class Scene:
    """A source, the drafts of it by technique with their folders, and lies about it."""

    source: Path
    drafts: dict[str, tuple[Forged, Path]]
    lies: list[Lie]


def scene(source: Path, folder: Path) -> Scene:
    drafts = {}
    for technique in TECHNIQUES:
        with closing(open_source(str(source))) as opened:
            out = folder / f"draft-{technique}"
            drafts[technique] = (forge(opened, technique=technique, out=out), out)
    with closing(open_source(str(source))) as opened:
        lies = believable_lies(opened, profile_source(opened))
    return Scene(source, drafts, lies)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Scene:
    folder = tmp_path_factory.mktemp("demo")
    return scene(small_demo(folder / "shop.db"), folder)


def forge_with(
    scene: Scene, technique: str, character: Character, folder: Path, tally: Tally
) -> list[str]:
    """Forge through the pipeline with a model, and return all that is wrong with the result."""
    out = folder / "out"
    draft, draft_folder = scene.drafts[technique]
    with LoopbackServer(character) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_API_KEY", server.key)
        use = ModelUse(provider="openai", model="gpt-4.1", endpoint=server.base_url("openai"))
        request = request_for(scene.source, out, model_use=use, technique=technique)
        result = forge_run(SqliteBackend(folder / "fluid.db"), request)
        asked = len(server.requests)
    with closing(open_source(str(scene.source))) as source:
        faults = false_claims(source, result.forged.model, draft.model)
    faults += tally.add(result.receipt, contents(scene.lies))
    faults += acting_parts(out, draft_folder) + faults_of_contract(out)
    if result.forged.proof.verdict != "proven":
        faults.append(f"the proof is {result.forged.proof.verdict}")
    if not 0 < asked <= 6:
        faults.append(f"{asked} requests")
    return faults


@pytest.mark.parametrize("technique", TECHNIQUES)
@pytest.mark.parametrize("character", CHARACTERS)
def test_the_demo_is_as_true_as_the_draft(
    demo: Scene, tmp_path: Path, character: str, technique: str
) -> None:
    model = CHARACTERS[character](demo.lies, 0)
    tally = Tally()
    assert forge_with(demo, technique, model, tmp_path, tally) == []
    if character == "believable liar":
        assert tally.lies["refused"] > 20
    assert run(["verify", str(tmp_path / "out"), "--uri", str(demo.source)], Interrupts()) == 0
